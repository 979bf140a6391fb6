// SPDX-License-Identifier: GPL-2.0
/*
 * common.c - what the tests share
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "harness.h"

static const struct opts none;

static void give_up(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* As SKIP() of the harness. */
static void skip(const char *why)
{
	printf("# SKIP %s\n", why);
	fflush(stdout);
	_exit(4);
}

int open_ctx(void)
{
	int ctx = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (ctx < 0 && errno == ENOENT)
		skip("there is no " DEVICE ": the module is not loaded");
	if (ctx < 0)
		give_up(DEVICE);
	return ctx;
}

/* Whether there is another host than this one, and a wire between them. */
bool has_peer(void)
{
	return getenv("LAB_PEER_NETNS");
}

/* Only root may go to another host: a test that is another user for a while is so there as well. */
static int go_to(int host)
{
	const uid_t user = geteuid();
	int ret;

	if (user && seteuid(0))
		return -1;
	ret = setns(host, CLONE_NEWNET);
	if (user && seteuid(user))
		return -1;
	return ret;
}

/*
 * Go to the other host, which is a network namespace, and return a descriptor for leave_peer().
 * What this thread opens until then it opens there. Nothing happens, and -1 is returned, where
 * the other host is this one.
 */
int enter_peer(void)
{
	const char *path = getenv("LAB_PEER_NETNS");
	int here, there;

	if (!path)
		return -1;
	here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (here < 0 || there < 0 || go_to(there))
		give_up(path);
	close(there);
	return here;
}

void leave_peer(int here)
{
	if (here < 0)
		return;
	if (go_to(here))
		give_up("the way back from the other host");
	close(here);
}

/* A context of the other host, as a program that runs there would have it. */
int open_peer(void)
{
	int here = enter_peer(), ctx = open_ctx();

	leave_peer(here);
	return ctx;
}

struct rdmachan_addr address_of(const char *text)
{
	struct rdmachan_addr addr;

	memset(&addr, 0, sizeof(addr));
	if (inet_pton(AF_INET, text, addr.addr) == 1)
		addr.family = AF_INET;
	else if (inet_pton(AF_INET6, text, addr.addr) == 1)
		addr.family = AF_INET6;
	return addr;
}

/* The lab tells it; on another host it is looked for, once. */
static struct rdmachan_addr address_in(const char *name, int family)
{
	static struct rdmachan_addr found[2];
	struct rdmachan_addr *addr = &found[family == AF_INET6];
	const char *text = getenv(name);

	if (text)
		return address_of(text);
	if (addr->family || host_address(family, addr))
		return *addr;
	printf("# %s is not set, and no interface with an RDMA device that is up has an address\n",
	       name);
	exit(1);
}

struct rdmachan_addr own_address(void)
{
	return address_in("LAB_IP", AF_INET);
}

struct rdmachan_addr own_address6(void)
{
	return address_in("LAB_IP6", AF_INET6);
}

/* Of the host that open_peer() is on. */
struct rdmachan_addr peer_address(void)
{
	return address_in(has_peer() ? "LAB_PEER_IP" : "LAB_IP", AF_INET);
}

struct rdmachan_addr peer_address6(void)
{
	return address_in(has_peer() ? "LAB_PEER_IP6" : "LAB_IP6", AF_INET6);
}

static void prepare(struct rdmachan_error *error)
{
	if (!error)
		return;
	memset(error, 0xee, sizeof(*error));
	error->size = sizeof(*error);
}

void fill_listen(struct rdmachan_listen_args *listen, uint32_t service, const struct opts *o)
{
	o = o ? o : &none;
	memset(listen, 0, sizeof(*listen));
	listen->size = sizeof(*listen);
	listen->flags = o->flags;
	listen->service = service;
	listen->backlog = o->backlog;
	listen->tuning = o->tuning;
	listen->error_ptr = (uintptr_t)o->error;
	prepare(o->error);
}

