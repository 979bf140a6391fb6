// SPDX-License-Identifier: GPL-2.0
/*
 * address_test.c - local addresses: services that are at one, and channels that come from one
 *
 * Each of the two hosts has a second address on its interface for these tests.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "inject.h"
#include "pair.h"
#include "ring.h"

#define OTHER_HERE "10.77.1.1"
#define OTHER_THERE "10.77.1.2"
#define NOBODYS "10.77.1.77"
#define ALICE 1000
/* How long an adapter may take to notice an address. */
#define NOTICE_MS 2000

FIXTURE(address)
{
	int ctx;
	int there;
	/* The first and the second address of this host, and of that of @there. */
	struct rdmachan_addr here[2];
	struct rdmachan_addr peer[2];
};

static int listen_at(int ctx, uint32_t service, const struct rdmachan_addr *local,
		     struct rdmachan_error *error)
{
	struct rdmachan_listen_args listen;

	fill_listen(&listen, service, &(struct opts){ .error = error });
	if (local)
		listen.local = *local;
	return ioctl(ctx, RDMACHAN_LISTEN, &listen) ? -1 : listen.out_fd;
}

static int connect_from(int ctx, const struct rdmachan_addr *source,
			const struct rdmachan_addr *addr, uint32_t service,
			struct rdmachan_error *error)
{
	struct rdmachan_connect_args connect;

	fill_connect(&connect, service, &(struct opts){ .error = error, .timeout_ms = 10000 });
	connect.addr = *addr;
	if (source)
		connect.source = *source;
	return ioctl(ctx, RDMACHAN_CONNECT, &connect) ? -1 : connect.out_fd;
}

static bool same_address(const struct rdmachan_addr *a, const struct rdmachan_addr *b)
{
	return a->family == b->family && !memcmp(a->addr, b->addr, sizeof(a->addr)) &&
	       a->scope_id == b->scope_id;
}

static void change_address(const char *verb, const char *address)
{
	char text[160];

	snprintf(text, sizeof(text), "ip addr %s %s/24 dev %s", verb, address, getenv("LAB_DEV"));
	ASSERT_EQ(system(text), 0);
}

static bool await_address(int ctx, const char *address)
{
	const struct rdmachan_addr addr = address_of(address);
	int64_t until = now_ms() + NOTICE_MS;
	int listener;

	for (;;) {
		listener = listen_at(ctx, SERVICE + 99, &addr, NULL);
		if (listener >= 0) {
			close(listener);
			return true;
		}
		if (errno != EADDRNOTAVAIL || now_ms() > until)
			return false;
		sleep_ms(1);
	}
}

static void change_peer_address(const char *verb)
{
	int here = enter_peer();

	change_address(verb, has_peer() ? OTHER_THERE : OTHER_HERE);
	leave_peer(here);
}

FIXTURE_SETUP(address)
{
	if (!getenv("LAB_DEV"))
		SKIP("an interface of the lab is needed");
	self->ctx = open_ctx();
	self->there = open_peer();
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	/* One that has failed may have left them there. */
	change_address("replace", OTHER_HERE);
	if (has_peer())
		change_peer_address("replace");
	ASSERT_TRUE(await_address(self->ctx, OTHER_HERE));
	ASSERT_TRUE(await_address(self->there, has_peer() ? OTHER_THERE : OTHER_HERE));
	self->here[0] = own_address();
	self->here[1] = address_of(OTHER_HERE);
	self->peer[0] = peer_address();
	self->peer[1] = address_of(has_peer() ? OTHER_THERE : OTHER_HERE);
	await_no_links(self->ctx);
}

FIXTURE_TEARDOWN(address)
{
	await_no_links(self->ctx);
	change_address("del", OTHER_HERE);
	if (has_peer())
		change_peer_address("del");
	close(self->there);
	close(self->ctx);
}

