// SPDX-License-Identifier: MIT
/*
 * rights.c - the rights of a grant as words
 */
#include <stdio.h>
#include <string.h>

#include "rights.h"
#include "tool.h"

static const struct {
	uint32_t right;
	const char *name;
	bool given;
} rights_known[] = {
	{ RDMACHAN_RIGHT_READ, "read", true },
	{ RDMACHAN_RIGHT_WRITE, "write", true },
	{ RDMACHAN_RIGHT_ATOMIC, "atomic", true },
	{ RDMACHAN_RIGHT_BY_DEVICE, "by-device", false },
};

static uint32_t right_of(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rights_known); i++) {
		if (rights_known[i].given && strlen(rights_known[i].name) == length &&
		    !memcmp(rights_known[i].name, name, length))
			return rights_known[i].right;
	}
	return 0;
}

bool rights_parse(const char *text, uint32_t *rights)
{
	uint32_t result = 0;
	size_t length;
	uint32_t right;

	for (;;) {
		length = strcspn(text, ",");
		right = right_of(text, length);
		if (!right)
			return false;
		result |= right;
		if (!text[length])
			break;
		text += length + 1;
	}
	*rights = result;
	return true;
}

const char *rights_text(uint32_t rights, char text[RIGHTS_MAX])
{
	size_t length = 0;
	size_t i;

	snprintf(text, RIGHTS_MAX, "none");
	for (i = 0; i < ARRAY_SIZE(rights_known); i++) {
		if (rights & rights_known[i].right)
			length += snprintf(text + length, RIGHTS_MAX - length, "%s%s",
					   length ? "," : "", rights_known[i].name);
	}
	return text;
}