void fill_connect(struct rdmachan_connect_args *connect, uint32_t service, const struct opts *o)
{
	o = o ? o : &none;
	memset(connect, 0, sizeof(*connect));
	connect->size = sizeof(*connect);
	connect->flags = o->flags;
	connect->service = service;
	connect->timeout_ms = o->timeout_ms;
	connect->tuning = o->tuning;
	connect->error_ptr = (uintptr_t)o->error;
	connect->addr = peer_address();
	prepare(o->error);
}

int do_listen(int ctx, uint32_t service, const struct opts *o)
{
	struct rdmachan_listen_args listen;

	fill_listen(&listen, service, o);
	return ioctl(ctx, RDMACHAN_LISTEN, &listen) ? -1 : listen.out_fd;
}

int do_accept(int listener, const struct opts *o)
{
	struct rdmachan_accept_args accept = { .size = sizeof(accept) };

	o = o ? o : &none;
	accept.flags = o->flags;
	accept.timeout_ms = o->timeout_ms;
	return ioctl(listener, RDMACHAN_ACCEPT, &accept) ? -1 : accept.out_fd;
}

int do_connect_to(int ctx, const struct rdmachan_addr *addr, uint32_t service,
		  const struct opts *o)
{
	struct rdmachan_connect_args connect;

	fill_connect(&connect, service, o);
	connect.addr = *addr;
	return ioctl(ctx, RDMACHAN_CONNECT, &connect) ? -1 : connect.out_fd;
}

int do_connect(int ctx, uint32_t service, const struct opts *o)
{
	struct rdmachan_addr addr = peer_address();

	return do_connect_to(ctx, &addr, service, o);
}

int do_send(int chan, const void *data, size_t len, uint32_t msg_flags, const struct opts *o)
{
	struct iovec iov = { (void *)data, len };
	struct rdmachan_send_args send = { .size = sizeof(send) };

	o = o ? o : &none;
	send.flags = o->flags;
	send.timeout_ms = o->timeout_ms;
	send.error_ptr = (uintptr_t)o->error;
	send.iov_ptr = (uintptr_t)&iov;
	send.iov_count = len ? 1 : 0;
	send.msg_flags = msg_flags;
	prepare(o->error);
	return ioctl(chan, RDMACHAN_SEND, &send);
}

/* @recv may be NULL; otherwise its outputs are the call's. */
int do_recv(int chan, void *data, size_t len, struct rdmachan_recv_args *recv,
	    const struct opts *o)
{
	struct iovec iov = { data, len };
	struct rdmachan_recv_args mine;

	o = o ? o : &none;
	recv = recv ? recv : &mine;
	memset(recv, 0, sizeof(*recv));
	recv->size = sizeof(*recv);
	recv->flags = o->flags;
	recv->timeout_ms = o->timeout_ms;
	recv->error_ptr = (uintptr_t)o->error;
	recv->iov_ptr = (uintptr_t)&iov;
	recv->iov_count = 1;
	prepare(o->error);
	return ioctl(chan, RDMACHAN_RECV, recv);
}

int do_shutdown(int chan, uint32_t how)
{
	struct rdmachan_shutdown_args shutdown = { .size = sizeof(shutdown), .how = how };

	return ioctl(chan, RDMACHAN_SHUTDOWN, &shutdown);
}

int do_finish(int chan, const struct opts *o)
{
	struct rdmachan_finish_args finish = { .size = sizeof(finish) };

	if (o) {
		finish.flags = o->flags;
		finish.timeout_ms = o->timeout_ms;
		finish.error_ptr = (uintptr_t)o->error;
	}
	if (o && o->error)
		o->error->size = sizeof(*o->error);
	return ioctl(chan, RDMACHAN_FINISH, &finish);
}

int get_info(int ctx, struct rdmachan_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return ioctl(ctx, RDMACHAN_INFO, info);
}

int get_object(int fd, struct rdmachan_object *object)
{
	struct rdmachan_query_args query = { .size = sizeof(query) };

	memset(object, 0, sizeof(*object));
	object->size = sizeof(*object);
	query.object_ptr = (uintptr_t)object;
	return ioctl(fd, RDMACHAN_QUERY, &query);
}

