// SPDX-License-Identifier: MIT
/*
 * parse_test.c - arguments are taken strictly
 */
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "parse.h"
#include "rights.h"
#include "tap.h"

static void service_is(const char *text, uint32_t wanted)
{
	uint32_t service = 0;

	ok(parse_service(text, &service) && service == wanted, "service \"%s\" is %u", text,
	   wanted);
}

static void service_is_wrong(const char *text)
{
	uint32_t service = 7;

	ok(!parse_service(text, &service) && service == 7, "service \"%s\" is refused", text);
}

static void test_services(void)
{
	static const char *const wrong[] = {
		"", "0", "-1", "+1", " 1", "1 ", "1x", "x", "0x", "4294967295", "4294967296",
		"99999999999999999999", "1.0", "1e3",
	};
	size_t i;

	service_is("1", 1);
	service_is("5000", 5000);
	service_is("0x1388", 5000);
	service_is("007", 7);
	service_is("4294967294", 4294967294U);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		service_is_wrong(wrong[i]);
}

static void target_is(const char *text, uint32_t preset, const char *host, uint32_t service)
{
	struct target target = { .host = "" };

	ok(parse_target(text, preset, &target) && is_text(target.host, host) &&
	   target.service == service, "target \"%s\" is %s, %u", text, host, service);
}

static void target_is_wrong(const char *text, uint32_t preset)
{
	struct target target;

	ok(!parse_target(text, preset, &target), "target \"%s\" is refused", text);
}

static void test_targets(void)
{
	char name[PARSE_HOST_MAX + 8];

	target_is("db1:5000", 0, "db1", 5000);
	target_is("10.0.0.1:5000", 0, "10.0.0.1", 5000);
	target_is("[fd00::1]:5000", 0, "fd00::1", 5000);
	target_is("[fe80::1%eth0]:5000", 0, "fe80::1%eth0", 5000);
	target_is("[fd00::1]", 7001, "fd00::1", 7001);
	target_is("fd00::1", 7001, "fd00::1", 7001);
	target_is("db1", 7001, "db1", 7001);
	target_is("db1:5", 7001, "db1", 5);
	target_is_wrong("", 7001);
	target_is_wrong("db1", 0);
	target_is_wrong(":5000", 0);
	target_is_wrong("[]:5000", 0);
	target_is_wrong("[fd00::1:5000", 0);
	target_is_wrong("[fd00::1]5000", 0);
	target_is_wrong("[fd00::1]:", 7001);
	target_is_wrong("db1:", 7001);
	target_is_wrong("db1:0", 7001);
	target_is_wrong("db1:http", 7001);
	target_is_wrong("fd00::1", 0);
	memset(name, 'a', sizeof(name));
	name[PARSE_HOST_MAX - 1] = '\0';
	target_is(name, 1, name, 1);
	name[PARSE_HOST_MAX - 1] = 'a';
	name[PARSE_HOST_MAX] = '\0';
	target_is_wrong(name, 1);
}

static void size_is(const char *text, uint64_t wanted)
{
	uint64_t size = 0;

	ok(parse_size(text, UINT64_MAX, &size) && size == wanted, "size \"%s\" is %llu", text,
	   (unsigned long long)wanted);
}

static void test_sizes(void)
{
	uint64_t sizes[3], size;

	size_is("0", 0);
	size_is("64", 64);
	size_is("4k", 4096);
	size_is("4K", 4096);
	size_is("1m", 1 << 20);
	size_is("1G", 1 << 30);
	ok(!parse_size("4kb", UINT64_MAX, &size), "size \"4kb\" is refused");
	ok(!parse_size("k", UINT64_MAX, &size), "size \"k\" is refused");
	ok(!parse_size("-1", UINT64_MAX, &size), "size \"-1\" is refused");
	ok(!parse_size("2g", 1 << 30, &size), "a size above the limit is refused");
	ok(!parse_size("18446744073709551615k", UINT64_MAX, &size), "no overflow by a suffix");
	ok(parse_sizes("1,64k,1m", UINT64_MAX, sizes, 3) == 3 && sizes[1] == 65536,
	   "a list of three sizes");
	ok(!parse_sizes("1,2,3,4", UINT64_MAX, sizes, 3), "a list that is too long is refused");
	ok(!parse_sizes("1,,2", UINT64_MAX, sizes, 3), "a gap in a list is refused");
	ok(!parse_sizes("1,", UINT64_MAX, sizes, 3), "a comma at the end is refused");
	ok(!parse_sizes("", UINT64_MAX, sizes, 3), "an empty list is refused");
}

