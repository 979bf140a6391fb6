// SPDX-License-Identifier: GPL-2.0
/*
 * conn_test.c - connections: the peers that a program reaches, and the faults that end them
 *
 * Tests that take the device away come last.
 */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "pair.h"
#include "region.h"

#define ABSENT "10.77.0.99"
#define SILENT "10.77.0.98"
#define ALICE 1000
#define LEAVERS 70
/* So long an address is asked for, if a connect has the time. */
#define RESOLVE_MS 3000

static uint64_t cm_connects(int ctx)
{
	struct rdmachan_info info;

	ASSERT_EQ(get_info(ctx, &info), 0);
	return info.out_cm_connects;
}

/*
 * siw may close a connection that was refused before it has read why; then it looks like
 * a host without the module, and asking again helps.
 */
static int connect_refused(int ctx, uint32_t service, struct rdmachan_error *error)
{
	int ret, tries = over_siw() ? 4 : 1;

	do {
		ret = do_connect(ctx, service, &(struct opts){ .error = error });
	} while (ret < 0 && error->cause == RDMACHAN_CAUSE_NO_MODULE && --tries);
	return ret;
}

TEST(nobody_listens)
{
	struct rdmachan_error error;
	int i, ctx = open_ctx();

	/* The module's port is open since the first listener. */
	ASSERT_GE(do_listen(open_peer(), SERVICE, NULL), 0);
	for (i = 0; i < 4; i++) {
		EXPECT_ERR(connect_refused(ctx, SERVICE + 7, &error), ECONNREFUSED);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_SERVICE);
		EXPECT_EQ(error.error, ECONNREFUSED);
		EXPECT_EQ(error.service, SERVICE + 7);
		/* From now on with a link at hand. */
		if (i == 1)
			EXPECT_GE(do_connect(ctx, SERVICE, NULL), 0);
	}
}

/* A link that is being made for a service of nobody's is refused, and a waiter for it is not. */
TEST(beside_one_that_is_refused)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int ctx = open_ctx(), refused;

	if (!time_is_virtual() || over_siw())
		SKIP("the moment is another, or siw does not tell the reason");
	ASSERT_GE(do_listen(open_peer(), SERVICE, NULL), 0);
	await_no_links(ctx);
	cable("delay 10");
	refused = do_connect(ctx, SERVICE + 7, &nonblock);
	ASSERT_GE(refused, 0);
	sleep_ms(1);
	EXPECT_GE(do_connect(ctx, SERVICE, NULL), 0);
	EXPECT_TRUE(wait_state(refused, RDMACHAN_STATE_FAILED, 1000));
	cable("delay 0");
}

TEST(absent_host)
{
	struct rdmachan_addr addr = address_of(ABSENT);
	struct rdmachan_error error;
	int64_t begun = tick_ms();
	int ctx = open_ctx();

	ASSERT_EQ(do_connect_to(ctx, &addr, SERVICE,
				&(struct opts){ .timeout_ms = 8000, .error = &error }), -1);
	EXPECT_EQ(errno, EHOSTUNREACH);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_ADDRESS);
	EXPECT_EQ(error.op, RDMACHAN_OP_RESOLVE);
	EXPECT_TOOK(begun, RESOLVE_MS, timer_late(RESOLVE_MS));
}

/* A short patience is kept, whatever the reason that is found. */
TEST(absent_host_soon)
{
	struct rdmachan_addr addr = address_of(ABSENT);
	int64_t begun = tick_ms();
	int ctx = open_ctx();

	ASSERT_EQ(do_connect_to(ctx, &addr, SERVICE, TIMEOUT(300)), -1);
	EXPECT_TRUE(errno == ETIMEDOUT || errno == EHOSTUNREACH);
	EXPECT_TOOK(begun, 300, LIMIT_LATE(300));
}

/* As a user who has no link yet: one that is at hand would do. */
TEST(no_module_there)
{
	struct rdmachan_addr addr = peer_address();
	struct rdmachan_error error;
	int ctx;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(setuid(4321), 0);
	ctx = open_ctx();
	addr.port = 0x0101;
	EXPECT_ERR(do_connect_to(ctx, &addr, SERVICE,
				 &(struct opts){ .timeout_ms = 5000, .error = &error }),
		   ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_MODULE);
}

/*
 * A program that has connected is told something that is no answer of iWARP. Where the length of
 * private data would be are zeros: siw (7.2) dies of another length in what it has not understood.
 */
