// SPDX-License-Identifier: GPL-2.0
/*
 * campaign.c - makes cases, runs them, and keeps those that execute something new
 *
 * Some processes do so side by side; what they found and the code that was executed are in memory
 * that they share. A case that executes a new place is made smaller, and stays; one that
 * only goes a new way between places is kept as it is, for this campaign. Where the kernel
 * does not tell what is executed, cases are made of those of the corpus.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "abi_fuzz.h"

#define KEPT_MAX 8192
/* Cases in one file of the corpus. */
#define PACK 64
#define BITMAP_WORDS (32UL << 10)
#define REPORT_S 20
#define SILENT_S 60

struct kept {
	atomic_bool ready;
	bool stays;
	struct abi_case c;
};

/**
 * struct shared - what the processes share
 * @stats: of all
 * @kept_count: cases that were kept
 * @stay_count: and those of them that stay
 * @kept: those
 * @seen: a bit for each address of the module that was executed
 * @steps_seen: the same for ways from one to the next
 * @beats: of each process, when it ended its last case
 * @doing: and the case that it runs now
 */
struct shared {
	struct engine_stats stats;
	atomic_uint kept_count;
	atomic_uint stay_count;
	struct kept kept[KEPT_MAX];
	atomic_uint_least64_t seen[BITMAP_WORDS];
	atomic_uint_least64_t steps_seen[COVER_STEPS / 64];
	atomic_long beats[PROCS_MAX];
	struct abi_case doing[PROCS_MAX];
};

static const struct campaign *campaign;
static struct shared *shared;
static int self;
static uint64_t executed[BITMAP_WORDS];
static uint64_t steps[COVER_STEPS / 64];
static uint64_t seed;

/* A file of the out folder that lines are added to. */
static FILE *out_file(const char *name)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", campaign->out, name);
	file = fopen(path, "a");
	if (!file)
		perror(path);
	return file;
}

static void finding(const struct abi_case *c, const char *what)
{
	FILE *file;

	/* The first dozens tell what there is to tell. */
	if (shared->stats.complaints > 200)
		return;
	printf("# process %d: %s\n", self, what);
	file = out_file("findings");
	if (!file)
		return;
	fprintf(file, "# %s\n", what);
	case_write(file, c);
	fclose(file);
}

/* Words that the module needs. */
static size_t words(void)
{
	return cover_size() / 64 + 1;
}

static void run_one(const struct abi_case *c)
{
	int i;

	shared->doing[self] = *c;
	shared->beats[self] = now_ms();
	if (!engine_run(&shared->doing[self])) {
		printf("# process %d: a case does not end\n", self);
		fflush(stdout);
		_exit(1);
	}
	memset(executed, 0, words() * sizeof(*executed));
	memset(steps, 0, sizeof(steps));
	for (i = 0; i < campaign->threads; i++)
		cover_collect(engine_actor(i), executed, steps);
}

/* What of @bits, of @count words, is new. Return: whether there is any. */
static bool is_new(atomic_uint_least64_t *seen, const uint64_t *bits, uint64_t *fresh,
		   size_t count)
{
	bool any = false;
	uint64_t before;
	size_t i;

	for (i = 0; i < count; i++) {
		fresh[i] = 0;
		before = atomic_load_explicit(&seen[i], memory_order_relaxed);
		if (!(bits[i] & ~before))
			continue;
		fresh[i] = bits[i] & ~atomic_fetch_or(&seen[i], bits[i]);
		any |= fresh[i];
	}
	return any;
}

/* Whether @c executes all of @wanted, once in two times. */
static bool executes(const struct abi_case *c, const uint64_t *wanted)
{
	size_t i, count = words();
	int tries;

	for (tries = 0; tries < 2; tries++) {
		run_one(c);
		for (i = 0; i < count && !(wanted[i] & ~executed[i]); i++)
			;
		if (i == count)
			return true;
	}
	return false;
}

static bool try_instead(struct abi_case *c, const struct abi_case *other, const uint64_t *wanted)
{
	if (!memcmp(c, other, sizeof(*c)) || !executes(other, wanted))
		return false;
	*c = *other;
	return true;
}

