// SPDX-License-Identifier: GPL-2.0
/*
 * grants.c - what the raw peer says of grants, and what it does with memory that it was given
 */
#include <infiniband/verbs.h>

#include "common.h"
#include "link.h"

#define MAY_ATOMIC_HERE(rights) \
	(((rights) & (RDMACHAN_RIGHT_ATOMIC | RDMACHAN_RIGHT_BY_DEVICE)) == RDMACHAN_RIGHT_ATOMIC)

static u32 some_rights(struct raw_link *l)
{
	static const u32 rights[] = {
		RDMACHAN_RIGHT_READ,
		RDMACHAN_RIGHT_WRITE,
		RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE,
		RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC,
		RDMACHAN_RIGHT_ATOMIC,
		RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_ATOMIC | RDMACHAN_RIGHT_BY_DEVICE,
	};

	return raw_number(l, rights[raw_below(l, ARRAY_SIZE(rights))]);
}

/* Memory of its own; but where addresses are no offsets it is some that is not there. */
static void make_grant(struct raw_link *l, struct raw_chan *c, struct rch_grant_info *grant,
		       const __le32 *key)
{
	static const u32 uses[] = { 0, 0, 1, 2, 1000 };

	*grant = (struct rch_grant_info) {
		.id = raw_number(l, ++c->given),
		.rights = some_rights(l),
		.length = raw_number(l, raw_some_length(l)),
		.cookie = raw_below(l, 1000),
		.uses = uses[raw_below(l, ARRAY_SIZE(uses))],
		.start = raw_number(l, 8 * raw_below(l, 512)),
		.shift = raw_number(l, 18 + raw_below(l, 13)),
		.keys = 1,
		.key = key,
	};
}

void raw_say_grants(struct raw_link *l, struct raw_chan *c)
{
	const __le32 key = cpu_to_le32(raw_number(l, l->room_mr->rkey));
	const u8 flags = RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_GRANTS;
	u32 i, count = 1 + raw_below(l, 3), length, message = raw_below(l, 2) * 64;
	struct rch_grant_info grants[3];
	u8 *data;

	/* The first access to what is not there ends the link. */
	if (!raw_may_send(l, c) || (l->room_base && raw_below(l, 16)))
		return;
	for (i = 0; i < count; i++)
		make_grant(l, c, &grants[i], &key);
	length = rch_wire_grants_size(grants, count, message);
	data = raw_add_data(l, c, flags, length, length);
	if (data)
		rch_wire_grants_put(data, grants, count);
}

static void say_end(struct raw_link *l, struct raw_chan *c, u8 type, u32 id, u32 cause)
{
	u8 *data = raw_add(l, c, type, 0, sizeof(struct rch_wire_grant_end));

	if (data)
		rch_wire_grant_end_put(data, id, cause);
}

/* Each once at most. */
void raw_say_revoke(struct raw_link *l, struct raw_chan *c)
{
	if (c->given == c->taken_back && !raw_lies(l))
		return;
	say_end(l, c, RCH_REC_REVOKE, raw_number(l, c->given), raw_number(l, 0));
	c->taken_back = c->given;
}

static struct raw_held *some_held(struct raw_link *l, struct raw_chan *c)
{
	struct raw_held *held = &c->held[raw_below(l, RAW_HELD)];

	return held->id || raw_lies(l) ? held : NULL;
}

static struct raw_held *revoked(struct raw_chan *c)
{
	int i;

	for (i = 0; i < RAW_HELD; i++)
		if (c->held[i].id == c->revoked)
			return &c->held[i];
	return NULL;
}

/* What is wanted back is given back first. The frame waits for the accesses under way. */
void raw_say_release(struct raw_link *l, struct raw_chan *c)
{
	struct raw_held *held = c->revoked ? revoked(c) : some_held(l, c);

	if (c->revoked && !held) {
		say_end(l, c, RCH_REC_RELEASE, raw_number(l, c->revoked), 0);
		c->revoked = 0;
		return;
	}
	if (!held || (l->h.busy && !raw_lies(l)))
		return;
	say_end(l, c, RCH_REC_RELEASE, raw_number(l, held->id), raw_one_in(l, 8) * 23);
	if (held->id == c->revoked)
		c->revoked = 0;
	held->id = raw_lies(l) ? held->id : 0;
}

static void access_by_device(struct raw_link *l, const struct raw_held *held)
{
	static const u8 operands[8];
	struct ibv_send_wr wr = {
		.opcode = raw_below(l, 2) ? IBV_WR_ATOMIC_FETCH_AND_ADD :
					    IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = {
			.remote_addr = raw_number(l, (held->start + 7) & ~7U),
			.rkey = raw_number(l, held->key[0]),
			.compare_add = 1,
			.swap = 2,
		},
	};

	if (l->h.busy < HOSTILE_SLOTS && !hostile_post(&l->h, &wr, operands, sizeof(operands)))
		raw_count(l, RAW_ACCESSES, 1);
}

/* In one piece, from a place whose key is known. */
void raw_say_access(struct raw_link *l, struct raw_chan *c)
{
	const struct raw_held *held = some_held(l, c);
	u64 at, left;
	int opcode;

	if (!held || c->peer_closing || c->revoked || held->shift > RCH_GRANT_SHIFT_MAX)
		return;
	if (held->rights & RDMACHAN_RIGHT_BY_DEVICE && raw_below(l, 2)) {
		access_by_device(l, held);
		return;
	}
	opcode = raw_below(l, 2) ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	if (!(held->rights & (opcode == IBV_WR_RDMA_READ ? RDMACHAN_RIGHT_READ :
							   RDMACHAN_RIGHT_WRITE)) &&
	    !raw_lies(l))
		return;
	at = held->start + raw_below(l, 2) * (held->length / 2);
	left = rch_grant_piece_left(at, held->shift, held->start + held->length - at);
	if (at >> held->shift < RAW_KEYS)
		raw_reach(l, opcode, at, held->key[at >> held->shift],
			  raw_lesser(left, raw_some_length(l)));
}

void raw_say_atomic(struct raw_link *l, struct raw_chan *c)
{
	const struct raw_held *held = some_held(l, c);
	struct rch_atomic atomic;
	u8 *data;

	if (!held || c->revoked || (!MAY_ATOMIC_HERE(held->rights) && !raw_lies(l)) ||
	    held->length < 16)
		return;
	data = raw_add(l, c, RCH_REC_ATOMIC, 0, sizeof(struct rch_wire_atomic));
	if (!data)
		return;
	atomic = (struct rch_atomic) {
		.id = raw_number(l, held->id),
		.op = raw_below(l, 2) ? RDMACHAN_ATOMIC_FETCH_ADD : RDMACHAN_ATOMIC_COMPARE_SWAP,
		.address = raw_number(l, (held->start + 7) & ~7U),
		.operand = 1,
		.serial = raw_number(l, ++c->serial),
	};
	rch_wire_atomic_put(data, &atomic);
}

void raw_say_atomic_done(struct raw_link *l, struct raw_chan *c)
{
	u8 *data;

	if (!c->atomics_count && !raw_lies(l))
		return;
	data = raw_add(l, c, RCH_REC_ATOMIC_DONE, 0, sizeof(struct rch_wire_atomic_done));
	if (!data)
		return;
	if (c->atomics_count)
		c->atomics_count--;
	rch_wire_atomic_done_put(data, raw_number(l, c->atomics[c->atomics_count]),
				 raw_below(l, 3));
}
