// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_flood.c - a peer that asks for too much, or does not answer
 *
 * As hostile_peer.c; but little of what is done here is against the protocol. It is to
 * cost the peer more than the module.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "hostile_scene.h"

#define OPENS 1000000U
#define CONNECTS 200

/* Floods */

/* Asks for channels, a frame full of them at a time. */
static void open_many(struct attack *a, u32 service, u32 count)
{
	static struct frame f;
	u32 i = 0;

	while (i < count && !a->h.ended) {
		frame_begin(&f);
		for (; i < count && f.used + 40 <= HOSTILE_BUFFER; i++)
			frame_open(&f, 1000 + i, service);
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
		hostile_pump(&a->h, 0);
	}
}

TEST_F_TIMEOUT(scene, a_million_channels, 400)
{
	/* Fewer where all is slower. */
	const u32 opens = OPENS / harness_slow();
	struct attack *a = &self->a;
	struct rdmachan_info info;
	u64 all;

	ASSERT_TRUE(attack_connect(a, false));
	all = attack_refusals_all(a);
	open_many(a, PREY, opens);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.rejects[RCH_REJECT_BACKLOG] +
				  a->h.count[RCH_REC_ACCEPT] == opens + 2, 60000));
	/* The two that were accepted by the program do not wait any more. */
	EXPECT_EQ(a->h.count[RCH_REC_ACCEPT], 2 + PREY_BACKLOG);
	EXPECT_EQ(a->h.rejects[RCH_REJECT_BACKLOG], opens - PREY_BACKLOG);
	ASSERT_EQ(get_info(a->ctx, &info), 0);
	EXPECT_EQ(info.out_channels, 2 + 2 + PREY_BACKLOG);
	EXPECT_EQ(info.out_refused_backlog - a->before.out_refused_backlog, opens - PREY_BACKLOG);
	EXPECT_EQ(attack_refusals_all(a) - all, opens - PREY_BACKLOG);
	EXPECT_EQ(poll_mask(a->witness, POLLOUT, 0), POLLOUT);
}

/* Asks, and gives just so much credit that the module can ask for more, never answer. */
TEST_F_TIMEOUT(scene, answers_not_taken, 120)
{
	struct attack *a = &self->a;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	a->h.stingy = true;
	/* The ring is used up by answers, all but what pure frames may use. */
	for (i = 0; i < 400 && !a->h.ended; i++) {
		static struct frame f;
		u32 k;

		frame_begin(&f);
		for (k = 0; f.used + 40 <= HOSTILE_BUFFER; k++)
			frame_open(&f, 1000 + k, NO_PREY);
		if (hostile_say(&a->h, &f))
			break;
		hostile_pump(&a->h, 0);
		/* As much as lets one pure frame through. */
		if (rch_seq_diff(a->h.credit.told_limit, a->h.credit.rx_next) < 3) {
			a->h.credit.told_limit++;
			hostile_pure(&a->h, 0);
		}
	}
	EXPECT_EQ(attack_verdict(a, a->witness), RCH_RULE_ANSWER);
}

TEST_F(scene, one_number_twice)
{
	struct attack *a = &self->a;
	static struct frame f;
	int chan[4], i;

	ASSERT_TRUE(attack_link(a));
	frame_begin(&f);
	for (i = 0; i < 4; i++)
		frame_open(&f, VICTIM_MINE, PREY);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_ACCEPT] == 4, 3000));
	for (i = 0; i < 4; i++) {
		chan[i] = do_accept(a->listener, NULL);
		ASSERT_GE(chan[i], 0);
		EXPECT_EQ(write(chan[i], "x", 1), 1);
	}
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA] == 4, 3000));
	for (i = 0; i < 4; i++)
		close(chan[i]);
	hostile_beat(&a->h, 100);
}

/* Answers that never come */

#define DEAD_MS dead_time(300)
/* So long the peer may take for one. */
#define ANSWER_MS (4 * DEAD_MS)