/* Leave out, and make plain, parts that do not matter. */
static void minimise(struct abi_case *c, const uint64_t *wanted)
{
	struct abi_case less;
	unsigned int i, value;

	for (i = c->count; i-- && c->count > 1;) {
		less = *c;
		case_drop_call(&less, i);
		memset(&less.calls[less.count], 0, sizeof(*less.calls));
		try_instead(c, &less, wanted);
	}
	for (i = 0; i < c->count; i++) {
		less = *c;
		less.calls[i].times = 0;
		less.calls[i].thread = 0;
		try_instead(c, &less, wanted);
		less = *c;
		memset(less.calls[i].value, 0, VALUES);
		if (try_instead(c, &less, wanted))
			continue;
		for (value = 0; value < VALUES; value++) {
			less = *c;
			less.calls[i].value[value] = 0;
			try_instead(c, &less, wanted);
		}
	}
}

static void keep(const struct abi_case *c, bool stays)
{
	unsigned int place = atomic_fetch_add(&shared->kept_count, 1);
	FILE *file;

	if (place >= KEPT_MAX)
		return;
	shared->kept[place].c = *c;
	shared->kept[place].stays = stays;
	shared->kept[place].ready = true;
	if (!stays)
		return;
	atomic_fetch_add(&shared->stay_count, 1);
	/* At once: the machine may not live to the end. */
	file = out_file("kept");
	if (!file)
		return;
	case_write(file, c);
	fflush(file);
	fsync(fileno(file));
	fclose(file);
}

/* Return: whether the case stays. */
static bool judge(struct abi_case *c, bool smaller)
{
	static uint64_t fresh[BITMAP_WORDS], fresh_steps[COVER_STEPS / 64];
	bool goes_new_way = is_new(shared->steps_seen, steps, fresh_steps, COVER_STEPS / 64);

	if (is_new(shared->seen, executed, fresh, words())) {
		/* A finding that does not happen again was a matter of chance. */
		if (smaller && executes(c, fresh))
			minimise(c, fresh);
		keep(c, true);
		return true;
	}
	if (goes_new_way)
		keep(c, false);
	return false;
}

static bool judge_given(const struct abi_case *given, void *unused)
{
	struct abi_case c = *given;
	int tries = 3;

	(void)unused;
	if (!cover_there()) {
		keep(&c, true);
		return true;
	}
	/* Some of it may be a matter of chance. */
	do {
		run_one(&c);
	} while (!judge(&c, false) && --tries);
	return true;
}

static void load_corpus(const char *dir)
{
	char **names;
	int i, count = corpus_list(dir, &names);

	for (i = 0; i < count; i++)
		corpus_visit(names[i], judge_given, NULL);
}

/* Young ones first: they have had fewer children. */
static const struct abi_case *some_kept(void)
{
	unsigned int count = shared->kept_count, at;

	if (count > KEPT_MAX)
		count = KEPT_MAX;
	if (!count)
		return NULL;
	at = next_random(&seed) % count;
	if (next_random(&seed) % 3 == 0)
		at = count - 1 - at / 8;
	return shared->kept[at].ready ? &shared->kept[at].c : NULL;
}

static void fuzz_once(void)
{
	const struct abi_case *parent = some_kept(), *other = some_kept();
	struct abi_case c;

	if (!parent || !other || next_random(&seed) % 8 == 0) {
		case_make(&c, &seed);
	} else {
		c = *parent;
		case_mutate(&c, other, &seed);
		memset(&c.calls[c.count], 0, (CALLS_MAX - c.count) * sizeof(*c.calls));
	}
	run_one(&c);
	judge(&c, true);
}

/* A process that fuzzes until @until, or only loads the corpus when that is 0. */
static pid_t start_process(int number, const int exchange[2], int64_t until)
{
	struct engine_options options = {
		.threads = campaign->threads, .proc = number, .seed = campaign->seed,
		.tick_ms = 5, .limit_ms = 150,
		.exchange = { exchange[0], exchange[1] }, .stats = &shared->stats,
		.cover = cover_there(), .complain = finding,
	};
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	self = number;
	seed = campaign->seed + number * 1000003ULL;
	engine_start(&options);
	if (!until && campaign->corpus)
		load_corpus(campaign->corpus);
	while (now_ms() < until)
		fuzz_once();
	_exit(0);
}

