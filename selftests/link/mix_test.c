// SPDX-License-Identifier: GPL-2.0
/*
 * mix_test.c - two hosts whose cable loses, repeats and reorders packets, or is very slow
 *
 * Each host sends the other messages of all sizes, by calls, by a queue and from regions, and reads
 * and writes what the other lends, all over one link. Either everything arrives once and in order,
 * or an adapter makes no progress any more: then the ends are told that, and not that the peer is
 * dead. Only packets out of order are an excuse for that.
 *
 * rxe answers a packet out of order by going back, and one that is lost after its timeout: then it
 * is slow. When many are out of order it may stall for good, in both directions even: then no sign
 * of life is left on the link, and the modules learn of each other beside it.
 */
#include <stdlib.h>

#include "common.h"
#include "grant.h"
#include "harness.h"
#include "pair.h"
#include "region.h"

#define MESSAGES 64
#define SLOTS 4
#define MESSAGE_MAX 1048576U
#define LENT 262144U
#define LIMIT_S 3600

enum kind { CALLS, QUEUE, REGIONS, GRANTS, KINDS };
enum part { SENDER, RECEIVER, SIDES };
enum way { HERE_TO_THERE, THERE_TO_HERE, WAYS };

/**
 * struct flow - a channel that is used one way
 * @kind: by what
 * @number: of all flows; the contents are made of it
 * @ends: descriptors: of the end that sends, or accesses, and of the other
 * @to_ctx: a context of that other's host
 * @reads: lent memory is read as well as written
 * @count: messages that were sent, and received, or accesses; shared with the children
 */
struct flow {
	enum kind kind;
	uint32_t number;
	int ends[SIDES];
	int to_ctx;
	bool reads;
	uint32_t *count;
};

FIXTURE(mix)
{
	int ctx;
	int there;
	struct flow flows[KINDS * WAYS];
	uint32_t (*counts)[SIDES];
};

static const char *const cable_words[] = {
	"loss", "duplicate", "reorder", "delay", "jitter", "rate",
};

static void good_cable(void)
{
	char words[32];
	size_t i;

	for (i = 0; i < sizeof(cable_words) / sizeof(*cable_words); i++) {
		snprintf(words, sizeof(words), "%s 0", cable_words[i]);
		cable(words);
	}
}

static void open_flow(struct fixture_mix *self, enum kind kind, enum way way)
{
	const uint32_t number = kind * WAYS + way;
	struct flow *flow = &self->flows[number];
	int fds[2];

	pair_up(self->ctx, fds, NULL);
	flow->kind = kind;
	flow->number = number;
	flow->ends[SENDER] = fds[way == THERE_TO_HERE];
	flow->ends[RECEIVER] = fds[way == HERE_TO_THERE];
	flow->to_ctx = way == HERE_TO_THERE ? self->there : self->ctx;
	flow->count = self->counts[number];
}

