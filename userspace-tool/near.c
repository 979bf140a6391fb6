// SPDX-License-Identifier: MIT
/*
 * near.c - the word that was meant, of those that there are
 */
#include "near.h"

/* No word of the tool has more letters. */
#define LETTERS_MAX	32

void near_begin(struct near *near, const char *word, size_t length)
{
	*near = (struct near){
		.word = word,
		.length = length,
		.distance = length / 3 + 1,
	};
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* How many letters are to be changed, left out, put in, or exchanged with the next one. */
static unsigned int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int rows[3][LETTERS_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2], *free_row;
	size_t i, j;

	for (j = 0; j <= b_length; j++)
		above[j] = j;
	for (i = 1; i <= a_length; i++) {
		row[0] = i;
		for (j = 1; j <= b_length; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		free_row = before;
		before = above;
		above = row;
		row = free_row;
	}
	return above[b_length];
}

void near_try(struct near *near, const char *candidate, size_t length)
{
	unsigned int far;

	if (near->length > LETTERS_MAX || length > LETTERS_MAX || !near->length)
		return;
	far = distance(near->word, near->length, candidate, length);
	if (far >= near->distance)
		return;
	near->distance = far;
	near->best = candidate;
	near->best_length = length;
}
