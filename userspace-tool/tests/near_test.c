// SPDX-License-Identifier: MIT
/*
 * near_test.c - the word that was meant
 */
#include <string.h>

#include "near.h"
#include "tap.h"

static const char *const words[] = { "count", "interval", "size", "wait", "timeout", "port", "to" };

static bool meant(const char *word, const char *wanted)
{
	struct near near;
	size_t i;

	near_begin(&near, word, strlen(word));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		near_try(&near, words[i], strlen(words[i]));
	if (!wanted || !near.best)
		return !wanted && !near.best;
	return near.best_length == strlen(wanted) && !memcmp(near.best, wanted, near.best_length);
}

int main(void)
{
	char longer[200];

	ok(meant("tiemout", "timeout"), "two letters exchanged");
	ok(meant("cont", "count"), "one left out");
	ok(meant("countt", "count"), "one put in");
	ok(meant("xount", "count"), "one changed");
	ok(meant("intrvl", "interval"), "two left out of six");
	ok(meant("inrvl", NULL), "three left out are too many");
	ok(meant("port", "port"), "the same");
	ok(meant("part", "port"), "the nearer of two");
	ok(meant("ot", NULL), "a word too short");
	ok(meant("", NULL), "no word");
	ok(meant("x", NULL), "one letter");
	memset(longer, 't', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ok(meant(longer, NULL), "a word too long");
	return tap_end();
}
