// SPDX-License-Identifier: MIT
/*
 * cmd_list.c - "rdmachan list": listeners, channels, links, queues, regions and grants
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "json.h"
#include "object_json.h"
#include "rights.h"
#include "table.h"
#include "tool.h"

/* One more than the last one that is known here. */
#define KINDS (RDMACHAN_KIND_GRANT + 1)

/* The state passed along the walk over the objects. */
struct listing {
	bool kinds[KINDS];
	bool as_json;
	struct json json;
	struct table tables[KINDS];
};

static const char *const headings[] = {
	[RDMACHAN_KIND_LISTENER] = "LISTENER -SERVICE STATE LOCAL -UID -WAITING -OFFERED -ACCEPTED",
	[RDMACHAN_KIND_CHANNEL] = "CHANNEL -SERVICE STATE SIDE PEER -LINK -UID -PEER-UID -SENT "
				  "-RECEIVED -SEND-Q -RECV-Q",
	[RDMACHAN_KIND_LINK] = "LINK STATE SIDE LOCAL PEER DEVICE -UID -CHANNELS -SENT -RECEIVED "
			       "-TX-FRAMES -RX-FRAMES",
	[RDMACHAN_KIND_QUEUE] = "QUEUE -UID -ENTRIES -COMPLETIONS -UNDER-WAY -TAKEN -COMPLETED "
				"-OVERFLOWS",
	[RDMACHAN_KIND_REGION] = "REGION -NUMBER -UID -LENGTH -USES -SENT -RECEIVED",
	[RDMACHAN_KIND_GRANT] = "GRANT -NUMBER STATE -SERVICE PEER -UID -REGION -LENGTH RIGHTS "
				"-COOKIE",
};

static void add_bytes(struct table *table, uint64_t bytes)
{
	char text[UNITS_MAX];

	table_add(table, "%s", units_bytes(bytes, text));
}

static void add_addr(struct table *table, const struct rdmachan_addr *addr)
{
	char text[RDMACHAN_ADDR_MAX];

	table_add(table, "%s", addr->family ? rdmachan_addr_text(addr, text, sizeof(text)) : "-");
}

static void add_uid(struct table *table, uint32_t uid)
{
	if (uid == UINT32_MAX)
		table_add(table, "-");
	else
		table_add(table, "%u", uid);
}

static const char *side(const struct rdmachan_object *object)
{
	return object->active ? "connected" : "accepted";
}

static void add_listener(struct table *table, const struct rdmachan_object *object)
{
	table_add(table, "%" PRIu64, (uint64_t)object->id);
	table_add(table, "%u", object->service);
	table_add(table, "%s", rdmachan_state_name(object->state));
	add_addr(table, &object->local);
	add_uid(table, object->uid);
	table_add(table, "%u", object->channels);
	table_add(table, "%" PRIu64, (uint64_t)object->offered);
	table_add(table, "%" PRIu64, (uint64_t)object->accepted);
}

static void add_channel(struct table *table, const struct rdmachan_object *object)
{
	table_add(table, "%" PRIu64, (uint64_t)object->id);
	table_add(table, "%u", object->service);
	table_add(table, "%s", rdmachan_state_name(object->state));
	table_add(table, "%s", side(object));
	add_addr(table, &object->peer);
	if (object->link_id)
		table_add(table, "%" PRIu64, (uint64_t)object->link_id);
	else
		table_add(table, "-");
	add_uid(table, object->uid);
	add_uid(table, object->peer_claimed_uid);
	add_bytes(table, object->tx_bytes);
	add_bytes(table, object->rx_bytes);
	add_bytes(table, object->tx_queued);
	add_bytes(table, object->rx_queued);
}

static void add_link(struct table *table, const struct rdmachan_object *object)
{
	table_add(table, "%" PRIu64, (uint64_t)object->id);
	table_add(table, "%s%s", rdmachan_state_name(object->state),
		  object->events & RDMACHAN_LINK_EVENT_PORT_DOWN ? ",port-down" : "");
	table_add(table, "%s", side(object));
	add_addr(table, &object->local);
	add_addr(table, &object->peer);
	if (object->device[0])
		table_add(table, "%.*s/%u", RDMACHAN_NAME_LEN, object->device, object->dev_port);
	else
		table_add(table, "-");
	add_uid(table, object->uid);
	table_add(table, "%u", object->channels);
	add_bytes(table, object->tx_bytes);
	add_bytes(table, object->rx_bytes);
	table_add(table, "%" PRIu64, (uint64_t)object->tx_frames);
	table_add(table, "%" PRIu64, (uint64_t)object->rx_frames);
}

static void add_queue(struct table *table, const struct rdmachan_object *object)
{
	table_add(table, "%" PRIu64, (uint64_t)object->id);
	add_uid(table, object->uid);
	table_add(table, "%u", object->sq_entries);
	table_add(table, "%u", object->cq_entries);
	table_add(table, "%u", object->operations);
	table_add(table, "%" PRIu64, (uint64_t)object->sq_taken);
	table_add(table, "%" PRIu64, (uint64_t)object->cq_completions);
	table_add(table, "%" PRIu64, (uint64_t)object->cq_overflows);
}

static void add_region(struct table *table, const struct rdmachan_object *object)
{
	table_add(table, "%" PRIu64, (uint64_t)object->id);
	table_add(table, "%u", object->region);
	add_uid(table, object->uid);
	add_bytes(table, object->length);
	table_add(table, "%u", object->uses);
	table_add(table, "%" PRIu64, (uint64_t)object->tx_messages);
	table_add(table, "%" PRIu64, (uint64_t)object->rx_messages);
}

