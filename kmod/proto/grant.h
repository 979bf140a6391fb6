/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - what two modules say to each other of grants
 *
 * A message that carries grants is one DATA record with RCH_DATA_F_GRANTS, which is whole:
 * &struct rch_wire_grants, as many &struct rch_wire_grant, the keys of all of them in
 * their order, and the bytes of the message.
 *
 * The bytes of a grant have addresses of their own, from @start on. They are divided into
 * pieces of 1 << @shift addresses, each with a key; the bytes behind the last key are not
 * lent. So an access needs the address and the key of its piece, and tells nothing of
 * where the owner has its memory.
 */
#ifndef _RCH_PURE_GRANT_H
#define _RCH_PURE_GRANT_H

#include <rdmachan.h>

#include "wire.h"

/** RCH_GRANTS_MAX - most grants of a message */
#define RCH_GRANTS_MAX		16U
/** RCH_GRANT_SHIFT_MIN - smallest pieces: 4 KiB */
#define RCH_GRANT_SHIFT_MIN	12U
/** RCH_GRANT_SHIFT_MAX - largest pieces: 1 GiB */
#define RCH_GRANT_SHIFT_MAX	30U

/**
 * struct rch_wire_grants - the beginning of a message that carries grants
 * @count: how many, 1 to RCH_GRANTS_MAX
 * @reserved: 0
 */
struct rch_wire_grants {
	__le32 count;
	__le32 reserved;
};

static_assert(sizeof(struct rch_wire_grants) == 8, "on the wire");

/**
 * struct rch_wire_grant - a grant
 * @id: number that the owner gave it: higher, as sequence numbers are, than any before on
 *	the channel
 * @rights: enum rdmachan_right
 * @length: bytes, not 0
 * @cookie: of the owner's program
 * @uses: accesses that the holder may make; 0 is without limit
 * @start: address of the first byte, below 1 << @shift
 * @shift: size of a piece
 * @keys: pieces
 */
struct rch_wire_grant {
	__le32 id;
	__le32 rights;
	__le64 length;
	__le64 cookie;
	__le32 uses;
	__le32 start;
	__le32 shift;
	__le32 keys;
};

static_assert(sizeof(struct rch_wire_grant) == 40, "on the wire");

/**
 * struct rch_wire_grant_end - REVOKE and RELEASE
 * @id: number of the grant
 * @cause: RELEASE: enum rdmachan_cause for the owner's program; REVOKE: 0
 */
struct rch_wire_grant_end {
	__le32 id;
	__le32 cause;
};

static_assert(sizeof(struct rch_wire_grant_end) == 8, "on the wire");

/**
 * struct rch_wire_atomic - ATOMIC
 * @id: number of the grant
 * @op: enum rdmachan_atomic_op
 * @address: of the 8 bytes, in the grant's addresses; a multiple of 8
 * @operand: what to add, or to put there
 * @compare: COMPARE_SWAP: the value that must be there; else 0
 * @serial: repeated in the answer
 * @reserved: 0
 */
struct rch_wire_atomic {
	__le32 id;
	__le32 op;
	__le64 address;
	__le64 operand;
	__le64 compare;
	__le32 serial;
	__le32 reserved;
};

static_assert(sizeof(struct rch_wire_atomic) == 40, "on the wire");

/**
 * struct rch_wire_atomic_done - ATOMIC_DONE
 * @serial: as of ATOMIC
 * @reserved: 0
 * @value: the value that was there before
 */
struct rch_wire_atomic_done {
	__le32 serial;
	__le32 reserved;
	__le64 value;
};

static_assert(sizeof(struct rch_wire_atomic_done) == 16, "on the wire");

/* The same in the host's byte order. */

/** struct rch_grant_info - decoded &struct rch_wire_grant, with its keys as they came */
struct rch_grant_info {
	u32 id;
	u32 rights;
	u64 length;
	u64 cookie;
	u32 uses;
	u32 start;
	u32 shift;
	u32 keys;
	const __le32 *key;
};

/** struct rch_atomic - decoded &struct rch_wire_atomic */
struct rch_atomic {
	u32 id;
	u32 op;
	u64 address;
	u64 operand;
	u64 compare;
	u32 serial;
};

/**
 * rch_grant_keys - how many keys a grant needs
 * @start: address of the first byte
 * @length: bytes
 * @shift: size of a piece
 *
 * Return: 0 when there are more addresses than fit 63 bits.
 */
static inline u64 rch_grant_keys(u32 start, u64 length, u32 shift)
{
	if (length >> 62)
		return 0;
	return (start + length + (1ULL << shift) - 1) >> shift;
}

/** rch_grant_range_ok - whether @length bytes at @offset lie in a grant of @total bytes */
static inline bool rch_grant_range_ok(u64 total, u64 offset, u64 length)
{
	return offset <= total && length <= total - offset;
}

/** rch_grant_piece_left - how many of @max bytes at @address are in the same piece */
static inline u64 rch_grant_piece_left(u64 address, u32 shift, u64 max)
{
	u64 left = (1ULL << shift) - (address & ((1ULL << shift) - 1));

	return left < max ? left : max;
}

/* grant.c APIs */
enum rch_rule rch_wire_grants_check(const struct rch_record *r);
u32 rch_wire_grants_count(const struct rch_record *r);
void rch_wire_grants_get(const struct rch_record *r, struct rch_grant_info *out);
u32 rch_wire_grants_message(const struct rch_record *r, const u8 **bytes);
u64 rch_wire_grants_size(const struct rch_grant_info *grants, u32 count, u64 message);
void *rch_wire_grants_put(void *buf, const struct rch_grant_info *grants, u32 count);
void rch_wire_grant_end_put(void *buf, u32 id, u32 cause);
void rch_wire_grant_end_get(const struct rch_record *r, u32 *id, u32 *cause);
void rch_wire_atomic_put(void *buf, const struct rch_atomic *a);
enum rch_rule rch_wire_atomic_get(const struct rch_record *r, struct rch_atomic *a);
void rch_wire_atomic_done_put(void *buf, u32 serial, u64 value);
enum rch_rule rch_wire_atomic_done_get(const struct rch_record *r, u32 *serial, u64 *value);

#endif /* _RCH_PURE_GRANT_H */
