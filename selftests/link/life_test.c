// SPDX-License-Identifier: GPL-2.0
/*
 * life_test.c - life and death under load
 *
 * A crowd of programs talks through the module and checks every byte, while one thing
 * or another is taken away: a program, the device, its interface, the module, a network
 * namespace. The crowd's server is on the peer's host. After each round the crowd must go on. An
 * error of a call of the crowd must tell of such an end; a call that takes longer than PATIENCE
 * hangs.
 *
 * LIFE_ROUNDS in the environment tells how often: 3 times if not set, and 200 times in
 * "make soak". LIFE_SEED gives other moments and victims than 1 does.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "common.h"
#include "harness.h"

/* A test of 200 rounds on a slow guest takes long; the bed limits all of them. */
#define LIMIT_S 3600
#define PATIENCE 30000
#define LARGEST (512U << 10)
#define CLIENTS 3

/* What all programs of a crowd see. */
struct score {
	unsigned int exchanges;
	unsigned int connects;
	unsigned int wrong;
	unsigned int odd;
	/* Nothing is taken away: no end is told of by its error. */
	bool calm;
};

static struct score *score;
static pid_t server, clients[CLIENTS];
static uint64_t dice = 1;

static int number_of(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

static int rounds(void)
{
	return number_of("LIFE_ROUNDS", 3);
}

/* Whether a channel or a connect may end so when its resources are taken away. */
static bool tells_of_an_end(int code)
{
	switch (code) {
	case ECONNRESET:
	case ECONNREFUSED:
	case ENODEV:
	case EPIPE:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case EHOSTDOWN:
		return true;
	}
	return false;
}

static void note(const char *what, const struct rdmachan_error *error)
{
	if (!score->calm && tells_of_an_end(errno))
		return;
	printf("# %s: errno %d (%s), cause %u, detail %llu\n", what, errno, strerror(errno),
	       error->cause, (unsigned long long)error->detail);
	fflush(stdout);
	__atomic_add_fetch(&score->odd, 1, __ATOMIC_RELAXED);
}

static void *echo(void *arg)
{
	const int chan = (intptr_t)arg;
	struct rdmachan_error error;
	struct rdmachan_recv_args recv;
	char *data = malloc(LARGEST);
	const struct opts o = { .timeout_ms = 2 * PATIENCE, .error = &error };
	int ret;

	for (;;) {
		/* Being stopped ends a wait that has a limit. */
		while ((ret = do_recv(chan, data, LARGEST, &recv, &o)) && errno == EINTR)
			;
		if (ret || (recv.out_flags & RDMACHAN_RECV_OUT_EOF))
			break;
		while ((ret = do_send(chan, data, recv.out_length, 0, &o)) && errno == EINTR)
			;
		if (ret)
			break;
	}
	if (ret)
		note("echo", &error);
	close(chan);
	free(data);
	return NULL;
}

static void be_server(void)
{
	const struct opts backlog = { .backlog = 64 };
	int listener = do_listen(open_peer(), SERVICE, &backlog), chan;
	pthread_t thread;

	ASSERT_GE(listener, 0);
	for (;;) {
		chan = do_accept(listener, NULL);
		ASSERT_GE(chan, 0);
		ASSERT_EQ(pthread_create(&thread, NULL, echo, (void *)(intptr_t)chan), 0);
		pthread_detach(thread);
	}
}

/* Mostly small, but all sizes. */
static uint32_t any_length(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	return value % (value >> 60 ? 1U << (4 + (value >> 32) % 10) : LARGEST);
}

/* Return: whether the message came back. */
static bool exchange(int chan, char *out, char *back, uint64_t *seed,
		     struct rdmachan_error *error)
{
	const struct opts o = { .timeout_ms = PATIENCE, .error = error };
	uint32_t len = any_length(seed);
	struct rdmachan_recv_args recv;

	fill_random(out, len, *seed);
	if (do_send(chan, out, len, 0, &o) || do_recv(chan, back, LARGEST, &recv, &o))
		return false;
	if (recv.out_flags & RDMACHAN_RECV_OUT_EOF) {
		errno = ECONNRESET;
		return false;
	}
	if (recv.out_length != len || !is_random(back, len, *seed))
		__atomic_add_fetch(&score->wrong, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&score->exchanges, 1, __ATOMIC_RELAXED);
	return true;
}

/* Others need it to bring back what is missing: more of it where all is slow. */
static void leave_processor(int64_t spent)
{
	sleep_ms(5 + (spent < 50 ? 3 * spent : 150));
}

static void be_client(uint64_t seed)
{
	char *out = malloc(LARGEST), *back = malloc(LARGEST);
	struct rdmachan_error error;
	const struct opts o = { .timeout_ms = PATIENCE, .error = &error };
	int ctx = open_ctx(), chan;
	int64_t begun;

	for (;;) {
		begun = now_ms();
		chan = do_connect(ctx, SERVICE, &o);
		if (chan < 0) {
			note("connect", &error);
			leave_processor(now_ms() - begun);
			continue;
		}
		__atomic_add_fetch(&score->connects, 1, __ATOMIC_RELAXED);
		while (exchange(chan, out, back, &seed, &error))
			;
		note("exchange", &error);
		close(chan);
	}
}

static void start_server(void)
{
	server = fork();
	if (!server)
		be_server();
}

static void start_client(int i)
{
	uint64_t seed = next_random(&dice);

	clients[i] = fork();
	if (!clients[i])
		be_client(seed);
}

static unsigned int exchanges(void)
{
	return __atomic_load_n(&score->exchanges, __ATOMIC_RELAXED);
}

/* The crowd does what it is for. */
static void await_progress(void)
{
	const unsigned int from = exchanges();
	const int64_t until = now_ms() + PATIENCE;

	while (exchanges() - from < 4 * CLIENTS) {
		ASSERT_LT(now_ms(), until);
		sleep_ms(1);
	}
	ASSERT_EQ(score->wrong, 0);
	ASSERT_EQ(score->odd, 0);
}

static void start_crowd(void)
{
	int i;

	score = mmap(NULL, sizeof(*score), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((intptr_t)score, (intptr_t)MAP_FAILED);
	dice = number_of("LIFE_SEED", 1);
	start_server();
	for (i = 0; i < CLIENTS; i++)
		start_client(i);
	await_progress();
}

/* Until some moment that nobody has chosen. */
static void linger(void)
{
	sleep_ms(next_random(&dice) % 30);
}

TEST_TIMEOUT(killed_at_any_moment, LIMIT_S)
{
	int i, who;

	start_crowd();
	for (i = 0; i < rounds(); i++) {
		linger();
		who = next_random(&dice) % (CLIENTS + 1);
		if (who == CLIENTS) {
			kill(server, SIGKILL);
			child_status(server);
			start_server();
		} else {
			kill(clients[who], SIGKILL);
			child_status(clients[who]);
			start_client(who);
		}
		await_progress();
	}
}

TEST_TIMEOUT(device_removed_in_traffic, LIMIT_S)
{
	int i;

	if (!device_may_go())
		SKIP("LAB_RDMA and LAB_DEV do not tell which device may be removed");
	start_crowd();
	for (i = 0; i < rounds(); i++) {
		linger();
		ASSERT_EQ(remove_device(), 0);
		linger();
		ASSERT_EQ(add_device(), 0);
		await_progress();
	}
}

static int set_interface(const char *state)
{
	char command[128];

	snprintf(command, sizeof(command), "ip link set %s %s", getenv("LAB_DEV"), state);
	return system(command);
}

TEST_TIMEOUT(interface_down_and_up, LIMIT_S)
{
	int i;

	if (!device_may_go())
		SKIP("LAB_DEV does not tell which interface may be set down");
	start_crowd();
	for (i = 0; i < rounds(); i++) {
		linger();
		ASSERT_EQ(set_interface("down"), 0);
		linger();
		ASSERT_EQ(set_interface("up"), 0);
		/* rxe cannot connect any more, with or without this module; testing.rst. */
		if (!strncmp(getenv("LAB_RDMA"), "rxe", 3)) {
			ASSERT_EQ(remove_device(), 0);
			ASSERT_EQ(add_device(), 0);
		}
		await_progress();
	}
}

/* In a namespace of its own: adapters without hardware cannot connect there. */
static void live_elsewhere(void)
{
	/* Whoever connects keeps the namespace: until this time, for nobody answers. */
	const struct opts nonblock = { .flags = RDMACHAN_FD_F_NONBLOCK, .timeout_ms = 500 };
	const struct rdmachan_addr addr = address_of("10.9.0.1");
	int i, ctx;

	ASSERT_EQ(unshare(CLONE_NEWNET), 0);
	/* Programs are slow to start on a kernel with sanitizers. */
	ASSERT_EQ(system("printf '%s\\n' 'link add d0 type dummy' 'addr add 10.9.0.1/24 dev d0'"
			 " 'link set d0 up' 'link set lo up' | ip -batch - &&"
			 " exec rdma link add elsewhere type rxe netdev d0"), 0);
	ctx = open_ctx();
	ASSERT_GE(do_listen(ctx, SERVICE, NULL), 0);
	for (i = 0; i < 3; i++)
		ASSERT_GE(do_connect_to(ctx, &addr, SERVICE, &nonblock), 0);
	linger();
	_exit(harness_failures ? 1 : 0);
}

static bool device_is_there(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	return !access(path, F_OK);
}

TEST_TIMEOUT(namespace_destroyed, LIMIT_S)
{
	int64_t until;
	pid_t child;
	int i;

	if (!device_may_go())
		SKIP("LAB_RDMA does not tell which kind of device there is");
	if (strncmp(getenv("LAB_RDMA"), "rxe", 3))
		SKIP("siw has all its sockets in the first namespace");
	/* Links keep a namespace alive. */
	set_parameter("idle_ms", 100);
	start_crowd();
	for (i = 0; i < rounds(); i++) {
		next_random(&dice);
		child = fork();
		if (!child)
			live_elsewhere();
		ASSERT_EQ(child_status(child), 0);
		/* The namespace is gone when its interface is, and the device on that. */
		until = now_ms() + PATIENCE;
		while (device_is_there("elsewhere")) {
			ASSERT_LT(now_ms(), until);
			sleep_ms(5);
		}
		await_progress();
	}
	set_parameter("idle_ms", 30000);
}

TEST_TIMEOUT(no_unload_in_traffic, LIMIT_S)
{
	int i;

	start_crowd();
	for (i = 0; i < rounds(); i++) {
		linger();
		EXPECT_ERR(syscall(SYS_delete_module, "rdmachan", O_NONBLOCK), EWOULDBLOCK);
		await_progress();
	}
}

/* The module beats for a program that does not run: nobody is given up. */
TEST_TIMEOUT(stopped_for_longer_than_the_dead_time, LIMIT_S)
{
	const unsigned int dead_ms = 1000;
	int i, ctx = open_ctx();

	/* On a link that knows of this dead time. */
	await_no_links(ctx);
	set_parameter("dead_ms", dead_ms);
	start_crowd();
	score->calm = true;
	set_parameter("dead_ms", 5000);
	for (i = 0; i < rounds(); i++) {
		linger();
		kill(server, SIGSTOP);
		sleep_ms(dead_ms + dead_ms / 2);
		kill(server, SIGCONT);
		await_progress();
	}
	EXPECT_EQ(score->connects, CLIENTS);
}

static int send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0);
}

