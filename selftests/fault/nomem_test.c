// SPDX-License-Identifier: GPL-2.0
/*
 * nomem_test.c - the kernel runs out of memory where no program asks for it
 *
 * In softirq and in work items there is nobody to be told ENOMEM: what cannot be sent
 * is sent later, what cannot be kept ends the channel, and what cannot be made is
 * refused. The allocator fails single caches, or all that may not wait; the workers of
 * the kernel are swept as fault_test.c sweeps calls.
 */
#include <dirent.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "common.h"
#include "harness.h"
#include "fault.h"

#define TIMEOUT(ms) (&(struct opts){ .timeout_ms = (ms) })
#define DONTWAIT (&(struct opts){ .flags = RDMACHAN_IO_F_DONTWAIT })
#define LONGEST (64 << 10)
#define WORKERS 256
#define USER 4600
#define PURPOSE "rdmachan test: memory fails on purpose "

FIXTURE(nomem)
{
	int ctx;
	int peer;
	int listener;
	int a;
	int b;
};

static void pair(struct fixture_nomem *self)
{
	self->a = do_connect(self->ctx, SERVICE, TIMEOUT(10000));
	ASSERT_GE(self->a, 0);
	self->b = do_accept(self->listener, TIMEOUT(10000));
	ASSERT_GE(self->b, 0);
}

FIXTURE_SETUP(nomem)
{
	fault_begin();
	self->ctx = fault_ctx_of(USER);
	self->peer = fault_peer_of(USER);
	self->listener = do_listen(self->peer, SERVICE, NULL);
	ASSERT_GE(self->listener, 0);
	pair(self);
}

FIXTURE_TEARDOWN(nomem)
{
	fault_end();
	close(self->a);
	close(self->b);
	close(self->listener);
	close(self->peer);
	close(self->ctx);
}

/* Have the faults of the allocator be of this cache and others that are chosen. */
static bool choose_cache(const char *cache, bool chosen)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/failslab", cache);
	return put(path, chosen ? "1" : "0");
}

/* Allocations of a cache that may not wait fail, @percent of them. */
static void fail_cache(const char *cache, const char *percent)
{
	if (!choose_cache(cache, true))
		SKIP("the kernel does not know the cache apart from others");
	fault_set("failslab", "cache-filter", "Y");
	fault_set("failslab", "ignore-gfp-wait", "Y");
	fault_set("failslab", "probability", percent);
}

static void mend_cache(const char *cache)
{
	fault_set("failslab", "probability", "0");
	choose_cache(cache, false);
}

/*
 * Caches that the module uses. Others must be left out. Below the module there are
 * places that complain of having no memory, or never recover from it, as rxe does when
 * it has none for a packet of the connection manager's.
 */
