// SPDX-License-Identifier: GPL-2.0
/*
 * partner.c - the other end of the channels of cases: another process, of another user
 *
 * A case has both ends of its channels in one process, of one user. The partner listens where cases
 * connect to, on the peer's host if there is one, and connects to what cases listen on. On each
 * channel it does what comes: messages, grants, accesses to what it is given, ends. It is no part
 * of a case, which so may run another way each time. It ends with its process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "grant.h"
#include "region.h"
#include "abi_fuzz.h"

#define CHANS 6
#define MEMORY 262144U
#define PARTNER_UID 1002
/* Calls that wait are interrupted so often. */
#define PATIENCE_US 20000

/**
 * struct partner - what it has
 * @here: context where cases connect from, and connects there itself
 * @there: context where it listens
 * @listener: that
 * @chans: channels, or -1
 * @held: the last grant of each that it was given
 * @given: the last one that it has given
 * @memory: of the region
 * @region: its number, of @here and of @there
 * @seed: what comes next
 */
struct partner {
	int here;
	int there;
	int listener;
	int chans[CHANS];
	uint32_t held[CHANS];
	uint32_t given[CHANS];
	char *memory;
	int64_t region[2];
	uint64_t seed;
};

static uint32_t some(struct partner *p, uint32_t count)
{
	return next_random(&p->seed) % count;
}

static uint32_t some_length(struct partner *p)
{
	static const uint32_t lengths[] = { 1, 8, 100, 2048, 4096, 16384, 40000, 100000 };

	return lengths[some(p, sizeof(lengths) / sizeof(*lengths))];
}

static bool done(enum partner_deed deed, bool ok)
{
	struct engine_stats *stats = engine_options()->stats;

	atomic_fetch_add(&stats->partner[deed][0], 1);
	if (ok)
		atomic_fetch_add(&stats->partner[deed][1], 1);
	return ok;
}

static void end(struct partner *p, int i)
{
	close(p->chans[i]);
	p->chans[i] = -1;
}

/* A new channel, to what a case listens on or from what it connects. */
static void begin(struct partner *p, int i)
{
	const struct opts accepts = { .flags = RDMACHAN_FD_F_NONBLOCK | RDMACHAN_FD_F_CLOEXEC };
	struct opts connects = { .flags = RDMACHAN_FD_F_CLOEXEC, .timeout_ms = 10 };

	bool comes = some(p, 2);

	p->chans[i] = comes ? do_accept(p->listener, &accepts) :
		      do_connect(p->here, services_of(engine_options()->proc) + some(p, 2),
				 &connects);
	p->held[i] = 0;
	p->given[i] = 0;
	if (done(comes ? PARTNER_ACCEPT : PARTNER_CONNECT, p->chans[i] >= 0))
		fcntl(p->chans[i], F_SETFL, O_NONBLOCK);
}

static void give(struct partner *p, int i)
{
	int there = some(p, 2);
	const struct rdmachan_grant_range range = RANGE(p->region[there], 1 + some(p, 7),
							8 * some(p, 1000), some_length(p));
	int64_t grant = grant_range(p->chans[i], there ? p->there : p->here, &range);

	if (done(PARTNER_GIVE, grant > 0))
		p->given[i] = grant;
}

static void take(struct partner *p, int i)
{
	const struct rdmachan_grant_event *event = (void *)p->memory;
	struct rdmachan_recv_args recv;

	if (!done(PARTNER_RECEIVE, !grant_recv(p->chans[i], p->memory, MEMORY, &recv, NULL)))
		return;
	if (recv.out_flags & RDMACHAN_RECV_OUT_GRANTS && event->what == RDMACHAN_GRANT_GIVEN)
		p->held[i] = event->grant;
}

static int access_it(struct partner *p, int i)
{
	uint64_t offset = 8 * some(p, 16), value;
	uint32_t length = some_length(p);

	switch (some(p, 4)) {
	case 0:
		return grant_read(p->chans[i], p->held[i], offset, p->memory, length);
	case 1:
		return grant_write(p->chans[i], p->held[i], offset, p->memory, length);
	case 2:
		return grant_add(p->chans[i], p->held[i], offset, 1, &value);
	default:
		return grant_swap(p->chans[i], p->held[i], offset, 1, 2, &value);
	}
}

