// SPDX-License-Identifier: MIT
/*
 * cmd_info.c - "rdmachan info": the module, its limits and its devices
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "json.h"
#include "table.h"
#include "tool.h"

static const char *const port_states[] = {
	"none", "down", "init", "armed", "active", "active-defer",
};

static const char *port_state(const struct rdmachan_device *device)
{
	if (device->port_state < ARRAY_SIZE(port_states))
		return port_states[device->port_state];
	return "unknown";
}

static const char *transport(const struct rdmachan_device *device)
{
	return device->flags & RDMACHAN_DEV_F_IWARP ? "iwarp" : "ib/roce";
}

/* The number of ports may grow between two calls: ask until all were told. */
static int ask(int ctx, struct rdmachan_info *info, struct rdmachan_device **devices)
{
	unsigned int max = 16;
	int count;

	*devices = NULL;
	for (;;) {
		free(*devices);
		*devices = calloc(max, sizeof(**devices));
		if (!*devices)
			return -1;
		count = rdmachan_get_info(ctx, info, *devices, max, NULL);
		if (count < 0 || info->out_devices <= max)
			return count;
		max = info->out_devices;
	}
}

static void print_devices(const struct rdmachan_device *devices, int count)
{
	struct table table;
	int i;

	if (!count) {
		puts("\nThere is no RDMA device; \"rdmachan doctor\" tells what to do.");
		return;
	}
	table_init(&table, "DEVICE -PORT TRANSPORT STATE -MTU -MAX -LINKS INTERFACE");
	for (i = 0; i < count; i++) {
		table_add(&table, "%.*s", RDMACHAN_NAME_LEN, devices[i].name);
		table_add(&table, "%u", devices[i].port);
		table_add(&table, "%s", transport(&devices[i]));
		table_add(&table, "%s", port_state(&devices[i]));
		table_add(&table, "%u", devices[i].mtu);
		table_add(&table, "%u", devices[i].max_mtu);
		table_add(&table, "%u", devices[i].links);
		table_add(&table, "%.*s", RDMACHAN_NAME_LEN,
			  devices[i].netdev[0] ? devices[i].netdev : "-");
	}
	putchar('\n');
	table_print(&table, stdout, "");
	table_free(&table);
}

static void print_text(const struct rdmachan_info *info)
{
	char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];

	printf("Module      version %.*s, interface %u\n", (int)sizeof(info->out_version),
	       info->out_version, info->out_abi);
	printf("Protocol    version %u, features 0x%" PRIx64 ", port %u, frames up to %s\n",
	       info->out_protocol, (uint64_t)info->out_features, info->out_port,
	       units_bytes(info->out_frame_size, a));
	printf("Messages    up to %s; received by default up to %s\n",
	       units_bytes(info->out_message_max, a), units_bytes(info->out_message_default, b));
	printf("Buffers     %s each way of a channel by default\n",
	       units_bytes(info->out_buffer, a));
	printf("Times       connect %s, dead peer %s, linger %s\n",
	       units_ms(info->out_connect_ms, a), units_ms(info->out_dead_ms, b),
	       units_ms(info->out_linger_ms, c));
	printf("Alive       contexts %u, listeners %u, channels %u, links %u\n",
	       info->out_contexts, info->out_listeners, info->out_channels, info->out_links);
	printf("            transmit frames %u, received pieces %u\n",
	       info->out_frames, info->out_segments);
	printf("Since load  connections made %" PRIu64 ", duplicate frames dropped %" PRIu64 "\n",
	       (uint64_t)info->out_cm_connects, (uint64_t)info->out_dropped);
	printf("            links ended for a broken rule %" PRIu64 "\n",
	       (uint64_t)info->out_broken_rules);
}

struct refusal {
	const char *name;
	const char *text;
	uint64_t times;
};

#define REFUSALS 9