int get_error(int fd, struct rdmachan_error *error)
{
	struct rdmachan_query_args query = { .size = sizeof(query) };

	prepare(error);
	query.error_ptr = (uintptr_t)error;
	return ioctl(fd, RDMACHAN_QUERY, &query);
}

/*
 * A channel to the other host: fds[0] is the active end, here, and fds[1] the other, there. Failure
 * ends the test.
 */
void pair_up(int ctx, int fds[2], const struct opts *o)
{
	struct opts with_error = o ? *o : (struct opts){};
	int peer = open_peer(), listener = do_listen(peer, SERVICE, o);
	struct rdmachan_error error = {};

	with_error.error = &error;
	fds[0] = listener < 0 ? -1 : do_connect(ctx, SERVICE, &with_error);
	fds[1] = fds[0] < 0 ? -1 : do_accept(listener, NULL);
	if (fds[1] < 0) {
		printf("# no pair: listener %d, channel %d: %s; cause %u of operation %u\n",
		       listener, fds[0], strerror(errno), error.cause, error.op);
		fflush(stdout);
		_exit(1);
	}
	close(listener);
	close(peer);
}

/* Frames that this host's links have sent, less those that they have received. */
static int64_t frames_more(int ctx)
{
	static struct rdmachan_object objects[64];
	struct rdmachan_list_args list = {
		.size = sizeof(list), .flags = RDMACHAN_LIST_F_ALL,
		.objects_ptr = (uintptr_t)objects, .objects_max = 64,
		.object_size = sizeof(*objects),
	};
	int64_t more = 0;
	uint32_t i;

	if (ctx < 0 || ioctl(ctx, RDMACHAN_LIST, &list))
		return 0;
	for (i = 0; i < list.out_count; i++)
		if (objects[i].kind == RDMACHAN_KIND_LINK)
			more += objects[i].tx_frames - objects[i].rx_frames;
	return more;
}

/*
 * Whether frames are on their way, or were lost on a cable that was cut. Each that comes may make
 * room. Where the machine is busy the adapter takes long to deliver one.
 */
static bool frames_under_way(int ctx)
{
	int64_t more;
	int peer;

	if (ctx < 0)
		return false;
	more = frames_more(ctx);
	if (has_peer()) {
		peer = open_peer();
		more += frames_more(peer);
		close(peer);
	}
	return more;
}

/* Looks, 10 ms apart: so many without room are enough, if no frame was under way during them. */
#define QUIET 20
/* Frames that have not come after so many are lost. */
#define QUIET_AT_MOST 200

/* Send messages until there is no room. Return: how many, or -1 */
int fill_up(int chan, size_t len)
{
	const struct opts dontwait = { .flags = RDMACHAN_IO_F_DONTWAIT };
	int ctx = time_is_virtual() || geteuid() ? -1 : open(DEVICE, O_RDWR | O_CLOEXEC);
	int count = 0, quiet = 0, waited = 0;
	char *data = calloc(1, len);

	/* What the link takes over a moment later makes room again. */
	while (quiet < QUIET * harness_slow()) {
		if (!do_send(chan, data, len, 0, &dontwait)) {
			count++;
			quiet = 0;
			waited = 0;
			continue;
		}
		if (errno != EAGAIN) {
			count = -1;
			break;
		}
		sleep_ms(10);
		waited++;
		if (waited < QUIET_AT_MOST * harness_slow() && frames_under_way(ctx))
			quiet = 0;
		else
			quiet++;
	}
	if (ctx >= 0)
		close(ctx);
	free(data);
	return count;
}

int poll_mask(int fd, short events, int timeout_ms)
{
	struct pollfd pfd = { fd, events, 0 };

	return poll(&pfd, 1, timeout_ms) < 0 ? -1 : pfd.revents;
}

bool wait_readable(int fd, int timeout_ms)
{
	return poll_mask(fd, POLLIN, timeout_ms) & POLLIN;
}

