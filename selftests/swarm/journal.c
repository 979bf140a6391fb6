// SPDX-License-Identifier: GPL-2.0
/*
 * journal.c - what a program of the swarm writes down, and the bytes of its messages
 *
 * A line is "MICROSECONDS WORD ARGUMENT...", by one write(): it is there whatever becomes of the
 * program afterwards.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

int64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void sleep_ns(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (ns > 0 && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void note(const char *format, ...)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "%lld ", (long long)clock_ns() / 1000);
	va_list list;

	va_start(list, format);
	len += vsnprintf(line + len, sizeof(line) - len - 1, format, list);
	va_end(list);
	line[len++] = '\n';
	if (write(STDOUT_FILENO, line, len) != len)
		_exit(3);
}

/* When it was recorded, by the clock of the journal; 0: it does not tell. */
static long long time_of(const struct rdmachan_error *record)
{
	struct timespec ts;

	if (!record->time_ns)
		return 0;
	clock_gettime(CLOCK_REALTIME, &ts);
	return clock_ns() - ((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec - record->time_ns);
}

/* @error: an errno */
void note_error(const char *what, int error, const struct rdmachan_error *record)
{
	note("%s errno=%d cause=%u detail=%llu op=%u wc=%u at=%lld", what, error, record->cause,
	     (unsigned long long)record->detail, record->op, record->wc_status,
	     time_of(record) / 1000);
}

/* The same with the record that the channel has. */
void note_query(const char *what, int error, int chan)
{
	struct rdmachan_error record = { 0 };

	if (rdmachan_query(chan, NULL, &record, NULL))
		memset(&record, 0, sizeof(record));
	note_error(what, error, &record);
}

/* Two numbers become one that looks like neither. */
uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void fill(void *data, size_t len, uint64_t seed)
{
	char *to = data;
	uint64_t word;
	size_t at;

	for (at = 0; at < len; at += sizeof(word)) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		word = seed ^ (seed >> 29);
		memcpy(to + at, &word, len - at < sizeof(word) ? len - at : sizeof(word));
	}
}

uint64_t sum_of(const void *data, size_t len)
{
	const char *from = data;
	uint64_t sum = 0xcbf29ce484222325u ^ len, word;
	size_t at;

	for (at = 0; at < len; at += sizeof(word)) {
		word = 0;
		memcpy(&word, from + at, len - at < sizeof(word) ? len - at : sizeof(word));
		sum = (sum ^ word) * 0x100000001b3u;
		sum ^= sum >> 32;
	}
	return sum;
}
