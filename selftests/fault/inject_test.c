// SPDX-License-Identifier: GPL-2.0
/*
 * inject_test.c - the module's own faults: to frames and to the queue pair
 *
 * On any kernel with debugfs. Frames of checked traffic are lost, changed, late, doubled
 * or out of order, the queue pair fails, credits stay away. What cannot be healed ends
 * the link with a cause that every waiter is told; a fault that can be healed is not seen at all.
 * After each test nothing may be left of the module's objects, idle links included.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../../kmod/proto/wire.h"
#include "common.h"
#include "fault.h"
#include "grant.h"
#include "grant_ring.h"
#include "harness.h"
#include "inject.h"
#include "region.h"

#define LONGEST 40000
#define PATIENCE TIMEOUT(20000)

/* A frame of a message with flags has headers; without, it may be bare. */
static bool have_headers;

FIXTURE(inject)
{
	int ctx;
	int peer;
	int listener;
	int a;
	int b;
	uint64_t a_link;
	uint64_t b_link;
};

static uint64_t link_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.link_id;
}

static void pair(struct fixture_inject *self)
{
	self->a = do_connect(self->ctx, SERVICE, TIMEOUT(10000));
	ASSERT_GE(self->a, 0);
	self->b = do_accept(self->listener, TIMEOUT(10000));
	ASSERT_GE(self->b, 0);
	self->a_link = link_of(self->a);
	self->b_link = link_of(self->b);
}

