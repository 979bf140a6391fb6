// SPDX-License-Identifier: MIT
/*
 * grant_test.c - grants as the library hands them out, with the fake device
 */
#include <errno.h>
#include <stdint.h>

#include <librdmachan.h>

#include "preload.h"
#include "tap.h"

#define EVENT	sizeof(struct rdmachan_grant_event)

static int ctx, owner, holder;
static uint64_t memory[512], buffer[512];
static uint32_t region;
static struct rdmachan_error err;
static struct rdmachan_events events;

static void test_begin(void)
{
	struct sockaddr_storage sa = { .ss_family = AF_INET };
	int listener;

	ctx = rdmachan_open(NULL);
	listener = rdmachan_listen(ctx, 7100, NULL, NULL);
	holder = rdmachan_connect(ctx, (struct sockaddr *)&sa, sizeof(sa), 7100, NULL, NULL);
	owner = rdmachan_accept(listener, NULL, NULL, NULL, NULL);
	ok(owner >= 0 && holder >= 0, "two ends of a channel");
	ok(!rdmachan_region_register(ctx, memory, sizeof(memory), 0, &region, &err) && region,
	   "a region");
}

static struct rdmachan_grant_range range_of(uint64_t offset, uint64_t length, uint32_t rights)
{
	return (struct rdmachan_grant_range){
		.region = region, .offset = offset, .length = length, .rights = rights,
	};
}

static void test_message_with_grants(void)
{
	struct rdmachan_grant_range ranges[3] = {
		range_of(0, 8, RDMACHAN_RIGHT_READ), range_of(8, 16, RDMACHAN_RIGHT_WRITE),
		range_of(24, 100, RDMACHAN_RIGHT_READ),
	};
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	const struct iovec iov = { (void *)"hello", 5 };
	char text[16];

	transfer.msg_flags = 77;
	ranges[1].cookie = UINT64_MAX;
	ok(!rdmachan_grant_lend_many(owner, ctx, ranges, 3, &iov, 1, &transfer, &err),
	   "three grants and a message");
	ok(rdmachan_recv(holder, text, sizeof(text), NULL, &err) < 0 && errno == ENOMSG,
	   "who does not know of grants gets ENOMSG");
	transfer.msg_flags = 0;
	ok(rdmachan_recv_events(holder, buffer, 3 * EVENT + 4, &transfer, &events, &err) < 0 &&
	   errno == EMSGSIZE && transfer.length == 3 * EVENT + 5 && !events.count,
	   "who has no room is told how much it takes");
	ok(rdmachan_recv_events(holder, (char *)buffer + 4, sizeof(buffer) - 4, NULL, &events,
				&err) < 0 && errno == EINVAL && err.error == EINVAL,
	   "a buffer that is not aligned");
	ok(rdmachan_recv_events(holder, buffer, 3 * EVENT + 5, &transfer, &events, &err) == 1 &&
	   events.count == 3 && transfer.msg_flags == 77, "the events");
	ok(events.events[1].what == RDMACHAN_GRANT_GIVEN && events.events[1].length == 16 &&
	   events.events[1].grant == ranges[1].out_grant &&
	   events.events[1].cookie == UINT64_MAX, "with what was lent");
	ok(events.length == 5 && !memcmp(events.message, "hello", 5), "and the message apart");
}

/* As the completion of a RECV into the buffer tells it. */
static int by_queue(uint32_t flags, void *where, int64_t length)
{
	const struct rdmachan_cqe cqe = { .res = length, .flags = flags };

	return rdmachan_cqe_events(&cqe, where, &events);
}

static void test_events_by_queue(void)
{
	struct rdmachan_grant_event *first = (void *)buffer;

	memset(buffer, 0, sizeof(buffer));
	first->count = 2;
	ok(!by_queue(RDMACHAN_CQE_F_GRANTS, buffer, 2 * EVENT + 5) && events.count == 2 &&
	   events.events == first && events.message == first + 2 && events.length == 5,
	   "events that a queue has received");
	ok(!by_queue(RDMACHAN_CQE_F_GRANTS | RDMACHAN_CQE_F_MORE, buffer, 2 * EVENT) &&
	   events.count == 2 && !events.length, "and no message");
	ok(!by_queue(0, buffer, 5) && !events.count && events.message == buffer &&
	   events.length == 5, "an ordinary message has none, whatever is in it");
	ok(!by_queue(0, (char *)buffer + 1, 5) && events.length == 5, "nor must it be aligned");
	ok(!by_queue(RDMACHAN_CQE_F_EOF, buffer, 0) && !events.count && !events.length,
	   "nor has the end");
	ok(by_queue(RDMACHAN_CQE_F_GRANTS, (char *)buffer + 4, 3 * EVENT) < 0 &&
	   errno == EINVAL && !events.count, "events that are not aligned");
	ok(by_queue(RDMACHAN_CQE_F_GRANTS, buffer, 2 * EVENT - 1) < 0 && errno == EPROTO &&
	   by_queue(RDMACHAN_CQE_F_GRANTS, buffer, EVENT - 1) < 0 && errno == EPROTO,
	   "events that are cut");
	first->count = 0;
	ok(by_queue(RDMACHAN_CQE_F_GRANTS, buffer, 2 * EVENT) < 0 && errno == EPROTO &&
	   !events.count, "a buffer without them");
}

