// SPDX-License-Identifier: GPL-2.0
/*
 * replay.c - runs the cases that were found, on any kernel, as a test
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "common.h"
#include "abi_fuzz.h"

#define FILE_CASES_MAX 4096

/*
 * Visit the cases of a file, once it is closed: cases close files. Return: false when it
 * cannot be read, or a visit failed.
 */
bool corpus_visit(const char *path, case_visitor visit, void *data)
{
	struct abi_case *cases = calloc(FILE_CASES_MAX, sizeof(*cases));
	FILE *file = fopen(path, "r");
	bool bad = false, ok = file && cases;
	int i, count = 0;

	while (ok && count < FILE_CASES_MAX && case_read(file, &cases[count], &bad))
		count++;
	if (!file || bad || !ok)
		printf("# %s: %s\n", path, bad ? "is no list of cases" : strerror(errno));
	if (file)
		fclose(file);
	for (i = 0; i < count && ok; i++)
		ok = visit(&cases[i], data);
	free(cases);
	return ok && !bad;
}

/* Files of a folder, or the one file. Return: how many */
int corpus_list(const char *dir, char ***names)
{
	struct dirent **entries;
	int i, count = scandir(dir, &entries, NULL, alphasort), used = 0;
	char path[512];

	*names = calloc(count > 0 ? count : 1, sizeof(**names));
	if (count < 0 && errno == ENOTDIR)
		(*names)[used++] = strdup(dir);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			(*names)[used++] = strdup(path);
	}
	return used;
}

static bool complained;

static void complain(const struct abi_case *c, const char *what)
{
	complained = true;
	printf("# %s, in:\n", what);
	case_write(stdout, c);
}

static bool run_case(const struct abi_case *c, void *data)
{
	int *cases = data;

	(*cases)++;
	if (!engine_run(c)) {
		fflush(stdout);
		exit(1);
	}
	return true;
}

static bool replay_file(const char *path, int number)
{
	const char *name = strrchr(path, '/');
	int64_t begun = now_ms();
	int cases = 0;
	bool ok;

	complained = false;
	ok = corpus_visit(path, run_case, &cases) && cases && !complained;
	printf("%sok %d - %s: %d cases in %lld ms\n", ok ? "" : "not ", number,
	       name ? name + 1 : path, cases, (long long)(now_ms() - begun));
	return ok;
}

/**
 * replay - run a corpus
 * @dir: folder of files with cases
 * @word: those whose names hold this; or NULL
 *
 * Return: exit status.
 */
int replay(const char *dir, const char *word)
{
	/* Children and the partner count as well. */
	struct engine_stats *stats = mmap(NULL, sizeof(*stats), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct engine_options options = {
		.threads = THREADS_MAX, .seed = 1, .tick_ms = 30, .limit_ms = 300, .stats = stats,
		.complain = complain,
	};
	int i, count, number = 0, failed = 0, missing;
	char **names;

	count = corpus_list(dir, &names);
	if (stats == MAP_FAILED || !count ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, options.exchange)) {
		printf("not ok 1 - %s has no corpus\n", dir);
		return 1;
	}
	raw_prepare();
	engine_start(&options);
	for (i = 0; i < count; i++)
		if (!word || strstr(names[i], word))
			failed += !replay_file(names[i], ++number);
	missing = reach_report(stats);
	if (!word) {
		failed += missing != 0;
		printf("%sok %d - all that there is to call has succeeded\n",
		       missing ? "not " : "", ++number);
	}
	printf("1..%d\n# %lu calls\n", number, stats->calls);
	return failed || !number;
}
