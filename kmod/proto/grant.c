// SPDX-License-Identifier: GPL-2.0
/*
 * grant.c - reads and writes what is on the wire of grants
 */
#include "grant.h"

#define ALL_RIGHTS (RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC | \
		    RDMACHAN_RIGHT_BY_DEVICE)

static const struct rch_wire_grants *grant_head(const struct rch_record *r)
{
	return (const void *)r->payload;
}

static const struct rch_wire_grant *grant_first(const struct rch_record *r)
{
	return (const void *)(grant_head(r) + 1);
}

static u32 grant_fixed_part(u32 count)
{
	return sizeof(struct rch_wire_grants) + count * sizeof(struct rch_wire_grant);
}

static bool grant_rights_ok(u32 rights)
{
	if (rights & ~ALL_RIGHTS || !(rights & ~RDMACHAN_RIGHT_BY_DEVICE))
		return false;
	return !(rights & RDMACHAN_RIGHT_BY_DEVICE) || (rights & RDMACHAN_RIGHT_ATOMIC);
}

static bool grant_ok(const struct rch_wire_grant *w)
{
	u32 shift = le32_to_cpu(w->shift), start = le32_to_cpu(w->start);
	u64 length = le64_to_cpu(w->length);

	if (!w->id || !length || !grant_rights_ok(le32_to_cpu(w->rights)))
		return false;
	if (shift < RCH_GRANT_SHIFT_MIN || shift > RCH_GRANT_SHIFT_MAX || start >> shift)
		return false;
	return w->keys && le32_to_cpu(w->keys) == rch_grant_keys(start, length, shift);
}

/**
 * rch_wire_grants_check - look at a DATA record with RCH_DATA_F_GRANTS
 * @r: record, right so far
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_wire_grants_check(const struct rch_record *r)
{
	const u8 whole = RCH_DATA_F_FIRST | RCH_DATA_F_LAST;
	u32 count, i, left;

	if ((r->flags & (whole | RCH_DATA_F_ABORT)) != whole || r->length != r->total)
		return RCH_RULE_SEGMENT;
	if (r->length < grant_fixed_part(1))
		return RCH_RULE_RECORD_LENGTH;
	count = le32_to_cpu(grant_head(r)->count);
	if (grant_head(r)->reserved)
		return RCH_RULE_RESERVED;
	if (!count || count > RCH_GRANTS_MAX || r->length < grant_fixed_part(count))
		return RCH_RULE_RECORD_LENGTH;
	left = (r->length - grant_fixed_part(count)) / sizeof(__le32);
	for (i = 0; i < count; i++) {
		const struct rch_wire_grant *w = grant_first(r) + i;

		if (!grant_ok(w))
			return RCH_RULE_GRANT;
		if (le32_to_cpu(w->keys) > left)
			return RCH_RULE_RECORD_LENGTH;
		left -= le32_to_cpu(w->keys);
	}
	return RCH_RULE_OK;
}

/** rch_wire_grants_count - how many grants a checked record carries */
u32 rch_wire_grants_count(const struct rch_record *r)
{
	return le32_to_cpu(grant_head(r)->count);
}

/** rch_wire_grants_get - read all grants from a checked record */
void rch_wire_grants_get(const struct rch_record *r, struct rch_grant_info *out)
{
	u32 count = rch_wire_grants_count(r), i;
	const __le32 *key = (const void *)(grant_first(r) + count);

	for (i = 0; i < count; i++) {
		const struct rch_wire_grant *w = grant_first(r) + i;

		out[i].id = le32_to_cpu(w->id);
		out[i].rights = le32_to_cpu(w->rights);
		out[i].length = le64_to_cpu(w->length);
		out[i].cookie = le64_to_cpu(w->cookie);
		out[i].uses = le32_to_cpu(w->uses);
		out[i].start = le32_to_cpu(w->start);
		out[i].shift = le32_to_cpu(w->shift);
		out[i].keys = le32_to_cpu(w->keys);
		out[i].key = key;
		key += out[i].keys;
	}
}

/** rch_wire_grants_message - the message of a checked record. Return: how many @bytes */
u32 rch_wire_grants_message(const struct rch_record *r, const u8 **bytes)
{
	u32 count = rch_wire_grants_count(r), i, skip = grant_fixed_part(count);

	for (i = 0; i < count; i++)
		skip += le32_to_cpu(grant_first(r)[i].keys) * sizeof(__le32);
	*bytes = r->payload + skip;
	return r->length - skip;
}