static void choose_caches(bool chosen)
{
	static const char *const caches[] = {
		"rch_txf", "rch_chan", "radix_tree_node", "kmalloc-256", "kmalloc-512",
		"kmalloc-2k", "kmalloc-4k", "kmalloc-cg-1k", "kmalloc-cg-2k",
	};
	size_t i;

	/* The maker of a queue pair below may be shown in the log: see splat-scan.sh. */
	if (chosen)
		ASSERT_TRUE(put("/dev/kmsg", PURPOSE "from here"));
	for (i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		choose_cache(caches[i], chosen);
	fault_set("failslab", "cache-filter", chosen ? "Y" : "N");
	fault_set("fail_page_alloc", "min-order", chosen ? "2" : "0");
	if (!chosen)
		ASSERT_TRUE(put("/dev/kmsg", PURPOSE "to here"));
}

/* Better, where the kernel can tell by the stack which code asks for memory: only the module. */
static void choose_all(bool chosen)
{
	const char *device = getenv("LAB_RDMA");

	if (fault_within_module(chosen))
		return;
	if (device && !strncmp(device, "siw", 3))
		SKIP("siw loses references to its listener when it has no memory");
	choose_caches(chosen);
}

static size_t random_size(uint64_t *seed)
{
	uint64_t value = next_random(seed);

	return (value >> 8) % (value & 3 ? 3000 : LONGEST);
}

static void send_many(int chan, int count, uint64_t seed)
{
	static char data[LONGEST];
	size_t len;

	while (count--) {
		len = random_size(&seed);
		fill_random(data, len, seed);
		ASSERT_EQ(do_send(chan, data, len, 0, TIMEOUT(20000)), 0);
	}
}

static void receive_many(int chan, int count, uint64_t seed)
{
	static char data[LONGEST];
	struct rdmachan_recv_args recv;
	size_t len;

	while (count--) {
		len = random_size(&seed);
		ASSERT_EQ(do_recv(chan, data, LONGEST, &recv, TIMEOUT(20000)), 0);
		ASSERT_EQ(recv.out_length, len);
		ASSERT_TRUE(is_random(data, len, seed));
	}
}

static void both_ways(struct fixture_nomem *self, int count)
{
	pid_t children[3];
	int i;

	for (i = 0; i < 3; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		if (i == 2)
			receive_many(self->b, count, 1);
		else
			send_many(i ? self->a : self->b, count, 2 - i);
		_exit(0);
	}
	receive_many(self->a, count, 2);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(child_status(children[i]), 0);
}

/* A record without a frame to go in waits for one. */
TEST_F(nomem, frames)
{
	fail_cache("rch_txf", "40");
	both_ways(self, 300);
	mend_cache("rch_txf");
	talk(self->a, self->b);
}

/* The adapter breaks when its own packets have no memory: they are made small, at both ends. */
static void set_mtu(const char *mtu)
{
	char command[80];
	int here;

	snprintf(command, sizeof(command), "ip link set %s mtu %s", getenv("LAB_DEV"), mtu);
	ASSERT_EQ(system(command), 0);
	here = enter_peer();
	ASSERT_EQ(system(command), 0);
	leave_peer(here);
}

/* Another pair, of a link of its own: nothing goes there of channels that other tests have left. */
static void pair_apart(struct fixture_nomem *self)
{
	close(self->a);
	close(self->b);
	close(self->ctx);
	self->ctx = fault_ctx_of(10000 + getpid());
	pair(self);
}

/* Pages of 16 KiB that may not be waited for; in a pair of a link of its own. */
static void fail_pages(struct fixture_nomem *self, const char *percent)
{
	set_mtu("1500");
	pair_apart(self);
	fault_set("fail_page_alloc", "min-order", "2");
	fault_set("fail_page_alloc", "ignore-gfp-wait", "Y");
	fault_set("fail_page_alloc", "probability", percent);
}

static void mend_pages(struct fixture_nomem *self)
{
	fault_set("fail_page_alloc", "probability", "0");
	talk(self->a, self->b);
	set_mtu("4200");
}

/* The data of frames out, and all that frames come in. */
TEST_F(nomem, pages)
{
	fail_pages(self, "60");
	both_ways(self, 300);
	mend_pages(self);
}

/* The ring runs dry, as unread messages lie in all its pages. */
TEST_F(nomem, no_page_at_all)
{
	static char data[16 << 10];
	int i, sent = 0;

	fail_pages(self, "100");
	for (i = 0; i < 60; i++) {
		fill_random(data, sizeof(data), i);
		if (do_send(self->a, data, sizeof(data), 0, TIMEOUT(10000)))
			break;
		sent++;
	}
	EXPECT_EQ(sent, 60);
	for (i = 0; i < sent; i++) {
		ASSERT_EQ(do_recv(self->b, data, sizeof(data), NULL, TIMEOUT(10000)), 0);
		EXPECT_TRUE(is_random(data, sizeof(data), i));
	}
	mend_pages(self);
}

static void refused(struct fixture_nomem *self, const char *cache, int tries)
{
	struct rdmachan_error error;
	int fd, count = 0;

	fail_cache(cache, "100");
	while (tries-- && !count) {
		fd = do_connect(self->ctx, SERVICE, &(struct opts){ .error = &error });
		if (fd >= 0)
			continue;
		count++;
		EXPECT_EQ(errno, ECONNREFUSED);
		EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	}
	mend_cache(cache);
	EXPECT_EQ(count, 1);
	fd = do_connect(self->ctx, SERVICE, NULL);
	EXPECT_GE(fd, 0);
	close(fd);
	talk(self->a, self->b);
}

TEST_F(nomem, no_channel)
{
	refused(self, "rch_chan", 1);
}

/* The register of objects, or of lanes, has a node for 64 of them. */
TEST_F(nomem, no_number)
{
	refused(self, "radix_tree_node", 100);
}

/* A message that cannot be kept is not left out: the channel ends, at both ends. */
TEST_F(nomem, message)
{
	struct rdmachan_error error;
	char data[1980];

	/* The adapter breaks when a frame of many records has no memory: none is on this link. */
	pair_apart(self);
	fail_cache("kmalloc-2k", "100");
	do_send(self->a, data, sizeof(data), 0, NULL);
	EXPECT_TRUE(poll_mask(self->b, POLLIN, 10000) & POLLERR);
	EXPECT_TRUE(poll_mask(self->a, POLLIN, 10000) & POLLERR);
	mend_cache("kmalloc-2k");
	EXPECT_ERR(do_recv(self->b, data, sizeof(data), NULL,
			   &(struct opts){ .error = &error }), ENOMEM);
	EXPECT_ERR(do_recv(self->a, data, sizeof(data), NULL, DONTWAIT), ECONNRESET);
	ASSERT_EQ(get_error(self->b, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_RESOURCES);
	ASSERT_EQ(get_error(self->a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_PEER_RESOURCES);
	close(self->a);
	close(self->b);
	/* The link is unharmed. */
	pair(self);
	talk(self->a, self->b);
}

/*
 * Workers
 */

struct workers {
	int nth[WORKERS];
	int count;
};

/* Of unbound workqueues, as the module's own, or of those of a CPU. */
static bool is_worker(const char *pid, bool unbound)
{
	char path[64], name[16] = "";
	int fd;

	if (*pid < '0' || *pid > '9')
		return false;
	snprintf(path, sizeof(path), "/proc/%.10s/comm", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = 0;
	close(fd);
	return !strncmp(name, "kworker/", 8) && (name[8] == 'u') == unbound;
}

static void arm_workers(struct workers *w, unsigned int point, bool unbound)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int nth;

	w->count = 0;
	while (dir && (entry = readdir(dir)) && w->count < WORKERS) {
		if (!is_worker(entry->d_name, unbound))
			continue;
		nth = fault_nth_of(atoi(entry->d_name));
		if (nth >= 0 && fault_arm(nth, point))
			w->nth[w->count++] = nth;
		else
			close(nth);
	}
	closedir(dir);
}

static bool disarm_workers(struct workers *w)
{
	bool fired = false;

	while (w->count) {
		fired |= fault_disarm(w->nth[--w->count]);
		close(w->nth[w->count]);
	}
	return fired;
}

/* Channels whose connector has given up lie before the one that answers. */
static int accept_live(int listener)
{
	char word[8];
	int fd;

	for (;;) {
		fd = do_accept(listener, TIMEOUT(10000));
		ASSERT_GE(fd, 0);
		if (!do_recv(fd, word, sizeof(word), NULL, TIMEOUT(10000)) &&
		    !memcmp(word, "here", 4))
			return fd;
		close(fd);
	}
}

/* A host that was refused gets in when there is memory. */
static void connect_at_last(struct fixture_nomem *self, int ctx, int fd)
{
	int other, tries = 0;

	while (fd < 0 && tries++ < 20) {
		fd = do_connect(ctx, SERVICE, TIMEOUT(5000));
		if (fd < 0)
			sleep_ms(50);
	}
	ASSERT_GE(fd, 0);
	ASSERT_EQ(do_send(fd, "here", 4, 0, TIMEOUT(10000)), 0);
	other = accept_live(self->listener);
	talk(fd, other);
	close(other);
	close(fd);
}

static int seconds_to_go(int otherwise)
{
	const char *text = getenv("FAULT_SECONDS");

	return text ? atoi(text) : otherwise;
}

static void sweep_workers(struct fixture_nomem *self, bool unbound)
{
	int64_t until = now_ms() + seconds_to_go(10) * 1000;
	int ctx, fd, error, failed = 0;
	unsigned int point, missed = 0;
	struct workers w;
	bool fired;

	put(PARAMETERS "depth", "8");
	choose_all(true);
	/* The work may be done by a worker that was begun just now. */
	for (point = 1; missed < 5 && now_ms() < until; point++) {
		/* Whose links are not those of the other test. */
		ctx = fault_ctx_of(USER + (unbound ? 1000 : 2000) + point);
		arm_workers(&w, point, unbound);
		fd = do_connect(ctx, SERVICE, TIMEOUT(3000));
		error = errno;
		fired = disarm_workers(&w);
		missed = fired ? 0 : missed + 1;
		if (fd < 0) {
			failed++;
			EXPECT_TRUE(fired);
			EXPECT_NE(error, EFAULT);
		}
		connect_at_last(self, ctx, fd);
		close(ctx);
	}
	choose_all(false);
	put(PARAMETERS "depth", "32");
	printf("# %u points, %d of them failed\n", point - 1, failed);
	EXPECT_GT(failed, 0);
}

/* The module's work: the active end of a link. */
TEST_F_TIMEOUT(nomem, active_end, 600)
{
	sweep_workers(self, true);
}

/* The connection manager's, and with it the passive end. */
TEST_F_TIMEOUT(nomem, passive_end, 600)
{
	sweep_workers(self, false);
}

/* Anything may fail that may not wait: links break, and others are made. */
TEST_F_TIMEOUT(nomem, storm, 600)
{
	int64_t until = now_ms() + seconds_to_go(5) * 1000;
	int rounds = 0, ended = 0, fd, other;
	static char data[20000];

	choose_all(true);
	fault_set("failslab", "ignore-gfp-wait", "Y");
	fault_set("fail_page_alloc", "ignore-gfp-wait", "Y");
	fault_set("failslab", "probability", "2");
	fault_set("fail_page_alloc", "probability", "5");
	while (now_ms() < until) {
		rounds++;
		fd = do_connect(self->ctx, SERVICE, TIMEOUT(2000));
		other = fd < 0 ? -1 : do_accept(self->listener, TIMEOUT(2000));
		if (other < 0 || do_send(fd, data, sizeof(data), 0, TIMEOUT(2000)) ||
		    do_recv(other, data, sizeof(data), NULL, TIMEOUT(2000)))
			ended++;
		close(fd);
		close(other);
	}
	fault_calm();
	choose_all(false);
	printf("# %d of %d rounds ended early\n", ended, rounds);
	connect_at_last(self, self->ctx, -1);
}

/*
 * Loading
 */

static int open_module(void)
{
	char program[256], path[280];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	ASSERT_GT(len, 0);
	program[len] = 0;
	*strrchr(program, '/') = 0;
	snprintf(path, sizeof(path), "%s/rdmachan.ko", program);
	return open(path, O_RDONLY);
}

static int load(int file, const char *parameters)
{
	return syscall(SYS_finit_module, file, parameters, 0);
}

static int unload(void)
{
	return syscall(SYS_delete_module, "rdmachan", O_NONBLOCK);
}

/*
 * How many points there are before init is called: a parameter that is wrong is found
 * out just before. Some more are the loader's as well, and do no harm.
 */
static unsigned int loader_points(int nth, int file)
{
	const unsigned int many = 100000;
	char text[16] = "";

	fault_arm(nth, many);
	EXPECT_EQ(load(file, "depth=0"), -1);
	ASSERT_GT(pread(nth, text, sizeof(text) - 1, 0), 0);
	fault_disarm(nth);
	return many - atoi(text) + 4;
}

/* Last of all. Init takes back all that it had made when it cannot go on. */
TEST_TIMEOUT(loading, 300)
{
	int nth, failed = 0, file = open_module();
	unsigned int point, first;
	bool fired = true;

	ASSERT_GE(file, 0);
	fault_begin();
	fault_end();
	nth = fault_nth_of(0);
	ASSERT_EQ(unload(), 0);
	choose_caches(true);
	first = loader_points(nth, file);
	for (point = first; fired && point < 5000; point++) {
		fault_arm(nth, point);
		if (load(file, ""))
			failed++;
		fired = fault_disarm(nth);
		unload();
	}
	EXPECT_TRUE(!fired);
	choose_caches(false);
	/* As guest/run.sh does, for the programs behind this one. */
	EXPECT_EQ(load(file, "eager_us=1000000"), 0);
	printf("# %u points, %d of them failed\n", point - first - 1, failed);
}

TEST_HARNESS_MAIN
