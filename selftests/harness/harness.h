/* SPDX-License-Identifier: GPL-2.0 */
/*
 * harness.h - tests in C that speak KTAP
 *
 * The names are those of the kernel's kselftest_harness.h, so that the tests read as others do, and
 * so are the exit codes. Each test runs in a child with its own process group and a time limit;
 * whatever it leaves behind is killed with it.
 */
#ifndef RDMACHAN_HARNESS_H
#define RDMACHAN_HARNESS_H

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HARNESS_SKIPPED 4
#define HARNESS_TIMEOUT_S 60
#define HARNESS_REASON 128

struct harness_test {
	const char *name;
	void (*run)(void);
	int timeout_s;
	struct harness_test *next;
	/* Which row of its table it is for, of those that have one. */
	int row;
};

enum harness_result { HARNESS_PASS, HARNESS_FAIL, HARNESS_SKIP };

static struct harness_test *harness_first, **harness_last = &harness_first;
static int harness_failures;
/* Why the test that runs was skipped; it tells its parent here. */
static char *harness_reason;
/* Which signals were blocked before the harness blocked its own. */
static sigset_t harness_signals;

static inline void harness_add(struct harness_test *test)
{
	*harness_last = test;
	harness_last = &test->next;
}

#define HARNESS_ADD(id, title, limit)						\
	static void __attribute__((constructor)) harness_add_##id(void)	\
	{									\
		static struct harness_test test = { title, id, limit, NULL };	\
		harness_add(&test);						\
	}

#define TEST_TIMEOUT(name, limit)						\
	static void test_##name(void);						\
	HARNESS_ADD(test_##name, #name, limit)					\
	static void test_##name(void)

#define TEST(name) TEST_TIMEOUT(name, HARNESS_TIMEOUT_S)

#define FIXTURE(name) struct fixture_##name
#define FIXTURE_SETUP(name) static void setup_##name(struct fixture_##name *self)
#define FIXTURE_TEARDOWN(name)							\
	static void teardown_##name(struct fixture_##name *self)

#define TEST_F_TIMEOUT(fixture, name, limit)					\
	static void body_##fixture##_##name(struct fixture_##fixture *self);	\
	static void test_##fixture##_##name(void)				\
	{									\
		struct fixture_##fixture self;					\
										\
		memset(&self, 0, sizeof(self));					\
		setup_##fixture(&self);						\
		body_##fixture##_##name(&self);					\
		teardown_##fixture(&self);					\
	}									\
	HARNESS_ADD(test_##fixture##_##name, #fixture "." #name, limit)		\
	static void body_##fixture##_##name(					\
		struct fixture_##fixture *self __attribute__((unused)))

#define TEST_F(fixture, name) TEST_F_TIMEOUT(fixture, name, HARNESS_TIMEOUT_S)

/* The row of the test that runs. */
static int harness_row;

static inline void harness_add_row(const char *title, const char *row_name, int row,
				   void (*run)(void), int limit)
{
	struct harness_test *test = calloc(1, sizeof(*test));
	char *name = NULL;

	if (!test || asprintf(&name, "%s.%s", title, row_name) < 0)
		abort();
	*test = (struct harness_test){ name, run, limit, NULL, row };
	harness_add(test);
}

/*
 * A test for each row of @table, an array whose elements have a @name: FIXTURE.NAME.ROW. The test
 * finds its row in @row.
 */
#define TEST_F_ROWS(fixture, id, table)						\
	static void body_##fixture##_##id(struct fixture_##fixture *self,	\
					  const __typeof__(*(table)) *row);	\
	static void test_##fixture##_##id(void)					\
	{									\
		struct fixture_##fixture self;					\
										\
		memset(&self, 0, sizeof(self));					\
		setup_##fixture(&self);						\
		body_##fixture##_##id(&self, &(table)[harness_row]);		\
		teardown_##fixture(&self);					\
	}									\
	static void __attribute__((constructor)) harness_add_##fixture##_##id(void) \
	{									\
		size_t i;							\
										\
		for (i = 0; i < sizeof(table) / sizeof(*(table)); i++)		\
			harness_add_row(#fixture "." #id, (table)[i].name, i,	\
					test_##fixture##_##id, HARNESS_TIMEOUT_S); \
	}									\
	static void body_##fixture##_##id(					\
		struct fixture_##fixture *self __attribute__((unused)),		\
		const __typeof__(*(table)) *row)

static inline void harness_end(void)
{
	fflush(stdout);
	_exit(1);
}

#define HARNESS_CHECK(a, op, b, fatal)						\
	do {									\
		__typeof__((a) + 0) have_ = (a);				\
		int errno_ = errno;						\
		__typeof__((b) + 0) want_ = (b);				\
										\
		if (!(have_ op want_)) {					\
			printf("# %s:%d: want %s %s %s: have %lld and %lld, errno %d (%s)\n", \
			       __FILE__, __LINE__, #a, #op, #b,			\
			       (long long)have_, (long long)want_, errno_,	\
			       strerror(errno_));				\
			fflush(stdout);						\
			harness_failures++;					\
			if (fatal)						\
				harness_end();					\
		}								\
	} while (0)

#define ASSERT_EQ(a, b) HARNESS_CHECK(a, ==, b, true)
#define ASSERT_NE(a, b) HARNESS_CHECK(a, !=, b, true)
#define ASSERT_GE(a, b) HARNESS_CHECK(a, >=, b, true)
#define ASSERT_GT(a, b) HARNESS_CHECK(a, >, b, true)
#define ASSERT_LE(a, b) HARNESS_CHECK(a, <=, b, true)
#define ASSERT_LT(a, b) HARNESS_CHECK(a, <, b, true)
#define ASSERT_TRUE(a) HARNESS_CHECK(!!(a), ==, true, true)
#define EXPECT_EQ(a, b) HARNESS_CHECK(a, ==, b, false)
#define EXPECT_NE(a, b) HARNESS_CHECK(a, !=, b, false)
#define EXPECT_GE(a, b) HARNESS_CHECK(a, >=, b, false)
#define EXPECT_GT(a, b) HARNESS_CHECK(a, >, b, false)
#define EXPECT_LE(a, b) HARNESS_CHECK(a, <=, b, false)
#define EXPECT_LT(a, b) HARNESS_CHECK(a, <, b, false)
#define EXPECT_TRUE(a) HARNESS_CHECK(!!(a), ==, true, false)

/* A call fails, and with this errno. */
#define ASSERT_ERR(call, err)							\
	do {									\
		errno = 0;							\
		ASSERT_EQ((call), -1);						\
		ASSERT_EQ(errno, err);						\
	} while (0)
#define EXPECT_ERR(call, err)							\
	do {									\
		errno = 0;							\
		EXPECT_EQ(((call) == -1 ? errno : 0), err);			\
	} while (0)

#define SKIP(reason)								\
	do {									\
		snprintf(harness_reason, HARNESS_REASON, "%s", reason);		\
		fflush(stdout);							\
		_exit(harness_failures ? 1 : HARNESS_SKIPPED);			\
	} while (0)

static inline void harness_child(struct harness_test *test)
{
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &harness_signals, NULL);
	harness_row = test->row;
	test->run();
	fflush(stdout);
	_exit(harness_failures ? 1 : 0);
}

