// SPDX-License-Identifier: MIT
/*
 * filemsg_test.c - the messages of a file transfer, from senders good and bad
 */
#include <stdint.h>
#include <stdlib.h>

#include "filemsg.h"
#include "tap.h"

static void test_names(void)
{
	static const char *const good[] = { "a", "report.pdf", "x..y", "gr\303\274n", "a b", "~" };
	static const char *const bad[] = {
		"", ".", "..", ".profile", "/etc/passwd", "a/b", "../a", "a/", "a\nb", "a\033[2J",
		"a\177",
	};
	char name[FILEMSG_NAME_MAX + 1];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(filemsg_name_valid(good[i]), "the name \"%s\" is allowed", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!filemsg_name_valid(bad[i]), "bad name %zu is not", i);
	memset(name, 'a', sizeof(name));
	name[FILEMSG_NAME_MAX - 1] = '\0';
	ok(filemsg_name_valid(name), "a name of 255 bytes is allowed");
	name[FILEMSG_NAME_MAX - 1] = 'a';
	name[FILEMSG_NAME_MAX] = '\0';
	ok(!filemsg_name_valid(name), "a longer one is not");
}

static size_t encode(uint8_t *data, const char *name, uint64_t size, uint16_t mode)
{
	struct filemsg_header header = { .size = size, .mode = mode };

	memcpy(header.name, name, strlen(name));
	return filemsg_header_encode(&header, data);
}

static void test_header(void)
{
	uint8_t data[FILEMSG_HEADER_MAX];
	struct filemsg_header header;
	size_t length;

	length = encode(data, "report.pdf", 0x123456789aULL, 04755);
	ok(length == 30 && !memcmp(data, "RDMF\0\1", 6), "a header has 20 bytes and the name");
	ok(filemsg_header_decode(&header, data, length) == FILEMSG_READY &&
	   header.size == 0x123456789aULL && is_text(header.name, "report.pdf"),
	   "what was encoded is decoded");
	ok(header.mode == 0755, "without the set-user-id bit");
}

static void verdict_is(const uint8_t *data, size_t length, enum filemsg_verdict wanted,
		       const char *what)
{
	/* A buffer of exactly that size, for the sanitizers. */
	uint8_t *copy = malloc(length ? length : 1);
	struct filemsg_header header;

	memcpy(copy, data, length);
	ok(filemsg_header_decode(&header, copy, length) == wanted, "%s", what);
	free(copy);
}

static void test_malformed(void)
{
	uint8_t data[FILEMSG_HEADER_MAX + 256];
	size_t length, i;
	bool all = true;

	length = encode(data, "report.pdf", 1, 0644);
	for (i = 0; i < length && all; i++) {
		struct filemsg_header header;
		uint8_t *copy = malloc(i ? i : 1);

		memcpy(copy, data, i);
		all = filemsg_header_decode(&header, copy, i) == FILEMSG_PROTOCOL;
		free(copy);
	}
	ok(all, "a header that is cut anywhere is refused");
	data[length] = 'x';
	verdict_is(data, length + 1, FILEMSG_PROTOCOL, "a byte after the name is refused");
	data[3] ^= 1;
	verdict_is(data, length, FILEMSG_PROTOCOL, "another magic number is refused");
	data[3] ^= 1;
	data[5]++;
	verdict_is(data, length, FILEMSG_PROTOCOL, "another version is refused");
	data[5]--;
	data[19] = 1;
	verdict_is(data, length, FILEMSG_PROTOCOL, "a reserved member is refused");
	data[19] = 0;
	data[8] = 0x80;
	verdict_is(data, length, FILEMSG_PROTOCOL, "a size beyond 63 bits is refused");
	data[8] = 0;
	data[24] = '\0';
	verdict_is(data, length, FILEMSG_BAD_NAME, "a zero in the name is refused");
	data[24] = '/';
	verdict_is(data, length, FILEMSG_BAD_NAME, "a slash in the name is refused");
	length = encode(data, "", 1, 0644);
	verdict_is(data, length, FILEMSG_BAD_NAME, "an empty name is refused");
	memset(data + 20, 'a', 256);
	data[16] = 1;
	data[17] = 0;
	verdict_is(data, 20 + 256, FILEMSG_BAD_NAME, "a name that is too long is refused");
	data[16] = data[17] = 0xff;
	verdict_is(data, 20 + 256, FILEMSG_PROTOCOL, "a length that is not true is refused");
}

/* Nothing that can arrive makes the decoder read or write where it must not. */
static void test_noise(void)
{
	struct filemsg_header header;
	unsigned int ready = 0;
	uint8_t data[FILEMSG_HEADER_MAX];
	size_t length, j;
	int i;

	srandom(1);
	for (i = 0; i < 200000; i++) {
		length = encode(data, "name", 5, 0600);
		for (j = random() % 4; j; j--)
			data[random() % length] = random();
		length = random() % 4 ? length : (size_t)random() % 64;
		if (filemsg_header_decode(&header, data, length) == FILEMSG_READY) {
			ready++;
			if (!filemsg_name_valid(header.name))
				break;
		}
	}
	ok(i == 200000 && ready, "noise is refused or harmless (%u of %d accepted)", ready, i);
}

static void test_verdicts(void)
{
	uint8_t data[FILEMSG_VERDICT_SIZE + 1] = { 0 };
	enum filemsg_verdict verdict;

	for (verdict = FILEMSG_STORED; verdict <= FILEMSG_PROTOCOL; verdict++) {
		filemsg_verdict_encode(verdict, data);
		ok(filemsg_verdict_decode(data, FILEMSG_VERDICT_SIZE) == verdict &&
		   filemsg_verdict_text(verdict)[0], "verdict %u: %s", verdict,
		   filemsg_verdict_text(verdict));
	}
	data[0] = 0xff;
	ok(filemsg_verdict_decode(data, FILEMSG_VERDICT_SIZE) == FILEMSG_PROTOCOL,
	   "an unknown verdict is a fault");
	ok(filemsg_verdict_decode(data, 3) == FILEMSG_PROTOCOL, "a short verdict is a fault");
	ok(filemsg_verdict_decode(data, 5) == FILEMSG_PROTOCOL, "a long verdict is a fault");
}

int main(void)
{
	test_names();
	test_header();
	test_malformed();
	test_noise();
	test_verdicts();
	return tap_end();
}