/** rch_wire_grants_size - bytes of a record with these grants and a message */
u64 rch_wire_grants_size(const struct rch_grant_info *grants, u32 count, u64 message)
{
	u64 size = grant_fixed_part(count) + message;
	u32 i;

	for (i = 0; i < count; i++)
		size += grants[i].keys * (u64)sizeof(__le32);
	return size;
}

/**
 * rch_wire_grants_put - write a message that carries grants
 * @buf: with rch_wire_grants_size() bytes of room
 * @grants: grants to write, with their keys
 * @count: how many
 *
 * Return: where the bytes of the message go.
 */
void *rch_wire_grants_put(void *buf, const struct rch_grant_info *grants, u32 count)
{
	struct rch_wire_grants *top = buf;
	struct rch_wire_grant *w = (void *)(top + 1);
	__le32 *key = (void *)(w + count);
	u32 i;

	top->count = cpu_to_le32(count);
	top->reserved = 0;
	for (i = 0; i < count; i++, w++) {
		w->id = cpu_to_le32(grants[i].id);
		w->rights = cpu_to_le32(grants[i].rights);
		w->length = cpu_to_le64(grants[i].length);
		w->cookie = cpu_to_le64(grants[i].cookie);
		w->uses = cpu_to_le32(grants[i].uses);
		w->start = cpu_to_le32(grants[i].start);
		w->shift = cpu_to_le32(grants[i].shift);
		w->keys = cpu_to_le32(grants[i].keys);
		memcpy(key, grants[i].key, grants[i].keys * sizeof(*key));
		key += grants[i].keys;
	}
	return key;
}

/** rch_wire_grant_end_put - write the bytes of REVOKE or RELEASE */
void rch_wire_grant_end_put(void *buf, u32 id, u32 cause)
{
	struct rch_wire_grant_end *w = buf;

	w->id = cpu_to_le32(id);
	w->cause = cpu_to_le32(cause);
}

/** rch_wire_grant_end_get - read the bytes of REVOKE or RELEASE from a checked record */
void rch_wire_grant_end_get(const struct rch_record *r, u32 *id, u32 *cause)
{
	const struct rch_wire_grant_end *w = (const void *)r->payload;

	*id = le32_to_cpu(w->id);
	*cause = le32_to_cpu(w->cause);
}

/** rch_wire_atomic_put - write ATOMIC's bytes */
void rch_wire_atomic_put(void *buf, const struct rch_atomic *a)
{
	struct rch_wire_atomic *w = buf;

	w->id = cpu_to_le32(a->id);
	w->op = cpu_to_le32(a->op);
	w->address = cpu_to_le64(a->address);
	w->operand = cpu_to_le64(a->operand);
	w->compare = cpu_to_le64(a->compare);
	w->serial = cpu_to_le32(a->serial);
	w->reserved = 0;
}

/**
 * rch_wire_atomic_get - read and check ATOMIC's bytes
 * @r: record of the right length
 * @a: where to put it
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_wire_atomic_get(const struct rch_record *r, struct rch_atomic *a)
{
	const struct rch_wire_atomic *w = (const void *)r->payload;

	a->id = le32_to_cpu(w->id);
	a->op = le32_to_cpu(w->op);
	a->address = le64_to_cpu(w->address);
	a->operand = le64_to_cpu(w->operand);
	a->compare = le64_to_cpu(w->compare);
	a->serial = le32_to_cpu(w->serial);
	if (w->reserved || (a->compare && a->op != RDMACHAN_ATOMIC_COMPARE_SWAP))
		return RCH_RULE_RESERVED;
	if (a->op != RDMACHAN_ATOMIC_FETCH_ADD && a->op != RDMACHAN_ATOMIC_COMPARE_SWAP)
		return RCH_RULE_GRANT;
	return a->address % sizeof(u64) ? RCH_RULE_GRANT : RCH_RULE_OK;
}

/** rch_wire_atomic_done_put - write ATOMIC_DONE's bytes */
void rch_wire_atomic_done_put(void *buf, u32 serial, u64 value)
{
	struct rch_wire_atomic_done *w = buf;

	w->serial = cpu_to_le32(serial);
	w->reserved = 0;
	w->value = cpu_to_le64(value);
}

/** rch_wire_atomic_done_get - read ATOMIC_DONE's bytes, as rch_wire_atomic_get() */
enum rch_rule rch_wire_atomic_done_get(const struct rch_record *r, u32 *serial, u64 *value)
{
	const struct rch_wire_atomic_done *w = (const void *)r->payload;

	*serial = le32_to_cpu(w->serial);
	*value = le64_to_cpu(w->value);
	return w->reserved ? RCH_RULE_RESERVED : RCH_RULE_OK;
}