TEST_F(scene, close_is_never_answered)
{
	struct attack *a = &self->a;
	int64_t begun;
	int passive;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	for (passive = 0; passive < 2; passive++) {
		ASSERT_TRUE(attack_connect(a, passive));
		close(a->victim);
		a->victim = -1;
		begun = tick_ms();
		/* An honest peer has the time to linger, and that for an answer. */
		expect_patience(a, begun, PREY_LINGER_MS + ANSWER_MS);
		attack_disconnect(a);
	}
}

TEST_F(scene, open_is_never_answered)
{
	struct attack *a = &self->a;
	int64_t begun;
	int chan, kind;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	for (kind = 0; kind < 2; kind++) {
		ASSERT_TRUE(attack_connect(a, true));
		chan = attack_request(a, kind ? 10000 : 200);
		ASSERT_GE(chan, 0);
		hostile_beat(&a->h, 500);
		EXPECT_TRUE(!a->h.ended);
		/* The program gives up before its time is over, or after. */
		if (!kind)
			EXPECT_TRUE(wait_state(chan, RDMACHAN_STATE_FAILED, 20000));
		begun = tick_ms();
		close(chan);
		expect_patience(a, begun, ANSWER_MS);
		attack_disconnect(a);
	}
}

struct reader {
	pthread_t thread;
	pid_t tid;
	int chan;
	ssize_t got;
};

static void *read_large(void *arg)
{
	struct reader *reader = arg;
	char *room = malloc(PREY_MESSAGE);

	__atomic_store_n(&reader->tid, gettid(), __ATOMIC_RELEASE);
	reader->got = read(reader->chan, room, PREY_MESSAGE);
	if (reader->got < 0)
		reader->got = -errno;
	free(room);
	return NULL;
}

/* Gets a program's memory opened, and leaves it at that: the program must not be held. */
TEST_F(scene, fin_never_comes)
{
	const struct rch_rts rts = { .total = PREY_MESSAGE, .serial = 3 };
	struct attack *a = &self->a;
	struct reader reader = {};
	static struct frame f;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	ASSERT_TRUE(attack_connect(a, false));
	reader.chan = a->victim;
	ASSERT_EQ(pthread_create(&reader.thread, NULL, read_large, &reader), 0);
	await_sleep(&reader.tid);
	frame_begin(&f);
	rch_wire_rts_put(frame_add(&f, &(struct rch_record){
		.chan = a->victim_no, .type = RCH_REC_RTS,
		.length = sizeof(struct rch_wire_rts) }), &rts);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_CTS] == 1, 3000));
	begun = tick_ms();
	expect_patience(a, begun, ANSWER_MS);
	pthread_join(reader.thread, NULL);
	EXPECT_EQ(reader.got, -EPROTO);
}

/*
 * The peer's module is silent, and its adapter goes on answering. Where an adapter tells that, the
 * link lasts for four dead times. iWARP's does not: TCP has taken what was sent, and no more.
 */
static void expect_silence(int verdict, int64_t begun, int dead_ms)
{
	EXPECT_EQ(verdict, VERDICT_CAUSE(is_iwarp() ? RDMACHAN_CAUSE_PEER_DEAD :
						      RDMACHAN_CAUSE_PEER_STALLED));
	EXPECT_TOOK(begun, (is_iwarp() ? 1 : 4) * dead_ms,
		    3 * (dead_ms / 4 + timer_late(dead_ms / 4)));
}

TEST_F(scene, silence)
{
	struct attack *a = &self->a;
	int64_t begun;
	int passive;

	ASSERT_TRUE(set_param("dead_ms", 500));
	for (passive = 0; passive < 2; passive++) {
		ASSERT_TRUE(attack_connect(a, passive));
		begun = tick_ms();
		ASSERT_TRUE(attack_heard(a));
		ASSERT_TRUE(wait_state(a->witness, RDMACHAN_STATE_FAILED, 10000));
		expect_silence(attack_verdict(a, a->witness), begun, 500);
		attack_disconnect(a);
	}
}

