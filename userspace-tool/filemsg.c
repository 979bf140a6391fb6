// SPDX-License-Identifier: MIT
/*
 * filemsg.c - the messages of a file transfer
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "filemsg.h"
#include "text.h"
#include "tool.h"

#define HEADER_MAGIC	0x52444d46U	/* "RDMF" */
#define HEADER_VERSION	2
#define HEADER_ABOUT	1

/* A header as it travels; the name follows, without a final zero. */
struct wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t mode;
	uint64_t size;
	uint16_t name_length;
	uint16_t flags;
} __attribute__((packed));

/* A trailer as it travels. */
struct wire_trailer {
	uint64_t size;
	uint8_t digest[FILEMSG_DIGEST_SIZE];
} __attribute__((packed));

/* A verdict or the reason of an ABORT as it travels. */
struct wire_result {
	uint32_t verdict;
	uint32_t error;
} __attribute__((packed));

_Static_assert(sizeof(struct wire_trailer) == FILEMSG_TRAILER_SIZE, "a trailer has no holes");
_Static_assert(sizeof(struct wire_result) == FILEMSG_RESULT_SIZE, "a result has no holes");

/* Errnos travel with the numbers that most machines give them. Others have no number here. */
static const struct {
	uint32_t number;
	int error;
} errors[] = {
	{ 1, EPERM }, { 2, ENOENT }, { 4, EINTR }, { 5, EIO }, { 6, ENXIO }, { 11, EAGAIN },
	{ 12, ENOMEM }, { 13, EACCES }, { 16, EBUSY }, { 17, EEXIST }, { 18, EXDEV },
	{ 19, ENODEV }, { 20, ENOTDIR }, { 21, EISDIR }, { 22, EINVAL }, { 23, ENFILE },
	{ 24, EMFILE }, { 26, ETXTBSY }, { 27, EFBIG }, { 28, ENOSPC }, { 30, EROFS },
	{ 31, EMLINK }, { 36, ENAMETOOLONG }, { 39, ENOTEMPTY }, { 40, ELOOP },
	{ 61, ENODATA }, { 71, EPROTO }, { 74, EBADMSG }, { 75, EOVERFLOW }, { 84, EILSEQ },
	{ 95, EOPNOTSUPP }, { 107, ENOTCONN }, { 110, ETIMEDOUT }, { 112, EHOSTDOWN },
	{ 116, ESTALE }, { 117, EUCLEAN }, { 121, EREMOTEIO }, { 122, EDQUOT },
	{ 123, ENOMEDIUM }, { 126, ENOKEY }, { 133, EHWPOISON },
};

bool filemsg_name_valid(const char *name)
{
	return *name && *name != '.' && strlen(name) < FILEMSG_NAME_MAX && !strchr(name, '/') &&
	       text_plain(name);
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
		.flags = htobe16(header->about ? HEADER_ABOUT : 0),
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
	    be16toh(wire.flags) & ~HEADER_ABOUT)
		return FILEMSG_PROTOCOL;
	name_length = be16toh(wire.name_length);
	if (length - sizeof(wire) != name_length || be64toh(wire.size) > INT64_MAX)
		return FILEMSG_PROTOCOL;
	header->size = be64toh(wire.size);
	header->mode = be16toh(wire.mode) & 0777;
	header->about = wire.flags;
	memcpy(header->name, name, name_length < sizeof(header->name) ? name_length :
				   sizeof(header->name) - 1);
	if (strlen(header->name) != name_length || !filemsg_name_valid(header->name))
		return FILEMSG_BAD_NAME;
	return FILEMSG_READY;
}

void filemsg_trailer_encode(const struct filemsg_trailer *trailer,
			    uint8_t data[FILEMSG_TRAILER_SIZE])
{
	struct wire_trailer wire = { .size = htobe64(trailer->size) };

	memcpy(wire.digest, trailer->digest, sizeof(wire.digest));
	memcpy(data, &wire, sizeof(wire));
}

bool filemsg_trailer_decode(struct filemsg_trailer *trailer, const void *data, size_t length)
{
	struct wire_trailer wire;

	if (length != sizeof(wire))
		return false;
	memcpy(&wire, data, sizeof(wire));
	trailer->size = be64toh(wire.size);
	memcpy(trailer->digest, wire.digest, sizeof(trailer->digest));
	return true;
}

/* One that has no number travels as the largest. */
static uint32_t error_number(int error)
{
	size_t i;

	if (!error)
		return 0;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].error == error)
			return errors[i].number;
	}
	return UINT32_MAX;
}

static int error_of(uint32_t number)
{
	size_t i;

	if (!number)
		return 0;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		if (errors[i].number == number)
			return errors[i].error;
	}
	return -1;
}

void filemsg_result_encode(const struct filemsg_result *result,
			   uint8_t data[FILEMSG_RESULT_SIZE])
{
	const struct wire_result wire = {
		.verdict = htobe32(result->verdict),
		.error = htobe32(error_number(result->error)),
	};

	memcpy(data, &wire, sizeof(wire));
}

struct filemsg_result filemsg_result_decode(const void *data, size_t length)
{
	struct filemsg_result result = { .verdict = FILEMSG_PROTOCOL };
	struct wire_result wire;

	if (length != sizeof(wire))
		return result;
	memcpy(&wire, data, sizeof(wire));
	if (be32toh(wire.verdict) > FILEMSG_GIVEN_UP)
		return result;
	result.verdict = be32toh(wire.verdict);
	result.error = error_of(be32toh(wire.error));
	return result;
}

const char *filemsg_result_text(const struct filemsg_result *result, char text[FILEMSG_TEXT_MAX])
{
	static const char *const texts[] = {
		[FILEMSG_STORED] = "it is stored",
		[FILEMSG_READY] = "it may be sent",
		[FILEMSG_BAD_NAME] = "its name is not allowed",
		[FILEMSG_EXISTS] = "a file of that name exists already",
		[FILEMSG_NO_SPACE] = "there is no space left",
		[FILEMSG_IO_ERROR] = "it could not be written",
		[FILEMSG_CORRUPT] = "its checksum does not match what arrived",
		[FILEMSG_PROTOCOL] =
			"the two sides do not understand each other; are both of one version?",
		[FILEMSG_UNREADABLE] = "it could not be read",
		[FILEMSG_GREW] = "it grew while it was sent",
		[FILEMSG_SHRANK] = "it became shorter while it was sent",
		[FILEMSG_CHANGED] = "it was changed while it was sent",
		[FILEMSG_GIVEN_UP] = "it was given up",
	};
	const char *error = "an error that is not known here";

	if (result->error > 0)
		error = strerror(result->error);
	if (result->error && result->verdict != FILEMSG_EXISTS)
		snprintf(text, FILEMSG_TEXT_MAX, "%s: %s", texts[result->verdict], error);
	else
		snprintf(text, FILEMSG_TEXT_MAX, "%s", texts[result->verdict]);
	return text;
}
