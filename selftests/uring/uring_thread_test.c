// SPDX-License-Identifier: GPL-2.0
/*
 * uring_thread_test.c - channels in io_uring whose requests a thread of the kernel's submits
 *
 * That thread looks for requests for a while before it sleeps, and does nothing that takes virtual
 * time meanwhile: in such a bed nobody else would ever run.
 */
#include "uring_messages.h"

/* The thread that submits is the kernel's, with the memory and the rights of this program. */
TEST_F(uring, submission_thread)
{
	struct io_uring ring;

	if (time_is_virtual())
		SKIP("a thread that only looks takes no virtual time");
	ring_open(&ring, IORING_SETUP_SQPOLL);
	all_messages(self, &ring);
	EXPECT_EQ(result(&ring, 0, 0), NOT_YET);
	io_uring_queue_exit(&ring);
}

TEST_HARNESS_MAIN
