/* SPDX-License-Identifier: MIT */
/*
 * filemsg.h - the messages of a file transfer
 *
 *	sender				receiver
 *	HEADER name, mode, size   ->
 *				  <-	VERDICT ready, or why not
 *	DATA ... DATA		  ->
 *				  <-	(VERDICT why not)
 *	TRAILER size, SHA-256	  ->
 *	   or ABORT why		  ->
 *				  <-	VERDICT stored, or why not
 *
 * and so on for the next file, until the sender shuts down. After "ready" there is exactly one
 * more verdict for each file. A receiver that finds in the midst of the data that it cannot store
 * the file says so at once, and drops what comes up to the TRAILER or ABORT. A sender that has
 * read that sends no more of it but the ABORT. So the connection goes on whatever becomes of one
 * file. A side that breaks these rules gets a verdict and is read from no more.
 *
 * The type of a message is in its message flags. Numbers are in network byte order. The receiver
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
#define FILEMSG_TRAILER_SIZE	(8 + FILEMSG_DIGEST_SIZE)
#define FILEMSG_RESULT_SIZE	8
/* Bytes of data in a message. */
#define FILEMSG_CHUNK		(256U << 10)
/* Bytes of an explanation of a result. */
#define FILEMSG_TEXT_MAX	192

enum filemsg_type {
	FILEMSG_HEADER = 1,
	FILEMSG_DATA = 2,
	FILEMSG_TRAILER = 3,
	FILEMSG_VERDICT = 4,
	FILEMSG_ABORT = 5,
};

/**
 * enum filemsg_verdict - what becomes of a file
 * @FILEMSG_STORED: it is stored
 * @FILEMSG_READY: its data may be sent; nothing is wrong up to now
 * @FILEMSG_BAD_NAME: the receiver does not store files of such names
 * @FILEMSG_EXISTS: there is a file of that name
 * @FILEMSG_NO_SPACE: the receiver has no room for it
 * @FILEMSG_IO_ERROR: the receiver cannot write it
 * @FILEMSG_CORRUPT: the checksum is that of other data
 * @FILEMSG_PROTOCOL: this is no conversation about files, or another version of it
 * @FILEMSG_UNREADABLE: the sender cannot read it
 * @FILEMSG_GREW: it had more bytes at its end than at its beginning
 * @FILEMSG_SHRANK: it had less
 * @FILEMSG_CHANGED: it was written to meanwhile
 * @FILEMSG_GIVEN_UP: answer to that of the other side
 */
enum filemsg_verdict {
	FILEMSG_STORED = 0,
	FILEMSG_READY = 1,
	FILEMSG_BAD_NAME = 2,
	FILEMSG_EXISTS = 3,
	FILEMSG_NO_SPACE = 4,
	FILEMSG_IO_ERROR = 5,
	FILEMSG_CORRUPT = 6,
	FILEMSG_PROTOCOL = 7,
	FILEMSG_UNREADABLE = 8,
	FILEMSG_GREW = 9,
	FILEMSG_SHRANK = 10,
	FILEMSG_CHANGED = 11,
	FILEMSG_GIVEN_UP = 12,
};

/**
 * struct filemsg_header - what a sender says of a file
 * @size: bytes
 * @mode: permission bits
 * @about: @size is a guess, as the file system does not tell: it is the trailer's that counts
 * @name: name without a directory
 */
struct filemsg_header {
	uint64_t size;
	uint16_t mode;
	bool about;
	char name[FILEMSG_NAME_MAX];
};

/**
 * struct filemsg_trailer - what was sent
 * @size: bytes
 * @digest: their SHA-256 sum
 */
struct filemsg_trailer {
	uint64_t size;
	uint8_t digest[FILEMSG_DIGEST_SIZE];
};

/**
 * struct filemsg_result - a verdict, and the errno that goes with it
 * @verdict: &enum filemsg_verdict
 * @error: errno of the side that has failed, 0 when there was none, below 0 when it is one that
 *	this side does not know
 */
struct filemsg_result {
	enum filemsg_verdict verdict;
	int error;
};

/* A name that may be stored: no directory, not hidden, nothing that text.h escapes. */
bool filemsg_name_valid(const char *name);
/* Returns the bytes used of @data. */
size_t filemsg_header_encode(const struct filemsg_header *header,
			     uint8_t data[FILEMSG_HEADER_MAX]);
/* Returns FILEMSG_READY, or its error; a bad name is there, as far as it fits. */
enum filemsg_verdict filemsg_header_decode(struct filemsg_header *header, const void *data,
					   size_t length);
void filemsg_trailer_encode(const struct filemsg_trailer *trailer,
			    uint8_t data[FILEMSG_TRAILER_SIZE]);
bool filemsg_trailer_decode(struct filemsg_trailer *trailer, const void *data, size_t length);
void filemsg_result_encode(const struct filemsg_result *result,
			   uint8_t data[FILEMSG_RESULT_SIZE]);
/* Anything else is FILEMSG_PROTOCOL. */
struct filemsg_result filemsg_result_decode(const void *data, size_t length);
/* "it could not be written: No space left on device" */
const char *filemsg_result_text(const struct filemsg_result *result, char text[FILEMSG_TEXT_MAX]);

#endif /* FILEMSG_H */
