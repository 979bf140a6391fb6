// SPDX-License-Identifier: GPL-2.0
/*
 * hostile_attack.c - the scene of an attack
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"
#include "hostile_attack.h"

#define HONEST_MAX 20000
#define FRAMES_PER_LINK 64

const struct opts prey_opts = {
	.backlog = PREY_BACKLOG,
	.tuning = {
		.recv_buffer = PREY_BUFFER,
		.send_buffer = PREY_BUFFER,
		.message_max = PREY_MESSAGE,
		.linger_ms = PREY_LINGER_MS,
	},
};

/*
 * A dead time for the module, in ms: longer where all is slower. Where this peer has no processor
 * for half of one, the module takes the path for slow, and does not blame the peer.
 */
int dead_time(int ms)
{
	return ms * harness_slow();
}

bool set_param(const char *name, unsigned int value)
{
	char path[128];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "/sys/module/rdmachan/parameters/%s", name);
	file = fopen(path, "w");
	if (!file)
		return false;
	ok = fprintf(file, "%u\n", value) > 0;
	return !fclose(file) && ok;
}

/* Have CLOSE answered without waiting for company: then its number means nothing any more. */
void answer_at_once(bool once)
{
	set_param("gather_us", once ? 0 : 100);
}

bool is_iwarp(void)
{
	const char *rdma = getenv("LAB_RDMA");

	return rdma && !strncmp(rdma, "siw", 3);
}

static bool honest_way(struct honest *honest, int from, int to, char *out, char *back)
{
	const struct opts patience = { .timeout_ms = 20000 };
	size_t len = (honest->messages * 7919) % HONEST_MAX;
	struct rdmachan_recv_args recv;

	fill_random(out, len, honest->messages);
	if (do_send(honest->fds[from], out, len, honest->messages & 0xffff, &patience)) {
		honest->failed = "send";
		honest->error = errno;
		return false;
	}
	if (do_recv(honest->fds[to], back, HONEST_MAX, &recv, &patience)) {
		honest->failed = "receive";
		honest->error = errno;
		return false;
	}
	if (recv.out_length != len || memcmp(out, back, len) ||
	    recv.out_msg_flags != (honest->messages & 0xffff)) {
		honest->failed = "compare";
		return false;
	}
	__atomic_add_fetch(&honest->messages, 1, __ATOMIC_RELAXED);
	return true;
}

static void *honest_run(void *arg)
{
	struct honest *honest = arg;
	char *out = malloc(HONEST_MAX), *back = malloc(HONEST_MAX);

	while (!__atomic_load_n(&honest->stop, __ATOMIC_RELAXED) &&
	       honest_way(honest, 0, 1, out, back) && honest_way(honest, 1, 0, out, back))
		sleep_ms(2);
	free(out);
	free(back);
	return NULL;
}

void attack_begin(struct attack *a)
{
	memset(a, 0, sizeof(*a));
	set_param("dead_ms", dead_time(5000));
	a->victim = -1;
	a->witness = -1;
	a->ctx = open_ctx();
	pair_up(a->ctx, a->honest.fds, NULL);
	get_info(a->ctx, &a->before);
	a->listener = do_listen(a->ctx, PREY, &prey_opts);
	if (a->listener < 0)
		printf("# no listener: %s\n", strerror(errno));
	pthread_create(&a->honest.thread, NULL, honest_run, &a->honest);
}

/* The honest channel still works, and did all the time. */
static bool honest_end(struct honest *honest)
{
	u64 before = __atomic_load_n(&honest->messages, __ATOMIC_RELAXED);
	int tries = 2000;

	while (__atomic_load_n(&honest->messages, __ATOMIC_RELAXED) < before + 4 && --tries &&
	       !honest->failed)
		sleep_ms(5);
	__atomic_store_n(&honest->stop, true, __ATOMIC_RELAXED);
	pthread_join(honest->thread, NULL);
	if (honest->failed) {
		struct rdmachan_error error;

		get_error(honest->fds[0], &error);
		printf("# the honest channel failed after %llu messages: %s: %s, cause %u\n",
		       (unsigned long long)honest->messages, honest->failed,
		       strerror(honest->error), error.cause);
	}
	return !honest->failed && tries;
}

