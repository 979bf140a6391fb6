// SPDX-License-Identifier: GPL-2.0
/*
 * early_dead_test.c - early messages whose peer hears them, and is not heard
 */
#include <glob.h>
#include <stdio.h>

#include "early.h"

static char scrap[64];

/*
 * What the connection managers of all hosts have sent and heard of the link's end: a DREQ that is
 * sent and not heard was lost below them.
 */
static void tell_disconnects(void)
{
	char value[32];
	glob_t files;
	FILE *file;
	size_t i;

	if (glob("/sys/class/infiniband/*/ports/1/cm_*_*/dre[pq]", 0, NULL, &files))
		return;
	for (i = 0; i < files.gl_pathc; i++) {
		file = fopen(files.gl_pathv[i], "r");
		if (!file)
			continue;
		if (fgets(value, sizeof(value), file))
			printf("# %s: %s", files.gl_pathv[i], value);
		fclose(file);
	}
	globfree(&files);
}

/* The link ends behind them: they may be there, and are not sent once more. */
TEST_F(early, link_ends_before_the_answer)
{
	struct rdmachan_error error;
	int a;

	if (!time_is_virtual() || !has_peer())
		SKIP("the cable is not ours");
	set_parameter("dead_ms", 1000);
	have_link(self);
	/* Frames go there, and none come back. */
	cable("cut ba");
	a = send_three_to(self, SERVICE, EARLY);
	expect_lost(a, EHOSTDOWN, RDMACHAN_CAUSE_PEER_DEAD, 3, 3);
	cable("mend");
	close(a);
	/* They came once. */
	a = accept_one(self);
	expect_numbered(a, 1, SIZE);
	expect_numbered(a, 2, 0);
	expect_numbered(a, 3, SIZE);
	EXPECT_ERR(do_recv(a, scrap, sizeof(scrap), NULL, TIMEOUT(PATIENCE)), ECONNRESET);
	ASSERT_EQ(get_error(a, &error), 0);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_DISCONNECTED);
	if (error.cause != RDMACHAN_CAUSE_DISCONNECTED)
		tell_disconnects();
	close(a);
	EXPECT_ERR(do_accept(self->listener, TIMEOUT(1000)), ETIMEDOUT);
	set_parameter("dead_ms", 5000);
}

TEST_HARNESS_MAIN