bool wait_state(int fd, uint32_t state, int timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;
	struct rdmachan_object object;

	do {
		if (!get_object(fd, &object) && object.state == state)
			return true;
		sleep_ms(2);
	} while (now_ms() < until);
	return false;
}

/* Whether the environment tells which device a test may remove. */
bool device_may_go(void)
{
	return getenv("LAB_RDMA") && getenv("LAB_DEV");
}

int add_device(void)
{
	const char *rdma = getenv("LAB_RDMA");
	char command[256];

	snprintf(command, sizeof(command), "rdma link add %s type %s netdev %s", rdma,
		 strncmp(rdma, "siw", 3) ? "rxe" : "siw", getenv("LAB_DEV"));
	return system(command);
}

int remove_device(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rdma link del %s", getenv("LAB_RDMA"));
	return system(command);
}

/* Until the device has its addresses again. Return: the channel, or -1 */
int connect_again(int ctx)
{
	int chan, tries = 100;

	do {
		chan = do_connect(ctx, SERVICE, TIMEOUT(1000));
		if (chan < 0)
			sleep_ms(50);
	} while (chan < 0 && --tries);
	return chan;
}

/* Whether those of earlier tests are gone soon, and their charges. */
bool await_channels(int ctx, uint64_t count)
{
	int64_t until = now_ms() + 10000;
	struct rdmachan_info info;
	bool same;

	do {
		same = !get_info(ctx, &info) && info.out_use_channels.user == count;
		if (!same)
			sleep_ms(1);
	} while (!same && now_ms() < until);
	return same;
}

/* As pair_up(), with a device that has just come back. */
void pair_up_again(int ctx, int fds[2])
{
	int peer = open_peer(), listener = do_listen(peer, SERVICE, NULL);

	fds[0] = connect_again(ctx);
	fds[1] = fds[0] < 0 ? -1 : do_accept(listener, TIMEOUT(5000));
	if (fds[1] < 0) {
		printf("# no pair again: %s\n", strerror(errno));
		fflush(stdout);
		_exit(1);
	}
	close(listener);
	close(peer);
}

/* A parameter of the module; 0644, as root. */
void set_parameter(const char *name, unsigned int value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/rdmachan/parameters/%s", name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%u", value) < 0 || fclose(file)) {
		printf("# %s: %s\n", path, strerror(errno));
		fflush(stdout);
		_exit(1);
	}
}

/* Messages of a channel that were written to their place, or received so. */
uint64_t placed_messages(int chan, bool tx)
{
	struct rdmachan_object object = { .size = sizeof(object) };

	if (get_object(chan, &object))
		give_up("QUERY");
	return tx ? object.tx_placed : object.rx_placed;
}

/* Links that nobody uses end, here with the next look at them. */
void await_no_links(int ctx)
{
	const int64_t until = now_ms() + 60000;
	struct rdmachan_info info;

	set_parameter("idle_ms", 100);
	do {
		sleep_ms(10);
		if (get_info(ctx, &info) || now_ms() > until) {
			printf("# there are links yet: %u\n", info.out_links);
			fflush(stdout);
			_exit(1);
		}
	} while (info.out_links);
	set_parameter("idle_ms", 30000);
}

/* A link of a context that was seen, as it was last. */
struct seen_link {
	int ctx;
	struct rdmachan_object last;
};

static void see_link(struct seen_link *seen, int ctx, const struct rdmachan_object *link)
{
	while (seen->last.id && (seen->ctx != ctx || seen->last.id != link->id))
		seen++;
	seen->ctx = ctx;
	seen->last = *link;
}

/*
 * What all links together have counted: tx_frames, tx_posts, tx_signals, rx_frames. One that has
 * ended stays in the sum, so that this only grows.
 */