static void test_ordinary_message(void)
{
	ok(!rdmachan_send(owner, "plain", 5, &err) &&
	   rdmachan_recv_events(holder, buffer, 5, NULL, &events, &err) == 1 && !events.count &&
	   events.length == 5 && !memcmp(events.message, "plain", 5), "an ordinary message");
}

static uint32_t lend(uint64_t offset, uint64_t length, uint32_t rights)
{
	struct rdmachan_grant_range range = range_of(offset, length, rights);

	if (rdmachan_grant_lend(owner, ctx, &range, &err) < 0 ||
	    rdmachan_recv_events(holder, buffer, EVENT, NULL, &events, &err) != 1)
		return 0;
	return range.out_grant;
}

static void test_accesses(void)
{
	uint32_t all = RDMACHAN_RIGHT_READ | RDMACHAN_RIGHT_WRITE | RDMACHAN_RIGHT_ATOMIC;
	uint32_t grant = lend(0, sizeof(memory), all);
	struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { buffer, 4 };
	uint64_t value = 0, before = 0;

	memory[5] = 42;
	ok(!rdmachan_grant_read(holder, grant, 40, &value, 8, &err) && value == 42, "read");
	ok(!rdmachan_grant_write(holder, grant, 48, &value, 8, &err) && memory[6] == 42, "write");
	ok(!rdmachan_grant_write_notify(holder, grant, 56, &value, 8, "told", 4, 7, &err) &&
	   rdmachan_recvv(owner, &iov, 1, &transfer, &err) == 1 && transfer.length == 4 &&
	   transfer.msg_flags == 7 && !memcmp(buffer, "told", 4) && memory[7] == 42,
	   "write and tell");
	ok(!rdmachan_grant_fetch_add(holder, grant, 40, UINT64_MAX, &before, &err) &&
	   before == 42 && memory[5] == 41, "add");
	ok(!rdmachan_grant_compare_swap(holder, grant, 40, 1, 2, &before, &err) && before == 41 &&
	   memory[5] == 41, "compare what differs");
	ok(!rdmachan_grant_compare_swap(holder, grant, 40, 41, 2, NULL, &err) && memory[5] == 2,
	   "compare and swap");
	ok(rdmachan_grant_read(holder, grant, sizeof(memory) - 7, &value, 8, &err) < 0 &&
	   errno == ERANGE && err.error == ERANGE && err.op == RDMACHAN_OP_ACCESS,
	   "a failure tells what was tried");
	ok(rdmachan_grant_fetch_add(holder, grant + 1, 0, 1, NULL, &err) < 0 && errno == ENOENT,
	   "no such grant");
	ok(!rdmachan_grant_release(holder, grant, NULL) &&
	   rdmachan_grant_release(holder, grant, NULL) < 0 &&
	   errno == EKEYREVOKED, "it is given back once");
	ok(rdmachan_recv_events(owner, buffer, EVENT, NULL, &events, &err) == 1 &&
	   events.count == 1 && events.events->what == RDMACHAN_GRANT_RETURNED &&
	   events.events->grant == grant && !events.length, "of which the owner is told");
}

static void test_revoke(void)
{
	uint32_t grant = lend(0, 64, RDMACHAN_RIGHT_WRITE);

	ok(!rdmachan_grant_revoke(owner, grant, 0, 1000, &err) &&
	   rdmachan_grant_write(holder, grant, 0, "x", 1, &err) < 0 && errno == EKEYREVOKED,
	   "what was taken back is of no use");
	ok(!rdmachan_grant_revoke(owner, grant, 0, 1000, &err), "taking it back again is no error");
	ok(rdmachan_grant_revoke(owner, grant + 1, 0, 0, &err) < 0 && errno == ENOENT &&
	   err.op == RDMACHAN_OP_GRANT, "no such grant was given");
	ok(!rdmachan_region_take_back(ctx, region, NULL), "a region is taken back");
}

int main(int argc, char **argv)
{
	(void)argc;
	fake_preload(argv);
	test_begin();
	test_message_with_grants();
	test_events_by_queue();
	test_ordinary_message();
	test_accesses();
	test_revoke();
	return tap_end();
}
