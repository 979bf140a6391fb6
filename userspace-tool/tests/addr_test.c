// SPDX-License-Identifier: MIT
/*
 * addr_test.c - addresses, to and from those of sockets and as text
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>

#include <librdmachan.h>

#include "tap.h"

static void test_ipv4(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(7472) };
	char text[RDMACHAN_ADDR_MAX];
	struct sockaddr_storage back;
	struct rdmachan_addr addr;

	inet_pton(AF_INET, "10.0.0.1", &sin.sin_addr);
	ok(!rdmachan_addr_from_sockaddr(&addr, (struct sockaddr *)&sin, sizeof(sin)) &&
	   addr.family == AF_INET && addr.port == htons(7472) && addr.addr[0] == 10 &&
	   !addr.addr[4], "from IPv4");
	ok(is_text(rdmachan_addr_text(&addr, text, sizeof(text)), "10.0.0.1"), "as text");
	ok(rdmachan_addr_to_sockaddr(&addr, &back) == sizeof(sin) &&
	   !memcmp(&back, &sin, sizeof(sin)), "and back");
	ok(rdmachan_addr_from_sockaddr(&addr, (struct sockaddr *)&sin, 4) < 0 && errno == EINVAL,
	   "a short one is refused");
}

static void test_ipv6(void)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_scope_id = 1 };
	char name[IF_NAMESIZE] = "1";
	char text[RDMACHAN_ADDR_MAX], wanted[RDMACHAN_ADDR_MAX];
	struct sockaddr_storage back;
	struct rdmachan_addr addr;

	inet_pton(AF_INET6, "fe80::1", &sin6.sin6_addr);
	if_indextoname(1, name);
	snprintf(wanted, sizeof(wanted), "fe80::1%%%s", name);
	ok(!rdmachan_addr_from_sockaddr(&addr, (struct sockaddr *)&sin6, sizeof(sin6)) &&
	   addr.family == AF_INET6 && addr.scope_id == 1 && addr.addr[15] == 1, "from IPv6");
	ok(is_text(rdmachan_addr_text(&addr, text, sizeof(text)), wanted), "as text");
	ok(rdmachan_addr_to_sockaddr(&addr, &back) == sizeof(sin6) &&
	   !memcmp(&back, &sin6, sizeof(sin6)), "and back");
	ok(!memcmp(&addr, &sin6, sizeof(sin6)), "in the layout of struct sockaddr_in6");
}

static void test_others(void)
{
	struct sockaddr sa = { .sa_family = AF_UNIX };
	struct rdmachan_addr addr = { .family = 0 };
	char text[RDMACHAN_ADDR_MAX];
	struct sockaddr_storage back;

	ok(is_text(rdmachan_addr_text(&addr, text, sizeof(text)), "unknown"), "unknown as text");
	ok(!rdmachan_addr_to_sockaddr(&addr, &back), "unknown as a socket's");
	ok(rdmachan_addr_from_sockaddr(&addr, &sa, sizeof(sa)) < 0 && errno == EAFNOSUPPORT,
	   "another family is refused");
	ok(rdmachan_addr_from_sockaddr(&addr, &sa, 0) < 0 && errno == EINVAL,
	   "none at all is refused");
}

int main(void)
{
	test_ipv4();
	test_ipv6();
	test_others();
	return tap_end();
}