static void add_grant(struct table *table, const struct rdmachan_object *object)
{
	char rights[RIGHTS_MAX];

	table_add(table, "%" PRIu64, (uint64_t)object->id);
	table_add(table, "%u", object->grant);
	table_add(table, "%s", rdmachan_state_name(object->state));
	table_add(table, "%u", object->service);
	add_addr(table, &object->peer);
	add_uid(table, object->uid);
	table_add(table, "%u", object->region);
	add_bytes(table, object->length);
	table_add(table, "%s", rights_text(object->rights, rights));
	table_add(table, "%" PRIu64, (uint64_t)object->cookie);
}

static void (*const add[])(struct table *table, const struct rdmachan_object *object) = {
	[RDMACHAN_KIND_LISTENER] = add_listener,
	[RDMACHAN_KIND_CHANNEL] = add_channel,
	[RDMACHAN_KIND_LINK] = add_link,
	[RDMACHAN_KIND_QUEUE] = add_queue,
	[RDMACHAN_KIND_REGION] = add_region,
	[RDMACHAN_KIND_GRANT] = add_grant,
};

static int each(const struct rdmachan_object *object, void *arg)
{
	struct listing *listing = arg;

	if (object->kind >= KINDS || !listing->kinds[object->kind])
		return 0;
	if (listing->as_json)
		object_json(object, &listing->json);
	else
		add[object->kind](&listing->tables[object->kind], object);
	return 0;
}

static void print_tables(struct listing *listing)
{
	bool first = true;
	int kind;

	for (kind = RDMACHAN_KIND_LISTENER; kind < KINDS; kind++) {
		if (table_rows(&listing->tables[kind])) {
			if (!first)
				putchar('\n');
			first = false;
			table_print(&listing->tables[kind], stdout, "");
		}
		table_free(&listing->tables[kind]);
	}
}

static int walk(int ctx, uint32_t flags, struct listing *listing)
{
	int kind, ret;

	for (kind = RDMACHAN_KIND_LISTENER; kind < KINDS; kind++)
		table_init(&listing->tables[kind], headings[kind]);
	if (listing->as_json)
		json_array(&listing->json, NULL);
	ret = rdmachan_list_each(ctx, flags, each, listing, NULL);
	if (ret < 0 && errno == EPERM)
		return fail("objects of all users are shown to root (CAP_NET_ADMIN) only");
	if (ret < 0)
		return fail_errno("cannot list");
	if (listing->as_json)
		json_end(&listing->json);
	else
		print_tables(listing);
	return TOOL_OK;
}

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ "listeners", no_argument, NULL, 'L' },
	{ "channels", no_argument, NULL, 'c' },
	{ "links", no_argument, NULL, 'l' },
	{ "queues", no_argument, NULL, 'q' },
	{ "regions", no_argument, NULL, 'r' },
	{ "grants", no_argument, NULL, 'g' },
	{ 0 }
};

static bool parse(int argc, char **argv, struct listing *listing, uint32_t *flags)
{
	bool some = false;
	int option, kind;

	while ((option = getopt_long(argc, argv, "ajLclqrg", options, NULL)) != -1) {
		kind = option == 'L' ? RDMACHAN_KIND_LISTENER :
		       option == 'c' ? RDMACHAN_KIND_CHANNEL :
		       option == 'l' ? RDMACHAN_KIND_LINK :
		       option == 'q' ? RDMACHAN_KIND_QUEUE :
		       option == 'r' ? RDMACHAN_KIND_REGION :
		       option == 'g' ? RDMACHAN_KIND_GRANT : 0;
		if (kind)
			some = listing->kinds[kind] = true;
		else if (option == 'a')
			*flags |= RDMACHAN_LIST_F_ALL;
		else if (option == 'j')
			listing->as_json = true;
		else
			return false;
	}
	for (kind = RDMACHAN_KIND_LISTENER; !some && kind < KINDS; kind++)
		listing->kinds[kind] = true;
	return true;
}

static int run(int argc, char **argv)
{
	struct listing listing = { .json = JSON_INIT(stdout) };
	uint32_t flags = 0;
	int ctx, ret;

	if (!parse(argc, argv, &listing, &flags))
		return fail_usage(&cmd_list, NULL);
	if (optind != argc)
		return fail_usage(&cmd_list, "there is too much: \"%s\"", argv[optind]);
	ctx = context_open();
	if (ctx < 0)
		return TOOL_FAILED;
	ret = walk(ctx, flags, &listing);
	close(ctx);
	return ret;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "list listeners, channels, links, queues, regions and grants",
	.help =
	"Usage: rdmachan list [--all] [--listeners] [--channels] [--links] [--queues]\n"
	"                     [--regions] [--grants] [--json]\n"
	"\n"
	"Lists what your programs have open: listeners, channels, the links (the connections\n"
	"of two hosts) that the channels share, queues, regions (memory that they have\n"
	"registered) and grants (pieces of it that are lent to peers). Without a choice, all\n"
	"of them.\n"
	"\n"
	"  -a, --all         of all users, not only your own (root)\n"
	"  -L, --listeners   listeners\n"
	"  -c, --channels    channels\n"
	"  -l, --links       links\n"
	"  -q, --queues      queues\n"
	"  -r, --regions     regions\n"
	"  -g, --grants      grants\n"
	"  -j, --json        write one JSON array, with more details\n"
	"\n"
	"Examples:\n"
	"  rdmachan list --listeners --all         who listens on this host?\n"
	"  rdmachan list --json | jq '.[] | select(.state == \"failed\")'\n",
	.run = run,
};
