// SPDX-License-Identifier: GPL-2.0
/*
 * adapter_test.c - adapters whose drivers tell of events, that give up, or take their time
 *
 * rdmachan_shim has the drivers of all adapters tell of an event: those of both hosts. Each end of
 * a link is told what became of its own adapter, and no link ends but for an adapter that failed.
 */
#include <sys/ioctl.h>

#include "adapter.h"
#include "inject.h"
#include "pair.h"

#define PORT_IS_DOWN RDMACHAN_LINK_EVENT_PORT_DOWN
#define PORT_WAS_DOWN RDMACHAN_LINK_EVENT_PORT_WAS_DOWN
#define SUBNET RDMACHAN_LINK_EVENT_SUBNET
/* enum ib_wc_status: all tries are over. */
#define RETRIES_OVER 12
#define OTHER_USER 7741

/* enum ib_event_type, those that are of a device or a port. */
enum { FATAL = 8, ACTIVE, PORT_ERR, LID, PKEY, SM, REREGISTER = 17, GID, SPEED = 20, UNKNOWN = 99 };
/* enum ib_port_state; 0: as it is. */
enum { AS_IT_IS, DOWN };

FIXTURE(adapter)
{
	int ctx;
	int peer;
	int a;
	int b;
};

static void as_it_is(void)
{
	adapter("port_state", AS_IT_IS);
	adapter("slow_ms", 0);
	adapter("retry_cnt", 0);
	adapter("ack_timeout", 0);
}

FIXTURE_SETUP(adapter)
{
	as_it_is();
	inject("foreign", "count=0");
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	self->ctx = open_ctx();
	self->peer = open_peer();
	await_no_links(self->ctx);
}

FIXTURE_TEARDOWN(adapter)
{
	as_it_is();
	close(self->a);
	close(self->b);
	await_no_links(self->ctx);
	close(self->peer);
	close(self->ctx);
	inject_off("foreign");
	ASSERT_EQ(chmod(DEVICE, 0600), 0);
}

static void pair(struct fixture_adapter *self)
{
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	self->a = fds[0];
	self->b = fds[1];
	talk(self->a, self->b);
}

static struct rdmachan_object object_of(int chan)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(chan, &object), 0);
	return object;
}

/* What LIST tells of a link. */
static uint32_t events_of(int ctx, uint64_t link)
{
	struct rdmachan_object object;
	struct rdmachan_list_args list = {
		.size = sizeof(list), .after = link - 1, .objects_ptr = (uintptr_t)&object,
		.objects_max = 1, .object_size = sizeof(object),
	};

	ASSERT_EQ(ioctl(ctx, RDMACHAN_LIST, &list), 0);
	ASSERT_EQ(list.out_count, 1);
	ASSERT_EQ(object.id, link);
	ASSERT_EQ(object.kind, RDMACHAN_KIND_LINK);
	return object.events;
}

/* The core tells of an event from a work item; it has by then. */
static void tell(unsigned int event)
{
	adapter("event", event);
	sleep_ms(10);
}

/* Both ends have been told @events, and nothing has ended. */
static void expect_told(struct fixture_adapter *self, const uint64_t links[2], uint32_t events)
{
	const int ends[] = { self->a, self->b }, ctxs[] = { self->ctx, self->peer };
	struct rdmachan_error error;
	struct rdmachan_object now;
	int i;

	for (i = 0; i < 2; i++) {
		now = object_of(ends[i]);
		EXPECT_EQ(now.events, events);
		EXPECT_EQ(now.state, RDMACHAN_STATE_OPEN);
		EXPECT_EQ(now.link_id, links[i]);
		EXPECT_EQ(events_of(ctxs[i], links[i]), events);
		ASSERT_EQ(get_error(ends[i], &error), 0);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NONE);
		EXPECT_EQ(poll_mask(ends[i], 0, 0), 0);
	}
	talk(self->a, self->b);
}