static bool is_clean(const struct attack *a, struct rdmachan_info *info)
{
	if (get_info(a->ctx, info))
		return false;
	return info->out_channels <= 2 && info->out_links <= a->before.out_links &&
	       !info->out_segments && info->out_frames <= FRAMES_PER_LINK * info->out_links;
}

/* Nothing is left of the attack. */
static bool all_forgotten(struct attack *a)
{
	int64_t until = now_ms() + 15000;
	struct rdmachan_info info;

	while (!is_clean(a, &info)) {
		if (now_ms() > until) {
			printf("# left: %u channels, %u links of %u, %u frames, %u segments\n",
			       info.out_channels, info.out_links, a->before.out_links,
			       info.out_frames, info.out_segments);
			return false;
		}
		sleep_ms(10);
	}
	return true;
}

static bool still_works(struct attack *a)
{
	const struct opts patience = { .timeout_ms = 10000 };
	char back[16];
	int fds[2];
	bool ok;

	pair_up(a->ctx, fds, NULL);
	ok = write(fds[0], "alive", 5) == 5 &&
	     !do_recv(fds[1], back, sizeof(back), NULL, &patience) &&
	     !memcmp(back, "alive", 5);
	close(fds[0]);
	close(fds[1]);
	return ok;
}

/* Clear the scene. Return: whether all is as if nothing had been. */
bool attack_end(struct attack *a)
{
	bool ok;

	attack_disconnect(a);
	close(a->listener);
	ok = honest_end(&a->honest);
	ok = all_forgotten(a) && ok;
	ok = still_works(a) && ok;
	close(a->honest.fds[0]);
	close(a->honest.fds[1]);
	set_param("dead_ms", dead_time(5000));
	return ok;
}

/* All bytes are 0xff if the module does not tell. */
static struct rdmachan_info attack_info(struct attack *a)
{
	struct rdmachan_info info;

	if (get_info(a->ctx, &info))
		memset(&info, 0xff, sizeof(info));
	return info;
}

/* How many connections and channels of peers were refused since load, for &enum rch_reject. */
u64 attack_refusals(struct attack *a, u32 reason)
{
	const struct rdmachan_info info = attack_info(a);

	switch (reason) {
	case RCH_REJECT_PROTOCOL:
		return info.out_refused_handshake;
	case RCH_REJECT_VERSION:
	case RCH_REJECT_FEATURE:
		return info.out_refused_version;
	case RCH_REJECT_PORT:
		return info.out_refused_port;
	case RCH_REJECT_MTU:
		return info.out_refused_mtu;
	case RCH_REJECT_NO_SERVICE:
		return info.out_refused_service;
	case RCH_REJECT_BACKLOG:
		return info.out_refused_backlog;
	case RCH_REJECT_RESOURCES:
		return info.out_refused_links + info.out_refused_channels;
	default:
		/* Not counted. */
		return 0;
	}
}

/* The same, for whatever reason. */
u64 attack_refusals_all(struct attack *a)
{
	const struct rdmachan_info info = attack_info(a);

	return info.out_refused_handshake + info.out_refused_version + info.out_refused_port +
	       info.out_refused_mtu + info.out_refused_links + info.out_refused_service +
	       info.out_refused_backlog + info.out_refused_channels;
}

/* How many links were ended since load, as the peer broke a rule. */
u64 attack_broken(struct attack *a)
{
	return attack_info(a).out_broken_rules;
}

static void choose_hello(struct attack *a)
{
	u32 *features = &a->h.mine.features;

	a->h.mute = a->mute;
	if (a->dead_ms)
		a->h.mine.dead_ms = a->dead_ms;
	if (a->bare)
		*features |= RCH_FEATURE_BARE;
	if (a->keyed)
		*features |= RCH_FEATURE_KEY;
	if (a->depth)
		a->h.mine.depth = a->depth;
	if (a->frame_size)
		a->h.mine.frame_size = a->frame_size;
}

uint32_t links(struct attack *a)
{
	struct rdmachan_info info;

	return get_info(a->ctx, &info) ? ~0U : info.out_links;
}

bool links_down_to(struct attack *a, uint32_t count, int timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;

	while (links(a) > count && now_ms() < until)
		sleep_ms(10);
	return links(a) <= count;
}