/* The last reference is in a message that nobody receives; or, in a ring that the
 * kernel's collector must find. It looks when a socket is released, and pair[0] is the
 * only one that close() releases here: the other is to be out of reach by then.
 */
static void lose_in_flight(int fd, bool ring)
{
	int pair[2];

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	ASSERT_EQ(send_fd(pair[0], fd), 1);
	if (ring)
		ASSERT_EQ(send_fd(pair[0], pair[1]), 1);
	close(fd);
	close(pair[1]);
	close(pair[0]);
}

TEST_TIMEOUT(closed_in_flight, LIMIT_S)
{
	struct rdmachan_recv_args recv;
	int i, chans[2], listener, ctx = open_ctx(), there = open_peer();
	char data[8];

	start_crowd();
	listener = do_listen(there, SERVICE + 1, NULL);
	ASSERT_GE(listener, 0);
	for (i = 0; i < rounds(); i++) {
		chans[0] = do_connect(ctx, SERVICE + 1, NULL);
		chans[1] = do_accept(listener, TIMEOUT(PATIENCE));
		ASSERT_GE(chans[1], 0);
		ASSERT_EQ(write(chans[0], "last", 4), 4);
		linger();
		lose_in_flight(chans[0], i % 2);
		ASSERT_EQ(do_recv(chans[1], data, 8, &recv, TIMEOUT(PATIENCE)), 0);
		ASSERT_EQ(recv.out_length, 4);
		ASSERT_EQ(do_recv(chans[1], data, 8, &recv, TIMEOUT(PATIENCE)), 0);
		ASSERT_EQ(recv.out_flags, RDMACHAN_RECV_OUT_EOF);
		close(chans[1]);
		/* A listener may be lost in the same way. */
		lose_in_flight(listener, i % 2);
		do {
			let_time_pass();
			listener = do_listen(there, SERVICE + 1, NULL);
		} while (listener < 0 && errno == EADDRINUSE);
		ASSERT_GE(listener, 0);
	}
	await_progress();
}

/*
 * Where time is virtual the crowd would find a wire without end, and all of the time of the wall
 * would go into what it carries.
 */
int main(int argc, char **argv)
{
	int ret;

	if (time_is_virtual())
		cable("rate 50");
	ret = harness_main(argc, argv);
	if (time_is_virtual())
		cable("rate 0");
	return ret;
}
