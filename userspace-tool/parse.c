// SPDX-License-Identifier: MIT
/*
 * parse.c - arguments of the command line, taken strictly
 */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* Digits and nothing before them: no sign, no blanks. *@end is what follows. */
static bool parse_digits(const char *text, uint64_t *number, const char **end)
{
	unsigned long long value;
	char *rest;
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;

	if (!isdigit((unsigned char)text[0]))
		return false;
	if (base == 16 && !isxdigit((unsigned char)text[2]))
		return false;
	errno = 0;
	value = strtoull(text, &rest, base);
	if (errno)
		return false;
	*number = value;
	*end = rest;
	return true;
}

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	const char *end;
	uint64_t value;

	if (!parse_digits(text, &value, &end) || *end || value < min || value > max)
		return false;
	*number = value;
	return true;
}

bool parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *number)
{
	uint64_t value;

	if (!parse_number(text, min, max, &value))
		return false;
	*number = value;
	return true;
}

bool parse_operand(const char *text, uint64_t *number)
{
	uint64_t value;

	if (*text != '-')
		return parse_number(text, 0, UINT64_MAX, number);
	if (!parse_number(text + 1, 0, UINT64_C(1) << 63, &value))
		return false;
	*number = -value;
	return true;
}

bool parse_service(const char *text, uint32_t *service)
{
	return parse_u32(text, 1, RDMACHAN_SERVICE_MAX, service);
}

static bool suffix_shift(const char *suffix, unsigned int *shift)
{
	static const char letters[] = "kmg";
	const char *letter;

	*shift = 0;
	if (!*suffix)
		return true;
	letter = strchr(letters, tolower((unsigned char)*suffix));
	if (!letter || suffix[1])
		return false;
	*shift = 10 * (letter - letters + 1);
	return true;
}

bool parse_size(const char *text, uint64_t max, uint64_t *size)
{
	unsigned int shift;
	const char *end;
	uint64_t value;

	if (!parse_digits(text, &value, &end) || !suffix_shift(end, &shift))
		return false;
	if (value > max >> shift)
		return false;
	*size = value << shift;
	return true;
}

bool parse_seconds(const char *text, uint32_t max_ms, uint32_t *ms)
{
	uint32_t place = 100;
	bool digits = false;
	bool some = false;
	uint64_t value = 0;

	for (; isdigit((unsigned char)*text); text++) {
		digits = true;
		value = value * 10 + (*text - '0');
		if (value > UINT32_MAX / 1000)
			return false;
	}
	value *= 1000;
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			digits = true;
			some |= *text != '0';
			value += place * (*text - '0');
			place /= 10;
		}
	}
	if (!strcmp(text, "ms")) {
		some = value;
		value /= 1000;
	} else if (*text && strcmp(text, "s")) {
		return false;
	}
	if (!digits || value > max_ms)
		return false;
	/* 0 means "never" or "at once" to some; a short time is neither. */
	*ms = value || !some ? value : 1;
	return true;
}

static bool set_host(struct target *target, const char *host, size_t length)
{
	if (!length || length >= sizeof(target->host))
		return false;
	memcpy(target->host, host, length);
	target->host[length] = '\0';
	return true;
}

/* Where the host ends in @text; *@service is what follows its colon, or NULL. */
static bool split_target(const char *text, const char **host, size_t *length,
			 const char **service)
{
	const char *end;

	*host = text;
	*service = NULL;
	if (*text == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		*host = text + 1;
		*length = end - *host;
		if (end[1])
			*service = end + 2;
		return true;
	}
	end = strchr(text, ':');
	/* Two colons: an IPv6 address without brackets, hence without a service. */
	if (!end || strchr(end + 1, ':')) {
		*length = strlen(text);
		return true;
	}
	*length = end - text;
	*service = end + 1;
	return true;
}

bool parse_target(const char *text, uint32_t service, struct target *target)
{
	const char *host, *number;
	struct target result;
	size_t length;

	if (!split_target(text, &host, &length, &number))
		return false;
	result.service = service;
	if (number ? !parse_service(number, &result.service) : !service)
		return false;
	if (!set_host(&result, host, length))
		return false;
	*target = result;
	return true;
}

bool parse_address(const char *text, struct rdmachan_addr *addr)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct rdmachan_addr result;
	struct addrinfo *info;
	bool ok;

	if (getaddrinfo(text, NULL, &hints, &info))
		return false;
	ok = !rdmachan_addr_from_sockaddr(&result, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	if (ok)
		*addr = result;
	return ok;
}

bool parse_peer(const char *text, struct target *target)
{
	if (parse_target(text, 0, target))
		return true;
	if (!parse_target(text, RDMACHAN_SERVICE_MAX, target))
		return false;
	target->service = 0;
	return true;
}

bool parse_connect(int option, const char *value, struct rdmachan_options *options)
{
	switch (option) {
	case 't':
		return parse_seconds(value, 3600000, &options->timeout_ms) && options->timeout_ms;
	case 'p':
		return parse_u32(value, 1, 65535, &options->port);
	case 'T':
		if (!parse_u32(value, 0, 255, &options->traffic_class))
			return false;
		/* The other 0 would be the module's default. */
		if (!options->traffic_class)
			options->traffic_class = RDMACHAN_TRAFFIC_CLASS_0;
		return true;
	case 'b':
		return parse_address(value, &options->local);
	}
	return false;
}

size_t parse_sizes(const char *text, uint64_t max_size, uint64_t *sizes, size_t max)
{
	size_t count = 0;
	size_t length;
	char one[32];

	for (;;) {
		length = strcspn(text, ",");
		if (length >= sizeof(one) || count == max)
			return 0;
		memcpy(one, text, length);
		one[length] = '\0';
		if (!parse_size(one, max_size, &sizes[count]))
			return 0;
		count++;
		if (!text[length])
			return count;
		text += length + 1;
	}
}