struct rdmachan_object links_sent(int ctx)
{
	static struct seen_link seen[1024];
	static struct rdmachan_object objects[64];
	const struct seen_link *link;
	struct rdmachan_object sum = { 0 };
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)objects, .objects_max = 64,
		.object_size = sizeof(*objects),
	};
	uint32_t i;

	if (ioctl(ctx, RDMACHAN_LIST, &list))
		return sum;
	for (i = 0; i < list.out_count; i++)
		if (objects[i].kind == RDMACHAN_KIND_LINK)
			see_link(seen, ctx, &objects[i]);
	if (seen[sizeof(seen) / sizeof(*seen) - 64].last.id) {
		printf("# more links than a test may count\n");
		exit(1);
	}
	for (link = seen; link->last.id; link++) {
		if (link->ctx != ctx)
			continue;
		sum.tx_frames += link->last.tx_frames;
		sum.tx_posts += link->last.tx_posts;
		sum.tx_signals += link->last.tx_signals;
		sum.rx_frames += link->last.rx_frames;
	}
	return sum;
}

/* Frames that all links have sent. */
uint64_t frames_sent(int ctx)
{
	return links_sent(ctx).tx_frames;
}

/* Frames that all links have received. */
uint64_t frames_received(int ctx)
{
	return links_sent(ctx).rx_frames;
}

/* What all links of both hosts have sent, which may be one. */
struct rdmachan_object pair_sent(int ctx, int peer)
{
	struct rdmachan_object sum = links_sent(ctx), theirs;

	if (!has_peer())
		return sum;
	theirs = links_sent(peer);
	sum.tx_frames += theirs.tx_frames;
	sum.tx_posts += theirs.tx_posts;
	sum.tx_signals += theirs.tx_signals;
	return sum;
}

uint64_t pair_frames(int ctx, int peer)
{
	return pair_sent(ctx, peer).tx_frames;
}

/* What the module counts in debugfs: "keys" or "items"; -1 where there is no debugfs. */
int module_count(const char *what)
{
	char path[80];
	int count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/rdmachan/%s", what);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &count) != 1)
		count = -1;
	fclose(file);
	return count;
}

/*
 * How often something is tried. With sanitizers each step takes much longer: where time is
 * short, as the environment tells, a tenth.
 */
int turns(int full)
{
	return getenv("FEW_TURNS") ? (full + 9) / 10 : full;
}

/* Whether computing takes no time, and sleeping as long as it should: a bound is exact then. */
bool time_is_virtual(void)
{
	return getenv("LAB_VIRTUAL");
}

/* What a bed has rdmachan_shim do, by the name of its parameter; 0: nothing. */
unsigned int shim_parameter(const char *name)
{
	const char *word = getenv("SHIM");
	const size_t length = strlen(name);

	while (word && (strncmp(word, name, length) || word[length] != '=')) {
		word = strchr(word, ' ');
		word += !!word;
	}
	return word ? strtoul(word + length + 1, NULL, 0) : 0;
}

bool over_siw(void)
{
	const char *rdma = getenv("LAB_RDMA");

	return rdma && !strncmp(rdma, "siw", 3);
}

/*
 * For loops that wait for somebody else without a call that sleeps: where time is virtual nobody
 * else would ever run. Elsewhere nothing happens, so that races go on.
 */
void let_time_pass(void)
{
	const struct timespec moment = { 0, 1000 };

	if (time_is_virtual())
		nanosleep(&moment, NULL);
}

/*
 * How late a timer of the kernel may end that lasts @ms, in ms. Timers end with a tick; the wheel
 * has levels, each eight times as long and as coarse as the one below, the first 63 ticks long.
 */
int timer_late(unsigned int ms)
{
	unsigned int late = KERNEL_TICK_MS;

	while (ms >= 63 * late)
		late *= 8;
	return late;
}

/* Change the cable between the hosts: the words are those of lab-cable, "cut" and so on. */
void cable(const char *words)
{
	char command[64];

	snprintf(command, sizeof(command), "lab-cable %s", words);
	if (system(command))
		give_up(command);
}

