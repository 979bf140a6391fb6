// SPDX-License-Identifier: MIT
/*
 * error_test.c - each call that can fail fills in the record it is given, and needs none
 *
 * Each call gets a number that is no open file descriptor, or a device that is not there.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#include "tap.h"

static struct rdmachan_error err;
static char text[RDMACHAN_EXPLAIN_MAX];

/* As it may be before a call. */
static struct rdmachan_error *dirty(void)
{
	memset(&err, 0xa5, sizeof(err));
	return &err;
}

/* Whether the record has the operation and the errno, and nothing else. */
static int recorded(long ret, int error, uint32_t op)
{
	const struct rdmachan_error wanted = { .size = sizeof(err), .op = op, .error = error };

	return ret == -1 && errno == error && !memcmp(&err, &wanted, sizeof(err));
}

#define refused(call, op) \
	ok(recorded(call, EBADF, op), "%.*s: the record", (int)strcspn(#call, "("), #call)

static int each(const struct rdmachan_object *object, void *arg)
{
	(void)object;
	(void)arg;
	return 0;
}

static void test_records(void)
{
	struct rdmachan_grant_range range = { .length = 1 };
	struct rdmachan_object objects[1];
	const struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { 1 } };
	struct rdmachan_info info;
	struct iovec iov = { text, 1 };
	uint32_t region;

	refused(rdmachan_get_info(-1, &info, NULL, 0, dirty()), RDMACHAN_OP_ASK);
	refused(rdmachan_list(-1, 0, 0, objects, 1, dirty()), RDMACHAN_OP_ASK);
	refused(rdmachan_list_each(-1, 0, each, NULL, dirty()), RDMACHAN_OP_ASK);
	refused(rdmachan_query(-1, NULL, NULL, dirty()), RDMACHAN_OP_ASK);
	refused(rdmachan_grant_query(-1, 1, RDMACHAN_QUERY_F_HELD, objects, dirty()),
		RDMACHAN_OP_ASK);
	refused(rdmachan_listen(-1, 1, NULL, dirty()), RDMACHAN_OP_LISTEN);
	refused(rdmachan_accept(-1, NULL, NULL, NULL, dirty()), RDMACHAN_OP_ACCEPT);
	refused(rdmachan_connect(-1, (const struct sockaddr *)&addr, sizeof(addr), 1, NULL,
				 dirty()),
		RDMACHAN_OP_CONNECT);
	refused(rdmachan_connect_host(-1, "127.0.0.1", 1, NULL, dirty()), RDMACHAN_OP_CONNECT);
	refused(rdmachan_connected(-1, dirty()), RDMACHAN_OP_CONNECT);
	refused(rdmachan_shutdown(-1, RDMACHAN_SHUTDOWN_SEND, dirty()), RDMACHAN_OP_SHUTDOWN);
	refused(rdmachan_finish(-1, 0, dirty()), RDMACHAN_OP_SEND);
	refused(rdmachan_busy_poll(-1, 0, dirty()), RDMACHAN_OP_NONE);
	refused(rdmachan_send(-1, "", 0, dirty()), RDMACHAN_OP_SEND);
	refused(rdmachan_recv(-1, text, 1, NULL, dirty()), RDMACHAN_OP_RECV);
	refused(rdmachan_region_register(-1, text, 1, 0, &region, dirty()), RDMACHAN_OP_REGISTER);
	refused(rdmachan_region_unregister(-1, 1, dirty()), RDMACHAN_OP_UNREGISTER);
	refused(rdmachan_region_take_back(-1, 1, dirty()), RDMACHAN_OP_UNREGISTER);
	refused(rdmachan_grant_lend(-1, -1, &range, dirty()), RDMACHAN_OP_GRANT);
	refused(rdmachan_grant_lend_many(-1, -1, &range, 1, &iov, 1, NULL, dirty()),
		RDMACHAN_OP_GRANT);
	refused(rdmachan_grant_release(-1, 1, dirty()), RDMACHAN_OP_ACCESS);
	refused(rdmachan_grant_revoke(-1, 1, 0, 0, dirty()), RDMACHAN_OP_GRANT);
	refused(rdmachan_grant_read(-1, 1, 0, text, 1, dirty()), RDMACHAN_OP_ACCESS);
	refused(rdmachan_grant_write(-1, 1, 0, text, 1, dirty()), RDMACHAN_OP_ACCESS);
	refused(rdmachan_grant_fetch_add(-1, 1, 0, 1, NULL, dirty()), RDMACHAN_OP_ACCESS);
	ok(!rdmachan_queue_open(-1, 4, 4, dirty()) && recorded(-1, EBADF, RDMACHAN_OP_QUEUE),
	   "rdmachan_queue_open: the record");
}

static void test_without(void)
{
	ok(rdmachan_list_each(-1, 0, each, NULL, NULL) < 0 && errno == EBADF &&
	   rdmachan_query(-1, NULL, NULL, NULL) < 0 && errno == EBADF &&
	   rdmachan_accept(-1, NULL, NULL, NULL, NULL) < 0 && errno == EBADF &&
	   rdmachan_region_take_back(-1, 1, NULL) < 0 && errno == EBADF &&
	   !rdmachan_queue_open(-1, 4, 4, NULL) && errno == EBADF, "no record, and errno");
	ok(rdmachan_query(-1, NULL, dirty(), &err) < 0 && recorded(-1, EBADF, RDMACHAN_OP_ASK),
	   "one record for both that query gives");
}

static void test_options(void)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;

	options.size = 1;
	ok(recorded(rdmachan_accept(-1, &options, NULL, NULL, dirty()), EINVAL,
		    RDMACHAN_OP_ACCEPT), "options that are none");
}

/* The first that a new user sees. */
static void test_open(void)
{
	int ctx = rdmachan_open(dirty());

	if (ctx >= 0) {
		ok(!close(ctx), "there is a device here");
		return;
	}
	rdmachan_explain(&err, text, sizeof(text));
	ok(recorded(ctx, ENOENT, RDMACHAN_OP_DEVICE), "no device: the record");
	ok(strstr(text, "/dev/rdmachan") && strstr(text, "not loaded") &&
	   strstr(text, "modprobe rdmachan") && !strstr(text, "connection"), "it is told so");
}

int main(void)
{
	test_records();
	test_without();
	test_options();
	test_open();
	return tap_end();
}