/* A peer that lives, and takes no frame that is sent to it: the adapter may try for ever. */
TEST_F(scene, nothing_is_taken)
{
	struct attack *a = &self->a;
	struct rdmachan_error error;
	int64_t begun;
	int passive;

	ASSERT_TRUE(set_param("dead_ms", 500));
	for (passive = 0; passive < 2; passive++) {
		ASSERT_TRUE(attack_connect(a, passive));
		ASSERT_TRUE(attack_heard(a));
		a->h.ack = a->h.credit.rx_next;
		a->h.deaf = true;
		a->h.stingy = true;
		begun = tick_ms();
		ASSERT_EQ(write(a->victim, "x", 1), 1);
		hostile_beat(&a->h, 20 * 500);
		/* It is seen by one tick, and by the one after that in which it is too late. */
		EXPECT_TOOK(begun, 4 * 500, 3 * (500 / 4 + KERNEL_TICK_MS));
		EXPECT_EQ(attack_verdict(a, a->witness),
			  VERDICT_CAUSE(RDMACHAN_CAUSE_PEER_STALLED));
		ASSERT_EQ(get_error(a->witness, &error), 0);
		EXPECT_EQ(error.detail, 4 * 500);
		a->h.deaf = false;
		a->h.stingy = false;
		attack_disconnect(a);
	}
	ASSERT_TRUE(set_param("dead_ms", dead_time(5000)));
}

/* The smallest segments that may be are slow, and honest. */
TEST_F(scene, a_slow_sender)
{
	struct attack *a = &self->a;
	static struct frame f;
	char back[30 * 512];
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	for (i = 0; i < 30; i++) {
		frame_begin(&f);
		frame_data(&f, a->victim_no, (i ? 0 : RCH_DATA_F_FIRST) |
			   (i < 29 ? 0 : RCH_DATA_F_LAST), 512, 30 * 512);
		ASSERT_EQ(hostile_say(&a->h, &f), 0);
		hostile_beat(&a->h, 30);
	}
	EXPECT_EQ(read(a->victim, back, sizeof(back)), 30 * 512);
	EXPECT_TRUE(!a->h.ended);
}

/* Connections */

TEST_F_TIMEOUT(scene, connect_and_disconnect, 240)
{
	struct attack *a = &self->a;
	u32 number;
	int i;

	for (i = 0; i < CONNECTS; i++) {
		ASSERT_TRUE(attack_link(a));
		if (i % 2)
			ASSERT_TRUE(attack_open(a, VICTIM_MINE, &number, NULL));
		attack_disconnect(a);
		if (i % 2) {
			a->victim = do_accept(a->listener, NULL);
			close(a->victim);
			a->victim = -1;
		}
	}
}

static int count_states(struct hostile *h, int n, int event)
{
	int i, count = 0;

	for (i = 0; i < n; i++)
		count += h[i].event == event;
	return count;
}

/* Ask for a connection to a queue pair that is not there, from one of the peer's addresses. */
static bool half_open(struct hostile *h, u32 service, u32 from)
{
	u8 data[sizeof(struct rch_wire_hello)];
	static u32 number;

	hostile_begin(h);
	hostile_hello(h, service);
	h->from = from;
	/* Each names another, or it would be refused. */
	h->raw_qp = 0x600000 + number++;
	rch_wire_hello_put(data, &h->mine);
	ASSERT_EQ(hostile_request(h, data, sizeof(data)), 0);
	return hostile_await_answer(h) == RDMA_CM_EVENT_CONNECT_RESPONSE;
}

/* @count of them. Return: how many were let in */
static int half_open_many(struct hostile *h, int count, u32 service, u32 from)
{
	int i, in = 0;

	for (i = 0; i < count; i++)
		in += half_open(&h[i], service, from);
	return in;
}