static unsigned int seen_count(void)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < BITMAP_WORDS; i++)
		count += __builtin_popcountll(shared->seen[i]);
	return count;
}

static void report(const char *head, int64_t begun)
{
	double seconds = (now_ms() - begun) / 1000.0;
	unsigned long calls = shared->stats.calls;

	printf("%s: %lu calls in %.0f s (%.0f/s), %lu cases, %lu cut short, %u of %u kept stay, %u places, %lu complaints\n",
	       head, calls, seconds, seconds > 0 ? calls / seconds : 0,
	       shared->stats.cases, shared->stats.cut, shared->stay_count,
	       shared->kept_count, seen_count(), shared->stats.complaints);
	fflush(stdout);
}

/* A process that has said nothing for long: where are its threads? */
static bool is_silent(pid_t child, int number)
{
	char command[128];

	if (now_ms() - shared->beats[number] < SILENT_S * 1000)
		return false;
	finding(&shared->doing[number], "a process does not go on");
	snprintf(command, sizeof(command), "cat /proc/%d/task/*/stack", child);
	if (system(command))
		printf("# no stacks\n");
	kill(child, SIGKILL);
	return true;
}

/* Return: how many processes failed. */
static int await_processes(pid_t *children, int count, int64_t begun)
{
	int64_t next = now_ms() + REPORT_S * 1000;
	int i, left = count, failed = 0;
	int status;

	while (left) {
		for (i = 0; i < count; i++) {
			if (!children[i])
				continue;
			if (waitpid(children[i], &status, WNOHANG) != children[i]) {
				failed += is_silent(children[i], i);
				continue;
			}
			children[i] = 0;
			failed += status != 0;
			left--;
		}
		sleep_ms(100);
		if (now_ms() < next)
			continue;
		next += REPORT_S * 1000;
		report("# so far", begun);
	}
	return failed;
}

/* The corpus anew, in files of some cases each. */
static void write_corpus(void)
{
	unsigned int i, written = 0;
	FILE *file = NULL;
	char name[32];

	for (i = 0; i < KEPT_MAX; i++) {
		if (!shared->kept[i].stays)
			continue;
		if (written % PACK == 0) {
			if (file)
				fclose(file);
			snprintf(name, sizeof(name), "corpus/cases-%02u", written / PACK);
			file = out_file(name);
		}
		if (file)
			case_write(file, &shared->kept[i].c);
		written++;
	}
	if (file)
		fclose(file);
}

/* Where in the module's code, for addr2line. */
static void write_places(void)
{
	FILE *file = out_file("places");
	size_t i;

	for (i = 0; file && i < cover_size(); i++)
		if (shared->seen[i / 64] >> i % 64 & 1)
			fprintf(file, "0x%zx\n", i);
	if (file)
		fclose(file);
}

/* An old corpus is judged by what is in it, before anything new is tried. */
static int load_and_fuzz(int exchange[2], int64_t begun)
{
	pid_t children[PROCS_MAX];
	int i, failed;

	shared->beats[0] = now_ms();
	children[0] = start_process(0, exchange, 0);
	failed = await_processes(children, 1, begun);
	report("loaded", begun);
	for (i = 0; i < campaign->procs && !failed; i++) {
		shared->beats[i] = now_ms();
		children[i] = start_process(i, exchange,
					    begun + campaign->seconds * 1000LL);
	}
	return failed + await_processes(children, i, begun);
}

/** campaign_run - fuzz. Return: exit status */
int campaign_run(const struct campaign *wanted)
{
	int64_t begun = now_ms();
	int exchange[2], failed;
	char path[256];

	campaign = wanted;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_DGRAM, 0, exchange)) {
		perror("abi_fuzz");
		return 1;
	}
	if (!cover_find_module() || words() > BITMAP_WORDS) {
		printf("# the module is not loaded, or larger than was thought\n");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/corpus", campaign->out);
	mkdir(path, 0755);
	raw_prepare();
	failed = load_and_fuzz(exchange, begun);
	write_corpus();
	write_places();
	reach_report(&shared->stats);
	report("abi_fuzz", begun);
	return failed || shared->stats.complaints;
}