/* The core asks for the port's state at each event of a port; what it heard counts. */
static const struct told {
	const char *name;
	unsigned int event;
	unsigned int port_state;
	uint32_t events;
} told[] = {
	{ "port_is_down", PORT_ERR, DOWN, PORT_IS_DOWN | PORT_WAS_DOWN },
	{ "port_was_down", PORT_ERR, AS_IT_IS, PORT_WAS_DOWN },
	{ "port_is_up", ACTIVE, AS_IT_IS, 0 },
	{ "port_was_up", ACTIVE, DOWN, PORT_IS_DOWN | PORT_WAS_DOWN },
	{ "lid", LID, AS_IT_IS, SUBNET },
	{ "pkey", PKEY, AS_IT_IS, SUBNET },
	{ "subnet_manager", SM, AS_IT_IS, SUBNET },
	{ "register_again", REREGISTER, AS_IT_IS, SUBNET },
	/* With RoCE the core alone knows which there are. */
	{ "gid_by_driver", GID, AS_IT_IS, 0 },
	{ "speed", SPEED, AS_IT_IS, 0 },
	{ "not_known", UNKNOWN, AS_IT_IS, 0 },
};

/* Each is told once, and then again and again while messages go. At last the port is up. */
TEST_F_ROWS(adapter, told, told)
{
	uint64_t links[2];
	int i;

	pair(self);
	links[0] = object_of(self->a).link_id;
	links[1] = object_of(self->b).link_id;
	expect_told(self, links, 0);
	adapter("port_state", row->port_state);
	tell(row->event);
	expect_told(self, links, row->events);
	for (i = 0; i < 20; i++) {
		adapter("event", row->event);
		talk(self->a, self->b);
	}
	sleep_ms(10);
	expect_told(self, links, row->events);
	adapter("port_state", AS_IT_IS);
	tell(ACTIVE);
	expect_told(self, links, row->events & ~PORT_IS_DOWN);
}