/* A user of its own for each test, and so links that no other test has seen. */
FIXTURE_SETUP(inject)
{
	inject_begin();
	have_headers = false;
	self->ctx = fault_ctx_of(20000 + getpid());
	self->peer = fault_peer_of(20000 + getpid());
	self->listener = do_listen(self->peer, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	pair(self);
}

FIXTURE_TEARDOWN(inject)
{
	close(self->a);
	close(self->b);
	close(self->listener);
	close(self->peer);
	inject_end(self->ctx);
}

/*
 * Checked traffic
 */

static size_t random_size(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	return (value >> 8) % (value & 3 ? 3000 : LONGEST);
}

static uint32_t flags_of(size_t len)
{
	return have_headers || len % 2;
}

static int send_one(int chan, uint64_t *seed, struct rdmachan_error *error)
{
	static char data[LONGEST];
	size_t len = random_size(seed);

	fill_random(data, len, *seed);
	return do_send(chan, data, len, flags_of(len),
		       &(struct opts){ .timeout_ms = 20000, .error = error });
}

static int receive_one(int chan, uint64_t *seed, struct rdmachan_error *error)
{
	static char data[LONGEST];
	struct rdmachan_recv_args recv;
	size_t len = random_size(seed);
	int ret;

	ret = do_recv(chan, data, LONGEST, &recv,
		      &(struct opts){ .timeout_ms = 20000, .error = error });
	if (ret)
		return ret;
	ASSERT_EQ(recv.out_flags, 0);
	ASSERT_EQ(recv.out_msg_flags, flags_of(len));
	ASSERT_EQ(recv.out_length, len);
	ASSERT_TRUE(is_random(data, len, *seed));
	return 0;
}

typedef int (*one_message)(int chan, uint64_t *seed, struct rdmachan_error *error);

static void all_of(one_message one, int chan, int count, uint64_t seed)
{
	struct rdmachan_error error;

	while (count--)
		ASSERT_EQ(one(chan, &seed, &error), 0);
}

/* Every message is the one that was expected, until there is an error, with a cause. */
static void until_error(one_message one, int chan, int count, uint64_t seed)
{
	struct rdmachan_error error;

	while (count--) {
		if (!one(chan, &seed, &error))
			continue;
		ASSERT_NE(error.cause, RDMACHAN_CAUSE_NONE);
		ASSERT_NE(error.cause, RDMACHAN_CAUSE_TIMEOUT);
		ASSERT_EQ(errno, error.error);
		return;
	}
	ASSERT_TRUE(!"the link goes on");
}

typedef void (*many_messages)(one_message one, int chan, int count, uint64_t seed);

/* Two who send and two who receive, each a process. */
static void traffic_begin(struct fixture_inject *self, pid_t children[4], int count,
			  many_messages many)
{
	const struct {
		one_message one;
		int chan;
		uint64_t seed;
	} jobs[4] = {
		{ receive_one, self->b, 1 }, { receive_one, self->a, 2 },
		{ send_one, self->a, 1 }, { send_one, self->b, 2 },
	};
	int i;

	fflush(stdout);
	for (i = 0; i < 4; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		many(jobs[i].one, jobs[i].chan, count, jobs[i].seed);
		fflush(stdout);
		_exit(0);
	}
}

static void traffic_end(pid_t children[4])
{
	int i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(child_status(children[i]), 0);
}

static void traffic(struct fixture_inject *self, int count)
{
	pid_t children[4];

	traffic_begin(self, children, count, all_of);
	traffic_end(children);
}

static uint64_t dropped(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_dropped;
}

/* After a link has ended, the next one works. */
static void begin_anew(struct fixture_inject *self)
{
	inject_all_off();
	close(self->a);
	close(self->b);
	pair(self);
	talk(self->a, self->b);
}

/* The link of @b has ended by itself for this cause; that of @a because its peer has. */
static void expect_ended(struct fixture_inject *self, uint32_t cause, uint64_t detail)
{
	struct rdmachan_error error;

	ASSERT_TRUE(wait_state(self->b, RDMACHAN_STATE_FAILED, 40000));
	ASSERT_EQ(get_error(self->b, &error), 0);
	EXPECT_EQ(error.cause, cause);
	EXPECT_EQ(error.detail, detail);
	ASSERT_TRUE(wait_state(self->a, RDMACHAN_STATE_FAILED, 40000));
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_TRUE(error.cause == RDMACHAN_CAUSE_DISCONNECTED ||
		    error.cause == RDMACHAN_CAUSE_TRANSPORT);
}

/*
 * The files
 */

TEST_F(inject, files)
{
	char text[256];
	size_t i;

	for (i = 0; i < INJECT_FAULTS; i++) {
		inject_read(inject_faults[i], text, sizeof(text));
		EXPECT_EQ(strncmp(text, "off ", 4), 0);
	}
	inject_read("total", text, sizeof(text));
	for (i = 0; i < INJECT_FAULTS; i++)
		EXPECT_TRUE(strstr(text, inject_faults[i]));
	inject("delay", "every=7 skip=1000000 count=5 link=3 ms=20");
	inject_read("delay", text, sizeof(text));
	EXPECT_EQ(strcmp(text, "every=7 skip=1000000 count=5 link=3 ms=20 seen=0 done=0\n"), 0);
	inject("nomem", "skip=1000000 site=lane\n");
	inject_read("nomem", text, sizeof(text));
	EXPECT_EQ(strcmp(text, "every=1 skip=1000000 count=1 site=lane seen=0 done=0\n"), 0);
}

TEST_F(inject, wrong_words)
{
	static const struct {
		const char *fault;
		const char *text;
	} rows[] = {
		{ "drop", "often" }, { "drop", "every" }, { "drop", "every=" },
		{ "drop", "every=0" }, { "drop", "skip=-1" }, { "drop", "count=x" },
		{ "drop", "count=4294967296" }, { "drop", "ms=5" }, { "drop", "site=link" },
		{ "drop", "byte=1" }, { "delay", "ms=0" }, { "delay", "ms=60001" },
		{ "corrupt", "byte=65536" }, { "nomem", "link=1" }, { "nomem", "site=" },
		{ "nomem", "site=moon" }, { "kill", "off now" },
		{ "forget", "link=1" }, { "wrap", "link=1" }, { "slow", "link=1" },
	};
	char text[256];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		errno = 0;
		EXPECT_TRUE(!inject_write(rows[i].fault, rows[i].text));
		EXPECT_TRUE(errno == EINVAL || errno == ERANGE);
		inject_read(rows[i].fault, text, sizeof(text));
		EXPECT_EQ(strncmp(text, "off ", 4), 0);
	}
	memset(text, ' ', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	EXPECT_TRUE(!inject_write("drop", text));
}

TEST_F(inject, only_root)
{
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < INJECT_FAULTS; i++) {
		fd = inject_open(inject_faults[i], O_RDONLY);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(fstat(fd, &st), 0);
		EXPECT_EQ(st.st_mode & 0777, 0600);
		EXPECT_EQ(st.st_uid, 0);
		close(fd);
	}
	ASSERT_EQ(seteuid(1000), 0);
	EXPECT_ERR(inject_open("drop", O_RDONLY), EACCES);
	EXPECT_ERR(inject_open("drop", O_WRONLY), EACCES);
	ASSERT_EQ(seteuid(0), 0);
}

/* A rule for another link is none for this one. */
TEST_F(inject, other_link)
{
	inject("drop", "link=%llu count=0", (unsigned long long)self->b_link + 100000);
	inject("nomem", "site=port count=0");
	traffic(self, 30);
	EXPECT_EQ(inject_done("drop"), 0);
	EXPECT_EQ(inject_done("nomem"), 0);
}

TEST_F(inject, skip_every_count)
{
	char text[256];

	inject("duplicate", "skip=20 every=3 count=5");
	traffic(self, 100);
	inject_off("duplicate");
	inject_read("duplicate", text, sizeof(text));
	EXPECT_TRUE(strstr(text, "done=5\n"));
	/* 20, 21, 24, 27, 30, 33 */
	EXPECT_GE(strtoul(strstr(text, "seen=") + 5, NULL, 10), 33);
}

/*
 * Faults that end the link
 */