static void refusals_of(const struct rdmachan_info *info, struct refusal refusals[REFUSALS])
{
	refusals[0] = (struct refusal){ "handshake", "peers whose handshake is not right",
					info->out_refused_handshake };
	refusals[1] = (struct refusal){ "version", "peers without a common version or feature",
					info->out_refused_version };
	refusals[2] = (struct refusal){ "port", "peers from a port that is not privileged",
					info->out_refused_port };
	refusals[3] = (struct refusal){ "mtu", "peers with packets that are too large",
					info->out_refused_mtu };
	refusals[4] = (struct refusal){ "links", "peers for which there was no room",
					info->out_refused_links };
	refusals[5] = (struct refusal){ "service", "peers that want a service nobody has",
					info->out_refused_service };
	refusals[6] = (struct refusal){ "backlog", "channels that found a full backlog",
					info->out_refused_backlog };
	refusals[7] = (struct refusal){ "channels", "channels for which there was no room",
					info->out_refused_channels };
	refusals[8] = (struct refusal){ "memlock", "regions beyond the limit of locked memory",
					info->out_refused_memlock };
}

static void print_refusals(const struct rdmachan_info *info)
{
	struct refusal refusals[REFUSALS];
	struct table table;
	int i;

	refusals_of(info, refusals);
	table_init(&table, "REFUSED -TIMES WHY");
	for (i = 0; i < REFUSALS; i++) {
		table_add(&table, "%s", refusals[i].name);
		table_add(&table, "%" PRIu64, refusals[i].times);
		table_add(&table, "%s", refusals[i].text);
	}
	putchar('\n');
	table_print(&table, stdout, "");
	table_free(&table);
}

static void json_refusals(struct json *json, const struct rdmachan_info *info)
{
	struct refusal refusals[REFUSALS];
	int i;

	refusals_of(info, refusals);
	json_object(json, "refused");
	for (i = 0; i < REFUSALS; i++)
		json_number(json, refusals[i].name, refusals[i].times);
	json_end(json);
}

struct limit {
	const char *name;
	const struct rdmachan_use *use;
	bool bytes;
};

#define LIMITS 10

static void limits_of(const struct rdmachan_info *info, struct limit limits[LIMITS])
{
	limits[0] = (struct limit){ "contexts", &info->out_use_contexts, false };
	limits[1] = (struct limit){ "listeners", &info->out_use_listeners, false };
	limits[2] = (struct limit){ "channels", &info->out_use_channels, false };
	limits[3] = (struct limit){ "pending", &info->out_use_pending, false };
	limits[4] = (struct limit){ "buffers", &info->out_use_bytes, true };
	limits[5] = (struct limit){ "queues", &info->out_use_queues, false };
	limits[6] = (struct limit){ "pollers", &info->out_use_pollers, false };
	limits[7] = (struct limit){ "regions", &info->out_use_regions, false };
	limits[8] = (struct limit){ "grants", &info->out_use_grants, false };
	limits[9] = (struct limit){ "links", &info->out_use_links, false };
}

static void add_amount(struct table *table, uint64_t amount, bool bytes)
{
	char text[UNITS_MAX];

	if (bytes)
		table_add(table, "%s", units_bytes(amount, text));
	else
		table_add(table, "%" PRIu64, amount);
}

static void print_limits(const struct rdmachan_info *info)
{
	struct limit limits[LIMITS];
	struct table table;
	int i;

	/* A module that is older than limits says nothing. */
	if (!info->out_use_contexts.user)
		return;
	limits_of(info, limits);
	table_init(&table, "LIMIT -YOURS -MAX -ALL -MAX -REFUSED");
	for (i = 0; i < LIMITS; i++) {
		table_add(&table, "%s", limits[i].name);
		add_amount(&table, limits[i].use->user, limits[i].bytes);
		add_amount(&table, limits[i].use->user_max, limits[i].bytes);
		add_amount(&table, limits[i].use->all, limits[i].bytes);
		add_amount(&table, limits[i].use->all_max, limits[i].bytes);
		add_amount(&table, limits[i].use->refused, false);
	}
	putchar('\n');
	table_print(&table, stdout, "");
	table_free(&table);
}