static void *other_server(void *arg)
{
	static const char answer[20] = "I speak no MPA";
	int from = accept(*(int *)arg, NULL, NULL);

	EXPECT_EQ(write(from, answer, sizeof(answer)), (ssize_t)sizeof(answer));
	sleep_ms(1000);
	close(from);
	return NULL;
}

/* By iWARP, which connects to any program that waits for TCP there: this host is not at fault. */
TEST(another_server_there)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(7799) };
	struct rdmachan_addr addr = peer_address();
	struct rdmachan_error error;
	int here, server;
	pthread_t thread;

	if (!over_siw())
		SKIP("it needs iWARP");
	here = enter_peer();
	server = socket(AF_INET, SOCK_STREAM, 0);
	ASSERT_EQ(bind(server, (struct sockaddr *)&in, sizeof(in)), 0);
	ASSERT_EQ(listen(server, 1), 0);
	leave_peer(here);
	ASSERT_EQ(pthread_create(&thread, NULL, other_server, &server), 0);
	addr.port = in.sin_port;
	EXPECT_ERR(do_connect_to(open_ctx(), &addr, SERVICE,
				 &(struct opts){ .timeout_ms = 5000, .error = &error }),
		   ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_MODULE);
	pthread_join(thread, NULL);
	close(server);
}

/*
 * The peer's connection manager asks all namespaces whether one waits on this port, and this one
 * does. It refuses without a word of the module then, as the address belongs to another one.
 */
TEST(no_module_in_the_namespace)
{
	struct rdmachan_addr addr = peer_address();
	struct rdmachan_error error;
	int ctx;

	if (!has_peer())
		SKIP("there is one namespace");
	ctx = open_ctx();
	/* While it has links it waits for peers all the same. */
	await_no_links(ctx);
	ASSERT_GE(do_listen(ctx, SERVICE, NULL), 0);
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(setuid(4322), 0);
	ctx = open_ctx();
	EXPECT_ERR(do_connect_to(ctx, &addr, SERVICE,
				 &(struct opts){ .timeout_ms = 5000, .error = &error }),
		   ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_MODULE);
	EXPECT_EQ(error.cm_status, 28);
}

/* A route over an interface that no RDMA device belongs to. */
TEST(no_device)
{
	struct rdmachan_addr addr = address_of("198.18.7.2");
	struct rdmachan_error error;
	int ctx = open_ctx();

	if (system("ip link add rchtest0 type dummy && ip link set rchtest0 up &&"
		   " ip addr add 198.18.7.1/24 dev rchtest0"))
		SKIP("there is no dummy interface");
	EXPECT_ERR(do_connect_to(ctx, &addr, SERVICE,
				 &(struct opts){ .timeout_ms = 5000, .error = &error }),
		   ENODEV);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_NO_DEVICE);
	EXPECT_EQ(system("ip link del rchtest0"), 0);
}

/* Nobody can answer at the address of many, or of none: that is told at once. */
TEST(no_host_has_it)
{
	static const char *const texts[] = {
		"0.0.0.0", "224.0.0.1", "239.255.255.255", "255.255.255.255", "10.77.0.255",
		"::", "ff02::1", "ff05::2", "::ffff:0.0.0.0", "::ffff:224.0.0.1",
		"::ffff:255.255.255.255", "::ffff:10.77.0.255",
	};
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	struct rdmachan_error error;
	struct rdmachan_addr addr;
	int ctx = open_ctx();
	int64_t begun;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		addr = address_of(texts[i]);
		begun = now_ms();
		ASSERT_EQ(do_connect_to(ctx, &addr, SERVICE,
					&(struct opts){ .timeout_ms = 5000, .error = &error }), -1);
		EXPECT_EQ(errno, EHOSTUNREACH);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_ADDRESS);
		EXPECT_EQ(error.detail, 1);
		EXPECT_EQ(error.op, RDMACHAN_OP_RESOLVE);
		if (time_is_virtual())
			EXPECT_EQ(now_ms() - begun, 0);
		EXPECT_ERR(do_connect_to(ctx, &addr, SERVICE, &nonblock), EHOSTUNREACH);
	}
}

