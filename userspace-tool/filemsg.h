/* SPDX-License-Identifier: MIT */
/*
 * filemsg.h - the messages of a file transfer
 *
 *	sender				receiver
 *	HEADER name, size, mode   ->
 *				  <-	VERDICT ready, or why not
 *	DATA ... DATA		  ->
 *	TRAILER SHA-256		  ->
 *				  <-	VERDICT stored, or why not
 *
 * and so on for the next file, until the sender shuts down. The type of a message
 * is in its message flags. Numbers are in network byte order. Whoever receives
 * trusts nothing in it.
 */
#ifndef FILEMSG_H
#define FILEMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a name with its final zero. */
#define FILEMSG_NAME_MAX	256
#define FILEMSG_HEADER_MAX	(20 + FILEMSG_NAME_MAX)
#define FILEMSG_DIGEST_SIZE	32
#define FILEMSG_VERDICT_SIZE	4
/* Bytes of data in a message. */
#define FILEMSG_CHUNK		(256U << 10)

enum filemsg_type {
	FILEMSG_HEADER = 1,
	FILEMSG_DATA = 2,
	FILEMSG_TRAILER = 3,
	FILEMSG_VERDICT = 4,
};

enum filemsg_verdict {
	FILEMSG_STORED = 0,
	FILEMSG_READY = 1,
	FILEMSG_BAD_NAME = 2,
	FILEMSG_EXISTS = 3,
	FILEMSG_NO_SPACE = 4,
	FILEMSG_IO_ERROR = 5,
	FILEMSG_CORRUPT = 6,
	FILEMSG_PROTOCOL = 7,
};

/**
 * struct filemsg_header - what a sender says of a file
 * @size: bytes
 * @mode: permission bits
 * @name: name without a directory
 */
struct filemsg_header {
	uint64_t size;
	uint16_t mode;
	char name[FILEMSG_NAME_MAX];
};

/* A name that may be stored: no directory, not hidden, nothing unprintable. */
bool filemsg_name_valid(const char *name);
/* Returns the bytes used of @data. */
size_t filemsg_header_encode(const struct filemsg_header *header,
			     uint8_t data[FILEMSG_HEADER_MAX]);
/* Returns FILEMSG_READY, or what is wrong with it. */
enum filemsg_verdict filemsg_header_decode(struct filemsg_header *header, const void *data,
					   size_t length);
void filemsg_verdict_encode(enum filemsg_verdict verdict, uint8_t data[FILEMSG_VERDICT_SIZE]);
enum filemsg_verdict filemsg_verdict_decode(const void *data, size_t length);
const char *filemsg_verdict_text(enum filemsg_verdict verdict);

#endif /* FILEMSG_H */
