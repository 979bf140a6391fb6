// SPDX-License-Identifier: MIT
/*
 * object_json.c - all there is to know about an object, as JSON
 */
#include "object_json.h"
#include "rights.h"

static void json_addr(struct json *json, const char *key, const struct rdmachan_addr *addr)
{
	char text[RDMACHAN_ADDR_MAX];

	if (addr->family)
		json_string(json, key, rdmachan_addr_text(addr, text, sizeof(text)));
	else
		json_null(json, key);
}

static void json_events(struct json *json, uint32_t events)
{
	static const struct {
		uint32_t event;
		const char *name;
	} names[] = {
		{ RDMACHAN_LINK_EVENT_ADDRESS, "address" },
		{ RDMACHAN_LINK_EVENT_PORT_DOWN, "port-down" },
		{ RDMACHAN_LINK_EVENT_PORT_WAS_DOWN, "port-was-down" },
		{ RDMACHAN_LINK_EVENT_GIDS, "gids" },
		{ RDMACHAN_LINK_EVENT_SUBNET, "subnet" },
	};
	size_t i;

	json_array(json, "events");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (events & names[i].event)
			json_string(json, NULL, names[i].name);
	json_end(json);
}

static void json_traffic(struct json *json, const struct rdmachan_object *object)
{
	json_number(json, "tx_messages", object->tx_messages);
	json_number(json, "tx_bytes", object->tx_bytes);
	json_number(json, "rx_messages", object->rx_messages);
	json_number(json, "rx_bytes", object->rx_bytes);
	json_number(json, "tx_frames", object->tx_frames);
	json_number(json, "rx_frames", object->rx_frames);
	json_number(json, "tx_posts", object->tx_posts);
	json_number(json, "tx_signals", object->tx_signals);
	json_number(json, "tx_queued", object->tx_queued);
	json_number(json, "rx_queued", object->rx_queued);
	json_number(json, "rx_next", object->rx_next);
	json_number(json, "tx_stalls", object->tx_stalls);
	json_number(json, "send_buffer", object->send_buffer);
	json_number(json, "recv_buffer", object->recv_buffer);
	json_number(json, "linger_ms", object->linger_ms);
	json_number(json, "peer_message_max", object->peer_message_max);
	json_number(json, "tx_placed", object->tx_placed);
	json_number(json, "rx_placed", object->rx_placed);
	json_number(json, "tx_regions", object->tx_regions);
	json_number(json, "rx_regions", object->rx_regions);
}

static void json_queue(struct json *json, const struct rdmachan_object *object)
{
	json_number(json, "operations", object->operations);
	json_number(json, "sq_entries", object->sq_entries);
	json_number(json, "cq_entries", object->cq_entries);
	json_number(json, "pools", object->pools);
	json_number(json, "sq_taken", object->sq_taken);
	json_number(json, "cq_completions", object->cq_completions);
	json_number(json, "cq_overflows", object->cq_overflows);
}

void object_json(const struct rdmachan_object *object, struct json *json)
{
	char rights[RIGHTS_MAX];

	json_object(json, NULL);
	json_string(json, "kind", rdmachan_kind_name(object->kind));
	json_number(json, "id", object->id);
	json_number(json, "link", object->link_id);
	json_string(json, "state", rdmachan_state_name(object->state));
	json_number(json, "shutdown", object->shutdown);
	json_number(json, "peer_shutdown", object->peer_shutdown);
	json_number(json, "service", object->service);
	json_number(json, "uid", object->uid);
	if (object->peer_claimed_uid == UINT32_MAX)
		json_null(json, "peer_claimed_uid");
	else
		json_number(json, "peer_claimed_uid", object->peer_claimed_uid);
	json_bool(json, "active", object->active);
	json_number(json, "channels", object->channels);
	json_addr(json, "local", &object->local);
	json_addr(json, "peer", &object->peer);
	json_string(json, "device", object->device);
	json_number(json, "dev_port", object->dev_port);
	json_number(json, "frame_size", object->frame_size);
	json_number(json, "mtu", object->mtu);
	json_number(json, "traffic_class", object->traffic_class);
	json_events(json, object->events);
	json_number(json, "created_ns", object->created_ns);
	json_number(json, "length", object->length);
	json_number(json, "region", object->region);
	json_number(json, "uses", object->uses);
	json_number(json, "grant", object->grant);
	json_string(json, "rights", rights_text(object->rights, rights));
	json_number(json, "cookie", object->cookie);
	if (object->uses_left == UINT64_MAX)
		json_null(json, "uses_left");
	else
		json_number(json, "uses_left", object->uses_left);
	json_traffic(json, object);
	json_queue(json, object);
	json_number(json, "offered", object->offered);
	json_number(json, "accepted", object->accepted);
	json_end(json);
}