static void lose(struct fixture_inject *self, const char *fault)
{
	pid_t children[4];

	inject(fault, "link=%llu skip=40", (unsigned long long)self->b_link);
	traffic_begin(self, children, 100000, until_error);
	traffic_end(children);
	EXPECT_EQ(inject_done(fault), 1);
	expect_ended(self, RDMACHAN_CAUSE_PROTOCOL, RCH_RULE_SEQ_GAP);
	begin_anew(self);
}

TEST_F(inject, drop)
{
	lose(self, "drop");
}

TEST_F(inject, reorder)
{
	lose(self, "reorder");
}

/* Bytes of a frame with one message, and the rule that each breaks. */
TEST_F(inject, corrupt)
{
	static const struct {
		size_t byte;
		enum rch_rule rule;
	} rows[] = {
		{ offsetof(struct rch_wire_frame, version), RCH_RULE_FRAME_VERSION },
		{ offsetof(struct rch_wire_frame, flags), RCH_RULE_FRAME_FLAGS },
		{ offsetof(struct rch_wire_frame, reserved), RCH_RULE_RESERVED },
		{ offsetof(struct rch_wire_frame, epoch), RCH_RULE_FRAME_EPOCH },
		{ offsetof(struct rch_wire_frame, ack) + 3, RCH_RULE_NUMBERS },
		{ offsetof(struct rch_wire_frame, limit) + 3, RCH_RULE_NUMBERS },
		{ offsetof(struct rch_wire_frame, length), RCH_RULE_FRAME_LENGTH },
		{ sizeof(struct rch_wire_frame) + offsetof(struct rch_wire_record, chan),
		  RCH_RULE_CHANNEL },
		{ sizeof(struct rch_wire_frame) + offsetof(struct rch_wire_record, type),
		  RCH_RULE_RECORD_TYPE },
		{ sizeof(struct rch_wire_frame) + offsetof(struct rch_wire_record, flags),
		  RCH_RULE_RECORD_FLAGS },
	};
	size_t i;

	/* From the second link on; a heartbeat may be the first one's frame. */
	put(PARAMETERS "dead_ms", "60000");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		inject("corrupt", "link=%llu byte=%zu", (unsigned long long)self->b_link,
		       rows[i].byte);
		ASSERT_EQ(do_send(self->a, "x", 1, 1, NULL), 0);
		expect_ended(self, RDMACHAN_CAUSE_PROTOCOL, rows[i].rule);
		if (harness_failures)
			printf("# this was byte %zu\n", rows[i].byte);
		put(PARAMETERS "dead_ms", i + 2 < sizeof(rows) / sizeof(*rows) ? "60000" : "2000");
		begin_anew(self);
	}
}

/* What no rule is about arrives as it is: the bytes of messages are the adapter's care. */
TEST_F(inject, corrupt_message)
{
	const size_t at = sizeof(struct rch_wire_frame) + sizeof(struct rch_wire_record) + 7;
	char out[100], back[100];
	pid_t children[4];

	fill_random(out, sizeof(out), 1);
	inject("corrupt", "link=%llu byte=%zu", (unsigned long long)self->b_link, at);
	ASSERT_EQ(do_send(self->a, out, sizeof(out), 1, NULL), 0);
	ASSERT_EQ(do_recv(self->b, back, sizeof(back), NULL, PATIENCE), 0);
	EXPECT_EQ((unsigned char)(out[7] ^ back[7]), 0xff);
	out[7] = back[7];
	EXPECT_EQ(memcmp(out, back, sizeof(out)), 0);
	talk(self->a, self->b);
	inject("corrupt", "link=%llu skip=40 byte=4", (unsigned long long)self->b_link);
	have_headers = true;
	traffic_begin(self, children, 100000, until_error);
	traffic_end(children);
	expect_ended(self, RDMACHAN_CAUSE_PROTOCOL, RCH_RULE_FRAME_EPOCH);
}

/*
 * The first frame of a link: its receiver ends the link before its connection manager has
 * heard that the connection stands. The peer is told all the same, and connects again.
 */
TEST_F(inject, corrupt_first)
{
	int i, ctx, fd;

	for (i = 0; i < 10; i++) {
		ctx = fault_ctx_of(100000 + getpid() * 10 + i);
		inject("corrupt", "on");
		fd = do_connect(ctx, SERVICE, TIMEOUT(10000));
		EXPECT_GE(fd, 0);
		EXPECT_EQ(inject_done("corrupt"), 1);
		close(fd);
		close(ctx);
	}
}

TEST_F(inject, kill)
{
	static const char *const links[] = { "a", "b" };
	struct rdmachan_error error;
	pid_t children[4];
	int i;

	for (i = 0; i < 2; i++) {
		inject("kill", "link=%llu skip=60", (unsigned long long)
		       (*links[i] == 'a' ? self->a_link : self->b_link));
		traffic_begin(self, children, 100000, until_error);
		traffic_end(children);
		EXPECT_EQ(inject_done("kill"), 1);
		ASSERT_TRUE(wait_state(self->a, RDMACHAN_STATE_FAILED, 10000));
		ASSERT_TRUE(wait_state(self->b, RDMACHAN_STATE_FAILED, 10000));
		ASSERT_EQ(get_error(*links[i] == 'a' ? self->a : self->b, &error), 0);
		/* The request that was under way is flushed, or fails as such (siw). */
		EXPECT_TRUE(error.cause == RDMACHAN_CAUSE_DISCONNECTED ||
			    error.cause == RDMACHAN_CAUSE_TRANSPORT);
		begin_anew(self);
	}
}