TEST(backlog_full)
{
	int ctx = open_ctx(), listener, i, fd;
	struct rdmachan_error error;

	listener = do_listen(open_peer(), SERVICE, &(struct opts){ .backlog = 3 });
	for (i = 0; i < 3; i++)
		ASSERT_GE(do_connect(ctx, SERVICE, NULL), 0);
	EXPECT_ERR(do_connect(ctx, SERVICE, &(struct opts){ .error = &error }), ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_BACKLOG);
	fd = do_accept(listener, NULL);
	ASSERT_GE(fd, 0);
	EXPECT_GE(do_connect(ctx, SERVICE, NULL), 0);
	EXPECT_ERR(do_connect(ctx, SERVICE, NULL), ECONNREFUSED);
}

/* An address of IPv4 in the form of one of IPv6 is one of IPv4. */
TEST(mapped_address)
{
	struct rdmachan_addr addr = peer_address();
	int ctx = open_ctx(), listener = do_listen(open_peer(), SERVICE, NULL), chan;
	struct rdmachan_object object;

	memmove(addr.addr + 12, addr.addr, 4);
	memset(addr.addr, 0, 10);
	memset(addr.addr + 10, 0xff, 2);
	addr.family = AF_INET6;
	chan = do_connect_to(ctx, &addr, SERVICE, NULL);
	ASSERT_GE(chan, 0);
	ASSERT_EQ(get_object(chan, &object), 0);
	EXPECT_EQ(object.peer.family, AF_INET);
	talk(chan, do_accept(listener, NULL));
}

TEST(second_channel_uses_the_ipv6_link)
{
	struct rdmachan_addr addr = peer_address6();
	int ctx = open_ctx(), listener = do_listen(open_peer(), SERVICE, NULL);
	struct rdmachan_object first, second;
	int one = do_connect_to(ctx, &addr, SERVICE, NULL);
	int two = do_connect_to(ctx, &addr, SERVICE, NULL);

	ASSERT_GE(listener, 0);
	ASSERT_EQ(get_object(one, &first), 0);
	ASSERT_EQ(get_object(two, &second), 0);
	EXPECT_EQ(first.link_id, second.link_id);
}

TEST(parameters)
{
	static const char path[] = "/sys/module/rdmachan/parameters/linger_ms";
	char text[16] = "";
	int fd = open(path, O_RDWR);

	ASSERT_GE(fd, 0);
	ASSERT_GT(pread(fd, text, sizeof(text) - 1, 0), 0);
	EXPECT_GT(atoi(text), 0);
	EXPECT_ERR(pwrite(fd, "0", 1, 0), EINVAL);
	EXPECT_ERR(pwrite(fd, "many", 4, 0), EINVAL);
	EXPECT_EQ(pwrite(fd, text, strlen(text), 0), strlen(text));
}

/* A channel that could not be accepted goes on waiting, and that is told as if it came anew. */
TEST(accept_fails)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int watch = epoll_create1(0), listener;
	struct rlimit few, all;

	listener = do_listen(open_peer(), SERVICE, NULL);
	ASSERT_EQ(epoll_ctl(watch, EPOLL_CTL_ADD, listener, &event), 0);
	ASSERT_GE(do_connect(open_ctx(), SERVICE, NULL), 0);
	ASSERT_EQ(epoll_wait(watch, &event, 1, 10000), 1);
	EXPECT_EQ(epoll_wait(watch, &event, 1, 0), 0);
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = 0;
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	EXPECT_ERR(do_accept(listener, NULL), EMFILE);
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
	EXPECT_EQ(epoll_wait(watch, &event, 1, 0), 1);
	EXPECT_GE(do_accept(listener, NULL), 0);
}

TEST(second_channel_uses_the_link)
{
	int ctx = open_ctx(), listener, one, two, i;
	uint64_t connects;

	listener = do_listen(open_peer(), SERVICE, NULL);
	one = do_connect(ctx, SERVICE, NULL);
	ASSERT_GE(one, 0);
	connects = cm_connects(ctx);
	for (i = 0; i < 20; i++) {
		two = do_connect(ctx, SERVICE, NULL);
		ASSERT_GE(two, 0);
		close(two);
	}
	close(one);
	two = do_connect(ctx, SERVICE, NULL);
	ASSERT_GE(two, 0);
	EXPECT_EQ(cm_connects(ctx), connects);
	close(listener);
}

static void serve_as(int uid, uint32_t service, int ready)
{
	int ctx, listener, chan;
	char back[8];

	enter_peer();
	ASSERT_EQ(setuid(uid), 0);
	ctx = open_ctx();
	listener = do_listen(ctx, service, NULL);
	ASSERT_GE(listener, 0);
	ASSERT_EQ(write(ready, "r", 1), 1);
	for (;;) {
		chan = do_accept(listener, NULL);
		ASSERT_GE(chan, 0);
		while (read(chan, back, 8) > 0)
			ASSERT_EQ(write(chan, back, 4), 4);
		close(chan);
	}
}

