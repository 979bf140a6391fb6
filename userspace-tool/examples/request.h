/* SPDX-License-Identifier: MIT */
/*
 * request.h - what request_client.c and request_server.c agree upon
 *
 * A request is a word with a key and perhaps a value; its kind is in the 16 message
 * flags, which travel beside the message, so the message itself needs no header.
 */
#ifndef REQUEST_H
#define REQUEST_H

enum request_kind {
	REQUEST_SET = 1,	/* "key=value" */
	REQUEST_GET = 2,	/* "key" */
};

enum response_kind {
	RESPONSE_OK = 1,	/* the value, for GET */
	RESPONSE_UNKNOWN = 2,	/* no such key */
	RESPONSE_BAD = 3,	/* not a request */
};

/* Bytes of the largest request or response. */
#define REQUEST_MAX	4096

#endif /* REQUEST_H */
