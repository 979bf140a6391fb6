// SPDX-License-Identifier: MIT
/*
 * bench_request.c - what the client of a measurement asks of the server
 */
#include <endian.h>
#include <string.h>

#include "bench.h"

#define REQUEST_MAGIC	0x52444d42U	/* "RDMB" */

/* As it travels, in network byte order. */
struct wire_request {
	uint32_t magic;
	uint32_t mode;
	uint32_t size;
	uint32_t count;
	uint32_t batch;
	uint32_t reserved[3];
};

_Static_assert(sizeof(struct wire_request) == BENCH_REQUEST_SIZE, "no holes");

void bench_request_encode(const struct bench_request *request, uint8_t data[BENCH_REQUEST_SIZE])
{
	const struct wire_request wire = {
		.magic = htobe32(REQUEST_MAGIC),
		.mode = htobe32(request->mode),
		.size = htobe32(request->size),
		.count = htobe32(request->count),
		.batch = htobe32(request->batch),
	};

	memcpy(data, &wire, sizeof(wire));
}

bool bench_request_decode(struct bench_request *request, const void *data, size_t length)
{
	struct wire_request wire;

	if (length != sizeof(wire))
		return false;
	memcpy(&wire, data, sizeof(wire));
	request->mode = be32toh(wire.mode);
	request->size = be32toh(wire.size);
	request->count = be32toh(wire.count);
	request->batch = be32toh(wire.batch);
	if (be32toh(wire.magic) != REQUEST_MAGIC)
		return false;
	if (request->mode < BENCH_ECHO || request->mode > BENCH_ACCEPT)
		return false;
	if (!request->size || request->size > RDMACHAN_MESSAGE_MAX)
		return false;
	return request->count && request->count <= BENCH_COUNT_MAX;
}