static void ask(int ctx, uint32_t service, uint64_t *link)
{
	struct rdmachan_object object;
	char back[8];
	int chan = do_connect(ctx, service, NULL);

	ASSERT_GE(chan, 0);
	ASSERT_EQ(write(chan, "ping", 4), 4);
	ASSERT_EQ(do_recv(chan, back, 8, NULL, TIMEOUT(5000)), 0);
	ASSERT_EQ(get_object(chan, &object), 0);
	*link = object.link_id;
	close(chan);
}

/* Users do not share a link: their services are of two trust domains. */
TEST(services_of_two_users)
{
	int ready[2], ctx, i;
	uint64_t link[2];
	char c;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	ASSERT_EQ(pipe(ready), 0);
	if (!fork())
		serve_as(0, SERVICE, ready[1]);
	if (!fork())
		serve_as(ALICE, SERVICE + 1, ready[1]);
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	ASSERT_EQ(read(ready[0], &c, 1), 1);
	ctx = open_ctx();
	for (i = 0; i < 3; i++) {
		ask(ctx, SERVICE, &link[0]);
		ask(ctx, SERVICE + 1, &link[1]);
		EXPECT_NE(link[0], link[1]);
	}
	ASSERT_EQ(setuid(ALICE), 0);
	ctx = open_ctx();
	for (i = 0; i < 3; i++) {
		ask(ctx, SERVICE + 1, &link[1]);
		ask(ctx, SERVICE, &link[0]);
		EXPECT_NE(link[0], link[1]);
	}
}

TEST(peer_claimed_uid)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };
	int listener, chan;
	pid_t child;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	listener = do_listen(open_peer(), SERVICE, NULL);
	child = fork();
	if (!child) {
		ASSERT_EQ(setuid(ALICE), 0);
		chan = do_connect(open_ctx(), SERVICE, NULL);
		ASSERT_GE(chan, 0);
		/* Until the other end is closed. */
		ASSERT_EQ(read(chan, &accept, 1), 0);
		_exit(0);
	}
	ASSERT_EQ(ioctl(listener, RDMACHAN_ACCEPT, &accept), 0);
	EXPECT_EQ(accept.out_peer_claimed_uid, ALICE);
	close(accept.out_fd);
	EXPECT_EQ(child_status(child), 0);
}

TEST(five_hundred_channels)
{
	/* Buffers of the default size would be more than a small guest allows for. */
	const struct opts backlog = { .backlog = 1000, .tuning = { 65536, 65536, 0, 0 } };
	const struct rlimit limit = { 4096, 4096 };
	int ctx = open_ctx(), listener, i, a[500], b[500];
	struct rdmachan_info info;
	uint64_t before;

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ASSERT_EQ(get_info(ctx, &info), 0);
	/* Tests before this one may have left links that are idle. */
	before = info.out_links;
	listener = do_listen(open_peer(), SERVICE, &backlog);
	for (i = 0; i < 500; i++) {
		a[i] = do_connect(ctx, SERVICE, &backlog);
		ASSERT_GE(a[i], 0);
	}
	for (i = 0; i < 500; i++) {
		b[i] = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(b[i], 0);
	}
	for (i = 0; i < 500; i++)
		talk(a[i], b[i]);
	ASSERT_EQ(get_info(ctx, &info), 0);
	EXPECT_GE(info.out_channels, 1000);
	EXPECT_LE(info.out_links, before + 2);
}

static void echo_all(int listener)
{
	char data[4096];
	ssize_t len;
	int chan;

	for (;;) {
		chan = do_accept(listener, NULL);
		ASSERT_GE(chan, 0);
		while ((len = read(chan, data, sizeof(data))) > 0)
			ASSERT_EQ(write(chan, data, len), len);
		close(chan);
	}
}

static void ask_often(int seed)
{
	char out[4096], back[4096];
	int i, n, chan, len, ctx = open_ctx();

	for (i = 0; i < 20; i++) {
		chan = do_connect(ctx, SERVICE, NULL);
		ASSERT_GE(chan, 0);
		for (n = 1; n <= 10; n++) {
			len = 1 + (seed * 131 + i * 37 + n * 401) % sizeof(out);
			fill_random(out, len, seed + n);
			ASSERT_EQ(write(chan, out, len), len);
			ASSERT_EQ(read(chan, back, sizeof(back)), len);
			ASSERT_EQ(memcmp(out, back, len), 0);
		}
		close(chan);
	}
	_exit(0);
}