static void crowd(struct attack *a, bool raw, bool hello)
{
	struct hostile *h = calloc(CONNECTS, sizeof(*h));
	u8 data[sizeof(struct rch_wire_hello)];
	uint32_t most = 0;
	int i, k;

	for (i = 0; i < CONNECTS; i++) {
		hostile_begin(&h[i]);
		hostile_hello(&h[i], PREY);
		/* Each names a queue pair that is not there, or it would be refused. */
		h[i].raw_qp = raw ? 0x700000 + (now_ms() & 0xfff) * CONNECTS + i : 0;
		rch_wire_hello_put(data, &h[i].mine);
		ASSERT_EQ(hostile_request(&h[i], data, sizeof(data)), 0);
		hostile_await_answer(&h[i]);
		if (hello && h[i].event == RDMA_CM_EVENT_ESTABLISHED &&
		    !rch_wire_hello_get(h[i].reply, h[i].reply_len, &h[i].theirs)) {
			h[i].epoch = h[i].mine.epoch;
			hostile_agree(&h[i]);
			hostile_pure(&h[i], RCH_FRAME_F_HELLO);
		}
		most = links(a) > most ? links(a) : most;
	}
	printf("# at most %u links, %d of %d let in, %d refused\n", most,
	       count_states(h, CONNECTS, RDMA_CM_EVENT_ESTABLISHED) +
	       count_states(h, CONNECTS, RDMA_CM_EVENT_CONNECT_RESPONSE), CONNECTS,
	       count_states(h, CONNECTS, RDMA_CM_EVENT_REJECTED));
	/* So many are being made or ended; beside them is one that is up. */
	EXPECT_LE(most, a->before.out_links + CROWD + hello);
	/* Silent ones are given up. */
	if (!hello)
		EXPECT_TRUE(links_down_to(a, a->before.out_links, 60000));
	for (k = 0; k < CONNECTS; k++)
		hostile_end(&h[k]);
	free(h);
}

TEST_F_TIMEOUT(scene, half_open, 240)
{
	ASSERT_TRUE(set_param("dead_ms", 2000));
	if (is_iwarp())
		SKIP("iWARP does not know of it");
	crowd(&self->a, true, false);
}

TEST_F_TIMEOUT(scene, connected_and_silent, 240)
{
	ASSERT_TRUE(set_param("dead_ms", 2000));
	crowd(&self->a, false, false);
}

TEST_F_TIMEOUT(scene, connected_and_idle, 240)
{
	crowd(&self->a, false, true);
}

#define ADDRESSES 3
/* Links that are being made or ended: half of the places are for whoever comes. */
#define POOL_SHARED 128
/* Of the other half a user's services take no more. */
#define POOL_EACH 8

/* Another address of the peer's, which is added or deleted. */
static u32 another_address(int i, const char *what)
{
	struct in_addr from;
	int here = enter_peer();
	char line[80];

	memcpy(&from, peer_address().addr, sizeof(from));
	from.s_addr = htonl((ntohl(from.s_addr) & ~0xffU) + 200 + i);
	snprintf(line, sizeof(line), "ip addr %s %s/24 dev eth0", what, inet_ntoa(from));
	ASSERT_EQ(system(line), 0);
	leave_peer(here);
	/* The adapter takes note of it a moment later. */
	sleep_ms(100);
	return from.s_addr;
}

/* Of this thread only: seteuid() would disturb the others. */
static void be_user(uid_t user)
{
	ASSERT_EQ(syscall(SYS_setresuid, -1, user, -1), 0);
}

static int listen_as(uid_t user, u32 service)
{
	int ctx, listener;

	ASSERT_EQ(chmod(DEVICE, 0666), 0);
	be_user(user);
	ctx = open_ctx();
	be_user(0);
	ASSERT_EQ(chmod(DEVICE, 0600), 0);
	listener = do_listen(ctx, service, NULL);
	ASSERT_GE(listener, 0);
	close(ctx);
	return listener;
}

