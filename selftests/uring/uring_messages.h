/* SPDX-License-Identifier: GPL-2.0 */
/*
 * uring_messages.h - messages from one end to the other, in all ways that io_uring has
 */
#ifndef _SELFTESTS_URING_MESSAGES_H
#define _SELFTESTS_URING_MESSAGES_H

#include <sys/mman.h>

#include "uring.h"

enum way { PLAIN, VECTOR, FIXED, WAYS };

#define ROOM (512 * 1024)

static char *out_data, *in_data;

static inline void register_both(struct io_uring *ring)
{
	struct iovec iov[2];

	out_data = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	ASSERT_NE((intptr_t)out_data, -1);
	in_data = out_data + ROOM;
	iov[0] = (struct iovec){ out_data, ROOM };
	iov[1] = (struct iovec){ in_data, ROOM };
	ASSERT_EQ(io_uring_register_buffers(ring, iov, 2), 0);
}

static inline void prepare_way(struct io_uring_sqe *sqe, int fd, bool in, enum way way,
			       size_t len)
{
	static struct iovec iov[2][2];
	char *data = in ? in_data : out_data;
	size_t part = len / 3;

	iov[in][0] = (struct iovec){ data, part };
	iov[in][1] = (struct iovec){ data + part, len - part };
	if (way == PLAIN && in)
		io_uring_prep_read(sqe, fd, data, len, 0);
	else if (way == PLAIN)
		io_uring_prep_write(sqe, fd, data, len, 0);
	else if (way == VECTOR && in)
		io_uring_prep_readv(sqe, fd, iov[in], 2, 0);
	else if (way == VECTOR)
		io_uring_prep_writev(sqe, fd, iov[in], 2, 0);
	else if (in)
		io_uring_prep_read_fixed(sqe, fd, data, len, 0, 1);
	else
		io_uring_prep_write_fixed(sqe, fd, data, len, 0, 0);
}

/* @late: the message comes when the read waits already */
static inline void one_message(struct fixture_uring *self, struct io_uring *ring, enum way way,
			       size_t len, unsigned int flags, bool late)
{
	struct io_uring_sqe *sqe;
	int i;

	fill_random(out_data, len, len + way);
	memset(in_data, 0x55, len + 1);
	for (i = 0; i < 2; i++) {
		bool in = i != late;

		sqe = entry(ring);
		prepare_way(sqe, in ? self->b : self->a, in, way, len);
		tagged(sqe, in, flags);
		submit(ring);
		if (late && in)
			EXPECT_EQ(result(ring, true, 0), NOT_YET);
	}
	EXPECT_EQ(result(ring, false, LONG), len);
	EXPECT_EQ(result(ring, true, LONG), len);
	EXPECT_TRUE(is_random(in_data, len, len + way));
	EXPECT_EQ(in_data[len], 0x55);
}

/* Of all sizes, in all ways, with the reader first or last. */
static inline void all_messages(struct fixture_uring *self, struct io_uring *ring)
{
	static const size_t sizes[] = { 3, 100, 2049, 8192, 8193, 65536, 400001 };
	static const unsigned int flags[] = { 0, IOSQE_ASYNC };
	size_t i, j;
	int way;

	register_both(ring);
	for (way = PLAIN; way < WAYS; way++) {
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			for (j = 0; j < 2; j++) {
				one_message(self, ring, way, sizes[i], flags[j], false);
				one_message(self, ring, way, sizes[i], flags[j], true);
			}
		}
	}
}

#endif /* _SELFTESTS_URING_MESSAGES_H */