TEST_TIMEOUT(many_programs, 120)
{
	int i, listener = do_listen(open_peer(), SERVICE, NULL);
	pid_t children[16];

	for (i = 0; i < 4; i++)
		if (!fork())
			echo_all(listener);
	for (i = 0; i < 16; i++) {
		children[i] = fork();
		if (!children[i])
			ask_often(i);
	}
	for (i = 0; i < 16; i++)
		EXPECT_EQ(child_status(children[i]), 0);
}

/* Many who begin at once find the same link, or make one. */
TEST(all_at_once)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	int ctx = open_ctx(), i, listener = do_listen(open_peer(), SERVICE, NULL);
	struct rdmachan_error error;
	int chans[100];

	for (i = 0; i < 100; i++) {
		chans[i] = do_connect(ctx, SERVICE, &nonblock);
		ASSERT_GE(chans[i], 0);
	}
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(poll_mask(chans[i], POLLOUT, 10000), POLLOUT);
		ASSERT_EQ(get_error(chans[i], &error), 0);
		EXPECT_EQ(error.error, 0);
	}
	for (i = 0; i < 100; i++)
		ASSERT_GE(do_accept(listener, TIMEOUT(2000)), 0);
}

/*
 * A program of the other host that knows rdma_cm could have made that link, in the name of any
 * service there.
 */
TEST(the_link_that_the_peer_has_made)
{
	const struct rdmachan_addr own = own_address();
	const int ctx = open_ctx(), there = open_peer();
	const int listeners[2] = {
		do_listen(ctx, SERVICE, NULL), do_listen(there, SERVICE + 1, NULL),
	};
	struct rdmachan_object object[2];
	int fds[4], i;

	ASSERT_GE(listeners[0], 0);
	ASSERT_GE(listeners[1], 0);
	fds[0] = do_connect_to(there, &own, SERVICE, NULL);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listeners[0], NULL);
	ASSERT_GE(fds[1], 0);
	fds[2] = do_connect(ctx, SERVICE + 1, NULL);
	ASSERT_GE(fds[2], 0);
	fds[3] = do_accept(listeners[1], NULL);
	ASSERT_GE(fds[3], 0);
	ASSERT_EQ(get_object(fds[1], &object[0]), 0);
	ASSERT_EQ(get_object(fds[2], &object[1]), 0);
	EXPECT_EQ(object[0].active, 0);
	EXPECT_EQ(object[1].active, 1);
	EXPECT_NE(object[0].link_id, object[1].link_id);
	talk(fds[0], fds[1]);
	talk(fds[2], fds[3]);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	await_no_links(ctx);
}

TEST(peer_wants_a_privileged_port)
{
	const int ctx = open_ctx();
	struct rdmachan_error error;
	int fds[2], ret;

	if (over_siw())
		SKIP("iWARP peers connect from any port");
	await_no_links(ctx);
	ASSERT_GE(do_listen(open_peer(), SERVICE + 1, NULL), 0);
	set_parameter("own_privileged_port", 0);
	ret = do_connect(ctx, SERVICE + 1, &(struct opts){ .error = &error });
	set_parameter("own_privileged_port", 1);
	EXPECT_EQ(ret, -1);
	EXPECT_EQ(error.error, ECONNREFUSED);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_UNPRIVILEGED);
	EXPECT_EQ(error.op, RDMACHAN_OP_CONNECT);
	pair_up(ctx, fds, NULL);
	talk(fds[0], fds[1]);
	/* A part that was not asked for stays. */
	set_parameter("peer_privileged_port", 0);
	set_parameter("own_privileged_port", 0);
	talk(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	await_no_links(ctx);
	pair_up(ctx, fds, NULL);
	talk(fds[0], fds[1]);
	set_parameter("own_privileged_port", 1);
	set_parameter("peer_privileged_port", 1);
}