static void expect_pair(struct fixture_address *self, int listener,
			const struct rdmachan_addr *source, const struct rdmachan_addr *addr)
{
	int chan = connect_from(self->ctx, source, addr, SERVICE, NULL), end;

	ASSERT_GE(chan, 0);
	end = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(end, 0);
	talk(chan, end);
	close(chan);
	close(end);
}

static void expect_refused(struct fixture_address *self, const struct rdmachan_addr *addr)
{
	struct rdmachan_error error;

	EXPECT_ERR(connect_from(self->ctx, NULL, addr, SERVICE, &error), ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
}

/* A listener that has one address is nobody for what comes to another one. */
TEST_F(address, service_at_one)
{
	int listener = listen_at(self->there, SERVICE, &self->peer[1], NULL), other, chan;
	struct rdmachan_object object;

	ASSERT_GE(listener, 0);
	ASSERT_EQ(get_object(listener, &object), 0);
	EXPECT_TRUE(same_address(&object.local, &self->peer[1]));
	EXPECT_EQ(ntohs(object.local.port), RDMACHAN_PORT);
	/* Without a link to that address, and with one. */
	expect_refused(self, &self->peer[0]);
	other = do_listen(self->there, SERVICE + 1, NULL);
	chan = connect_from(self->ctx, NULL, &self->peer[0], SERVICE + 1, NULL);
	ASSERT_GE(chan, 0);
	expect_refused(self, &self->peer[0]);
	expect_pair(self, listener, NULL, &self->peer[1]);
	ASSERT_EQ(get_object(other, &object), 0);
	EXPECT_EQ(object.local.family, 0);
	close(chan);
	close(other);
	close(listener);
	expect_refused(self, &self->peer[1]);
}

/* Two listeners of a service, each with the channels that come to its address. */
TEST_F(address, services_at_two)
{
	int listeners[2], i;

	if (!has_peer())
		SKIP("two hosts are needed");
	for (i = 0; i < 2; i++) {
		listeners[i] = listen_at(self->there, SERVICE, &self->peer[i], NULL);
		ASSERT_GE(listeners[i], 0);
	}
	for (i = 0; i < 2; i++) {
		expect_pair(self, listeners[i], NULL, &self->peer[i]);
		EXPECT_EQ(poll_mask(listeners[!i], POLLIN, 0), 0);
	}
	close(listeners[0]);
	expect_refused(self, &self->peer[0]);
	expect_pair(self, listeners[1], NULL, &self->peer[1]);
	close(listeners[1]);
}

/* Addresses of two listeners: the first one, the second one, or all. */
#define ALL 2

static const struct beside {
	const char *name;
	int first;
	int second;
	int error;
} besides[] = {
	{ "all_and_all", ALL, ALL, EADDRINUSE },
	{ "all_and_one", ALL, 0, EADDRINUSE },
	{ "one_and_all", 0, ALL, EADDRINUSE },
	{ "one_and_the_same", 1, 1, EADDRINUSE },
	{ "one_and_another", 0, 1, 0 },
};

/* Nobody takes what comes to another's listener, nor some of it: not the same user either. */
TEST_F_ROWS(address, beside, besides)
{
	const struct rdmachan_addr *first = row->first == ALL ? NULL : &self->here[row->first];
	const struct rdmachan_addr *second = row->second == ALL ? NULL : &self->here[row->second];
	int listener, again, ctx, users;

	for (users = 0; users < 2; users++) {
		ASSERT_EQ(setresuid(-1, users ? ALICE : 0, -1), 0);
		ctx = open_ctx();
		ASSERT_EQ(setresuid(-1, 0, -1), 0);
		listener = listen_at(self->ctx, SERVICE, first, NULL);
		ASSERT_GE(listener, 0);
		again = listen_at(ctx, SERVICE, second, NULL);
		EXPECT_EQ(again < 0 ? errno : 0, row->error);
		close(listener);
		if (again >= 0)
			close(again);
		again = listen_at(ctx, SERVICE, second, NULL);
		EXPECT_GE(again, 0);
		close(again);
		close(ctx);
	}
}

/* Addresses that are none of this host's adapters, or none at all. */
static const struct wrong {
	const char *name;
	const char *address;
	uint16_t family;
	uint16_t port;
	uint32_t flowinfo;
	uint32_t scope_id;
	int error;
	uint64_t detail;
} wrongs[] = {
	{ "nobodys", NOBODYS, 0, 0, 0, 0, EADDRNOTAVAIL, 0 },
	{ "nobodys_6", "fd77:1::77", 0, 0, 0, 0, EADDRNOTAVAIL, 0 },
	{ "without_adapter", "127.0.0.1", 0, 0, 0, 0, EADDRNOTAVAIL, 1 },
	{ "without_adapter_6", "::1", 0, 0, 0, 0, EADDRNOTAVAIL, 1 },
	{ "mapped", "::ffff:" NOBODYS, 0, 0, 0, 0, EADDRNOTAVAIL, 0 },
	{ "family", OTHER_HERE, AF_UNIX, 0, 0, 0, EAFNOSUPPORT, 0 },
	{ "no_family", OTHER_HERE, AF_UNSPEC, 0, 0, 0, EAFNOSUPPORT, 0 },
	{ "port", OTHER_HERE, AF_INET, 1, 0, 0, EINVAL, 0 },
	{ "flowinfo", OTHER_HERE, AF_INET, 0, 1, 0, EINVAL, 0 },
	{ "scope", OTHER_HERE, AF_INET, 0, 0, 1, EINVAL, 0 },
	{ "all_zeros", "0.0.0.0", AF_INET, 0, 0, 0, EINVAL, 0 },
	{ "all_zeros_6", "::", AF_INET6, 0, 0, 0, EINVAL, 0 },
	{ "multicast", "224.0.0.1", AF_INET, 0, 0, 0, EINVAL, 0 },
	{ "multicast_6", "ff02::1", AF_INET6, 0, 0, 1, EINVAL, 0 },
	{ "broadcast", "255.255.255.255", AF_INET, 0, 0, 0, EINVAL, 0 },
	{ "link_local_without_interface", "fe80::1", AF_INET6, 0, 0, 0, EINVAL, 0 },
	{ "link_local_of_no_interface", "fe80::1", AF_INET6, 0, 0, 9999, EADDRNOTAVAIL, 0 },
	{ "interface_of_another", "fd77::1", AF_INET6, 0, 0, 1, EINVAL, 0 },
};

static struct rdmachan_addr wrong_address(const struct wrong *wrong)
{
	struct rdmachan_addr addr = address_of(wrong->address);

	if (wrong->error != EADDRNOTAVAIL)
		addr.family = wrong->family;
	addr.port = wrong->port;
	addr.flowinfo = wrong->flowinfo;
	addr.scope_id = wrong->scope_id;
	return addr;
}

/* @error was filled with 0xee before the call. */
static void expect_wrong(const struct wrong *wrong, const struct rdmachan_error *error, uint32_t op)
{
	if (wrong->error != EADDRNOTAVAIL) {
		EXPECT_EQ(error->cause, 0xeeeeeeeeU);
		return;
	}
	EXPECT_EQ(error->error, EADDRNOTAVAIL);
	EXPECT_EQ(error->cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
	EXPECT_EQ(error->op, op);
	EXPECT_EQ(error->detail, wrong->detail);
	EXPECT_NE(error->local.family, 0);
}

TEST_F_ROWS(address, listen_at_wrong, wrongs)
{
	const struct rdmachan_addr addr = wrong_address(row);
	struct rdmachan_error error;
	int listener;

	EXPECT_ERR(listen_at(self->ctx, SERVICE, &addr, &error), row->error);
	expect_wrong(row, &error, RDMACHAN_OP_LISTEN);
	/* Nothing is left of it. */
	listener = do_listen(self->ctx, SERVICE, NULL);
	EXPECT_GE(listener, 0);
	close(listener);
}

TEST_F_ROWS(address, connect_from_wrong, wrongs)
{
	const struct rdmachan_addr addr = wrong_address(row);
	const bool six = addr.family == AF_INET6 && strncmp(row->address, "::ffff:", 7);
	const struct rdmachan_addr to = six ? peer_address6() : peer_address();
	struct rdmachan_error error;

	EXPECT_ERR(connect_from(self->ctx, &addr, &to, SERVICE, &error), row->error);
	expect_wrong(row, &error, RDMACHAN_OP_RESOLVE);
}

TEST_F(address, connect_from_another_family)
{
	const struct rdmachan_addr six = peer_address6(), own_six = own_address6();

	EXPECT_ERR(connect_from(self->ctx, &self->here[0], &six, SERVICE, NULL), EINVAL);
	EXPECT_ERR(connect_from(self->ctx, &own_six, &self->peer[0], SERVICE, NULL), EINVAL);
}

static void wrong_queue_connect(struct queue *q, struct rdmachan_error *error)
{
	const struct rdmachan_addr nobodys = address_of(NOBODYS);
	struct rdmachan_connect_args connect;

	fill_connect(&connect, SERVICE, &(struct opts){ .error = error });
	connect.source = nobodys;
	queue_add(q, RDMACHAN_OPCODE_CONNECT, -1, 1)->addr = (uintptr_t)&connect;
	ASSERT_EQ(queue_enter(q, 1, 1, 10000), 1);
	EXPECT_CQE(q, 1, -EADDRNOTAVAIL);
	EXPECT_TRUE(same_address(&error->local, &nobodys));
}

/* By a queue, and by a call that does not wait. */
TEST_F(address, other_ways_to_connect)
{
	struct rdmachan_addr nobodys = address_of(NOBODYS);
	struct rdmachan_connect_args connect;
	struct rdmachan_object object;
	struct rdmachan_error error;
	struct rdmachan_cqe cqe;
	int listener, end;
	struct queue q;

	ASSERT_EQ(queue_open(self->ctx, &q, 4, 4), 0);
	wrong_queue_connect(&q, &error);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
	listener = do_listen(self->there, SERVICE, NULL);
	fill_connect(&connect, SERVICE, NULL);
	connect.source = self->here[1];
	queue_add(&q, RDMACHAN_OPCODE_CONNECT, -1, 2)->addr = (uintptr_t)&connect;
	ASSERT_EQ(queue_enter(&q, 1, 1, 10000), 1);
	ASSERT_TRUE(queue_wait(&q, &cqe));
	ASSERT_GE(cqe.res, 0);
	end = do_accept(listener, TIMEOUT(5000));
	ASSERT_EQ(get_object(end, &object), 0);
	EXPECT_TRUE(same_address(&object.peer, &self->here[1]));
	close(end);
	close(cqe.res);

	connect.flags = RDMACHAN_FD_F_NONBLOCK;
	connect.source = nobodys;
	ASSERT_EQ(ioctl(self->ctx, RDMACHAN_CONNECT, &connect), 0);
	ASSERT_EQ(get_object(connect.out_fd, &object), 0);
	EXPECT_TRUE(same_address(&object.local, &nobodys));
	EXPECT_TRUE(wait_state(connect.out_fd, RDMACHAN_STATE_FAILED, 5000));
	ASSERT_EQ(get_error(connect.out_fd, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
	EXPECT_TRUE(same_address(&error.local, &nobodys));
	close(connect.out_fd);
	close(listener);
	queue_close(&q);
}

/* Channels of one value share a link, also where another value has led to the same address. */
TEST_F(address, connect_from_one)
{
	const struct rdmachan_addr *sources[] = {
		NULL, &self->here[0], &self->here[1], NULL, &self->here[1],
	};
	/* The address, and the first channel of the same link. */
	static const int local[] = { 0, 0, 1, 0, 1 }, same_as[] = { 0, 1, 2, 0, 2 };
	struct rdmachan_object objects[5], there;
	int listener = do_listen(self->there, SERVICE, NULL), fds[5][2], i, k;

	for (i = 0; i < 5; i++) {
		fds[i][0] = connect_from(self->ctx, sources[i], &self->peer[0], SERVICE, NULL);
		ASSERT_GE(fds[i][0], 0);
		fds[i][1] = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(fds[i][1], 0);
		talk(fds[i][0], fds[i][1]);
		ASSERT_EQ(get_object(fds[i][0], &objects[i]), 0);
		ASSERT_EQ(get_object(fds[i][1], &there), 0);
		EXPECT_TRUE(same_address(&objects[i].local, &self->here[local[i]]));
		EXPECT_TRUE(same_address(&there.peer, &self->here[local[i]]));
		EXPECT_TRUE(same_address(&there.local, &self->peer[0]));
	}
	for (i = 0; i < 5; i++)
		for (k = 0; k < i; k++)
			EXPECT_EQ(objects[i].link_id == objects[k].link_id,
				  same_as[i] == same_as[k]);
	for (i = 0; i < 5; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	close(listener);
}

/* With the port of privileged programs, and with any. */
TEST_F(address, connect_from_any_port)
{
	int listener = do_listen(self->there, SERVICE, NULL), privileged;

	for (privileged = 1; privileged >= 0; privileged--) {
		set_parameter("own_privileged_port", privileged);
		set_parameter("peer_privileged_port", privileged);
		expect_pair(self, listener, &self->here[1], &self->peer[1]);
		await_no_links(self->ctx);
	}
	set_parameter("own_privileged_port", 1);
	set_parameter("peer_privileged_port", 1);
	close(listener);
}

/* An address goes: channels from it cannot be made, and a service at it waits until it is back. */
TEST_F(address, that_goes_and_comes)
{
	int listener = listen_at(self->there, SERVICE, &self->peer[1], NULL);
	struct rdmachan_error error;

	if (!has_peer())
		SKIP("two hosts are needed");
	ASSERT_GE(listener, 0);
	change_address("del", OTHER_HERE);
	EXPECT_ERR(connect_from(self->ctx, &self->here[1], &self->peer[0], SERVICE, &error),
		   EADDRNOTAVAIL);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
	change_address("add", OTHER_HERE);
	ASSERT_TRUE(await_address(self->ctx, OTHER_HERE));

	change_peer_address("del");
	EXPECT_ERR(listen_at(self->there, SERVICE + 1, &self->peer[1], &error), EADDRNOTAVAIL);
	change_peer_address("add");
	ASSERT_TRUE(await_address(self->there, OTHER_THERE));
	expect_pair(self, listener, &self->here[1], &self->peer[1]);
	close(listener);
}

/* The link-local address of the interface; its scope is the interface. */
static struct rdmachan_addr link_local(void)
{
	struct rdmachan_addr addr = { .family = AF_INET6 };
	unsigned int number, digits[16];
	char name[20];
	FILE *file = fopen("/proc/net/if_inet6", "r");
	int i;

	ASSERT_TRUE(file);
	for (;;) {
		for (i = 0; i < 16; i++)
			if (fscanf(file, "%2x", &digits[i]) != 1)
				SKIP("the interface has no link-local address");
		ASSERT_EQ(fscanf(file, " %x %*x %*x %*x %19s", &number, name), 2);
		if (digits[0] == 0xfe && !strcmp(name, getenv("LAB_DEV")))
			break;
	}
	fclose(file);
	for (i = 0; i < 16; i++)
		addr.addr[i] = digits[i];
	addr.scope_id = number;
	return addr;
}

static struct rdmachan_addr peer_link_local(void)
{
	struct rdmachan_addr addr;
	int here = enter_peer();

	addr = link_local();
	leave_peer(here);
	return addr;
}

/* A link-local address belongs to an interface, which a request to connect does not name. */
TEST_F(address, link_local)
{
	struct rdmachan_addr here = link_local(), peer = peer_link_local(), to = peer;
	struct rdmachan_object object;
	struct rdmachan_error error;
	int listener, chan, end;

	if (!has_peer())
		SKIP("two hosts are needed");
	to.scope_id = here.scope_id;
	listener = listen_at(self->there, SERVICE, &peer, &error);
	ASSERT_GE(listener, 0);
	chan = connect_from(self->ctx, &here, &to, SERVICE, &error);
	ASSERT_GE(chan, 0);
	end = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(end, 0);
	talk(chan, end);
	ASSERT_EQ(get_object(end, &object), 0);
	EXPECT_TRUE(same_address(&object.local, &peer));
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_TRUE(same_address(&object.local, &here));
	close(chan);
	close(end);
	close(listener);
}

/* The interface is there, and the address is nobody's, or that of the peer. */
TEST_F(address, link_local_of_nobody)
{
	const struct rdmachan_addr here = link_local();
	struct rdmachan_addr peer = has_peer() ? peer_link_local() : here, wrong[2];
	struct rdmachan_error error;
	int i;

	peer.scope_id = here.scope_id;
	wrong[0] = here;
	wrong[0].addr[15] ^= 0x55;
	wrong[1] = peer;
	for (i = 0; i <= has_peer(); i++) {
		EXPECT_ERR(listen_at(self->ctx, SERVICE, &wrong[i], &error), EADDRNOTAVAIL);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
		EXPECT_EQ(error.detail, 0);
		EXPECT_ERR(connect_from(self->ctx, &wrong[i], &peer, SERVICE, &error),
			   EADDRNOTAVAIL);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
		EXPECT_EQ(error.detail, 0);
		EXPECT_TRUE(same_address(&error.local, &wrong[i]));
	}
}

/* The peer's address names an interface that has not the address to connect from. */
TEST_F(address, not_at_the_interface_of_the_peer)
{
	struct rdmachan_addr to = peer_link_local(), from = address_of("fd77:1::77");
	struct rdmachan_error error;

	if (!has_peer())
		SKIP("two hosts are needed");
	to.scope_id = link_local().scope_id;
	EXPECT_ERR(connect_from(self->ctx, &from, &to, SERVICE, &error), EADDRNOTAVAIL);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
	from = own_address6();
	to.scope_id = if_nametoindex("lo");
	EXPECT_ERR(connect_from(self->ctx, &from, &to, SERVICE, &error), EADDRNOTAVAIL);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_LOCAL_ADDRESS);
}

/*
 * A connection from an own address takes no more of the connection manager than any other: what it
 * made besides it would have to destroy, and wait for others' work.
 */
TEST_F(address, connect_from_one_needs_no_more)
{
	int listener = do_listen(self->there, SERVICE, NULL), i;
	unsigned long seen[2];

	if (access(INJECT, F_OK))
		SKIP("there is no debugfs");
	for (i = 0; i < 2; i++) {
		inject("nomem", "site=verbs skip=1000000");
		expect_pair(self, listener, i ? &self->here[0] : NULL, &self->peer[0]);
		seen[i] = inject_seen("nomem");
		inject_off("nomem");
		await_no_links(self->ctx);
	}
	EXPECT_GT(seen[0], 0);
	EXPECT_EQ(seen[1], seen[0]);
	close(listener);
}

/* Each of the addresses names an interface: the connection cannot go by both. */
TEST_F(address, connect_from_another_interface)
{
	struct rdmachan_addr here = link_local(), to = here;

	to.scope_id = here.scope_id + 1;
	EXPECT_ERR(connect_from(self->ctx, &here, &to, SERVICE, NULL), EINVAL);
}

TEST_F(address, is_told_of)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_TRUE(info.out_calls & RDMACHAN_CALLS_ADDRESS);
}

TEST_HARNESS_MAIN