/* Sum of the counters of all devices whose name holds @word; -1: there are none. */
long long hw_counter(const char *word)
{
	char command[256], line[64] = "-1";
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "cat /sys/class/infiniband/*/ports/1/hw_counters/*%s* 2>/dev/null |"
		 " awk '{ s += $1; n++ } END { print n ? s : -1 }'", word);
	pipe = popen(command, "r");
	if (!pipe || !fgets(line, sizeof(line), pipe))
		snprintf(line, sizeof(line), "-1");
	if (pipe)
		pclose(pipe);
	return atoll(line);
}

int64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t now_ms(void)
{
	return clock_ns() / 1000000;
}

/* Whether the kernel is older than this release. */
bool linux_before(unsigned long major, unsigned long minor)
{
	unsigned long its_major, its_minor;
	struct utsname name;
	char *rest;

	if (uname(&name))
		return false;
	its_major = strtoul(name.release, &rest, 10);
	its_minor = strtoul(*rest ? rest + 1 : rest, NULL, 10);
	return its_major < major || (its_major == major && its_minor < minor);
}

/*
 * When a limit begins that the kernel counts in ticks. A busy machine may count them late: then the
 * limit ends too early by now_ms(), and never by the time of the last tick that was counted.
 */
int64_t tick_ms(void)
{
	struct timespec ts;

	if (time_is_virtual())
		return now_ms();
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * So long, and no longer. A sleep is exact where time is virtual and the thread allows it no slack;
 * elsewhere the thread looks at the clock, and others may have the processor meanwhile.
 */
void pause_ns(int64_t ns)
{
	const int64_t until = clock_ns() + ns;
	const struct timespec rest = { ns / 1000000000, ns % 1000000000 };
	const int slack = prctl(PR_GET_TIMERSLACK);

	if (!time_is_virtual()) {
		while (clock_ns() < until)
			sched_yield();
		return;
	}
	prctl(PR_SET_TIMERSLACK, 1);
	nanosleep(&rest, NULL);
	prctl(PR_SET_TIMERSLACK, slack);
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (ms % 1000) * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void nothing(int sig)
{
	(void)sig;
}

/* A signal after @us, and @again every @us, or never if that is 0; with SA_RESTART or without. */
static void begin_alarms(unsigned int us, bool again, bool restart)
{
	struct timeval after = { us / 1000000, us % 1000000 };
	struct itimerval timer = { .it_value = after };
	struct sigaction action;

	if (again)
		timer.it_interval = after;
	memset(&action, 0, sizeof(action));
	action.sa_handler = nothing;
	action.sa_flags = restart ? SA_RESTART : 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void on_alarm_us(unsigned int us, bool restart)
{
	begin_alarms(us, false, restart);
}

void alarms_each(unsigned int ms, bool restart)
{
	begin_alarms(ms * 1000, true, restart);
}

void on_alarm(unsigned int ms, bool restart)
{
	on_alarm_us(ms * 1000, restart);
}

/* The state of a thread of this program, as ps shows it. */
static char state_of(pid_t tid)
{
	char path[64], text[256] = "", *behind;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	behind = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return behind ? behind[2] : 0;
}

/* A thread writes its number to @tid, and the next call it makes will sleep. */
void await_sleep(const pid_t *tid)
{
	pid_t id;

	do {
		sleep_ms(1);
		id = __atomic_load_n(tid, __ATOMIC_ACQUIRE);
	} while (!id || state_of(id) != 'S');
}

int child_status(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* splitmix64 */
uint64_t next_random(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void fill_random(void *data, size_t len, uint64_t seed)
{
	uint64_t value;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		value = next_random(&seed);
		n = len - i < sizeof(value) ? len - i : sizeof(value);
		memcpy((char *)data + i, &value, n);
	}
}

bool is_random(const void *data, size_t len, uint64_t seed)
{
	uint64_t value;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		value = next_random(&seed);
		n = len - i < sizeof(value) ? len - i : sizeof(value);
		if (memcmp((const char *)data + i, &value, n))
			return false;
	}
	return true;
}