/*
 * However many addresses a peer has: connections that are half open take a bounded number of
 * links, and those to one user's services leave places for others'.
 */
TEST_F_TIMEOUT(scene, half_open_from_many_addresses, 240)
{
	struct hostile *h = calloc(ADDRESSES * CROWD + 2 * POOL_EACH, sizeof(*h));
	struct hostile *second = h + ADDRESSES * CROWD;
	int listeners[2], peer = open_peer(), chan, i, in = 0;
	const struct opts o = { .timeout_ms = 5000 };
	struct rdmachan_addr own = own_address();
	u64 refused, all;
	u32 from = 0;

	if (!has_peer() || is_iwarp())
		SKIP("two hosts with RoCE are needed");
	refused = attack_refusals(&self->a, RCH_REJECT_RESOURCES);
	all = attack_refusals_all(&self->a);
	for (i = 0; i < 2; i++)
		listeners[i] = listen_as(1001 + i, PREY + 2 + i);
	for (i = 0; i < ADDRESSES; i++) {
		from = another_address(i, "add");
		in += half_open_many(h + i * CROWD, CROWD, PREY, from);
	}
	EXPECT_EQ(in, POOL_SHARED);
	EXPECT_EQ(half_open_many(second, 2 * POOL_EACH, PREY + 2, from), POOL_EACH);
	EXPECT_EQ(links(&self->a), self->a.before.out_links + POOL_SHARED + POOL_EACH);
	chan = do_connect_to(peer, &own, PREY + 3, &o);
	EXPECT_GE(chan, 0);
	EXPECT_EQ(attack_refusals(&self->a, RCH_REJECT_RESOURCES) - refused,
		  ADDRESSES * CROWD - POOL_SHARED + POOL_EACH);
	EXPECT_EQ(attack_refusals_all(&self->a) - all, ADDRESSES * CROWD - POOL_SHARED + POOL_EACH);
	for (i = 0; i < ADDRESSES * CROWD + 2 * POOL_EACH; i++)
		hostile_end(&h[i]);
	for (i = 0; i < ADDRESSES; i++)
		another_address(i, "del");
	for (i = 0; i < 2; i++)
		close(listeners[i]);
	close(chan);
	close(peer);
	/* The link of that channel is not of the attack. */
	set_parameter("idle_ms", 100);
	EXPECT_TRUE(links_down_to(&self->a, self->a.before.out_links, 60000));
	set_parameter("idle_ms", 30000);
	free(h);
}

/* They give way, the oldest first: if each is up when the next one comes, all are let in. */
TEST_F_TIMEOUT(scene, idle_ones_give_way, 120)
{
	struct hostile *h = calloc(CROWD, sizeof(*h));
	struct attack *a = &self->a;
	int i;

	for (i = 0; i < CROWD; i++) {
		ASSERT_TRUE(attack_link(a));
		h[i] = a->h;
	}
	EXPECT_TRUE(HOSTILE_UNTIL(&h[0], h[0].ended, 5000));
	EXPECT_TRUE(!h[CROWD - 1].ended);
	for (i = 0; i < CROWD; i++)
		hostile_end(&h[i]);
	memset(&a->h, 0, sizeof(a->h));
	free(h);
}

/* So long the module waits for word that a connection stands, before it ends it. */
#define RTU_MS 1000

/* &enum rdmachan_state of a link; 0: it is not there. */
static u32 state_of_link(struct attack *a, u32 link)
{
	struct rdmachan_object object = {};
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)&object, .objects_max = 1,
		.object_size = sizeof(object), .after = link - 1,
	};

	return ioctl(a->ctx, RDMACHAN_LIST, &list) ? 0 : object.state;
}

/*
 * A link that has failed takes nothing any more, however long it takes to be taken apart: here the
 * module waits for word that the connection stands, and then for nothing else.
 */