/* Be let in as the active side, with HELLO said: when not too many former links are being ended. */
bool attack_link(struct attack *a)
{
	a->passive = false;
	hostile_begin(&a->h);
	links_down_to(a, a->before.out_links + CROWD / 2, 60000);
	hostile_hello(&a->h, PREY);
	choose_hello(a);
	if (hostile_connect(&a->h) || hostile_pure(&a->h, RCH_FRAME_F_HELLO)) {
		printf("# the module does not let us in: event %d, status %d\n", a->h.event,
		       a->h.status);
		return false;
	}
	return true;
}

/* Open a channel as the active side. @chan may be NULL: it is not accepted here. */
bool attack_open(struct attack *a, u32 mine, u32 *number, int *chan)
{
	const struct opts patience = { .timeout_ms = 5000 };
	const struct heard *heard;
	static struct frame f;

	frame_begin(&f);
	frame_open(&f, mine, PREY);
	if (hostile_say(&a->h, &f) ||
	    !HOSTILE_UNTIL(&a->h, hostile_find(&a->h, RCH_REC_ACCEPT, mine), 5000))
		return false;
	heard = hostile_find(&a->h, RCH_REC_ACCEPT, mine);
	*number = heard->first;
	if (!chan)
		return true;
	*chan = do_accept(a->listener, &patience);
	return *chan >= 0;
}

/* Have the module connect to us. Return: its channel, which is being connected. */
int attack_request(struct attack *a, u32 timeout_ms)
{
	struct rdmachan_addr addr = peer_address();
	struct opts o = prey_opts;

	o.flags = RDMACHAN_FD_F_NONBLOCK;
	o.timeout_ms = timeout_ms;
	addr.port = htons(HOSTILE_PORT);
	return do_connect_to(a->ctx, &addr, PREY, &o);
}

/* Wait for the module's request and prepare the honest answer in h->mine. */
int attack_invite(struct attack *a)
{
	if (hostile_await_request(&a->h, 5000)) {
		struct rdmachan_error error;

		get_error(a->victim, &error);
		printf("# the module does not ask: cause %u, cm_status %d\n", error.cause,
		       error.cm_status);
		return -1;
	}
	hostile_hello(&a->h, 0);
	choose_hello(a);
	a->h.mine.epoch = a->h.theirs.epoch;
	a->h.mine.peer_domain = 0;
	return 0;
}

/* The module opens a channel: accept it. */
bool attack_answer(struct attack *a, u32 mine, u32 *number, int chan)
{
	u32 seen = a->victim_no ? 2 : 1;
	static struct frame f;

	if (!HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_OPEN] >= seen, 5000))
		return false;
	*number = hostile_find(&a->h, RCH_REC_OPEN, 0)->first;
	frame_begin(&f);
	frame_accept(&f, *number, mine);
	return !hostile_say(&a->h, &f) && wait_state(chan, RDMACHAN_STATE_OPEN, 5000);
}

static bool connect_passive(struct attack *a)
{
	u8 data[sizeof(struct rch_wire_hello)];

	hostile_begin(&a->h);
	if (hostile_listen(&a->h))
		return false;
	a->victim = attack_request(a, 8000);
	if (a->victim < 0 || attack_invite(a))
		return false;
	rch_wire_hello_put(data, &a->h.mine);
	if (hostile_accept(&a->h, data, sizeof(data)) ||
	    !attack_answer(a, VICTIM_MINE, &a->victim_no, a->victim))
		return false;
	a->witness = attack_request(a, 8000);
	return a->witness >= 0 &&
	       attack_answer(a, WITNESS_MINE, &a->witness_no, a->witness);
}

static bool connect_active(struct attack *a)
{
	return attack_link(a) &&
	       attack_open(a, VICTIM_MINE, &a->victim_no, &a->victim) &&
	       attack_open(a, WITNESS_MINE, &a->witness_no, &a->witness);
}

