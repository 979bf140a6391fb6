// SPDX-License-Identifier: GPL-2.0
/*
 * peer_fuzz.c - the module's own code, with a peer that says what the input likes
 *
 * Frames come to link_rx.c, and behind it is the kernel's own code: lanes, channels,
 * grants given and held, accesses, memory that is lent and borrowed. Programs use all of that
 * meanwhile. For any input, no memory is touched that is not there, no lock is left, no
 * WARN_ON_ONCE() holds. And when the link and the programs have ended, nothing is left: no object,
 * no charge, no use, no key that the peer could use.
 */
#include "base/rch.h"
#include "peer.h"

struct rch_link *peer_link;
struct end ends[CHANS];

static const struct rch_link_ops link_ops = {
	.opened = do_opened,
	.record = rch_record_got,
	.writable = rch_chan_writable,
	.drop = rch_chan_tx_drop,
	.dead = rch_chan_dead,
	.gone = rch_chan_gone,
};

const struct rch_link_ops *rch_link_ops = &link_ops;

static const struct rch_chan_ops chan_ops = {
	.end = rch_grants_end,
	.released = rch_grants_revoke,
	.unread = rch_grants_unread,
	.offer_work = rch_chan_offer_work,
	.free = rch_grants_free,
};

static u32 first_number(u32 choice)
{
	static const u32 firsts[] = {
		0, 5, 0x7ffffffc, 0x80000000, 0xfffffff0, 0xfffffffa, 0xfffffffe, 0xffffffff,
	};

	return firsts[choice & 7];
}

/* Counted numbers begin where the input says, at both sides. */
static void begin_numbers(struct end *end, u32 first)
{
	struct rch_grants *grants = rch_grants_get(end->chan, GFP_KERNEL);
	u32 i;

	for (i = 0; i < SORTS; i++)
		end->sort[i] = (struct serial){ first, first };
	if (!grants)
		return;
	grants->last = first;
	grants->held_last = first;
	grants->serial = first;
}

/* A channel that the peer has opened, and one that we have. */
static void begin_channels(u32 choice)
{
	u32 first = first_number(choice), i;

	say_open(&ends[0], 32768);
	say_send(0);
	do_accept(&ends[0]);
	do_connect(&ends[1]);
	if (ends[1].chan) {
		say_accept(&ends[1], 32768);
		say_send(0);
	}
	for (i = 0; i < 2; i++) {
		if (!ends[i].chan)
			continue;
		begin_numbers(&ends[i], first);
		if (choice & 0x20) {
			ends[i].chan->counts.tx_messages = 0xfffffffeULL;
			ends[i].chan->counts.rx_messages = 0xfffffffeULL;
		}
	}
}

static void begin_link(u32 features, u32 firsts, struct rch_user *user)
{
	struct sockaddr_storage peer = {};
	struct rch_charge charge;

	rch_charge_begin(&charge, user, false);
	peer_link = rch_link_alloc(NULL, &charge, &peer, RCH_LINK_HELLO);
	fuzz_assert(peer_link);
	peer_link->path.depth = PEER_DEPTH;
	peer_link->path.send_depth = PEER_DEPTH + RCH_PATH_SEND_SLACK;
	peer_link->terms.frame_size = PEER_FRAME;
	peer_link->terms.epoch = 3;
	peer_link->terms.features = RCH_FEATURES & ~features;
	rch_credit_init(&peer_link->credit, first_number(firsts), PEER_DEPTH,
			first_number(firsts >> 3), PEER_DEPTH);
	peer_link->tx.done = peer_link->credit.tx_next;
	peer_link->tx.signalled = peer_link->credit.tx_next;
	peer_link->tx.large = peer_link->credit.tx_next;
	spin_lock(&peer_link->lock);
	rch_link_set_state(peer_link, RCH_LINK_UP);
	spin_unlock(&peer_link->lock);
	host_register(peer_link);
	/* The table's; ours stays. */
	kref_get(&peer_link->ref);
	say_begin(first_number(firsts >> 3));
}

static void begin(struct input *in, struct rch_user *user)
{
	u32 features = next(in), firsts = next(in), choice = next(in), nomem = next(in);

	jiffies = 1000000;
	memset(ends, 0, sizeof(ends));
	host_begin(say_sent);
	host.wrap = choice & 8;
	host.by_device = choice & 16;
	do_begin(user);
	begin_link(features, firsts, user);
	begin_channels(choice);
	host.nomem = nomem;
}

/* The adapter has sent all that it was given. */
static void frames_sent(void)
{
	struct rch_txf *last;

	if (list_empty(&peer_link->tx.sent))
		return;
	last = list_last_entry(&peer_link->tx.sent, struct rch_txf, list);
	peer_link->path.ops->sent(&peer_link->path, last);
}

