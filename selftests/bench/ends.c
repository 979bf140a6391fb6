// SPDX-License-Identifier: GPL-2.0
/*
 * ends.c - the two ends of a measurement, and their processes
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* How long the server may take to come up. */
#define PATIENCE_NS 60000000000ULL
#define RETRY_US 20000

static int connect_patiently(const struct job *job)
{
	uint64_t until = now_ns() + PATIENCE_NS;
	int fd = job->way->connect(job);

	while (fd < 0 && now_ns() < until) {
		usleep(RETRY_US);
		fd = job->way->connect(job);
	}
	check(fd >= 0, "connect");
	return fd;
}

/* Return: memory that begins with a page and is there, or NULL. */
char *page_memory(size_t size)
{
	char *data;

	size = ((size ?: 1) + PAGE - 1) / PAGE * PAGE;
	data = aligned_alloc(PAGE, size);
	return data ? memset(data, FILL, size) : NULL;
}

/* Without connections. */
void end_begin(struct end *end, const struct job *job)
{
	end->job = job;
	end->listener = -1;
	end->fds = calloc(job->channels, sizeof(*end->fds));
	end->data = page_memory(job->size);
	check(end->fds && end->data, "memory");
}

void end_connect(struct end *end, const struct job *job)
{
	unsigned int i;

	end_begin(end, job);
	for (i = 0; i < job->channels; i++)
		end->fds[i] = connect_patiently(job);
}

void end_accept(struct end *end, const struct job *job)
{
	unsigned int i;

	end_begin(end, job);
	end->listener = job->way->listen(job);
	check(end->listener >= 0, "listen");
	for (i = 0; i < job->channels; i++) {
		end->fds[i] = job->way->accept(end->listener);
		check(end->fds[i] >= 0, "accept");
	}
}

void end_close(struct end *end)
{
	unsigned int i;

	for (i = 0; i < end->job->channels; i++)
		end->job->way->close(end->fds[i]);
	if (end->listener >= 0)
		end->job->way->close(end->listener);
	free(end->fds);
	free(end->data);
}

/* fork(), where no child outlives its parent. */
pid_t child(void)
{
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

void await_child(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) == pid, "wait");
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		exit(CANNOT);
	errno = ECHILD;
	check(WIFEXITED(status) && !WEXITSTATUS(status), "the other process");
}