FIXTURE_SETUP(mix)
{
	int kind;

	if (!time_is_virtual() || !has_peer())
		SKIP("two hosts are needed, in virtual time");
	good_cable();
	self->ctx = open_ctx();
	self->there = open_peer();
	self->counts = mmap(NULL, sizeof(*self->counts) * KINDS * WAYS, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE((void *)self->counts, MAP_FAILED);
	for (kind = 0; kind < KINDS; kind++) {
		open_flow(self, kind, HERE_TO_THERE);
		open_flow(self, kind, THERE_TO_HERE);
	}
}

static void close_flows(struct fixture_mix *self)
{
	int i;

	for (i = 0; i < KINDS * WAYS; i++) {
		close(self->flows[i].ends[SENDER]);
		close(self->flows[i].ends[RECEIVER]);
	}
}

FIXTURE_TEARDOWN(mix)
{
	good_cable();
	close_flows(self);
	await_no_links(self->ctx);
	close(self->there);
	close(self->ctx);
}

/* From none to the largest; most are small, as they are elsewhere. */
static uint32_t length_of(const struct flow *flow, uint32_t message)
{
	static const uint32_t most[] = {
		0, 64, 64, 512, 2048, 2048, 4096, 16384, 16384, 32768, 131072, 131072,
	};
	uint64_t seed = flow->number * 1000003ULL + message;
	const uint64_t value = next_random(&seed);

	if (message == MESSAGES / 2)
		return MESSAGE_MAX;
	return (value >> 32) % (most[value % (sizeof(most) / sizeof(*most))] + 1);
}

static uint64_t seed_of(const struct flow *flow, uint32_t message)
{
	return (uint64_t)flow->number << 32 | message;
}

/* Nothing but the end of the channel ends an operation. */
static void expect_end(const struct flow *flow, enum part side, int error)
{
	struct rdmachan_error about;

	ASSERT_EQ(get_error(flow->ends[side], &about), 0);
	EXPECT_EQ(about.error, error);
	EXPECT_TRUE(wait_state(flow->ends[side], RDMACHAN_STATE_FAILED, 0));
}

static void send_by_calls(struct flow *flow)
{
	char *data = malloc(MESSAGE_MAX);
	uint32_t i, len;

	for (i = 0; i < MESSAGES; i++) {
		len = length_of(flow, i);
		fill_random(data, len, seed_of(flow, i));
		if (do_send(flow->ends[SENDER], data, len, i, NULL)) {
			expect_end(flow, SENDER, errno);
			return;
		}
		flow->count[SENDER]++;
	}
}

static void receive_by_calls(struct flow *flow)
{
	char *data = malloc(MESSAGE_MAX);
	struct rdmachan_recv_args recv;
	uint32_t i;

	for (i = 0; i < MESSAGES; i++) {
		if (do_recv(flow->ends[RECEIVER], data, MESSAGE_MAX, &recv, NULL)) {
			expect_end(flow, RECEIVER, errno);
			return;
		}
		ASSERT_EQ(recv.out_msg_flags, i);
		ASSERT_EQ(recv.out_length, length_of(flow, i));
		ASSERT_TRUE(is_random(data, recv.out_length, seed_of(flow, i)));
		flow->count[RECEIVER]++;
	}
}

/**
 * struct carrier - messages of a flow that go by a queue
 * @memory: SLOTS messages, of each side
 * @region: that memory, of each side
 * @begun: operations that were begun, by side; the next has the slot that the oldest has left
 */
struct carrier {
	struct flow *flow;
	struct queue q;
	char *memory[SIDES];
	uint32_t region[SIDES];
	uint32_t begun[SIDES];
};

static char *slot_of(const struct carrier *c, enum part side, uint32_t message)
{
	return c->memory[side] + (size_t)(message % SLOTS) * MESSAGE_MAX;
}

static void carrier_open(struct carrier *c, struct flow *flow)
{
	int ctx = open_ctx(), side;

	memset(c, 0, sizeof(*c));
	c->flow = flow;
	ASSERT_EQ(queue_open(ctx, &c->q, 64, 64), 0);
	for (side = 0; side < SIDES; side++) {
		c->memory[side] = mmap(NULL, SLOTS * (size_t)MESSAGE_MAX, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE((void *)c->memory[side], MAP_FAILED);
		if (flow->kind != REGIONS)
			continue;
		c->region[side] = region_register(ctx, c->memory[side],
						  SLOTS * (size_t)MESSAGE_MAX, 0, NULL);
		ASSERT_GT((int)c->region[side], 0);
	}
}

static void begin_one(struct carrier *c, enum part side)
{
	const uint32_t i = c->begun[side]++, len = length_of(c->flow, i);
	const uint64_t tag = (uint64_t)side << 32 | i;
	char *slot = slot_of(c, side, i);
	struct rdmachan_sqe *sqe;

	if (side == SENDER) {
		fill_random(slot, len, seed_of(c->flow, i));
		sqe = queue_send(&c->q, c->flow->ends[SENDER], slot, len, tag);
		sqe->msg_flags = i;
	} else {
		sqe = queue_recv(&c->q, c->flow->ends[RECEIVER], slot, MESSAGE_MAX, tag);
	}
	if (c->flow->kind == REGIONS)
		in_region(sqe, c->region[side], slot - c->memory[side]);
}

static void begin_more(struct carrier *c)
{
	int side;

	for (side = 0; side < SIDES; side++)
		while (c->begun[side] < MESSAGES &&
		       c->begun[side] - c->flow->count[side] < SLOTS)
			begin_one(c, side);
}

/* Return: whether the channel goes on. */
static bool take_one(struct carrier *c)
{
	struct flow *flow = c->flow;
	struct rdmachan_cqe cqe;
	enum part side;
	uint32_t i;

	ASSERT_GE(queue_enter(&c->q, c->q.sq.count, 1, 0), 0);
	ASSERT_TRUE(queue_next(&c->q, &cqe));
	side = cqe.user_data >> 32;
	i = cqe.user_data;
	if (cqe.res < 0) {
		expect_end(flow, side, -cqe.res);
		return false;
	}
	ASSERT_EQ(i, flow->count[side]);
	ASSERT_EQ(cqe.res, length_of(flow, i));
	flow->count[side]++;
	if (side == SENDER)
		return true;
	ASSERT_EQ(cqe.msg_flags, i);
	ASSERT_TRUE(is_random(slot_of(c, side, i), cqe.res, seed_of(flow, i)));
	return true;
}

static void carry(struct flow *flow)
{
	struct carrier c;

	carrier_open(&c, flow);
	while (flow->count[SENDER] + flow->count[RECEIVER] < SIDES * MESSAGES) {
		begin_more(&c);
		if (!take_one(&c))
			return;
	}
}

/* What the holder has written is what it reads, whatever the cable does. */
static bool access_once(struct flow *flow, uint32_t grant, char *model, char *back, uint32_t i)
{
	uint64_t seed = seed_of(flow, i);
	const uint32_t at = next_random(&seed) % LENT, len = next_random(&seed) % (LENT - at) + 1;

	fill_random(model + at, len, seed);
	if (grant_write(flow->ends[SENDER], grant, at, model + at, len) ||
	    (flow->reads && grant_read(flow->ends[SENDER], grant, 0, back, LENT))) {
		expect_end(flow, SENDER, errno);
		return false;
	}
	if (flow->reads)
		ASSERT_EQ(memcmp(back, model, LENT), 0);
	flow->count[SENDER]++;
	return true;
}

/* Return: whether the event came. */
static bool await_event(struct flow *flow, enum part side, uint32_t what, uint32_t *grant)
{
	struct rdmachan_grant_event event;
	struct rdmachan_recv_args recv;

	if (grant_recv(flow->ends[side], &event, sizeof(event), &recv, NULL)) {
		expect_end(flow, side, errno);
		return false;
	}
	ASSERT_EQ(event.what, what);
	*grant = event.grant;
	return true;
}

static void lend(struct flow *flow)
{
	char *memory = calloc(3, LENT), *model = memory + LENT, *back = model + LENT;
	const int64_t region = region_register(flow->to_ctx, memory, LENT, 0, NULL);
	uint32_t grant, i;

	ASSERT_GT(region, 0);
	ASSERT_GT(grant_range(flow->ends[RECEIVER], flow->to_ctx,
			      &RANGE(region, MAY_READ | MAY_WRITE, 0, LENT)), 0);
	if (!await_event(flow, SENDER, RDMACHAN_GRANT_GIVEN, &grant))
		return;
	for (i = 0; i < MESSAGES; i++)
		if (!access_once(flow, grant, model, back, i))
			return;
	ASSERT_EQ(grant_release(flow->ends[SENDER], grant), 0);
	if (!await_event(flow, RECEIVER, RDMACHAN_GRANT_RETURNED, &grant))
		return;
	ASSERT_EQ(memcmp(memory, model, LENT), 0);
	flow->count[RECEIVER] = MESSAGES;
}

static pid_t child_of(struct flow *flow, void (*does)(struct flow *flow))
{
	pid_t child = fork();

	if (child)
		return child;
	does(flow);
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

static void run_flows(struct fixture_mix *self)
{
	static void (*const does[KINDS][SIDES])(struct flow *flow) = {
		[CALLS] = { send_by_calls, receive_by_calls },
		[QUEUE] = { carry },
		[REGIONS] = { carry },
		[GRANTS] = { lend },
	};
	pid_t children[KINDS * WAYS][SIDES] = { 0 };
	int i, side;

	for (i = 0; i < KINDS * WAYS; i++)
		for (side = 0; side < SIDES; side++)
			if (does[self->flows[i].kind][side])
				children[i][side] = child_of(&self->flows[i],
							     does[self->flows[i].kind][side]);
	for (i = 0; i < KINDS * WAYS; i++)
		for (side = 0; side < SIDES; side++)
			if (children[i][side])
				EXPECT_EQ(child_status(children[i][side]), 0);
}

static bool link_has_ended(struct fixture_mix *self)
{
	struct rdmachan_object object;

	ASSERT_EQ(get_object(self->flows[0].ends[SENDER], &object), 0);
	return object.state == RDMACHAN_STATE_FAILED;
}

/* The test is to say why the link of the first flow has ended, as seen from both ends. */
static void tell_end(struct fixture_mix *self)
{
	struct rdmachan_error error;
	int side;

	for (side = 0; side < SIDES; side++) {
		ASSERT_EQ(get_error(self->flows[0].ends[side], &error), 0);
		printf("# the link has ended at %s: cause %u, detail %llu, errno %u, operation %u\n",
		       side == SENDER ? "one end" : "the other", error.cause,
		       (unsigned long long)error.detail, error.error, error.op);
	}
}

static void expect_all(struct fixture_mix *self)
{
	int i;

	if (link_has_ended(self))
		tell_end(self);
	for (i = 0; i < KINDS * WAYS; i++) {
		EXPECT_EQ(self->flows[i].count[SENDER], MESSAGES);
		EXPECT_EQ(self->flows[i].count[RECEIVER], MESSAGES);
	}
}

/* Why a channel has ended; all of the link have for that. */
static uint32_t cause_of(int chan)
{
	struct rdmachan_error error;

	EXPECT_TRUE(wait_state(chan, RDMACHAN_STATE_FAILED, 60000));
	ASSERT_EQ(get_error(chan, &error), 0);
	return error.cause;
}

/* An adapter that is stuck, at least at one end; the other may be told that this one is gone. */
static bool is_stuck(uint32_t cause)
{
	return cause == RDMACHAN_CAUSE_PEER_STALLED || cause == RDMACHAN_CAUSE_TRANSPORT;
}

static void expect_stuck(struct fixture_mix *self)
{
	const struct flow *first = &self->flows[0];
	const uint32_t here = cause_of(first->ends[SENDER]);
	const uint32_t there = cause_of(first->ends[RECEIVER]);
	int i;

	printf("# an adapter is stuck: the cause is %u here and %u there\n", here, there);
	EXPECT_TRUE(is_stuck(here) || is_stuck(there));
	EXPECT_TRUE(is_stuck(here) || here == RDMACHAN_CAUSE_DISCONNECTED);
	EXPECT_TRUE(is_stuck(there) || there == RDMACHAN_CAUSE_DISCONNECTED);
	for (i = 0; i < KINDS * WAYS; i++) {
		EXPECT_EQ(cause_of(self->flows[i].ends[SENDER]), i % WAYS ? there : here);
		EXPECT_EQ(cause_of(self->flows[i].ends[RECEIVER]), i % WAYS ? here : there);
	}
}

static void run_mix(struct fixture_mix *self, const char *words, bool reads, bool may_stick)
{
	char *all = strdup(words), *word;
	int fds[2], i;

	for (i = 0; i < KINDS * WAYS; i++)
		self->flows[i].reads = reads;
	for (word = strtok(all, ","); word; word = strtok(NULL, ","))
		cable(word);
	run_flows(self);
	if (may_stick && link_has_ended(self))
		expect_stuck(self);
	else
		expect_all(self);
	good_cable();
	pair_up(self->ctx, fds, NULL);
	talk(fds[0], fds[1]);
	close(fds[0]);
	close(fds[1]);
	free(all);
}

/*
 * With packets out of order rxe takes what answers a READ for what answers another request, calls
 * that a success, has the kernel complain and ends the connection: nothing is read then.
 */
TEST_F_TIMEOUT(mix, a_little_of_each, LIMIT_S)
{
	run_mix(self, "delay 1,loss 0.5,duplicate 0.5,reorder 1", false, true);
}

TEST_F_TIMEOUT(mix, lost_above_all, LIMIT_S)
{
	run_mix(self, "delay 1,loss 2,duplicate 0.3,reorder 0.3", false, true);
}

TEST_F_TIMEOUT(mix, repeated_above_all, LIMIT_S)
{
	run_mix(self, "delay 1,loss 0.2,duplicate 4,reorder 0.3", false, true);
}

TEST_F_TIMEOUT(mix, lost_and_repeated, LIMIT_S)
{
	run_mix(self, "loss 2,duplicate 1", true, false);
}

TEST_F_TIMEOUT(mix, out_of_order, LIMIT_S)
{
	run_mix(self, "delay 2,jitter 1,reorder 5,loss 1", false, true);
}

/*
 * A frame waits for those before it for longer than a peer may be silent; but in that time some
 * of what was sent, written or read has come there, a MiB at the most.
 */
TEST_F_TIMEOUT(mix, slow, LIMIT_S)
{
	run_mix(self, "rate 4", true, false);
}

int main(int argc, char **argv)
{
	const int ret = harness_main(argc, argv);

	if (time_is_virtual() && has_peer())
		good_cable();
	return ret;
}
