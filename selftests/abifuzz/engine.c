// SPDX-License-Identifier: GPL-2.0
/*
 * engine.c - runs a case with some threads, ends it in time, and tidies up
 *
 * The process has no files below HIGH but its three and those of the current case, so
 * that a case may close what it likes and all that is left can be closed after it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "abi_fuzz.h"

#define HIGH 800
#define FD_LIMIT 1024
#define CHILDREN_MAX 64
/* Longer than anything may wait that no signal interrupts. */
#define HANG_MS 30000

static struct engine_options options;
static struct actor actors[THREADS_MAX];
static const struct abi_case *current;
static atomic_uint generation, begun, running;
static atomic_bool stop;
static bool followed;
static atomic_int fds[SLOTS]; /* each -1, or above those the process came with */
/* The same context on the peer's host, or -1. */
static atomic_int twins[SLOTS];
static int peer_host = -1, own_host;
static atomic_int children[CHILDREN_MAX];
static atomic_uint children_count;
static __thread struct actor *self;

static long futex_wait(atomic_uint *word, unsigned int value, unsigned int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ms ? &time : NULL);
}

static void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, THREADS_MAX);
}

const struct engine_options *engine_options(void)
{
	return &options;
}

struct actor *engine_actor(int index)
{
	return &actors[index];
}

int fd_of(unsigned int slot)
{
	return fds[slot % SLOTS];
}

/* A listener does so on the peer's host, if there is one. */
int fd_there(unsigned int slot)
{
	int twin = twins[slot % SLOTS];

	return twin < 0 ? fd_of(slot) : twin;
}

static void drop_twin(unsigned int slot)
{
	int twin = atomic_exchange(&twins[slot % SLOTS], -1);

	if (twin >= 0)
		close(twin);
}

/* A new file, or an error. The file that was in the slot stays open, but for a twin. */
long fd_put(unsigned int slot, long fd)
{
	if (fd < 0)
		return fd;
	drop_twin(slot);
	fds[slot % SLOTS] = fd;
	return fd;
}

/* A thread that is another user by now cannot go to the peer's host. */
static int open_there(const char *path, int flags)
{
	int fd;

	if (peer_host < 0 || setns(peer_host, CLONE_NEWNET))
		return -1;
	fd = open(path, flags);
	setns(own_host, CLONE_NEWNET);
	return fd;
}

/* The device, here and there. */
long fd_open(unsigned int slot, const char *path, int flags)
{
	long fd = fd_put(slot, open(path, flags));
	int error = errno;

	if (fd >= 0)
		twins[slot % SLOTS] = open_there(path, flags);
	errno = error;
	return fd;
}

long fd_close(unsigned int slot)
{
	drop_twin(slot);
	return close(fd_of(slot));
}

/* A file of the engine's own. */
int fd_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

	close(fd);
	return high;
}

void engine_poke(unsigned int actor, int sig)
{
	syscall(SYS_tgkill, getpid(), actors[actor % options.threads].tid, sig);
}

/*
 * Signals
 */

static void nothing(int sig)
{
	(void)sig;
}

/* Memory that a case took away, or a mistake of this program. */
static void fault(int sig)
{
	if (self && self->guarded)
		siglongjmp(self->guard, 1);
	signal(sig, SIG_DFL);
}

