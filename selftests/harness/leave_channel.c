// SPDX-License-Identifier: GPL-2.0
/*
 * leave_channel.c - ends with two channels open
 *
 * The last words of one are told when the program is gone. The other is being connected to a host
 * that is not there, for the sake of a message.
 */
#include "common.h"

#define ABSENT "10.77.0.99"

static void leave_message(int ctx)
{
	const struct opts early = { .flags = RDMACHAN_CONNECT_F_EARLY };
	struct rdmachan_addr addr = address_of(ABSENT);
	int chan = do_connect_to(ctx, &addr, SERVICE, &early);

	if (chan >= 0)
		do_send(chan, "last", 4, 0, NULL);
}

int main(void)
{
	int ctx = open_ctx(), fds[2];

	leave_message(ctx);
	pair_up(ctx, fds, NULL);
	return do_send(fds[0], "last", 4, 0, NULL) ? 1 : 0;
}
