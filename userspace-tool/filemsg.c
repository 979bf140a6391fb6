// SPDX-License-Identifier: MIT
/*
 * filemsg.c - the messages of a file transfer
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "filemsg.h"
#include "tool.h"

#define HEADER_MAGIC	0x52444d46U	/* "RDMF" */
#define HEADER_VERSION	1

/* A header as it travels; the name follows, without a final zero. */
struct wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t mode;
	uint64_t size;
	uint16_t name_length;
	uint16_t reserved;
} __attribute__((packed));

bool filemsg_name_valid(const char *name)
{
	const unsigned char *byte = (const unsigned char *)name;

	if (!*name || *name == '.' || strlen(name) >= FILEMSG_NAME_MAX)
		return false;
	for (; *byte; byte++) {
		if (*byte == '/' || *byte < 0x20 || *byte == 0x7f)
			return false;
	}
	return true;
}

size_t filemsg_header_encode(const struct filemsg_header *header,
			     uint8_t data[FILEMSG_HEADER_MAX])
{
	size_t length = strnlen(header->name, sizeof(header->name) - 1);
	const struct wire_header wire = {
		.magic = htobe32(HEADER_MAGIC),
		.version = htobe16(HEADER_VERSION),
		.mode = htobe16(header->mode & 0777),
		.size = htobe64(header->size),
		.name_length = htobe16(length),
	};

	memcpy(data, &wire, sizeof(wire));
	memcpy(data + sizeof(wire), header->name, length);
	return sizeof(wire) + length;
}

enum filemsg_verdict filemsg_header_decode(struct filemsg_header *header, const void *data,
					   size_t length)
{
	const char *name = (const char *)data + sizeof(struct wire_header);
	struct wire_header wire;
	size_t name_length;

	memset(header, 0, sizeof(*header));
	if (length < sizeof(wire))
		return FILEMSG_PROTOCOL;
	memcpy(&wire, data, sizeof(wire));
	if (be32toh(wire.magic) != HEADER_MAGIC || be16toh(wire.version) != HEADER_VERSION ||
	    wire.reserved)
		return FILEMSG_PROTOCOL;
	name_length = be16toh(wire.name_length);
	if (length - sizeof(wire) != name_length || be64toh(wire.size) > INT64_MAX)
		return FILEMSG_PROTOCOL;
	header->size = be64toh(wire.size);
	header->mode = be16toh(wire.mode) & 0777;
	if (name_length >= sizeof(header->name) || memchr(name, '\0', name_length))
		return FILEMSG_BAD_NAME;
	memcpy(header->name, name, name_length);
	if (!filemsg_name_valid(header->name)) {
		header->name[0] = '\0';
		return FILEMSG_BAD_NAME;
	}
	return FILEMSG_READY;
}

void filemsg_verdict_encode(enum filemsg_verdict verdict, uint8_t data[FILEMSG_VERDICT_SIZE])
{
	uint32_t wire = htobe32(verdict);

	memcpy(data, &wire, sizeof(wire));
}

enum filemsg_verdict filemsg_verdict_decode(const void *data, size_t length)
{
	uint32_t wire;

	if (length != sizeof(wire))
		return FILEMSG_PROTOCOL;
	memcpy(&wire, data, sizeof(wire));
	wire = be32toh(wire);
	return wire <= FILEMSG_PROTOCOL ? wire : FILEMSG_PROTOCOL;
}

const char *filemsg_verdict_text(enum filemsg_verdict verdict)
{
	static const char *const texts[] = {
		[FILEMSG_STORED] = "it is stored",
		[FILEMSG_READY] = "it may be sent",
		[FILEMSG_BAD_NAME] = "its name is not allowed there",
		[FILEMSG_EXISTS] = "a file of that name exists there already",
		[FILEMSG_NO_SPACE] = "there is no space left there",
		[FILEMSG_IO_ERROR] = "it could not be written there",
		[FILEMSG_CORRUPT] = "its checksum does not match what arrived",
		[FILEMSG_PROTOCOL] = "the two sides do not understand each other",
	};

	return texts[verdict];
}