static void test_seconds(void)
{
	static const char *const wrong[] = {
		"", ".", "..", "1..", ".1.", "1ss", "s", "ms", ".s", "1 s", "1m", "1S",
		"nan", "inf", "-1", "-.1", "+1", " 1", "1 ",
		"0x10", "1e1", "1,5", "10.001",
	};
	uint32_t ms = 0;
	size_t i;

	ok(parse_seconds("2", 10000, &ms) && ms == 2000, "2 s");
	ok(parse_seconds("0.25", 10000, &ms) && ms == 250, "0.25 s");
	ok(parse_seconds("1.0019", 10000, &ms) && ms == 1001, "1.0019 s");
	ok(!parse_seconds("11", 10000, &ms), "too long a time is refused");
	ok(parse_seconds("1.", 10000, &ms) && ms == 1000, "1. s");
	ok(parse_seconds(".5", 10000, &ms) && ms == 500, ".5 s");
	ok(parse_seconds("10.000", 10000, &ms) && ms == 10000, "10.000 s");
	ok(parse_seconds("0.0", 10000, &ms) && !ms, "0.0 s is nothing");
	ok(parse_seconds(".0001", 10000, &ms) && ms == 1, ".0001 s is not nothing");
	ok(parse_seconds("1s", 10000, &ms) && ms == 1000, "1s");
	ok(parse_seconds("0.5s", 10000, &ms) && ms == 500, "0.5s");
	ok(parse_seconds("250ms", 10000, &ms) && ms == 250, "250ms");
	ok(parse_seconds("1.5ms", 10000, &ms) && ms == 1, "1.5ms");
	ok(parse_seconds("0.2ms", 10000, &ms) && ms == 1, "0.2ms is not nothing");
	ok(parse_seconds("0ms", 10000, &ms) && !ms, "0ms is nothing");
	ok(!parse_seconds("10001ms", 10000, &ms), "too many ms are refused");
	ms = 2000;
	ok(parse_seconds("2.00001", 10000, &ms) && ms == 2000, "2.00001 s");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ms = 7;
		ok(!parse_seconds(wrong[i], 10000, &ms) && ms == 7, "\"%s\" s is refused",
		   wrong[i]);
	}
	ok(!parse_seconds("4294968", UINT32_MAX, &ms), "no overflow of milliseconds");
}

static void operand_is(const char *text, uint64_t wanted)
{
	uint64_t number = 5;

	ok(parse_operand(text, &number) && number == wanted, "operand \"%s\" is accepted", text);
}

static void test_operands(void)
{
	static const char *const wrong[] = {
		"", "-", "--1", "-9223372036854775809", "18446744073709551616", "1k", "+1",
	};
	uint64_t number = 5;
	size_t i;

	operand_is("0", 0);
	operand_is("18446744073709551615", UINT64_MAX);
	operand_is("-1", UINT64_MAX);
	operand_is("-0x10", UINT64_MAX - 15);
	operand_is("-9223372036854775808", UINT64_C(1) << 63);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!parse_operand(wrong[i], &number) && number == 5, "operand \"%s\" is refused",
		   wrong[i]);
}

static void test_rights(void)
{
	static const char *const wrong[] = {
		"", ",", "read,", ",read", "rea", "readwrite", "by-device",
	};
	char text[RIGHTS_MAX];
	uint32_t rights = 0;
	size_t i;

	ok(rights_parse("read", &rights) && rights == RDMACHAN_RIGHT_READ, "one right");
	ok(rights_parse("atomic,write,read", &rights) &&
	   is_text(rights_text(rights, text), "read,write,atomic"), "all rights");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!rights_parse(wrong[i], &rights), "rights \"%s\" are refused", wrong[i]);
	ok(is_text(rights_text(UINT32_MAX, text), "read,write,atomic,by-device"),
	   "the longest text fits");
	ok(is_text(rights_text(0, text), "none"), "no rights");
}

static void address_is(const char *text, uint16_t family, const char *wanted)
{
	struct rdmachan_addr addr;
	char back[RDMACHAN_ADDR_MAX] = "";

	memset(&addr, 0xee, sizeof(addr));
	ok(parse_address(text, &addr) && addr.family == family && !addr.port &&
	   is_text(rdmachan_addr_text(&addr, back, sizeof(back)), wanted),
	   "address \"%s\" is %s", text, back);
}

static void test_addresses(void)
{
	static const char *const wrong[] = {
		"", "localhost", "10.0.0.256", "10.0.0.1/24", "10.0.0.1:5000", "[::1]", "fe80::1%no",
		" 10.0.0.1",
	};
	struct rdmachan_addr addr = { .family = 77 };
	size_t i;

	address_is("10.0.0.1", AF_INET, "10.0.0.1");
	address_is("fd00::1", AF_INET6, "fd00::1");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!parse_address(wrong[i], &addr) && addr.family == 77,
		   "address \"%s\" is refused", wrong[i]);
}

int main(void)
{
	test_services();
	test_targets();
	test_sizes();
	test_seconds();
	test_operands();
	test_rights();
	test_addresses();
	return tap_end();
}