/* Connects that are given up before they end. */
TEST(connects_given_up)
{
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK };
	struct rdmachan_addr absent = address_of(ABSENT);
	int ctx = open_ctx(), there = open_peer(), i, a, b;
	int listener = do_listen(there, SERVICE, NULL);

	for (i = 0; i < 100; i++) {
		close(do_connect(ctx, SERVICE, &nonblock));
		close(do_connect(ctx, SERVICE + 1, &nonblock));
	}
	for (i = 0; i < 3; i++)
		close(do_connect_to(ctx, &absent, SERVICE, &nonblock));
	close(listener);
	/* None comes late. */
	ASSERT_TRUE(await_channels(ctx, 0));
	/* A host refuses links while too many of a peer are ending (RCH_POOL_HOST). */
	await_no_links(ctx);
	listener = do_listen(there, SERVICE, NULL);
	a = do_connect(ctx, SERVICE, NULL);
	ASSERT_GE(a, 0);
	b = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(b, 0);
	talk(a, b);
}

static int ctx_of_user(int user)
{
	int ctx;

	ASSERT_EQ(seteuid(user), 0);
	ctx = open_ctx();
	ASSERT_EQ(seteuid(0), 0);
	return ctx;
}

/* Links that nobody uses any more, of many users of a host, do not keep another user out. */
TEST_TIMEOUT(users_who_have_left, 60)
{
	int ctx[LEAVERS + 1], fds[LEAVERS + 1][2], i, listener;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	listener = do_listen(open_peer(), SERVICE, NULL);
	ASSERT_GE(listener, 0);
	for (i = 0; i <= LEAVERS; i++) {
		ctx[i] = ctx_of_user(ALICE + 10 + i);
		if (i < LEAVERS) {
			fds[i][0] = do_connect(ctx[i], SERVICE, NULL);
			fds[i][1] = do_accept(listener, NULL);
			talk(fds[i][0], fds[i][1]);
		}
	}
	for (i = 0; i < LEAVERS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	fds[i][0] = do_connect(ctx[i], SERVICE, NULL);
	ASSERT_GE(fds[i][0], 0);
	fds[i][1] = do_accept(listener, NULL);
	talk(fds[i][0], fds[i][1]);
	close(fds[i][0]);
	close(fds[i][1]);
	for (i = 0; i <= LEAVERS; i++)
		close(ctx[i]);
}

#define READERS 4
#define READ_BYTES 65536

/*
 * A host that stood still for longer than the dead time, as virtual machines do that are
 * moved, has heard nothing; that is not its peer's fault.
 */
static void stand_still(unsigned int ms)
{
	int64_t before, now = now_ms();
	const int64_t until = now + 30000;
	int fd = open(getenv("LAB_SIDE"), O_WRONLY | O_CLOEXEC);

	ASSERT_GE(fd, 0);
	/* No moment since it was asked is left out, or it might stand still in that one. */
	ASSERT_GT(dprintf(fd, "rdmachan-lab: pause %u\n", ms), 0);
	close(fd);
	do {
		before = now;
		ASSERT_LT(before, until);
		sleep_ms(1);
		now = now_ms();
	} while (now - before < ms - 500);
}

/* A user of its own has a link of its own, which knows of this dead time. */
static bool pair_that_stands_still(unsigned int dead_ms, int fds[2])
{
	if (!getenv("LAB_SIDE") || time_is_virtual())
		return false;
	set_parameter("dead_ms", dead_ms);
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	pair_up(ctx_of_user(ALICE + 2), fds, NULL);
	return true;
}

TEST(host_that_stood_still)
{
	int fds[2];

	if (!pair_that_stands_still(1000, fds))
		SKIP("the lab cannot hold this host up, or its time stands still as well");
	stand_still(3000);
	/* Until it would have been noticed. */
	sleep_ms(2000);
	talk(fds[0], fds[1]);
	set_parameter("dead_ms", 5000);
}

/* So it has longer than what a peer may take for an access, and readers go on. */
TEST(readers_of_a_host_that_stood_still)
{
	static char memory[READERS][READ_BYTES], lent[READ_BYTES];
	const int64_t until = now_ms() + 10000;
	pid_t readers[READERS];
	int64_t region, grant;
	int fds[2], ctx, i;

	if (!pair_that_stands_still(500, fds))
		SKIP("the lab cannot hold this host up, or its time stands still as well");
	ctx = open_ctx();
	region = region_register(ctx, lent, sizeof(lent), 0, NULL);
	ASSERT_GT(region, 0);
	grant = grant_range(fds[0], ctx, &RANGE(region, MAY_READ, 0, sizeof(lent)));
	ASSERT_GT(grant, 0);
	ASSERT_TRUE(grant_held(fds[1], grant));
	for (i = 0; i < READERS; i++)
		readers[i] = LATER(0, ({
			while (now_ms() < until)
				if (grant_read(fds[1], grant, 0, memory[i], READ_BYTES))
					_exit(1);
			_exit(0);
		}));
	/* More than four dead times, and a quarter of them. */
	stand_still(4000);
	for (i = 0; i < READERS; i++)
		EXPECT_EQ(child_status(readers[i]), 0);
	EXPECT_EQ(grant_release(fds[1], grant), 0);
	close(fds[0]);
	close(fds[1]);
	close(ctx);
	set_parameter("dead_ms", 5000);
}

/* A host that has an address and never answers. */
static void make_silent(void)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "ip neigh replace %s lladdr 02:00:00:00:00:01 dev %s", SILENT,
		 getenv("LAB_DEV"));
	ASSERT_EQ(system(command), 0);
}