static void json_limits(struct json *json, const struct rdmachan_info *info)
{
	struct limit limits[LIMITS];
	int i;

	limits_of(info, limits);
	json_object(json, "limits");
	for (i = 0; i < LIMITS; i++) {
		json_object(json, limits[i].name);
		json_number(json, "user", limits[i].use->user);
		json_number(json, "user_max", limits[i].use->user_max);
		json_number(json, "all", limits[i].use->all);
		json_number(json, "all_max", limits[i].use->all_max);
		json_number(json, "refused", limits[i].use->refused);
		json_end(json);
	}
	json_end(json);
}

static void json_device(struct json *json, const struct rdmachan_device *device)
{
	json_object(json, NULL);
	json_string(json, "name", device->name);
	json_number(json, "port", device->port);
	json_string(json, "transport", transport(device));
	json_string(json, "state", port_state(device));
	json_bool(json, "active", device->flags & RDMACHAN_DEV_F_ACTIVE);
	json_number(json, "mtu", device->mtu);
	json_number(json, "max_mtu", device->max_mtu);
	json_number(json, "links", device->links);
	if (device->netdev[0])
		json_string(json, "interface", device->netdev);
	else
		json_null(json, "interface");
	json_end(json);
}

static void json_counts(struct json *json, const struct rdmachan_info *info)
{
	json_object(json, "alive");
	json_number(json, "contexts", info->out_contexts);
	json_number(json, "listeners", info->out_listeners);
	json_number(json, "channels", info->out_channels);
	json_number(json, "links", info->out_links);
	json_number(json, "frames", info->out_frames);
	json_number(json, "segments", info->out_segments);
	json_end(json);
	json_number(json, "dropped", info->out_dropped);
	json_number(json, "cm_connects", info->out_cm_connects);
	json_number(json, "broken_rules", info->out_broken_rules);
	json_refusals(json, info);
}

static void print_json(const struct rdmachan_info *info, const struct rdmachan_device *devices,
		       int count)
{
	struct json json = JSON_INIT(stdout);
	int i;

	json_object(&json, NULL);
	json_string(&json, "version", info->out_version);
	json_number(&json, "abi", info->out_abi);
	json_number(&json, "protocol", info->out_protocol);
	json_number(&json, "features", info->out_features);
	json_number(&json, "port", info->out_port);
	json_number(&json, "message_max", info->out_message_max);
	json_number(&json, "message_default", info->out_message_default);
	json_number(&json, "frame_size", info->out_frame_size);
	json_number(&json, "buffer", info->out_buffer);
	json_number(&json, "connect_ms", info->out_connect_ms);
	json_number(&json, "dead_ms", info->out_dead_ms);
	json_number(&json, "linger_ms", info->out_linger_ms);
	json_counts(&json, info);
	json_limits(&json, info);
	json_array(&json, "devices");
	for (i = 0; i < count; i++)
		json_device(&json, &devices[i]);
	json_end(&json);
	json_end(&json);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	struct rdmachan_device *devices;
	struct rdmachan_info info;
	bool as_json = false;
	int option, count, ctx;

	while ((option = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (option != 'j')
			return fail_usage(&cmd_info, NULL);
		as_json = true;
	}
	if (optind != argc)
		return fail_usage(&cmd_info, "there is nothing to be named here");
	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	count = ask(ctx, &info, &devices);
	close(ctx);
	if (count < 0) {
		free(devices);
		return fail_errno("cannot ask the module");
	}
	if (as_json) {
		print_json(&info, devices, count);
	} else {
		print_text(&info);
		print_limits(&info);
		print_refusals(&info);
		print_devices(devices, count);
	}
	free(devices);
	return TOOL_OK;
}

const struct command cmd_info = {
	.name = "info",
	.summary = "show the module, its limits, its devices and what is alive",
	.help =
	"Usage: rdmachan info [--json]\n"
	"\n"
	"Shows the version of the module, the limits and times it works with, how many\n"
	"contexts, listeners, channels and links are alive, what this user and all users\n"
	"have of what there is a limit of, how often peers and programs were refused since\n"
	"load, and the RDMA devices.\n"
	"\n"
	"  -j, --json   write one JSON object\n"
	"\n"
	"Examples:\n"
	"  rdmachan info\n"
	"  rdmachan info --json | jq -r '.devices[] | select(.active) | .name'\n"
	"  rdmachan info --json | jq '.refused, .broken_rules'\n",
	.run = run,
};
