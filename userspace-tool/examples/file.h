/* SPDX-License-Identifier: MIT */
/*
 * file.h - what file_client.c and file_server.c agree upon
 *
 * A request is the name of a file. Files are answered in the order in which they are asked for.
 * What an answer's message is, its 16 message flags tell.
 */
#ifndef FILE_H
#define FILE_H

enum file_answer {
	FILE_BEGINS = 1,	/* the file's bytes: how many, 8 bytes, the highest first */
	FILE_PART = 2,		/* the next of these, FILE_PART_MAX or fewer */
	FILE_ERROR = 3,		/* instead of all that: why not, a text */
};

#define FILE_NAME_MAX	255
#define FILE_ERROR_MAX	256
/* A multiple of all sizes of pages, and below the usual limit of locked memory. */
#define FILE_PART_MAX	2097152U
/* Files that a client may have asked for and not have got. */
#define FILE_ASKED_MAX	64

#endif /* FILE_H */
