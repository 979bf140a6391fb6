/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile_scene.h - the fixture of the tests with a hostile peer
 */
#ifndef RDMACHAN_HOSTILE_SCENE_H
#define RDMACHAN_HOSTILE_SCENE_H

#include "harness.h"
#include "hostile_attack.h"

FIXTURE(scene) {
	struct attack a;
};

FIXTURE_SETUP(scene)
{
	attack_begin(&self->a);
	ASSERT_GE(self->a.listener, 0);
}

FIXTURE_TEARDOWN(scene)
{
	EXPECT_TRUE(attack_end(&self->a));
}

/* All in one frame: nobody does anything between. @flags besides that of what is lent ahead. */
static inline void say_all_cts(struct attack *a, u8 flags, const struct rch_cts *all, int count)
{
	struct rch_record r = {
		.chan = a->victim_no,
		.type = RCH_REC_CTS,
		.length = sizeof(struct rch_wire_cts),
	};
	static struct frame f;
	int i;

	frame_begin(&f);
	for (i = 0; i < count; i++) {
		r.flags = flags | (all[i].ahead ? RCH_CTS_F_AHEAD : 0);
		rch_wire_cts_put(frame_add(&f, &r), &all[i]);
	}
	hostile_say(&a->h, &f);
}

/*
 * The peer is alive and owes an answer, for which it has @ms since @begun: then its link ends. The
 * module's timers are a tick longer than that.
 */
static inline void expect_patience(struct attack *a, int64_t begun, int ms)
{
	hostile_beat(&a->h, 20 * ms);
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_ANSWER);
	EXPECT_TOOK(begun, ms, timer_late(ms) + KERNEL_TICK_MS);
}

#endif /* RDMACHAN_HOSTILE_SCENE_H */
