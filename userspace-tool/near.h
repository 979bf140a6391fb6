/* SPDX-License-Identifier: MIT */
/*
 * near.h - the word that was meant, of those that there are
 */
#ifndef NEAR_H
#define NEAR_H

#include <stddef.h>

/**
 * struct near - what is looked for, and the nearest so far
 * @word: what was typed
 * @length: bytes of it
 * @best: the nearest candidate; NULL if none is near
 * @best_length: bytes of it
 * @distance: letters that are to be changed, left out, put in or exchanged for it
 */
struct near {
	const char *word;
	size_t length;
	const char *best;
	size_t best_length;
	unsigned int distance;
};

/* A third of the letters may differ. */
void near_begin(struct near *near, const char *word, size_t length);
void near_try(struct near *near, const char *candidate, size_t length);

#endif /* NEAR_H */
