/* SPDX-License-Identifier: MIT */
/*
 * rights.h - the rights of a grant as words
 */
#ifndef RIGHTS_H
#define RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* "read,write,atomic,by-device" and its final zero fit. */
#define RIGHTS_MAX	32

/* "read,atomic"; false when it is not wholly that, or empty. */
bool rights_parse(const char *text, uint32_t *rights);
/* The same with "by-device"; "none". */
const char *rights_text(uint32_t rights, char text[RIGHTS_MAX]);

#endif /* RIGHTS_H */