static void host_step(u32 step, struct input *in)
{
	switch (step) {
	case HOST_SLOW:
		host.slow = !host.slow;
		return;
	case HOST_BUSY:
		host.busy = !host.busy;
		return;
	case HOST_DONE:
		if (host_adapter_done())
			wake_up_all(&peer_link->path.left);
		return;
	case HOST_ACCESS:
		host_access_done(next(in) & 1 ? -EREMOTEIO : 0);
		return;
	case HOST_SENT:
		frames_sent();
		return;
	case HOST_WORK:
		kernel_run_next(next(in));
		return;
	case HOST_TIME:
		kernel_time_goes(1UL << (next(in) & 15));
		return;
	case HOST_NOMEM:
		host.nomem = next(in);
		return;
	case HOST_DEAD:
		rch_link_kill_cause(peer_link, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
		return;
	}
}

static void step(struct input *in)
{
	u32 op = next(in) % PEER_STEPS, where = next(in);
	struct end *end = &ends[where & 3];

	if (op <= SAY_ANY || op == SAY_ATOMICS || op == SAY_STINGY || op == SAY_TAKEN)
		say_step(op, end, where & PEER_GO, in);
	else if (op <= DO_PLACE_LET_GO || op == DO_ASK_MANY || op == DO_SEND_ASKING)
		do_step(op, end, where >> 2, in);
	else
		host_step(op, in);
	fuzz_assert(!kernel_locks && !kernel_rcu);
	kernel_grace_period();
}

/* What a channel says of its queue is what is in it. */
static void queue_check(const struct rch_chan *chan)
{
	u32 records = 0, events = 0;
	struct rch_segment *seg;
	u64 bytes = 0;

	list_for_each_entry(seg, &chan->rx.segments, list) {
		events += seg->local;
		records += seg->local ? 0 : seg->messages;
		bytes += seg->local ? 0 : seg->bytes;
	}
	fuzz_assert(chan->rx.queued == bytes && chan->rx.records == records);
	fuzz_assert(chan->rx.events == events);
	fuzz_assert(chan->rx.complete <= records + events);
	fuzz_assert(chan->rx.window.received - chan->rx.window.consumed ==
		    rch_window_cost_run(records, bytes));
}

/* A program that asks is told of what is there, and of nothing else. */
static void told_check(const struct rch_grants *grants, u32 id, bool held, bool there)
{
	struct rdmachan_object object;
	int ret = rch_grant_describe(grants->chan, id, held, &object);

	fuzz_assert(ret == (there ? 0 : -ENOENT));
	fuzz_assert(ret || (object.kind == RDMACHAN_KIND_GRANT && object.grant == id));
}

/* Held grants are those in the table, and accesses under way are of them. */
static void grants_check(const struct rch_grants *grants)
{
	const struct rch_held *held;
	const struct rch_loan *loan;
	struct rb_node *node;
	unsigned long id;

	for (node = rb_first(&grants->held); node; node = node->next) {
		held = rb_entry(node, struct rch_held, node);
		fuzz_assert(held->ref.count);
		fuzz_assert(!held->ended || held->busy || held->stone);
		fuzz_assert(!held->stone || (!held->busy && !held->calls));
		told_check(grants, held->id, true,
			   !held->stone && rch_lane_may_access(&grants->chan->lane));
	}
	xa_for_each(&grants->loans, id, loan) {
		fuzz_assert(loan->info.id == id && loan->ref.count);
		fuzz_assert(loan->state == RCH_LOAN_LIVE || loan->state == RCH_LOAN_ENDING);
		told_check(grants, id, false, rch_loan_live(loan));
	}
	fuzz_assert(grants->answers <= grants->answers_charged);
}

/*
 * Each grant is there, or was given back, once. Of one that was wanted back before it came there is
 * a stone, and the answer was given. Each question has its answer.
 */
static void answers_check(const struct end *end)
{
	u32 releases = end->releases, answers = end->answers, live = 0, stones = 0;
	const struct rch_grants *grants = end->chan->grants;
	const struct rch_lane *lane = &end->chan->lane;
	const struct rch_held *held;
	const struct rch_word *word;
	struct rb_node *node;

	/* An end takes all with it. */
	if (end->chan->state != RCH_CHAN_OPEN || !lane->id || lane->close_got)
		return;
	say_count_open(end, &releases, &answers);
	list_for_each_entry(word, &lane->words, list)
		releases += word->type == RCH_REC_RELEASE;
	for (node = rb_first(&grants->held); node; node = node->next) {
		held = rb_entry(node, struct rch_held, node);
		live += !held->stone;
		stones += held->stone;
	}
	fuzz_assert(live + releases == end->grants + stones);
	fuzz_assert(grants->answers + answers == end->asked);
}

static void check(void)
{
	u32 i;

	for (i = 0; i < CHANS; i++) {
		if (!ends[i].chan)
			continue;
		queue_check(ends[i].chan);
		if (!ends[i].chan->grants)
			continue;
		grants_check(ends[i].chan->grants);
		if (peer_link->state == RCH_LINK_UP)
			answers_check(&ends[i]);
	}
}

/* The link ends, and the programs; in which order is the input's. */
static void end(bool programs_first)
{
	u32 i, n = 0;

	host.nomem = 0;
	if (!programs_first)
		rch_link_kill_cause(peer_link, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	for (i = 0; !programs_first && i < 3; i++)
		kernel_run_next(0);
	for (i = 0; i < CHANS; i++)
		do_leave_all(&ends[i]);
	rch_link_kill_cause(peer_link, RDMACHAN_OP_NONE, RDMACHAN_CAUSE_DISCONNECTED, 0);
	while (kernel_run_next(0))
		fuzz_assert(++n < 100000);
	rch_link_put(peer_link);
	kernel_grace_period();
}

static void end_check(void)
{
	fuzz_assert(!atomic_read(&rch_counts.channels) && !atomic_read(&rch_counts.links));
	fuzz_assert(!atomic_read(&rch_counts.frames) && !atomic_read(&rch_counts.items));
	fuzz_assert(!atomic_read(&rch_counts.segments) && !atomic_read(&rch_counts.grants));
	host_end();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct rch_user *user;
	static bool ready;

	if (!ready)
		fuzz_assert(!rch_chan_init(&chan_ops) && !rch_frame_init());
	ready = true;
	user = rch_user_get(&init_user_ns, (kuid_t){ 1000 });
	begin(&in, user);
	while (in.left) {
		step(&in);
		check();
	}
	end(size & 1);
	end_check();
	rch_user_put(user);
	/* No user has anything. */
	rch_quota_exit();
	fuzz_assert(!kernel_objects);
	return 0;
}
