// SPDX-License-Identifier: GPL-2.0
/*
 * peer_do.c - programs that have channels, and what they do with them
 *
 * They do what calls and queues do, by the same functions. Each operation under way has the
 * channel's file open, as there.
 */
#include "peer.h"

static struct rch_charge owner;
static u8 memory[MESSAGE_ROOM];

/* Files */

static void file_put(void *file)
{
	struct end *end = file;
	struct rch_chan *chan = end->chan;
	bool connecting;

	might_sleep();
	fuzz_assert(end->files);
	if (--end->files)
		return;
	connecting = chan->state == RCH_CHAN_CONNECTING;
	kref_get(&chan->ref);
	rch_chan_release(chan, end->signal);
	/* As a connecting thread does when it is given up. */
	if (connecting)
		rch_chan_await_answer(chan);
	rch_chan_put(chan);
	/* The channel may linger; another one may have the place. */
	end->chan = NULL;
	end->open = false;
}

static struct end *file_get(struct end *end)
{
	end->files++;
	return end;
}

static const struct rdmachan_tuning tuning = {
	.send_buffer = 65536,
	.recv_buffer = 16384,
	.message_max = MESSAGE_ROOM,
	.linger_ms = 1000,
};

/** do_connect - a program connects */
void do_connect(struct end *end)
{
	struct rch_chan_wish wish = { .service = 1, .tuning = &tuning, .peer = &peer_link->peer };
	struct rdmachan_error error = {};
	struct rch_chan *chan;

	if (end->chan)
		return;
	wish.opening = kzalloc(sizeof(*wish.opening), GFP_KERNEL);
	if (!wish.opening)
		return;
	chan = rch_chan_alloc(NULL, &owner, &wish, &error);
	if (IS_ERR(chan)) {
		kfree(wish.opening);
		return;
	}
	chan->early.wanted = true;
	if (rch_chan_early_attach(chan, peer_link)) {
		rch_chan_put(chan);
		return;
	}
	end_new(end, chan, say_new_id());
	end->accepted = true;
	rch_lane_open(&chan->lane, chan->early.wanted);
}

/** do_opened - as a listener: the peer opens a channel */
u32 do_opened(struct rch_link *link, const struct rch_open *open, kuid_t *uid)
{
	const struct rch_chan_wish wish = {
		.service = open->service,
		.tuning = &tuning,
		.peer = &link->peer,
	};
	struct rdmachan_error error = {};
	struct rch_chan *chan;
	u32 i;

	*uid = owner.user->uid;
	for (i = 0; i < CHANS && ends[i].chan; i++)
		;
	if (i == CHANS)
		return RCH_REJECT_BACKLOG;
	chan = rch_chan_alloc(NULL, &owner, &wish, &error);
	if (IS_ERR(chan))
		return RCH_REJECT_RESOURCES;
	chan->peer_message_max = min(open->message_max, RDMACHAN_MESSAGE_MAX);
	kref_get(&chan->ref);
	if (rch_lane_attach(&chan->lane, link, GFP_ATOMIC)) {
		rch_chan_put(chan);
		rch_chan_put(chan);
		return RCH_REJECT_RESOURCES;
	}
	rch_lane_connected(&chan->lane, open->chan, open->window);
	if (open->early && !rch_lane_hear_early(&chan->lane)) {
		if (rch_lane_detach(&chan->lane))
			rch_chan_put(chan);
		rch_chan_put(chan);
		return RCH_REJECT_RESOURCES;
	}
	end_new(&ends[i], chan, open->chan);
	/* Never accepted, until it is. */
	ends[i].signal = -1;
	rch_lane_tell(&chan->lane, RCH_LANE_ACCEPT);
	return 0;
}

/** do_accept - a program accepts a channel that waits */
void do_accept(struct end *end)
{
	if (!end->chan || end->accepted)
		return;
	end->accepted = true;
	end->signal = 0;
	rch_chan_accepted(end->chan);
}

static void stop_reading(struct end *end)
{
	if (end->reading)
		rch_chan_reading_over(end->chan);
	end->reading = false;
}

/** do_close - the program closes, or is ended by @signal */
void do_close(struct end *end, int signal)
{
	if (!end->chan || !end->open)
		return;
	stop_reading(end);
	if (end->accepted)
		end->signal = signal;
	end->open = false;
	file_put(end);
}

/* Messages */

static void send_bytes(struct end *end, u32 length)
{
	struct iov_iter from = { .bytes = memory, .count = length };

	rch_chan_send(end->chan, &from, length & 1, true, 0);
}

static void send_asking(struct end *end, u32 length)
{
	struct iov_iter from = { .bytes = memory, .count = length };
	struct rdmachan_error error;
	u64 number;
	bool sent;

	if (rch_chan_send_more(end->chan, &from, (length & 1) | RCH_MSG_TELL, &number))
		return;
	rch_link_run(peer_link);
	fuzz_assert(number == end->chan->counts.tx_messages);
	fuzz_assert(end->chan->taken.told <= end->chan->taken.asked);
	rch_chan_taken_outcome(end->chan, number, &error, &sent);
}