/* A waiter for a message that may never come is told too: to read, to write, to poll. */
TEST_F(inject, kill_waiters)
{
	pid_t children[3];
	char back[8];
	int i;

	ASSERT_GT(fill_up(self->a, 5000), 0);
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		if (i == 0)
			ASSERT_ERR(write(self->a, "x", 1), ECONNRESET);
		else if (i == 1)
			ASSERT_ERR(read(self->a, back, sizeof(back)), ECONNRESET);
		else
			ASSERT_TRUE(poll_mask(self->a, POLLIN, 20000) & POLLERR);
		fflush(stdout);
		_exit(0);
	}
	sleep_ms(100);
	/* A heartbeat is the frame that brings it. */
	inject("kill", "link=%llu", (unsigned long long)self->b_link);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	begin_anew(self);
}

static uint32_t events_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object.events;
}

/* A bond has failed over at one end, while messages go both ways: the link goes on. */
TEST_F(inject, address)
{
	pid_t children[4];

	EXPECT_EQ(events_of(self->a), 0);
	inject("address", "link=%llu skip=60", (unsigned long long)self->a_link);
	traffic_begin(self, children, 1000, all_of);
	traffic_end(children);
	EXPECT_EQ(inject_done("address"), 1);
	EXPECT_EQ(events_of(self->a), RDMACHAN_LINK_EVENT_ADDRESS);
	EXPECT_EQ(events_of(self->b), 0);
	EXPECT_EQ(link_of(self->a), self->a_link);
	EXPECT_EQ(poll_mask(self->a, 0, 0) | poll_mask(self->b, 0, 0), 0);
}

/* All links of the adapter end, with a cause of their own; the peer is told as ever. */
TEST_F(inject, fatal)
{
	struct rdmachan_error error;

	inject("fatal", "link=%llu", (unsigned long long)self->a_link);
	talk(self->a, self->b);
	ASSERT_TRUE(wait_state(self->a, RDMACHAN_STATE_FAILED, 1000));
	ASSERT_TRUE(wait_state(self->b, RDMACHAN_STATE_FAILED, 1000));
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_DEVICE_FATAL);
	EXPECT_EQ(error.error, ENODEV);
	ASSERT_EQ(get_error(self->b, &error), 0);
	EXPECT_EQ(error.cause, has_peer() ? RDMACHAN_CAUSE_DISCONNECTED :
					    RDMACHAN_CAUSE_DEVICE_FATAL);
	begin_anew(self);
}

/* The same, and nothing gets through any more: that is the cause which is told. */
TEST_F(inject, address_and_silence)
{
	struct rdmachan_error error;

	if (!has_peer() || !time_is_virtual())
		SKIP("there is no cable to cut");
	inject("address", "link=%llu", (unsigned long long)self->a_link);
	talk(self->a, self->b);
	ASSERT_TRUE(inject_wait("address", 1, 1000));
	cable("cut");
	ASSERT_TRUE(wait_state(self->a, RDMACHAN_STATE_FAILED, 10000));
	ASSERT_TRUE(wait_state(self->b, RDMACHAN_STATE_FAILED, 10000));
	cable("mend");
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NEIGHBOUR);
	ASSERT_EQ(get_error(self->b, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_DEAD);
	begin_anew(self);
}

/*
 * Faults that are not seen
 */

TEST_F(inject, duplicate)
{
	uint64_t before = dropped(self->ctx);

	inject("duplicate", "every=3 count=0");
	traffic(self, 400);
	inject_off("duplicate");
	EXPECT_GE(inject_done("duplicate"), 50);
	EXPECT_EQ(dropped(self->ctx) - before, inject_done("duplicate"));
	talk(self->a, self->b);
}

TEST_F(inject, duplicate_all)
{
	inject("duplicate", "count=0");
	traffic(self, 400);
	talk(self->a, self->b);
}

/* Both directions wait. */
TEST_F(inject, delay)
{
	int64_t begun;

	inject("delay", "count=0 ms=100");
	begun = tick_ms();
	talk(self->a, self->b);
	EXPECT_TOOK(begun, 2 * 100, 2 * KERNEL_TICK_MS);
	inject("delay", "count=0 ms=4");
	traffic(self, 400);
	EXPECT_GE(inject_done("delay"), 50);
	inject("delay", "every=5 count=0 ms=7");
	traffic(self, 400);
}