/* Many who wait for a host hold up nobody's heartbeats: a quiet channel stays. */
TEST(heartbeats_while_many_connect)
{
	const struct opts o = {
		.flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 5000,
		.tuning = { .send_buffer = 65536, .recv_buffer = 65536 },
	};
	const struct rdmachan_addr silent = address_of(SILENT);
	const struct rlimit limit = { 4096, 4096 };
	int ctx = open_ctx(), i, quiet[2], chans[600];
	int64_t begun;

	if (!getenv("LAB_DEV"))
		SKIP("LAB_DEV does not tell the interface");
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	make_silent();
	/* A user of its own has a link of its own, which knows of this dead time. */
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	set_parameter("dead_ms", 1500);
	pair_up(ctx_of_user(ALICE + 1), quiet, NULL);
	set_parameter("dead_ms", 5000);
	begun = tick_ms();
	for (i = 0; i < 600; i++) {
		chans[i] = do_connect_to(ctx, &silent, SERVICE, &o);
		ASSERT_GE(chans[i], 0);
	}
	for (i = 0; i < 600; i++)
		ASSERT_TRUE(poll_mask(chans[i], POLLOUT, 40000) & POLLERR);
	EXPECT_TOOK(begun, o.timeout_ms, LIMIT_LATE(o.timeout_ms));
	talk(quiet[0], quiet[1]);
}

/*
 * A channel that is written to and closed in the moment in which it opens is delivered as any
 * other. That is for as long as it may linger, and not only for as long as one that gave up.
 */
TEST(closed_as_soon_as_open)
{
	const struct opts small = { .tuning = { .recv_buffer = 65536 } };
	const struct opts o = { .flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 10000 };
	int ctx = open_ctx(), quiet[2], a, b[8], sent[8], listener, i, got;
	static char data[30000];

	pair_up(ctx, quiet, NULL);
	listener = do_listen(open_peer(), SERVICE, &small);
	ASSERT_GE(listener, 0);
	/* Four times this is what the peer may take to answer a channel that has ended. */
	set_parameter("dead_ms", 250 * harness_slow());
	for (i = 0; i < 8; i++) {
		a = do_connect(ctx, SERVICE, &o);
		ASSERT_GE(a, 0);
		ASSERT_TRUE(poll_mask(a, POLLOUT, 10000) & POLLOUT);
		sent[i] = fill_up(a, sizeof(data));
		EXPECT_GT(sent[i], 3);
		close(a);
		b[i] = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(b[i], 0);
	}
	sleep_ms(1500 * harness_slow());
	set_parameter("dead_ms", 5000 * harness_slow());
	for (i = 0; i < 8; i++) {
		for (got = 0; read(b[i], data, sizeof(data)) == sizeof(data); got++)
			;
		EXPECT_EQ(got, sent[i]);
	}
	talk(quiet[0], quiet[1]);
}

/* A listener that could not be made may have been seen by others already. */
TEST(listed_while_listening_fails)
{
	struct rdmachan_object objects[8];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects,
		.objects_max = 8, .object_size = sizeof(objects[0]),
	};
	int ctx = open_ctx(), listener = do_listen(ctx, SERVICE, NULL), i;
	pid_t lister;

	ASSERT_GE(listener, 0);
	lister = LATER(0, ({
		for (;;) {
			list.after = 0;
			let_time_pass();
			while (!ioctl(ctx, RDMACHAN_LIST, &list) && list.out_count)
				list.after = objects[list.out_count - 1].id;
		}
	}));
	for (i = 0; i < 200; i++) {
		ASSERT_ERR(do_listen(ctx, SERVICE, NULL), EADDRINUSE);
		let_time_pass();
	}
	kill(lister, SIGKILL);
	child_status(lister);
}

