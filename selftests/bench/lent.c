// SPDX-License-Identifier: GPL-2.0
/*
 * lent.c - memory that the server lends, and lending itself
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grant.h"
#include "region.h"
#include "bench.h"

/* What the server's memory is full of. */
#define LENT 's'

int64_t make_region(char *data, size_t size)
{
	int64_t region = region_register(the_context(), data, size, 0, NULL);

	check(region > 0, "region");
	return region;
}

/* Return: number of the grant */
uint32_t give_grant(struct end *end, uint32_t region, uint32_t rights)
{
	int64_t grant = grant_range(*end->fds, the_context(),
				    &RANGE(region, rights, 0, end->job->size));

	check(grant > 0, "grant");
	return grant;
}

/* Return: number of the grant that comes */
uint32_t take_grant(struct end *end)
{
	struct rdmachan_grant_event event;

	check(grant_next(*end->fds, &event) && event.what == RDMACHAN_GRANT_GIVEN,
	      "being given");
	return event.grant;
}

void lend_grant(struct end *end)
{
	static const uint32_t rights[] = {
		[ACCESS_READ] = MAY_READ,
		[ACCESS_WRITE] = MAY_WRITE,
		[ACCESS_ADD] = MAY_ATOMIC,
	};

	give_grant(end, make_region(end->data, end->job->size), rights[end->job->access]);
}

void give_back_grant(struct end *end, uint32_t grant)
{
	check(!grant_release(*end->fds, grant), "release");
}

/* For as long as they measure. */
void await_back_grant(struct end *end)
{
	struct rdmachan_grant_event event;

	check(!grant_recv(*end->fds, &event, sizeof(event), NULL, NULL), "return");
	check(event.what == RDMACHAN_GRANT_RETURNED && !event.cause, "release");
}

/* READ and others: the client's end */

static void expect_bytes(const char *data, size_t size, char what)
{
	check(*data == what && !memcmp(data, data + 1, size - 1), "data");
}

static uint32_t reach_begin(struct end *end, const struct job *job)
{
	end_connect(end, job);
	return job->way->reach->take(end);
}

static void reach_end(struct end *end, uint32_t grant)
{
	if (end->job->access == ACCESS_READ)
		expect_bytes(end->data, end->job->size, LENT);
	end->job->way->reach->give_back(end, grant);
	/* The server looks at its memory, and closes. */
	end->job->way->recv(*end->fds, end->data, 1);
	end_close(end);
}

void reach_client(struct job *job, unsigned int processes)
{
	unsigned int first = warm_up(job), count = first + job->count;
	uint64_t *samples = make_samples(count);
	struct end end;
	uint32_t grant;

	(void)processes;
	grant = reach_begin(&end, job);
	job->way->reach->trips(&end, grant, count, samples);
	print_result(job, samples, first, 1);
	reach_end(&end, grant);
}

void reach_bulk_client(struct job *job, unsigned int processes)
{
	unsigned int first = warm_up(job);
	struct end end;
	uint32_t grant;
	uint64_t begun;

	(void)processes;
	grant = reach_begin(&end, job);
	job->way->reach->flood(&end, grant, first);
	begun = now_ns();
	job->way->reach->flood(&end, grant, job->count);
	printf("%.3f\n", 1e3 * job->count * job->size / (now_ns() - begun));
	reach_end(&end, grant);
}

/* The server's */

/* It is as the client has left it. */
static void expect_left(const struct job *job, const char *data)
{
	uint64_t sum;

	if (job->access == ACCESS_WRITE)
		expect_bytes(data, job->size, FILL);
	if (job->access != ACCESS_ADD)
		return;
	memcpy(&sum, data, sizeof(sum));
	check(sum == warm_up(job) + job->count, "sum");
}

void reach_server(struct job *job, unsigned int processes)
{
	struct end end;

	(void)processes;
	end_accept(&end, job);
	memset(end.data, job->access == ACCESS_ADD ? 0 : LENT, job->size);
	job->way->reach->lend(&end);
	job->way->reach->await_back(&end);
	expect_left(job, end.data);
	end_close(&end);
}

/* Lending: the client is the owner */

void give_client(struct job *job, unsigned int processes)
{
	unsigned int first = warm_up(job), i;
	uint64_t *samples = make_samples(first + job->count), begun;
	struct end end;
	uint32_t grant, region;

	(void)processes;
	end_connect(&end, job);
	region = make_region(end.data, job->size);
	for (i = 0; i < first + job->count; i++) {
		begun = now_ns();
		grant = give_grant(&end, region, MAY_ALL);
		check(grant_returned(*end.fds, grant, 0), "return");
		samples[i] = now_ns() - begun;
	}
	print_result(job, samples, first, 1);
	end_close(&end);
}

void give_server(struct job *job, unsigned int processes)
{
	unsigned int i, count = warm_up(job) + job->count;
	struct end end;
	char byte;

	(void)processes;
	end_accept(&end, job);
	for (i = 0; i < count; i++)
		check(!grant_release(*end.fds, take_grant(&end)), "release");
	/* A released grant is still under way. */
	job->way->recv(*end.fds, &byte, 1);
	end_close(&end);
}