/* One task, when it waits in a way that no signal ends: where. */
static inline void harness_show_stack(const char *pid)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return;
	if (!fgets(line, sizeof(line), file) || !strstr(line, ") D "))
		*line = 0;
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%.16s/stack", pid);
	file = *line ? fopen(path, "r") : NULL;
	if (!file)
		return;
	printf("# waits: %.*s\n", (int)(strstr(line, ") D ") - line + 1), line);
	while (fgets(line, sizeof(line), file))
		printf("#   %s", line);
	fclose(file);
}

/* What a test that takes too long waits for; of use to whoever reads the log. */
static inline void harness_show_stacks(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			harness_show_stack(entry->d_name);
	if (proc)
		closedir(proc);
	fflush(stdout);
}

/* The rest of @timeout_s seconds since @begun; never negative. */
static inline struct timespec harness_left(const struct timespec *begun, int timeout_s)
{
	struct timespec now, left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left.tv_sec = begun->tv_sec + timeout_s - now.tv_sec;
	left.tv_nsec = begun->tv_nsec - now.tv_nsec;
	if (left.tv_nsec < 0) {
		left.tv_sec--;
		left.tv_nsec += 1000000000;
	}
	if (left.tv_sec < 0)
		left = (struct timespec){ 0, 0 };
	return left;
}

/* Wait for the test; returns its status, or -1 when it took too long. SIGCHLD is blocked. */
static inline int harness_wait(pid_t child, int timeout_s)
{
	struct timespec begun, left;
	sigset_t signals;
	int status = -1;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (waitpid(child, &status, WNOHANG) != child) {
		status = -1;
		left = harness_left(&begun, timeout_s);
		if (!left.tv_sec && !left.tv_nsec)
			break;
		sigtimedwait(&signals, NULL, &left);
	}
	if (status == -1)
		harness_show_stacks();
	/* Its own children too; when they are reaped their files are closed. */
	kill(-child, SIGKILL);
	kill(child, SIGKILL);
	while (waitpid(-child, NULL, 0) > 0)
		;
	return status;
}