static void catch(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static void catch_all(void)
{
	catch(SIGUSR1, nothing, 0);
	catch(SIGALRM, nothing, 0);
	catch(SIGUSR2, nothing, SA_RESTART);
	catch(SIGSEGV, fault, SA_NODEFER);
	catch(SIGBUS, fault, SA_NODEFER);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * Making calls
 */

/** engine_complain - the current case has found something */
void engine_complain(const char *what)
{
	atomic_fetch_add(&options.stats->complaints, 1);
	options.complain(current, what);
}

static void judge_error(const struct op *op, int error)
{
	char what[80];

	if (errno_expected(op, error))
		return;
	snprintf(what, sizeof(what), "%s gave errno %d (%s)", op->name, error,
		 strerror(error));
	engine_complain(what);
}

static void make_call(struct actor *actor, const struct call *call)
{
	const struct op *op = &ops[call->op];
	unsigned int times = times_of(call);
	int error;
	long ret;

	while (times-- && !stop) {
		errno = 0;
		ret = op->run(actor, call);
		actor->made++;
		atomic_fetch_add_explicit(&options.stats->calls, 1, memory_order_relaxed);
		error = ret < 0 ? errno : 0;
		atomic_fetch_add_explicit(&options.stats->outcomes[call->op][error % 160], 1,
					  memory_order_relaxed);
		if (error)
			judge_error(op, error);
		/* The next time it will not be there either, or be waited for again. */
		if (error == EBADF || error == EINTR || error == ETIMEDOUT)
			break;
	}
}

static int thread_of(const struct call *call)
{
	return call->thread % options.threads;
}

static void lead(unsigned int index)
{
	begun = index + 1;
	if (followed)
		futex_wake(&begun);
}

/* Until thread 0 has begun its last call before @index. */
static void follow(unsigned int index)
{
	unsigned int seen;

	while (index && thread_of(&current->calls[index - 1]))
		index--;
	while ((seen = begun) < index && !stop)
		futex_wait(&begun, seen, 0);
}

static void make_calls(struct actor *actor)
{
	unsigned int i;

	for (i = 0; i < current->count && !stop; i++) {
		const struct call *call = &current->calls[i];

		if (thread_of(call) != actor->index)
			continue;
		if (actor->index)
			follow(i);
		else
			lead(i);
		make_call(actor, call);
	}
	if (!actor->index)
		lead(CALLS_MAX);
}

static void play(struct actor *actor)
{
	cover_begin(actor);
	make_calls(actor);
	/* It may have become another user. */
	syscall(SYS_setresuid, -1, 0, -1);
	actor->busy = false;
	if (atomic_fetch_sub(&running, 1) == 1)
		futex_wake(&running);
}

static void *actor_main(void *data)
{
	unsigned int seen = 0;

	self = data;
	self->tid = syscall(SYS_gettid);
	if (options.cover)
		cover_open(self);
	atomic_fetch_sub(&running, 1);
	for (;;) {
		while (generation == seen)
			futex_wait(&generation, seen, 0);
		seen = generation;
		/* The next case may be on its way already. */
		if (self->turn == seen)
			play(self);
	}
	return NULL;
}

/**
 * engine_fork - a child makes the next calls of this thread, as the thread itself does
 * @actor: thread
 * @call: the fork
 * @calls: how many calls
 * @kill: it dies of a signal, else it ends by itself
 */
long engine_fork(struct actor *actor, const struct call *call, unsigned int calls, bool kill)
{
	unsigned int place = atomic_fetch_add(&children_count, 1);
	pid_t child;

	if (place >= CHILDREN_MAX)
		return 0;
	child = fork();
	if (child) {
		children[place] = child;
		return child;
	}
	while (calls && ++call < current->calls + current->count) {
		if (thread_of(call) != actor->index || ops[call->op].run == call_fork)
			continue;
		make_call(actor, call);
		calls--;
	}
	if (kill)
		raise(SIGKILL);
	_exit(0);
}

/*
 * The whole case
 */

/* Interrupt a thread in the same call as before, or, at last, in any call. */
static void interrupt(void)
{
	unsigned int i, made;

	for (i = 0; i < options.threads; i++) {
		made = actors[i].made;
		if (actors[i].busy && (stop || made == actors[i].seen))
			engine_poke(i, SIGUSR1);
		actors[i].seen = made;
	}
}

/* Return: false when calls go on and on. */
static bool wait_end(void)
{
	int64_t begun_at = now_ms(), now;
	unsigned int left;

	while ((left = running)) {
		if (!futex_wait(&running, left, options.tick_ms) || errno != ETIMEDOUT)
			continue;
		now = now_ms();
		if (!stop && now - begun_at >= options.limit_ms) {
			atomic_fetch_add(&options.stats->cut, 1);
			stop = true;
			futex_wake(&begun);
		}
		interrupt();
		if (now - begun_at > HANG_MS)
			return false;
	}
	return true;
}

static void end_children(void)
{
	unsigned int i, count = children_count;

	for (i = 0; i < count && i < CHILDREN_MAX; i++) {
		if (children[i] <= 0)
			continue;
		kill(children[i], SIGKILL);
		child_status(children[i]);
		children[i] = 0;
	}
	children_count = 0;
}

static void tidy(void)
{
	struct itimerval none = { 0 };
	struct rlimit limit = { FD_LIMIT, FD_LIMIT };
	unsigned int i;

	setitimer(ITIMER_REAL, &none, NULL);
	setrlimit(RLIMIT_NOFILE, &limit);
	end_children();
	close_range(3, HIGH - 1, 0);
	for (i = 0; i < SLOTS; i++) {
		fds[i] = -1;
		twins[i] = -1;
	}
	memory_reset();
	queue_reset();
}

/**
 * engine_run - run a case
 * @c: the case
 *
 * Return: false when it did not end; the process is of no use any more then.
 */
bool engine_run(const struct abi_case *c)
{
	unsigned int i, count = 0, turn = generation + 1;

	current = c;
	begun = 0;
	stop = false;
	for (i = 0; i < c->count; i++)
		actors[thread_of(&c->calls[i])].busy = true;
	/* It tells the others how far it is. */
	actors[0].busy = true;
	for (i = 0; i < options.threads; i++) {
		if (!actors[i].busy)
			continue;
		actors[i].turn = turn;
		count++;
	}
	followed = count > 1;
	running = count;
	generation = turn;
	futex_wake(&generation);
	if (!wait_end()) {
		options.complain(c, "does not end");
		return false;
	}
	tidy();
	atomic_fetch_add(&options.stats->cases, 1);
	return true;
}

/** engine_start - start the threads */
void engine_start(const struct engine_options *wanted)
{
	struct rlimit limit = { FD_LIMIT, FD_LIMIT };
	pthread_t thread;
	int i;

	options = *wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		perror("abi_fuzz: limit of files");
		exit(1);
	}
	/* Before there are threads. */
	partner_start();
	raw_start();
	memory_init();
	catch_all();
	for (i = 0; i < 2; i++)
		options.exchange[i] = fd_high(options.exchange[i]);
	if (has_peer()) {
		own_host = fd_high(open("/proc/self/ns/net", O_RDONLY));
		peer_host = fd_high(open(getenv("LAB_PEER_NETNS"), O_RDONLY));
	}
	running = options.threads;
	for (i = 0; i < options.threads; i++) {
		actors[i].index = i;
		if (pthread_create(&thread, NULL, actor_main, &actors[i])) {
			perror("abi_fuzz: threads");
			exit(1);
		}
	}
	while (running)
		sleep_ms(1);
	tidy();
}
