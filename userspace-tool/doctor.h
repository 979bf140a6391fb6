/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - checks of this machine and of the way to a peer
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "parse.h"
#include "tool.h"

/* Verdicts are exit codes too. */
enum doctor_verdict {
	DOCTOR_OK = 0,
	DOCTOR_WARN = 1,
	DOCTOR_FAIL = 2,
};

/**
 * struct doctor_result - what one check found
 * @verdict: &enum doctor_verdict
 * @check: name of the check
 * @found: what was found
 * @fix: what to do, NULL when nothing
 */
struct doctor_result {
	enum doctor_verdict verdict;
	const char *check;
	char *found;
	char *fix;
};

/**
 * struct doctor - an examination
 * @ctx: context, -1 when there is none
 * @peer: whom to reach, NULL when nobody was named; service 0: the module only
 * @options: of a connection to it
 * @roce: there is a RoCE device
 * @results: what was found
 * @count: how many
 */
struct doctor {
	int ctx;
	const struct target *peer;
	const struct rdmachan_options *options;
	bool roce;
	struct doctor_result *results;
	size_t count;
};

/* Note a result; a fix is added to the last one. */
void doctor_note(struct doctor *doctor, enum doctor_verdict verdict, const char *check,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_fix(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first line of a file; false when it cannot be read. */
bool doctor_read(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* doctor_module.c: the module and its device file; opens @doctor->ctx */
void doctor_module(struct doctor *doctor);
/* doctor_device.c: RDMA devices, their ports and network interfaces */
void doctor_devices(struct doctor *doctor);
/* doctor_limits.c: limits and firewalls */
void doctor_limits(struct doctor *doctor);
/* doctor_peer.c: the way to the peer */
void doctor_peer(struct doctor *doctor);

#endif /* DOCTOR_H */
