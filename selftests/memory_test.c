// SPDX-License-Identifier: GPL-2.0
/*
 * memory_test.c - what channels and links cost while they are idle
 *
 * Counted is all memory that the kernel has less of, the adapter's and the files' with it,
 * so a kernel that makes objects larger to watch them is no place for this program.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "common.h"
#include "harness.h"
#include "pair.h"

#define KIB 1024
#define CHANNELS 400
#define LINKS 64
#define FIRST_USER 2000

/* Idle ones hold nothing, but what they may hold is charged. */
static const struct opts small = {
	.tuning = { .send_buffer = RDMACHAN_BUFFER_MIN, .recv_buffer = RDMACHAN_BUFFER_MIN },
};

/* Pages that nothing uses, in KiB, when all that can be let go has been. */
static long free_kib(void)
{
	char line[128];
	long kib = -1;
	FILE *file;
	int fd;

	fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(fd, "3", 1), 1);
	close(fd);
	file = fopen("/proc/meminfo", "r");
	ASSERT_TRUE(file);
	while (kib < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "MemFree: %ld", &kib);
	fclose(file);
	return kib;
}

FIXTURE(memory)
{
	int ctx;
	int listener;
};

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	self->ctx = open_ctx();
	self->listener = do_listen(self->ctx, SERVICE, &small);
	ASSERT_GE(self->listener, 0);
}

FIXTURE_TEARDOWN(memory)
{
	close(self->listener);
	close(self->ctx);
}

static void connect_pair(int ctx, int listener, int fds[2])
{
	fds[0] = do_connect(ctx, SERVICE, &small);
	ASSERT_GE(fds[0], 0);
	fds[1] = do_accept(listener, NULL);
	ASSERT_GE(fds[1], 0);
}

/* One byte to and fro: what is made with the first message is there. */
static void exchange(const int fds[2])
{
	char byte;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(do_send(fds[i], "x", 1, 0, NULL), 0);
		ASSERT_EQ(do_recv(fds[!i], &byte, 1, NULL, NULL), 0);
	}
}

TEST_F(memory, idle_channel)
{
	static int fds[CHANNELS][2], first[2];
	long before, after;
	int i;

	/* What they share. */
	connect_pair(self->ctx, self->listener, first);
	exchange(first);
	before = free_kib();
	for (i = 0; i < CHANNELS; i++) {
		connect_pair(self->ctx, self->listener, fds[i]);
		exchange(fds[i]);
	}
	after = free_kib();
	printf("# %ld bytes for each of %d ends of channels\n",
	       (before - after) * KIB / (2 * CHANNELS), 2 * CHANNELS);
	EXPECT_LE((before - after) * KIB / (2 * CHANNELS), 4 * KIB);
	for (i = 0; i < CHANNELS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	close(first[0]);
	close(first[1]);
}

/* Each user has a link of its own. */
TEST_F(memory, idle_link)
{
	int ctx[LINKS], fds[LINKS][2], i;
	struct rdmachan_info info;
	long before, after;
	uint64_t links;

	for (i = 0; i < LINKS; i++) {
		ASSERT_EQ(seteuid(FIRST_USER + i), 0);
		ctx[i] = open_ctx();
		ASSERT_EQ(seteuid(0), 0);
	}
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	links = info.out_links;
	before = free_kib();
	for (i = 0; i < LINKS; i++) {
		connect_pair(ctx[i], self->listener, fds[i]);
		exchange(fds[i]);
	}
	after = free_kib();
	ASSERT_EQ(get_info(self->ctx, &info), 0);
	EXPECT_EQ(info.out_links, links + 2 * LINKS);
	printf("# %ld KiB for each of %d ends of links\n", (before - after) / (2 * LINKS),
	       2 * LINKS);
	EXPECT_LE((before - after) / (2 * LINKS), KIB);
	for (i = 0; i < LINKS; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
		close(ctx[i]);
	}
}

TEST_HARNESS_MAIN