/* Frames are never sent to a peer that has no buffer for them. */
TEST(receiver_always_ready)
{
	long long count = hw_counter("rnr");

	if (count < 0)
		SKIP("the device does not count");
	EXPECT_EQ(count, 0);
}

TEST(no_unload_in_use)
{
	int fds[2], ctx = open_ctx();

	EXPECT_ERR(syscall(SYS_delete_module, "rdmachan", O_NONBLOCK), EWOULDBLOCK);
	pair_up(ctx, fds, NULL);
	close(ctx);
	EXPECT_ERR(syscall(SYS_delete_module, "rdmachan", O_NONBLOCK), EWOULDBLOCK);
	talk(fds[0], fds[1]);
}

/* How an end hears of the removal of a device. */
/* One channel carries messages, and one that nobody reads has come to a stop. */
static void await_traffic(int busy, int full)
{
	struct rdmachan_object carries, stops;

	do {
		sleep_ms(5);
		ASSERT_EQ(get_object(busy, &carries), 0);
		ASSERT_EQ(get_object(full, &stops), 0);
	} while (carries.rx_messages < 100 || !stops.tx_stalls);
}

/* A channel from the peer's host to this one, whose device has just come back. */
static void talk_back(int there, int listener)
{
	const struct rdmachan_addr addr = own_address();
	int chan, back, tries = 100;

	do {
		chan = do_connect_to(there, &addr, SERVICE + 1, TIMEOUT(1000));
		if (chan < 0)
			sleep_ms(50);
	} while (chan < 0 && --tries);
	ASSERT_GE(chan, 0);
	back = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(back, 0);
	talk(chan, back);
}

TEST(device_removed)
{
	const struct end_told removed = { ENODEV, RDMACHAN_CAUSE_DEVICE_REMOVED };
	const struct end_told ended = { ECONNRESET, RDMACHAN_CAUSE_DISCONNECTED };
	const struct end_told *news = has_peer() ? &ended : &removed;
	int ctx = open_ctx(), there = open_peer(), quiet[2], busy[2], full[2], a, b, i;
	int listener, own;
	struct rdmachan_error error;
	pid_t waiters[5];

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	pair_up(ctx, quiet, NULL);
	pair_up(ctx, busy, NULL);
	pair_up(ctx, full, NULL);
	listener = do_listen(there, SERVICE, NULL);
	own = do_listen(ctx, SERVICE + 1, NULL);
	waiters[0] = busy_until_end(quiet[0], false, &removed);
	waiters[1] = busy_until_end(quiet[1], false, news);
	waiters[2] = busy_until_end(busy[0], true, &removed);
	waiters[3] = busy_until_end(busy[1], false, news);
	waiters[4] = busy_until_end(full[0], true, &removed);
	await_traffic(busy[1], full[0]);
	ASSERT_EQ(remove_device(), 0);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(child_status(waiters[i]), 0);
	EXPECT_ERR(write(quiet[0], "x", 1), ENODEV);
	EXPECT_ERR(write(quiet[1], "x", 1), news->error);
	ASSERT_EQ(get_error(quiet[1], &error), 0);
	EXPECT_EQ(error.cause, news->cause);
	EXPECT_TRUE(poll_mask(quiet[0], POLLIN, 0) & POLLERR);
	EXPECT_ERR(do_connect(ctx, SERVICE, TIMEOUT(2000)), ENODEV);
	/* Listeners live on, and so does the module when the device comes back. */
	ASSERT_EQ(add_device(), 0);
	talk_back(there, own);
	a = connect_again(ctx);
	ASSERT_GE(a, 0);
	b = do_accept(listener, TIMEOUT(5000));
	ASSERT_GE(b, 0);
	talk(a, b);
}

TEST(device_removed_again_and_again)
{
	int ctx = open_ctx(), listener, a, b, i;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	listener = do_listen(open_peer(), SERVICE, NULL);
	for (i = 0; i < 5; i++) {
		a = connect_again(ctx);
		ASSERT_GE(a, 0);
		b = do_accept(listener, TIMEOUT(5000));
		ASSERT_GE(b, 0);
		talk(a, b);
		ASSERT_EQ(remove_device(), 0);
		close(a);
		close(b);
		ASSERT_EQ(add_device(), 0);
	}
}

TEST_HARNESS_MAIN