TEST_F_TIMEOUT(scene, failed_before_it_stands, 60)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct attack *a = &self->a;
	int64_t until;

	if (is_iwarp())
		SKIP("iWARP does not know of it");
	ASSERT_TRUE(set_param("dead_ms", DEAD_MS));
	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY);
	a->h.mute = true;
	ASSERT_EQ(hostile_connect(&a->h), 0);
	until = now_ms() + 10 * DEAD_MS;
	while (state_of_link(a, a->h.theirs.link) != RDMACHAN_STATE_FAILED && now_ms() < until)
		sleep_ms(KERNEL_TICK_MS);
	ASSERT_EQ(state_of_link(a, a->h.theirs.link), RDMACHAN_STATE_FAILED);
	ASSERT_EQ(hostile_post(&a->h, &wr, NULL, 0), 0);
	/* It would be acknowledged at once. */
	EXPECT_TRUE(!HOSTILE_UNTIL(&a->h, !a->h.busy, RTU_MS / 2));
}

/* Claims to be the other end of a link here that has nothing to do with it. */
TEST_F(scene, claims_to_be_a_twin)
{
	struct attack *a = &self->a;
	struct hostile other;
	uint32_t before;

	ASSERT_TRUE(attack_link(a));
	before = links(a);
	other = a->h;
	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY);
	a->h.mine.boot_id = other.theirs.boot_id;
	a->h.mine.link = other.theirs.link;
	ASSERT_EQ(hostile_connect(&a->h), 0);
	ASSERT_EQ(hostile_pure(&a->h, RCH_FRAME_F_HELLO), 0);
	hostile_beat(&a->h, 100);
	EXPECT_EQ(links(a), before + 1);
	hostile_end(&a->h);
	/* Less than the dead time. */
	hostile_beat(&other, 1000);
	EXPECT_EQ(links(a), before);
	a->h = other;
}

/*
 * The word that the connection stands may be lost. The connection manager takes the first frame for
 * it, and need not be waited for when the link ends.
 */
TEST_F(scene, rtu_is_lost)
{
	struct attack *a = &self->a;
	static struct frame f;

	if (is_iwarp())
		SKIP("iWARP does not know of it");
	a->mute = true;
	ASSERT_TRUE(attack_connect(a, false));
	EXPECT_EQ(write(a->witness, "x", 1), 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA] == 1, 3000));
	/* No frame has a record of no type. */
	frame_begin(&f);
	frame_simple(&f, a->victim_no, RCH_REC_TYPES, 0);
	ASSERT_EQ(hostile_say(&a->h, &f), 0);
	EXPECT_TRUE(attack_verdict_within(a, a->witness, RTU_MS / 2) > 0);
}

TEST_F_TIMEOUT(scene, sudden_exit, 120)
{
	struct attack *a = &self->a;
	int i, status;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			u32 number;

			if (!attack_link(a) || !attack_open(a, VICTIM_MINE, &number, NULL))
				_exit(2);
			kill(getpid(), SIGKILL);
		}
		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFSIGNALED(status));
		a->victim = do_accept(a->listener, NULL);
		ASSERT_GE(a->victim, 0);
		EXPECT_EQ(attack_verdict(a, a->victim),
			  VERDICT_CAUSE(RDMACHAN_CAUSE_DISCONNECTED));
		close(a->victim);
		a->victim = -1;
	}
}

/* Claims to be this host after a restart: links on which all is well must not end. */
TEST_F(scene, claims_a_restart)
{
	struct attack *a = &self->a;
	struct hostile other;
	int i;

	ASSERT_TRUE(attack_connect(a, false));
	other = a->h;
	for (i = 0; i < 20; i++) {
		ASSERT_TRUE(attack_link(a));
		hostile_beat(&other, 100);
		ASSERT_TRUE(!other.ended);
		hostile_end(&a->h);
	}
	a->h = other;
	EXPECT_EQ(write(a->witness, "x", 1), 1);
	EXPECT_TRUE(HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_DATA] == 1, 3000));
}