/* A link with two channels, all of it honest. */
bool attack_connect(struct attack *a, bool passive)
{
	bool ok;

	a->passive = passive;
	a->victim_no = 0;
	ok = passive ? connect_passive(a) : connect_active(a);
	if (!ok)
		printf("# no link to lie on, as the %s side: %s\n",
		       passive ? "passive" : "active", strerror(errno));
	return ok;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void attack_disconnect(struct attack *a)
{
	if (a->h.events)
		hostile_end(&a->h);
	drop(&a->victim);
	drop(&a->witness);
}

/* Ask for what is not there. The answer tells that the module has taken all that came before. */
bool attack_heard(struct attack *a)
{
	u32 answers = a->h.count[RCH_REC_REJECT];
	static struct frame f;

	frame_begin(&f);
	frame_open(&f, HOSTILE_MINE + 99, NO_PREY);
	return !hostile_say(&a->h, &f) &&
	       HOSTILE_UNTIL(&a->h, a->h.count[RCH_REC_REJECT] > answers, 20000);
}

/* Frames that the module has received on the victim's link. */
static u64 frames_taken(const struct attack *a)
{
	struct rdmachan_object chan, link;
	struct rdmachan_list_args list = {
		.size = sizeof(list), .objects_ptr = (uintptr_t)&link, .objects_max = 1,
		.object_size = sizeof(link),
	};

	if (get_object(a->victim, &chan))
		return 0;
	list.after = chan.link_id - 1;
	return ioctl(a->ctx, RDMACHAN_LIST, &list) ? 0 : link.rx_frames;
}

/* Acknowledge all that came, and wait until the module knows: then it has nothing under way. */
bool attack_acknowledged(struct attack *a)
{
	int64_t until = now_ms() + 20000;

	if (hostile_pure(&a->h, 0))
		return false;
	while (frames_taken(a) != a->h.credit.tx_next - a->h.theirs.next_seq) {
		if (a->h.ended || now_ms() > until)
			return false;
		hostile_pump(&a->h, 1);
	}
	return true;
}

/*
 * How the link of a channel ends within @ms. Return: the rule, VERDICT_CAUSE() of another
 * cause, or VERDICT_ALIVE.
 */
int attack_verdict_within(struct attack *a, int chan, int ms)
{
	struct rdmachan_error error;
	int64_t begun = now_ms(), beat = begun + 1000;

	while (!(poll_mask(chan, POLLIN, 0) & POLLERR)) {
		if (now_ms() > begun + ms)
			return VERDICT_ALIVE;
		/* That we are silent is no lie. */
		if (a->h.qp && !a->h.ended && now_ms() > beat) {
			hostile_pure(&a->h, 0);
			beat = now_ms() + 200;
		}
		/* The peer may be another process, or gone. */
		if (a->h.events)
			hostile_pump(&a->h, 5);
		else
			sleep_ms(5);
	}
	if (get_error(chan, &error))
		return VERDICT_ALIVE;
	return error.cause == RDMACHAN_CAUSE_PROTOCOL && error.error == EPROTO ?
	       (int)error.detail : VERDICT_CAUSE(error.cause);
}

/* What breaks a rule ends the link at once. */
int attack_verdict(struct attack *a, int chan)
{
	return attack_verdict_within(a, chan, 5000);
}

/*
 * Whether the link has ended because the peer used memory that is not its own, and the record says
 * so. Of this rxe of 6.12 and before has no event for that, and only flushes work. The adapter siw
 * has the same event for a READ that it refuses and for an answer that TCP does not take; and that
 * the stream ends may be seen first.
 */
bool attack_blamed(struct attack *a)
{
	struct rdmachan_error error = {};
	int verdict = attack_verdict(a, a->witness);

	if (verdict == RCH_RULE_ACCESS)
		return true;
	if (verdict == VERDICT_ALIVE || get_error(a->witness, &error))
		return false;
	if (verdict == VERDICT_CAUSE(RDMACHAN_CAUSE_DISCONNECTED) && is_iwarp())
		return true;
	if (verdict == VERDICT_CAUSE(RDMACHAN_CAUSE_TRANSPORT) &&
	    (is_iwarp() ? error.detail == IBV_EVENT_QP_REQ_ERR :
	     linux_before(7, 0) && error.wc_status == IBV_WC_WR_FLUSH_ERR))
		return true;
	printf("# the link ends with verdict %d, status %u, detail %llu\n", verdict,
	       error.wc_status, (unsigned long long)error.detail);
	return false;
}

/* Nodes of a table by number are such memory. */
long reclaimable_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SReclaimable: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}