static void address(const char *verb)
{
	char command[128];

	snprintf(command, sizeof(command), "ip addr %s dev %s 10.78.0.1/24", verb,
		 getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
	sleep_ms(100);
}

/* An address comes and goes that no link has. */
TEST_F(adapter, gids)
{
	uint64_t link;

	if (!has_peer())
		SKIP("two hosts are needed, or both ends are told");
	pair(self);
	link = object_of(self->a).link_id;
	EXPECT_EQ(events_of(self->ctx, link), 0);
	address("add");
	EXPECT_EQ(events_of(self->ctx, link), RDMACHAN_LINK_EVENT_GIDS);
	talk(self->a, self->b);
	address("del");
	EXPECT_EQ(events_of(self->ctx, link), RDMACHAN_LINK_EVENT_GIDS);
	EXPECT_EQ(object_of(self->b).events, 0);
	EXPECT_EQ(object_of(self->a).link_id, link);
	talk(self->a, self->b);
}

static void expect_failed(int chan, unsigned int within_ms, const struct end_told *told)
{
	struct rdmachan_error error;

	ASSERT_TRUE(wait_state(chan, RDMACHAN_STATE_FAILED, within_ms));
	ASSERT_EQ(get_error(chan, &error), 0);
	EXPECT_EQ(error.cause, told->cause);
	EXPECT_EQ(error.error, told->error);
}

/* Links of all users end at once: those that are quiet, and those in the middle of something. */
TEST_F(adapter, fatal)
{
	static const struct end_told fatal = { ENODEV, RDMACHAN_CAUSE_DEVICE_FATAL };
	int others[2], fds[2], ctx, i;
	pid_t children[4];
	int64_t begun;

	pair(self);
	ctx = fault_pair_of(OTHER_USER, others);
	pair_up(self->ctx, fds, NULL);
	for (i = 0; i < 4; i++)
		children[i] = busy_until_end(i < 2 ? self->a : self->b, i % 2, &fatal);
	sleep_ms(100);
	begun = tick_ms();
	adapter("event", FATAL);
	for (i = 0; i < 2; i++) {
		expect_failed(others[i], 100, &fatal);
		expect_failed(fds[i], 100, &fatal);
		close(others[i]);
		close(fds[i]);
	}
	expect_failed(self->a, 100, &fatal);
	expect_failed(self->b, 100, &fatal);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(child_status(children[i]), 0);
	EXPECT_TOOK(begun, 0, KERNEL_TICK_MS);
	close(ctx);
	close(self->a);
	close(self->b);
	/* The adapter is there all the same, and the new link knows nothing of what was. */
	pair(self);
	EXPECT_EQ(object_of(self->a).events, 0);
}

/*
 * As long as it tries, nobody is told. The module has it try seven times, each 1.07 s later. Twice
 * a second, as the module has it with rxe, it would give up after 3.8 s. The cable is back before
 * the dead time is over.
 */
TEST_F(adapter, tries_for_the_dead_time)
{
	static const char message[] = "late";
	char back[sizeof(message)];
	uint64_t link;

	if (!time_is_virtual() || !has_peer())
		SKIP("there is no cable");
	adapter("retry_cnt", 6);
	pair(self);
	link = object_of(self->a).link_id;
	cable("cut");
	ASSERT_EQ(do_send(self->a, message, sizeof(message), 0, NULL), 0);
	sleep_ms(4000);
	cable("mend");
	ASSERT_EQ(do_recv(self->b, back, sizeof(back), NULL, TIMEOUT(5000)), 0);
	EXPECT_EQ(memcmp(back, message, sizeof(message)), 0);
	talk(self->a, self->b);
	EXPECT_EQ(object_of(self->a).link_id, link);
}

/* An adapter gives up much sooner. What the port says by then tells more than that. */
static const struct over {
	const char *name;
	unsigned int port_state;
	uint32_t cause;
} over[] = {
	{ "transport", AS_IT_IS, RDMACHAN_CAUSE_TRANSPORT },
	{ "port_down", DOWN, RDMACHAN_CAUSE_PORT_DOWN },
};

/* 67 ms, of which rxe counts whole ticks. Each try may wait a tick longer, as its timer does. */
#define ACK_TIMEOUT 14
#define ACK_MS 60
#define TRIES 3

TEST_F_ROWS(adapter, gives_up, over)
{
	const struct end_told told = { ECONNRESET, row->cause };
	struct rdmachan_error error;
	int64_t begun;

	if (!time_is_virtual() || !has_peer())
		SKIP("there is no cable");
	adapter("retry_cnt", TRIES - 1);
	adapter("ack_timeout", ACK_TIMEOUT);
	pair(self);
	/* The timer of what was sent before has run out, and no heartbeat is due yet. */
	sleep_ms(200);
	cable("cut");
	adapter("port_state", row->port_state);
	begun = tick_ms();
	ASSERT_EQ(do_send(self->a, "lost", 4, 0, NULL), 0);
	expect_failed(self->a, 1000, &told);
	EXPECT_TOOK(begun, TRIES * ACK_MS, (TRIES + 1) * KERNEL_TICK_MS);
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.wc_status, RETRIES_OVER);
	cable("mend");
	EXPECT_TRUE(wait_state(self->b, RDMACHAN_STATE_FAILED, 20000));
}

#define FIRMWARE_MS 1000

/* A queue pair of this end, and when its number has come there, one of the other. */
#define CONNECT_MS (2 * FIRMWARE_MS)

static void connect_slowly(void)
{
	const int64_t begun = tick_ms();
	int fds[2];

	fault_pair_of(OTHER_USER, fds);
	EXPECT_TOOK(begun, CONNECT_MS, 2 * timer_late(FIRMWARE_MS) + KERNEL_TICK_MS);
	talk(fds[0], fds[1]);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

/* Its firmware has others to serve: who connects waits for that, and nobody else. */
TEST_F(adapter, slow_firmware)
{
	pid_t child;
	int64_t begun;
	int i;

	pair(self);
	adapter("slow_ms", FIRMWARE_MS);
	child = LATER(0, connect_slowly());
	for (i = 0; i < CONNECT_MS / 20; i++) {
		begun = tick_ms();
		talk(self->a, self->b);
		EXPECT_TOOK(begun, 0, KERNEL_TICK_MS);
		sleep_ms(20);
	}
	EXPECT_EQ(child_status(child), 0);
}

int main(int argc, char **argv)
{
	const int ret = harness_main(argc, argv);

	if (time_is_virtual() && has_peer())
		cable("mend");
	return ret;
}
