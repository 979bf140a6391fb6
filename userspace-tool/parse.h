/* SPDX-License-Identifier: MIT */
/*
 * parse.h - arguments of the command line, taken strictly
 *
 * Each function returns false when the text is not wholly what it should be; the
 * result is then unchanged.
 */
#ifndef PARSE_H
#define PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librdmachan.h>

/* Bytes of a host's name with its final zero; names have at most 255. */
#define PARSE_HOST_MAX	256

/**
 * struct target - HOST[:SERVICE]
 * @host: name or address, without brackets
 * @service: service
 */
struct target {
	char host[PARSE_HOST_MAX];
	uint32_t service;
};

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);
bool parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *number);
/* "-1" as well: its two's complement */
bool parse_operand(const char *text, uint64_t *number);
bool parse_service(const char *text, uint32_t *service);
/* "64k": bytes, with k, m and g for powers of 1024 */
bool parse_size(const char *text, uint64_t max, uint64_t *size);
/* "0.2", ".2", "2.": seconds as milliseconds; a part of one, and nothing else, counts as one */
bool parse_seconds(const char *text, uint32_t max_ms, uint32_t *ms);
/* "host:5000", "10.0.0.1:5000", "[fd00::1]:5000"; service 0: it is required */
bool parse_target(const char *text, uint32_t service, struct target *target);
/* "10.0.0.1", "fd00::1", "fe80::1%eth0": an address of a host, and no name */
bool parse_address(const char *text, struct rdmachan_addr *addr);
/* HOST or HOST:SERVICE; the service is 0 when none is named */
bool parse_peer(const char *text, struct target *target);
/* "1,64k,1m": returns how many, 0 when it is wrong or there are more than max */
size_t parse_sizes(const char *text, uint64_t max_size, uint64_t *sizes, size_t max);

/*
 * Options that all commands have which connect, for getopt_long(), and the function that takes
 * them: false when @option is another one or @value is not valid.
 */
#define PARSE_CONNECT_SHORT	"t:p:T:b:"
#define PARSE_CONNECT_LONG \
	{ "timeout", required_argument, NULL, 't' }, \
	{ "port", required_argument, NULL, 'p' }, \
	{ "traffic-class", required_argument, NULL, 'T' }, \
	{ "bind", required_argument, NULL, 'b' }

bool parse_connect(int option, const char *value, struct rdmachan_options *options);

#endif /* PARSE_H */
