// SPDX-License-Identifier: GPL-2.0
/*
 * leave_channel.c - ends with an open channel, whose last words are told when it is gone
 */
#include "common.h"

int main(void)
{
	int fds[2];

	pair_up(open_ctx(), fds, NULL);
	return do_send(fds[0], "last", 4, 0, NULL) ? 1 : 0;
}
