// SPDX-License-Identifier: MIT
/*
 * filemsg_test.c - the messages of a file transfer, from senders good and bad
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "filemsg.h"
#include "tap.h"

static void test_names(void)
{
	static const char *const good[] = {
		"a", "report.pdf", "x..y", "gr\303\274n", "a b", "~", "e\314\201",
		"\346\227\245\346\234\254", "\360\237\230\200",
	};
	static const char *const bad[] = {
		"", ".", "..", ".profile", "/etc/passwd", "a/b", "../a", "a/", "a\nb", "a\033[2J",
		"a\177", "a\302\2332J", "a\302\200", "a\2332J", "a\377", "a\303", "\300\257",
		"a\342\200\256fdp.exe", "a\342\200\213", "a\342\201\246b", "a\357\273\277",
		"a\342\200\250b", "a\355\240\200", "a\363\240\201\201",
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
	ok(length == 30 && !memcmp(data, "RDMF\0\2", 6), "a header has 20 bytes and the name");
	ok(filemsg_header_decode(&header, data, length) == FILEMSG_READY &&
	   header.size == 0x123456789aULL && is_text(header.name, "report.pdf"),
	   "what was encoded is decoded");
	ok(header.mode == 0755 && !header.about, "without the set-user-id bit");
	data[19] = 1;
	ok(filemsg_header_decode(&header, data, length) == FILEMSG_READY && header.about,
	   "the size may be a guess");
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
	data[19] = 2;
	verdict_is(data, length, FILEMSG_PROTOCOL, "an unknown flag is refused");
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

static void test_bad_name_kept(void)
{
	uint8_t data[FILEMSG_HEADER_MAX];
	struct filemsg_header header;
	size_t length;

	length = encode(data, "a\302\2332J", 1, 0644);
	ok(filemsg_header_decode(&header, data, length) == FILEMSG_BAD_NAME &&
	   is_text(header.name, "a\302\2332J"), "a bad name is there to be told of");
}

static void test_trailer(void)
{
	struct filemsg_trailer trailer = { .size = 0x123456789aULL }, got;
	uint8_t data[FILEMSG_TRAILER_SIZE + 1] = { 0 };
	size_t length;
	bool all = true;

	memset(trailer.digest, 7, sizeof(trailer.digest));
	filemsg_trailer_encode(&trailer, data);
	ok(filemsg_trailer_decode(&got, data, FILEMSG_TRAILER_SIZE) && got.size == trailer.size &&
	   !memcmp(got.digest, trailer.digest, sizeof(got.digest)), "a trailer is decoded");
	for (length = 0; length <= sizeof(data); length++) {
		if (length != FILEMSG_TRAILER_SIZE)
			all = all && !filemsg_trailer_decode(&got, data, length);
	}
	ok(all, "of another length it is none");
}

static void result_is(enum filemsg_verdict verdict, int error, const char *wanted)
{
	const struct filemsg_result result = { .verdict = verdict, .error = error };
	uint8_t data[FILEMSG_RESULT_SIZE];
	char text[FILEMSG_TEXT_MAX];
	struct filemsg_result got;

	filemsg_result_encode(&result, data);
	got = filemsg_result_decode(data, sizeof(data));
	ok(got.verdict == verdict && is_text(filemsg_result_text(&got, text), wanted), "%s",
	   wanted);
}

static void test_results(void)
{
	uint8_t data[FILEMSG_RESULT_SIZE + 1] = { 0 };
	struct filemsg_result result = { 0 };
	char text[FILEMSG_TEXT_MAX];
	size_t length;
	bool all = true;
	int error;

	for (; result.verdict <= FILEMSG_GIVEN_UP; result.verdict++) {
		filemsg_result_encode(&result, data);
		ok(filemsg_result_decode(data, FILEMSG_RESULT_SIZE).verdict == result.verdict &&
		   filemsg_result_text(&result, text)[0], "verdict %u: %s", result.verdict, text);
	}
	result_is(FILEMSG_IO_ERROR, EROFS, "it could not be written: Read-only file system");
	result_is(FILEMSG_IO_ERROR, EFBIG, "it could not be written: File too large");
	result_is(FILEMSG_NO_SPACE, ENOSPC, "there is no space left: No space left on device");
	result_is(FILEMSG_UNREADABLE, EIO, "it could not be read: Input/output error");
	result_is(FILEMSG_IO_ERROR, ELIBBAD,
		  "it could not be written: an error that is not known here");
	result_is(FILEMSG_EXISTS, EEXIST, "a file of that name exists already");
	result_is(FILEMSG_GREW, 0, "it grew while it was sent");
	result.verdict = FILEMSG_IO_ERROR;
	for (error = -1; error < 4096 && all; error++) {
		result.error = error;
		filemsg_result_encode(&result, data);
		result = filemsg_result_decode(data, FILEMSG_RESULT_SIZE);
		all = result.verdict == FILEMSG_IO_ERROR &&
		      (result.error == error || result.error == -1);
	}
	ok(all, "an errno arrives as what it was, or as an unknown one");
	memset(data, 0xff, sizeof(data));
	ok(filemsg_result_decode(data, FILEMSG_RESULT_SIZE).verdict == FILEMSG_PROTOCOL,
	   "an unknown verdict is a fault");
	memset(data, 0, sizeof(data));
	for (length = 0; length <= sizeof(data); length++) {
		if (length != FILEMSG_RESULT_SIZE)
			all = all && filemsg_result_decode(data, length).verdict ==
				     FILEMSG_PROTOCOL;
	}
	ok(all, "a verdict of another length is a fault");
	srandom(2);
	for (error = 0; error < 100000; error++) {
		for (length = 0; length < FILEMSG_RESULT_SIZE; length++)
			data[length] = random() % 4 ? 0 : random();
		result = filemsg_result_decode(data, FILEMSG_RESULT_SIZE);
		all = all && strlen(filemsg_result_text(&result, text)) < FILEMSG_TEXT_MAX &&
		      text[0];
	}
	ok(all, "noise is a verdict with a text, or a fault");
}

int main(void)
{
	test_names();
	test_header();
	test_malformed();
	test_noise();
	test_bad_name_kept();
	test_trailer();
	test_results();
	return tap_end();
}