static void events_read(struct end *end, const struct rch_recv_result *result)
{
	const struct rdmachan_grant_event *event = (const void *)memory;
	u32 i;

	if (!result->grants || result->local)
		return;
	for (i = 0; i < event[0].count; i++)
		ids_add(&end->held, event[i].grant);
}

static void begin_recv(struct end *end, struct rch_place **place, const struct rch_rts *offer)
{
	*place = *place ? NULL : rch_place_alloc(end->chan, host_region(), 0, end, file_put);
	if (*place) {
		file_get(end);
		rch_place_recv(*place, offer, MESSAGE_ROOM);
	} else {
		rch_chan_grant_refuse(end->chan, offer->serial);
		rch_chan_unclaim(end->chan, RCH_CHAN_RX);
	}
}

static void read_message(struct end *end, struct slot *slot)
{
	struct iov_iter to = { .bytes = memory, .count = sizeof(memory) };
	struct rch_recv_result result = { .takes_grants = true };
	struct rch_rts offer;
	int ret;

	if (slot->place)
		return;
	ret = rch_chan_recv_or_offer(end->chan, &to, &result, &offer);
	if (ret == -EINPROGRESS)
		begin_recv(end, &slot->place, &offer);
	else if (!ret)
		events_read(end, &result);
}

static void toggle_reading(struct end *end)
{
	if (end->reading) {
		stop_reading(end);
		return;
	}
	end->reading = true;
	rch_chan_reading(end->chan);
	/* A guess that the module makes of messages before. */
	end->chan->lend.likely = true;
}

/* Grants */

static int tell_nobody(struct rch_giving *giving)
{
	return giving->count ? 0 : -EFAULT;
}

static void give(struct end *end, struct input *in)
{
	struct rdmachan_error error = {};
	struct rch_giving giving = {
		.chan = end->chan,
		.set = host_regions(),
		.count = 1 + next(in) % 3,
		.message = memory,
		.bytes = 8,
		.out = tell_nobody,
		.error = &error,
	};
	u32 i;

	for (i = 0; i < giving.count; i++) {
		giving.ranges[i].region = host_region()->id;
		giving.ranges[i].rights = 1 + next(in) % 7;
		giving.ranges[i].offset = next(in) * 8;
		giving.ranges[i].length = 1 + next(in) * 1024;
		giving.ranges[i].expires_ms = next(in);
	}
	if (rch_loans_give(&giving, true, 0))
		return;
	for (i = 0; i < giving.count; i++)
		ids_add(&end->given, giving.ids[i]);
}

static void begin_job(struct end *end, struct slot *slot, struct input *in)
{
	u32 right = 1U << (next(in) % 3), id = ids_last(&end->held, next(in)), offset, length;
	struct rch_job *job;

	offset = next(in) * 8;
	length = right == RDMACHAN_RIGHT_ATOMIC ? sizeof(u64) : 1 + next(in) * 64;
	if (slot->job)
		return;
	job = rch_job_alloc(end->chan, id, right, offset, file_get(end), file_put);
	if (!job) {
		file_put(end);
		return;
	}
	job->iter = (struct iov_iter){ .bytes = memory, .count = length };
	job->op = RDMACHAN_ATOMIC_FETCH_ADD;
	slot->job = job;
	if (rch_job_begin(job, length)) {
		rch_job_leave(job);
		slot->job = NULL;
		return;
	}
	rch_job_go_on(job);
}

/* Nobody waits for them: each is freed when it is answered, or will not be. */
static void ask_many(struct end *end, u32 count, u32 id)
{
	struct rch_job *job;

	while (count--) {
		job = rch_job_alloc(end->chan, id, RDMACHAN_RIGHT_ATOMIC, 0, file_get(end),
				    file_put);
		if (!job) {
			file_put(end);
			return;
		}
		job->op = RDMACHAN_ATOMIC_FETCH_ADD;
		if (!rch_job_begin(job, sizeof(u64)))
			rch_job_go_on(job);
		rch_job_leave(job);
	}
}

static void job_step(struct slot *slot, u32 step)
{
	if (!slot->job)
		return;
	switch (step) {
	case DO_JOB_GO:
		/* The program gives a job that is over back. */
		if (rch_job_go_on(slot->job) != 0)
			return;
		break;
	case DO_JOB_STOP:
		rch_job_stop(slot->job);
		return;
	}
	rch_job_leave(slot->job);
	slot->job = NULL;
}

/* Transfers */

static bool always(struct rch_chan *chan)
{
	return chan;
}

static struct rch_place *place_make(struct end *end)
{
	struct rch_place *place = rch_place_alloc(end->chan, host_region(), 0, end, file_put);

	if (place)
		file_get(end);
	return place;
}

