/* SPDX-License-Identifier: MIT */
/*
 * kv.h - the table that kv_server.c lends and kv_client.c reads
 *
 * An entry is at its key's hash, or at the next place that was free. The server may be
 * writing it while a client reads: then the sum does not fit, and the client reads again.
 */
#ifndef KV_H
#define KV_H

#include <stdint.h>
#include <string.h>

#define KV_ENTRIES	1024

/**
 * struct kv_entry - one entry of the table
 * @sum: kv_sum() of the rest; 0 in an entry that is free
 * @key: text, ended by a zero
 * @value: the same
 */
struct kv_entry {
	uint64_t sum;
	char key[56];
	char value[64];
};

static inline uint64_t kv_hash(const void *data, size_t length)
{
	const unsigned char *byte = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (length--)
		hash = (hash ^ *byte++) * UINT64_C(0x100000001b3);
	return hash;
}

static inline uint64_t kv_sum(const struct kv_entry *entry)
{
	return kv_hash((const char *)entry + sizeof(entry->sum),
		       sizeof(*entry) - sizeof(entry->sum)) | 1;
}

/* Where a key is looked for, first, second and so on. */
static inline unsigned int kv_place(const char *key, unsigned int turn)
{
	return (kv_hash(key, strlen(key)) + turn) % KV_ENTRIES;
}

#endif /* KV_H */