/* A channel without another end makes room for another. */
static void send_it(struct partner *p, int i)
{
	if (!done(PARTNER_SEND, !do_send(p->chans[i], p->memory, some_length(p), some(p, 2),
					 NULL)) &&
	    errno != EAGAIN && errno != EINTR)
		end(p, i);
}

static void act(struct partner *p, int i)
{
	const struct opts begins = { .flags = RDMACHAN_IO_F_DONTWAIT };

	switch (some(p, 24)) {
	case 0:
	case 1:
	case 2:
	case 3:
		send_it(p, i);
		return;
	case 4:
		give(p, i);
		return;
	case 5:
		done(PARTNER_REVOKE, !grant_revoke(p->chans[i], p->given[i], &begins));
		return;
	case 6:
	case 7:
	case 8:
		done(PARTNER_ACCESS, !access_it(p, i));
		return;
	case 9:
		done(PARTNER_RELEASE, !grant_release(p->chans[i], p->held[i]));
		return;
	case 10:
		done(PARTNER_SHUTDOWN, !do_shutdown(p->chans[i], 1 + some(p, 3)));
		return;
	case 11:
		done(PARTNER_FINISH, !do_finish(p->chans[i], &begins));
		return;
	case 12:
		/* It waits for a message, so that one may be placed. */
		fcntl(p->chans[i], F_SETFL, some(p, 2) ? O_NONBLOCK : 0);
		return;
	case 13:
		end(p, i);
		return;
	default:
		take(p, i);
	}
}

static void nothing(int sig)
{
	(void)sig;
}

static void interrupt_often(void)
{
	const struct sigaction action = { .sa_handler = nothing };
	const struct itimerval often = {
		.it_interval.tv_usec = PATIENCE_US, .it_value.tv_usec = PATIENCE_US,
	};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* As another user, on both hosts. Return: whether there is all that it takes. */
static bool set_up(struct partner *p)
{
	int here, i;

	if (setresuid(-1, PARTNER_UID, -1))
		return false;
	p->here = open_ctx();
	if (setresuid(-1, 0, -1))
		return false;
	here = enter_peer();
	if (setresuid(-1, PARTNER_UID, -1))
		return false;
	p->there = open_ctx();
	p->listener = do_listen(p->there, services_of(engine_options()->proc) + 2,
				&(struct opts){ .flags = RDMACHAN_FD_F_NONBLOCK });
	if (setresuid(-1, 0, -1))
		return false;
	leave_peer(here);
	if (setresuid(PARTNER_UID, PARTNER_UID, PARTNER_UID))
		return false;
	p->memory = aligned_alloc(4096, MEMORY);
	if (!p->memory || p->listener < 0)
		return false;
	memset(p->memory, 0x11, MEMORY);
	p->region[0] = region_register(p->here, p->memory, MEMORY, 0, NULL);
	p->region[1] = region_register(p->there, p->memory, MEMORY, 0, NULL);
	for (i = 0; i < CHANS; i++)
		p->chans[i] = -1;
	/* A change of the user would take it back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	interrupt_often();
	return getppid() != 1;
}

static void live(uint64_t seed)
{
	const struct timespec rest = { 0, 500000 };
	struct partner p = { .seed = seed };
	int i;

	if (!set_up(&p)) {
		printf("# the partner cannot begin: %s\n", strerror(errno));
		fflush(stdout);
		return;
	}
	for (;;) {
		i = some(&p, CHANS);
		if (p.chans[i] < 0)
			begin(&p, i);
		else
			act(&p, i);
		/* Where time is virtual it goes by only while nobody runs. */
		nanosleep(&rest, NULL);
	}
}

/** partner_start - begin one for this process; it ends with that */
void partner_start(void)
{
	pid_t child = fork();

	if (child)
		return;
	live(1000 * engine_options()->seed + engine_options()->proc);
	_exit(1);
}