/* A link that has been silent when its peer comes back ends before the dead time. */
TEST_F(scene, restarted)
{
	struct attack *a = &self->a;
	struct hostile former;
	int64_t begun;

	ASSERT_TRUE(set_param("dead_ms", 6000));
	ASSERT_TRUE(attack_connect(a, false));
	begun = tick_ms();
	ASSERT_TRUE(attack_heard(a));
	former = a->h;
	ASSERT_TRUE(attack_link(a));
	EXPECT_EQ(attack_verdict_within(a, a->witness, 60000),
		  VERDICT_CAUSE(RDMACHAN_CAUSE_PEER_RESTARTED));
	EXPECT_TOOK(begun, 6000 / 2, 6000 / 4 + timer_late(6000 / 4));
	EXPECT_TRUE(!a->h.ended);
	hostile_end(&a->h);
	a->h = former;
}

/* But a peer that connects to another user's service says nothing about that link. */
TEST_F(scene, restarted_for_another_user)
{
	int listener = listen_as(1001, PREY + 2);
	struct attack *a = &self->a;
	struct hostile former;
	int64_t begun;
	int verdict;

	ASSERT_TRUE(set_param("dead_ms", 6000));
	ASSERT_TRUE(attack_connect(a, false));
	begun = tick_ms();
	ASSERT_TRUE(attack_heard(a));
	former = a->h;
	hostile_begin(&a->h);
	hostile_hello(&a->h, PREY + 2);
	ASSERT_EQ(hostile_connect(&a->h), 0);
	ASSERT_EQ(hostile_pure(&a->h, RCH_FRAME_F_HELLO), 0);
	verdict = attack_verdict_within(a, a->witness, 60000);
	expect_silence(verdict, begun, 6000);
	hostile_end(&a->h);
	close(listener);
	a->h = former;
}

static void *remove_now(void *arg)
{
	(void)arg;
	return (void *)(long)remove_device();
}

/*
 * The module waits for a moment for a connection that is half open, and so does the removal of the
 * device: no other connection is made on it meanwhile.
 */
TEST_TIMEOUT(device_removed_with_one_half_open, 60)
{
	struct rdmachan_error error = {};
	const struct opts o = { .timeout_ms = 5000, .error = &error };
	u8 data[sizeof(struct rch_wire_hello)];
	int ctx = open_ctx(), listener;
	struct hostile h;
	pthread_t thread;
	void *removed;

	if (!has_peer() || !device_may_go() || is_iwarp())
		SKIP("two hosts with RoCE are needed");
	listener = do_listen(ctx, PREY, NULL);
	ASSERT_GE(listener, 0);
	hostile_begin(&h);
	hostile_hello(&h, PREY);
	h.raw_qp = 0x700001;
	rch_wire_hello_put(data, &h.mine);
	ASSERT_EQ(hostile_request(&h, data, sizeof(data)), 0);
	ASSERT_EQ(hostile_await_answer(&h), RDMA_CM_EVENT_CONNECT_RESPONSE);
	ASSERT_EQ(pthread_create(&thread, NULL, remove_now, NULL), 0);
	sleep_ms(300);
	EXPECT_ERR(do_connect(ctx, SERVICE, &o), ENODEV);
	EXPECT_EQ(error.op, RDMACHAN_OP_RESOLVE);
	EXPECT_EQ(error.cause, RDMACHAN_CAUSE_DEVICE_REMOVED);
	EXPECT_EQ(error.detail, 0);
	ASSERT_EQ(pthread_join(thread, &removed), 0);
	EXPECT_TRUE(!removed);
	ASSERT_EQ(add_device(), 0);
	hostile_end(&h);
	close(listener);
	close(ctx);
}

TEST_HARNESS_MAIN