static void place_send(struct end *end, struct slot *slot, u32 length)
{
	if (slot->place || rch_chan_tx_claim(end->chan, length))
		return;
	slot->place = place_make(end);
	if (!slot->place) {
		rch_chan_unclaim(end->chan, RCH_CHAN_TX);
		return;
	}
	rch_place_send(slot->place, length, 0);
	rch_link_run(peer_link);
}

static void place_lend(struct end *end, struct slot *slot, u32 room)
{
	if (slot->place || !rch_chan_lends(end->chan, room) ||
	    rch_chan_claim(end->chan, RCH_CHAN_RX, always, true, 0))
		return;
	slot->place = place_make(end);
	if (slot->place)
		rch_place_lend(slot->place, room);
	else
		rch_chan_unclaim(end->chan, RCH_CHAN_RX);
	rch_link_run(peer_link);
}

static void place_heir(struct end *end, struct slot *slot, u32 room, struct rch_place *before)
{
	if (slot->place || !before || !rch_chan_heir_wanted(end->chan, room))
		return;
	slot->place = place_make(end);
	if (!slot->place)
		return;
	if (!rch_place_heir_begin(slot->place, before)) {
		rch_place_put(slot->place);
		slot->place = NULL;
		return;
	}
	rch_place_lend_ahead(slot->place, room);
	rch_link_run(peer_link);
}

static void place_step(struct slot *slot, u32 step)
{
	struct rch_place *place = slot->place;

	if (!place)
		return;
	switch (step) {
	case DO_PLACE_GO:
		if (!rch_place_go_on(place))
			return;
		break;
	case DO_PLACE_STOP:
		if (!rch_place_stop(place))
			return;
		break;
	case DO_PLACE_LET_GO:
		if (rch_place_holds(place))
			rch_place_let_go(place);
		return;
	case DO_PLACE_LEAVE:
		slot->place = NULL;
		rch_place_leave(place);
		return;
	}
	slot->place = NULL;
	rch_place_put(place);
}

static u32 room_of(struct input *in)
{
	u32 blocks = 1 + next(in);

	return min(blocks * 1024, MESSAGE_ROOM);
}

static void place_begin(u32 step, struct end *end, struct slot *slot, struct input *in)
{
	u32 length = room_of(in);

	if (step == DO_PLACE_SEND)
		place_send(end, slot, length);
	else if (step == DO_PLACE_LEND)
		place_lend(end, slot, length);
	else
		place_heir(end, slot, length, end->slots[next(in) % SLOTS].place);
}

static void chan_step(u32 step, struct end *end, struct slot *slot, struct input *in)
{
	u32 count;

	switch (step) {
	case DO_SEND:
		return send_bytes(end, next(in) * 16);
	case DO_SEND_ASKING:
		return send_asking(end, next(in) * 16);
	case DO_READ:
		return read_message(end, slot);
	case DO_READING:
		return toggle_reading(end);
	case DO_SHUT:
		rch_chan_shutdown(end->chan, 1 + next(in) % 3, true, 0);
		return;
	case DO_ABORT:
		rch_chan_abort(end->chan, true);
		return;
	case DO_CLOSE:
		return do_close(end, 0);
	case DO_KILL:
		return do_close(end, 1 + next(in) % 15);
	case DO_GIVE:
		return give(end, in);
	case DO_REVOKE:
		rch_loan_revoke(end->chan, ids_last(&end->given, next(in)), true, 0);
		return;
	case DO_RELEASE:
		rch_held_release(end->chan, ids_last(&end->held, next(in)));
		return;
	case DO_JOB:
		return begin_job(end, slot, in);
	case DO_ASK_MANY:
		count = next(in) * 16;
		return ask_many(end, count, ids_last(&end->held, next(in)));
	case DO_PLACE_SEND:
	case DO_PLACE_LEND:
	case DO_PLACE_HEIR:
		return place_begin(step, end, slot, in);
	}
}

/** do_step - a step of a program */
void do_step(u32 step, struct end *end, u32 n, struct input *in)
{
	struct slot *slot = &end->slots[n % SLOTS];

	if (step == DO_CONNECT)
		return do_connect(end);
	if (step == DO_ACCEPT)
		return do_accept(end);
	if (step >= DO_JOB_GO && step <= DO_JOB_LEAVE)
		return job_step(slot, step);
	if (step >= DO_PLACE_GO && step <= DO_PLACE_LET_GO)
		return place_step(slot, step);
	if (end->chan && end->open && end->accepted)
		chan_step(step, end, slot, in);
}

/** do_leave_all - the program is killed, and leaves all that it has begun */
void do_leave_all(struct end *end)
{
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		job_step(&end->slots[i], DO_JOB_LEAVE);
		place_step(&end->slots[i], DO_PLACE_LEAVE);
	}
	do_close(end, SIGKILL);
}

/** do_begin - channels are @user's */
void do_begin(struct rch_user *user)
{
	owner.user = user;
}