/* ACCEPT that comes when the connect was given up ends its channel, and not the link. */
TEST_F(inject, accept_too_late)
{
	const struct opts soon = { .flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 200 };
	struct rdmachan_error error;
	char back[8];
	int a, b;

	/* Four times this is what the peer may take to answer a channel that has ended. */
	set_parameter("dead_ms", 250);
	inject("delay", "link=%llu ms=600", (unsigned long long)self->a_link);
	a = do_connect(self->ctx, SERVICE, &soon);
	ASSERT_GE(a, 0);
	ASSERT_TRUE(wait_state(a, RDMACHAN_STATE_FAILED, 5000));
	set_parameter("dead_ms", 5000);
	ASSERT_EQ(get_error(a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_TIMEOUT);
	b = do_accept(self->listener, TIMEOUT(5000));
	ASSERT_GE(b, 0);
	EXPECT_ERR(do_recv(b, back, 8, NULL, TIMEOUT(5000)), ECONNRESET);
	sleep_ms(1500);
	talk(self->a, self->b);
	close(a);
	close(b);
}

/* When a fault has been turned off, nothing waits any more. */
TEST_F(inject, delay_off)
{
	int64_t begun = tick_ms();
	char back[8];

	inject("delay", "link=%llu ms=300", (unsigned long long)self->b_link);
	ASSERT_EQ(write(self->a, "late", 4), 4);
	ASSERT_TRUE(inject_wait("delay", 1, 5000));
	inject_off("delay");
	EXPECT_TOOK(begun, 300, KERNEL_TICK_MS);
	EXPECT_EQ(do_recv(self->b, back, 8, NULL, DONTWAIT), 0);
}

/* Later than the dead time is never; a frame held back goes with the link. */
TEST_F(inject, delay_to_death)
{
	pid_t children[4];

	inject("delay", "link=%llu ms=60000 skip=40", (unsigned long long)self->b_link);
	traffic_begin(self, children, 100000, until_error);
	traffic_end(children);
	expect_ended(self, RDMACHAN_CAUSE_PEER_DEAD, 2000);
	begin_anew(self);
}

/* Two faults at once: all of it is late, and some of it twice. */
TEST_F(inject, delay_and_duplicate)
{
	inject("delay", "every=4 count=0 ms=3");
	inject("duplicate", "every=2 count=0");
	traffic(self, 400);
	EXPECT_GE(inject_done("duplicate"), 50);
}

/* Held frames when their device goes. */
TEST_F(inject, delay_device_removed)
{
	pid_t children[4];
	int64_t begun;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	inject("delay", "ms=60000 skip=40 count=2");
	traffic_begin(self, children, 100000, until_error);
	ASSERT_TRUE(inject_wait("delay", 1, 10000));
	begun = tick_ms();
	ASSERT_EQ(remove_device(), 0);
	/* Some grace periods, and not the minute that frames are held back. */
	EXPECT_TOOK(begun, 0, 10 * KERNEL_TICK_MS);
	traffic_end(children);
	inject_all_off();
	ASSERT_EQ(add_device(), 0);
	close(self->a);
	close(self->b);
	self->a = connect_again(self->ctx);
	ASSERT_GE(self->a, 0);
	self->b = do_accept(self->listener, PATIENCE);
	talk(self->a, self->b);
}

/* The way back is open all the while, and so is the first one when the fault is off. */
TEST_F(inject, withhold)
{
	struct rdmachan_object object;
	uint64_t seed = 3, sent = 0;
	pid_t child;

	inject("withhold", "link=%llu count=0", (unsigned long long)self->b_link);
	child = fork();
	if (!child) {
		while (sent < 3000 && !send_one(self->a, &seed, NULL))
			sent++;
		_exit(sent == 3000 ? 0 : 1);
	}
	/* Longer than it would take to be given up for dead. */
	for (sent = 0; sent < 30; sent++) {
		ASSERT_EQ(write(self->b, "back", 4), 4);
		ASSERT_EQ(do_recv(self->a, &seed, 8, NULL, PATIENCE), 0);
		sleep_ms(150);
	}
	ASSERT_EQ(get_object(self->b, &object), 0);
	EXPECT_EQ(object.state, RDMACHAN_STATE_OPEN);
	/* No more than the ring has, each as full as can be. */
	EXPECT_LE(inject_done("withhold"), 16);
	EXPECT_GE(inject_done("withhold"), 8);
	EXPECT_EQ(waitpid(child, NULL, WNOHANG), 0);
	inject_off("withhold");
	all_of(receive_one, self->b, 3000, 3);
	EXPECT_EQ(child_status(child), 0);
	traffic(self, 100);
}

/* A few buffers less are only fewer buffers. */
TEST_F(inject, withhold_some)
{
	inject("withhold", "count=7");
	traffic(self, 300);
	EXPECT_EQ(inject_done("withhold"), 7);
	inject_off("withhold");
	traffic(self, 100);
}

static uint64_t lent[512] __attribute__((aligned(4096)));

static void expect_uncertain(const struct rdmachan_error *error)
{
	EXPECT_EQ(error->cause, RDMACHAN_CAUSE_UNCERTAIN);
	EXPECT_EQ(error->detail, 0);
	EXPECT_EQ(error->local.family, AF_INET);
}

/* Numbers were added, and the earlier value is not known; nothing else is lost. */
TEST_F(inject, forget)
{
	const int64_t region = region_register(self->ctx, lent, sizeof(lent), 0, NULL);
	struct rdmachan_error error;
	struct rdmachan_atomic_args add = {
		.size = sizeof(add), .op = RDMACHAN_ATOMIC_FETCH_ADD, .operand = 5,
		.error_ptr = (uintptr_t)&error,
	};
	struct rdmachan_grant_range range;
	struct rdmachan_grant_event event;
	struct rdmachan_object object;
	struct rdmachan_cqe cqe;
	struct queue q;

	ASSERT_GT(region, 0);
	ASSERT_EQ(get_object(self->b, &object), 0);
	if (!(object.rights & RDMACHAN_RIGHT_BY_DEVICE))
		SKIP("the adapter does no atomic operations");
	range = RANGE(region, RDMACHAN_RIGHT_ATOMIC, 0, 8);
	ASSERT_EQ(grant_ranges(self->a, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_next(self->b, &event));
	add.grant = event.grant;
	ASSERT_EQ(ioctl(self->b, RDMACHAN_ATOMIC, &add), 0);
	EXPECT_EQ(add.out_value, 0);
	inject("forget", "count=2");
	EXPECT_ERR(ioctl(self->b, RDMACHAN_ATOMIC, &add), EREMOTEIO);
	expect_uncertain(&error);
	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	queue_fetch_add(&q, self->b, event.grant, 0, 5, 1);
	ASSERT_EQ(queue_submit(&q), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	EXPECT_EQ(cqe.res, -EREMOTEIO);
	EXPECT_EQ(inject_done("forget"), 2);
	ASSERT_EQ(ioctl(self->b, RDMACHAN_ATOMIC, &add), 0);
	EXPECT_EQ(add.out_value, 15);
	EXPECT_EQ(__atomic_load_n(lent, __ATOMIC_RELAXED), 20);
	queue_close(&q);
	traffic(self, 100);
}

/* Memory behind bounce buffers is not lent; messages from and to it go as they did. */
TEST_F(inject, bounce)
{
	const int64_t region = region_register(self->ctx, lent, sizeof(lent), 0, NULL);
	struct rdmachan_grant_range range;

	ASSERT_GT(region, 0);
	inject("bounce", "every=1");
	range = RANGE(region, RDMACHAN_RIGHT_READ, 0, 8);
	EXPECT_ERR(grant_ranges(self->a, self->ctx, &range, 1), EOPNOTSUPP);
	traffic(self, 100);
	EXPECT_GE(inject_done("bounce"), 1);
	inject_off("bounce");
	EXPECT_EQ(grant_ranges(self->a, self->ctx, &range, 1), 0);
	EXPECT_TRUE(grant_held(self->b, range.out_grant));
	traffic(self, 100);
}

static char large[1 << 20], room[1 << 20];

/* Links of other programs, which may have kept something as well, are idle, and end. */
static void await_others_gone(int ctx)
{
	const int64_t until = now_ms() + 10000;
	struct rdmachan_info info;

	do {
		ASSERT_EQ(get_info(ctx, &info), 0);
		if (info.out_links == 2)
			return;
		sleep_ms(10);
	} while (now_ms() < until);
	EXPECT_EQ(info.out_links, 2);
}

/* The module keeps memory regions so long for messages to come, and frees half with each tick. */
#define KEEP_S 16
#define GONE_S (KEEP_S + 10)

static void placed_message(struct fixture_inject *self, size_t size)
{
	const pid_t reader = LATER(0, read(self->b, room, sizeof(room)));

	sleep_ms(100);
	ASSERT_EQ(write(self->a, large, size), (ssize_t)size);
	child_status(reader);
}

static void granted(struct fixture_inject *self, size_t size)
{
	const int64_t region = region_register(self->ctx, lent, sizeof(lent), 0, NULL);
	struct rdmachan_grant_range range = RANGE(region, RDMACHAN_RIGHT_READ, 0, size);

	ASSERT_GT(region, 0);
	ASSERT_EQ(grant_ranges(self->a, self->ctx, &range, 1), 0);
	ASSERT_TRUE(grant_held(self->b, range.out_grant));
	ASSERT_EQ(grant_release(self->b, range.out_grant), 0);
	ASSERT_TRUE(unregister_soon(self->ctx, region));
}

/* Memory regions of the adapter, of which each takes its firmware a while. */
static const struct sparse {
	const char *name;
	void (*once)(struct fixture_inject *self, size_t size);
	size_t size;
} sparse[] = {
	{ "message", placed_message, 65536 },
	{ "large_message", placed_message, sizeof(large) },
	{ "grant", granted, sizeof(lent) },
};

TEST_F_ROWS(inject, sparse, sparse)
{
	unsigned long made;
	int i;

	inject("nomem", "site=region skip=1000000");
	row->once(self, row->size);
	made = inject_seen("nomem");
	EXPECT_GE(made, 1);
	for (i = 0; i < 10; i++) {
		sleep_ms(2000);
		row->once(self, row->size);
	}
	EXPECT_EQ(inject_seen("nomem"), made);
	/* None stays for ever. */
	sleep_ms(GONE_S * 1000);
	row->once(self, row->size);
	EXPECT_EQ(inject_seen("nomem"), 2 * made);
}

/*
 * A message was written to its place, and then the link is idle for long: the memory region that
 * was opened for it is given back, and the adapter takes three dead times for that. The heart beats
 * on.
 */
TEST_F(inject, slow)
{
	pid_t reader;

	await_others_gone(self->ctx);
	reader = LATER(0, read(self->b, room, sizeof(room)));
	sleep_ms(100);
	inject("slow", "count=1 ms=6000");
	ASSERT_EQ(write(self->a, large, sizeof(large)), (ssize_t)sizeof(large));
	child_status(reader);
	EXPECT_EQ(placed_messages(self->a, true), 1);
	ASSERT_TRUE(inject_wait("slow", 1, GONE_S * 1000));
	sleep_ms(5000);
	EXPECT_EQ(poll_mask(self->a, 0, 0) | poll_mask(self->b, 0, 0), 0);
	talk(self->a, self->b);
	inject_off("slow");
}

/* Messages into a pool, until all indices have wrapped, and rings were full at it. */
static void through_the_wrap(struct fixture_inject *self, struct queue *q)
{
	char buffers[8][64], text[64];
	struct rdmachan_cqe cqe;
	struct pool pool;
	int i, j, next = 0;

	EXPECT_GT(q->tail, 0xfffffff0U);
	EXPECT_GT(q->head, 0xfffffff0U);
	ASSERT_EQ(pool_open(q, &pool, 8), 0);
	EXPECT_GT(pool.tail, 0xfffffff0U);
	for (i = 0; i < 8; i++)
		pool_put(&pool, buffers[i], sizeof(buffers[i]), i);
	queue_recv_many(q, self->b, pool.id, 1000);
	ASSERT_EQ(queue_poke(q), 0);
	ASSERT_GE(queue_submit(q), 0);
	for (i = 0; i < 20; i++) {
		/* More completions than the ring takes. */
		for (j = 0; j < 6; j++) {
			snprintf(text, sizeof(text), "message %d", i * 6 + j);
			queue_send(q, self->a, text, sizeof(text), j);
			ASSERT_GE(queue_submit(q), 0);
		}
		for (j = 0; j < 12; j++) {
			ASSERT_TRUE(queue_wait(q, &cqe));
			ASSERT_EQ(cqe.res, (int64_t)sizeof(text));
			if (cqe.user_data != 1000)
				continue;
			snprintf(text, sizeof(text), "message %d", next++);
			ASSERT_EQ(memcmp(buffers[cqe.buffer], text, strlen(text) + 1), 0);
			pool_put(&pool, buffers[cqe.buffer], sizeof(buffers[0]), cqe.buffer);
		}
	}
	EXPECT_EQ(next, 120);
	EXPECT_LT(q->tail, 1000U);
	EXPECT_LT(q->head, 1000U);
	EXPECT_LT(pool.tail, 1000U);
	pool_close(&pool);
}

TEST_F(inject, wrap)
{
	struct queue q;

	inject("wrap", "count=0");
	ASSERT_EQ(queue_open(self->ctx, &q, 8, 8), 0);
	through_the_wrap(self, &q);
	queue_close(&q);
	ASSERT_EQ(queue_open_polled(self->ctx, &q, 8, 8, 1), 0);
	through_the_wrap(self, &q);
	queue_close(&q);
	inject_off("wrap");
}

/* Questions, most of which are taken back at once; then a message, which none is before. */
TEST_F(inject, wrap_of_questions)
{
	const size_t len = 262144;
	char *data, *back = malloc(len);
	struct rdmachan_cqe cqe;
	int i, j, taken_back = 0;
	int64_t region, sent = 0;
	struct queue q;

	ASSERT_EQ(posix_memalign((void **)&data, 4096, len), 0);
	close(self->a);
	close(self->b);
	inject("wrap", "count=0");
	pair(self);
	inject_off("wrap");
	region = region_register(self->ctx, memset(data, 1, len), len, 0, NULL);
	ASSERT_GT(region, 0);
	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	for (i = 0; taken_back < 20 && i < 1000; i++) {
		region_send(&q, self->a, region, 0, len, 1);
		queue_cancel(&q, 1, 0, 2);
		ASSERT_EQ(queue_submit(&q), 2);
		for (j = 0; j < 2; j++) {
			ASSERT_TRUE(queue_wait(&q, &cqe));
			sent = cqe.user_data == 1 ? cqe.res : sent;
		}
		/* A sender that was refused lately does not ask. */
		if (sent > 0)
			ASSERT_EQ(do_recv(self->b, back, len, NULL, TIMEOUT(5000)), 0);
		else
			EXPECT_EQ(sent, -ECANCELED);
		taken_back += sent < 0;
		ASSERT_EQ(do_send(self->a, &i, sizeof(i), 0, TIMEOUT(5000)), 0);
		ASSERT_EQ(do_recv(self->b, back, len, NULL, TIMEOUT(5000)), 0);
		EXPECT_EQ(memcmp(back, &i, sizeof(i)), 0);
	}
	EXPECT_EQ(taken_back, 20);
	queue_close(&q);
	ASSERT_TRUE(unregister_soon(self->ctx, region));
	free(data);
	free(back);
}

/* One message a frame, until none may be sent; one then waits. */
static void use_up_credits(int from, int to)
{
	char data[8];
	int count = 0;

	do
		ASSERT_EQ(do_send(from, "", 0, 0, DONTWAIT), 0);
	while (!do_recv(to, data, sizeof(data), NULL, TIMEOUT(500)) && ++count < 1000);
	ASSERT_EQ(errno, ETIMEDOUT);
}

/* A thread asks where it may write; a message on another channel then came after that. */
static pid_t ask(struct fixture_inject *self, int chan, int other)
{
	struct pollfd pfd = { .fd = chan, .events = POLLOUT };
	static char large[128 << 10];
	pid_t child = fork();
	char data[8];
	int i;

	if (!child) {
		close(other);
		_exit(do_send(chan, large, sizeof(large), 0, NULL) && errno == ECONNRESET ? 0 : 1);
	}
	/* While one sends, others cannot. */
	while (poll(&pfd, 1, 0)) {
		sched_yield();
		let_time_pass();
	}
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(do_send(self->a, "next", 4, 0, PATIENCE), 0);
		ASSERT_EQ(do_recv(self->b, data, sizeof(data), NULL, PATIENCE), 0);
	}
	return child;
}

/*
 * A channel that is reset before it could answer a question does not answer it any more:
 * the peer would not know its number, and end the link.
 */
TEST_F(inject, reset_with_answer_due)
{
	const struct opts reset = { .tuning.linger_ms = RDMACHAN_LINGER_NONE };
	int listener = do_listen(self->peer, SERVICE + 1, &reset), a, b, waiting;
	char data[8];
	pid_t child;

	a = do_connect(self->ctx, SERVICE + 1, PATIENCE);
	b = do_accept(listener, PATIENCE);
	ASSERT_GE(b, 0);
	ASSERT_EQ(link_of(b), self->b_link);
	talk(a, b);
	inject("withhold", "link=%llu count=0", (unsigned long long)self->a_link);
	use_up_credits(self->b, self->a);
	/* So many that no other record fits the open frame. */
	waiting = 1 + fill_up(self->b, 0);
	child = ask(self, a, b);
	close(b);
	inject_off("withhold");
	EXPECT_EQ(child_status(child), 0);
	while (waiting--)
		ASSERT_EQ(do_recv(self->a, data, sizeof(data), NULL, PATIENCE), 0);
	talk(self->a, self->b);
	close(a);
	close(listener);
}

/*
 * Frames that had to wait for credit are handed to the adapter in chains, and not frame by frame.
 */
TEST_F(inject, frames_go_in_chains)
{
	struct rdmachan_object before, after;
	static char back[7000];
	int waiting;

	inject("withhold", "link=%llu count=0", (unsigned long long)self->b_link);
	use_up_credits(self->a, self->b);
	/* That one, and more for several frames. */
	waiting = 1 + fill_up(self->a, sizeof(back));
	ASSERT_GE(waiting, 7);
	before = links_sent(self->ctx);
	inject_off("withhold");
	while (waiting--)
		ASSERT_EQ(do_recv(self->b, back, sizeof(back), NULL, PATIENCE), 0);
	after = links_sent(self->ctx);
	printf("# %d frames in %d chains\n", (int)(after.tx_frames - before.tx_frames),
	       (int)(after.tx_posts - before.tx_posts));
	EXPECT_LE(after.tx_posts - before.tx_posts + 2, after.tx_frames - before.tx_frames);
	talk(self->a, self->b);
}

/* Faults come and go in the middle of traffic, and with them the way that frames take. */
TEST_F(inject, on_and_off)
{
	pid_t children[4];
	int i;

	traffic_begin(self, children, 1500, all_of);
	for (i = 0; i < 40; i++) {
		inject("delay", "every=2 count=0 ms=2");
		sleep_ms(5);
		inject_off("delay");
		sleep_ms(2);
		inject("duplicate", "count=0");
		sleep_ms(5);
		inject_off("duplicate");
		inject("withhold", "every=3 count=2");
		sleep_ms(5);
		inject_off("withhold");
	}
	traffic_end(children);
	talk(self->a, self->b);
}

TEST_HARNESS_MAIN
