// SPDX-License-Identifier: GPL-2.0
/*
 * refused_test.c - an adapter that has no room for what it has said it has room for
 *
 * It refuses an RDMA WRITE while others wait until less is under way. The connection ends, and all
 * that wait must be told: a path is not taken apart before its last user has left.
 */
#include "adapter.h"
#include "pair.h"
#include "stream.h"

#define STREAMS 6

TEST_TIMEOUT(writes_refused, 100)
{
	struct stream streams[STREAMS];
	int ctx, peer, i, fds[2];

	adapter("refuse_write", 0);
	if (!time_is_virtual() || !has_peer())
		SKIP("this needs a wire, or nothing has to wait");
	ctx = open_ctx();
	peer = open_peer();
	await_no_links(ctx);
	cable("rate 100");
	for (i = 0; i < STREAMS; i++) {
		pair_up(ctx, fds, NULL);
		stream_begin(&streams[i], fds);
	}
	sleep_ms(1000);
	adapter("refuse_write", 1);
	for (i = 0; i < STREAMS; i++) {
		EXPECT_TRUE(wait_state(streams[i].fds[0], RDMACHAN_STATE_FAILED, 10000));
		stream_end(&streams[i]);
	}
	adapter("refuse_write", 0);
	await_no_links(ctx);
	cable("rate 0");
	pair_up(ctx, fds, NULL);
	talk(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	close(peer);
	close(ctx);
}

TEST_HARNESS_MAIN