/* How many times slower than others a bed is, as tests.list says: so much longer tests may take. */
static inline int harness_slow(void)
{
	const char *slow = getenv("SLOW");
	int times = slow ? atoi(slow) : 1;

	return times > 0 ? times : 1;
}

static inline enum harness_result harness_run(struct harness_test *test, int number)
{
	time_t begun = time(NULL);
	int status;
	pid_t child;

	fflush(stdout);
	*harness_reason = '\0';
	child = fork();
	if (!child)
		harness_child(test);
	setpgid(child, child);
	status = harness_wait(child, test->timeout_s * harness_slow());
	if (status == -1)
		printf("# %s: took longer than %d s\n", test->name,
		       test->timeout_s * harness_slow());
	else if (WIFSIGNALED(status))
		printf("# %s: ended by signal %d\n", test->name, WTERMSIG(status));
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == HARNESS_SKIPPED) {
		printf("ok %d %s # SKIP %s\n", number, test->name, harness_reason);
		return HARNESS_SKIP;
	}
	printf("%sok %d %s # %d s\n", status ? "not " : "", number, test->name,
	       (int)(time(NULL) - begun));
	return status ? HARNESS_FAIL : HARNESS_PASS;
}

/* Arguments are words; tests whose name holds one of them run, or all. */
static inline bool harness_wanted(const struct harness_test *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strstr(test->name, argv[i]))
			return true;
	return argc < 2;
}

/* How many letters of @word have to be added, taken away or changed, so that @name holds it. */
static inline int harness_distance(const char *word, const char *name)
{
	int row[128], before, above, best, i, len = strlen(word);

	for (i = 0; i <= len; i++)
		row[i] = i;
	for (best = len; *name; name++) {
		before = 0;
		for (i = 1; i <= len; i++) {
			above = row[i];
			row[i] = before + (word[i - 1] != *name);
			row[i] = row[i] > above + 1 ? above + 1 : row[i];
			row[i] = row[i] > row[i - 1] + 1 ? row[i - 1] + 1 : row[i];
			before = above;
		}
		best = row[len] < best ? row[len] : best;
	}
	return best;
}

/* Return: whether a test's name holds @word; if not, the nearest name is told. */
static inline bool harness_knows(const char *program, const char *word)
{
	const struct harness_test *test, *nearest = harness_first;
	int distance, best = 1000;

	for (test = harness_first; test; test = test->next) {
		if (strstr(test->name, word))
			return true;
		distance = harness_distance(word, test->name);
		if (distance < best) {
			best = distance;
			nearest = test;
		}
	}
	fprintf(stderr, "%s: no test has '%s' in its name; did you mean '%s'?\n"
		"usage: %s [WORD...]    runs the tests whose names hold a word, or all\n",
		program, word, nearest ? nearest->name : "", program);
	return false;
}

/*
 * Return: 0 all passed, 1 something failed or nothing could run, 4 all were skipped; as the
 * kernel's own tests do.
 */
static inline int harness_main(int argc, char **argv)
{
	int i, count = 0, results[3] = { 0 };
	struct harness_test *test;
	sigset_t signals;

	for (i = 1; i < argc; i++)
		if (strlen(argv[i]) > 100 || !harness_knows(argv[0], argv[i]))
			return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	harness_reason = mmap(NULL, HARNESS_REASON, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (harness_reason == MAP_FAILED)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &harness_signals);
	for (test = harness_first; test; test = test->next)
		count += harness_wanted(test, argc, argv);
	printf("TAP version 13\n1..%d\n", count);
	count = 0;
	for (test = harness_first; test; test = test->next)
		if (harness_wanted(test, argc, argv))
			results[harness_run(test, ++count)]++;
	printf("# Totals: pass:%d fail:%d xfail:0 xpass:0 skip:%d error:0\n",
	       results[HARNESS_PASS], results[HARNESS_FAIL], results[HARNESS_SKIP]);
	if (results[HARNESS_FAIL] || !count)
		return 1;
	return results[HARNESS_PASS] ? 0 : HARNESS_SKIPPED;
}

#define TEST_HARNESS_MAIN							\
	int main(int argc, char **argv)						\
	{									\
		return harness_main(argc, argv);				\
	}

#endif /* RDMACHAN_HARNESS_H */
