/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of the library share
 */
#ifndef RDMACHAN_LIB_INTERNAL_H
#define RDMACHAN_LIB_INTERNAL_H

#include <stdint.h>

#include "librdmachan.h"

#pragma GCC visibility push(hidden)

/* error.c: error records and options, in and out of a call */
uint64_t lib_error_prepare(struct rdmachan_error *err);
int lib_error_finish(struct rdmachan_error *err, int ret);
int lib_error_call(struct rdmachan_error *err, uint32_t op, int ret);
int lib_error_own(struct rdmachan_error *err, uint32_t op, int ret);
int lib_options_check(const struct rdmachan_options *options);

/* channel.c: what a connect is asked with; 0 or -1 */
int lib_connect_fill(struct rdmachan_connect_args *connect, const struct sockaddr *addr,
		     socklen_t addr_len, uint32_t service, const struct rdmachan_options *options,
		     struct rdmachan_error *err);

/* message.c: receiving, with flags of the call */
int lib_recv(int chan, const struct iovec *iov, unsigned int count,
	     struct rdmachan_transfer *transfer, uint32_t flags, uint32_t *found,
	     struct rdmachan_error *err);
int lib_transfer_check(const struct rdmachan_transfer *transfer);

/* grant.c: where the events end and the message begins */
int lib_events_split(void *buffer, uint64_t length, struct rdmachan_events *events);

/* refusal.c: what an errno means that has no cause, and what to do */
struct lib_refusal {
	const char *text;
	const char *hint;
};

const struct lib_refusal *lib_refusal(uint32_t error, uint32_t op);

/* names.c: words that only explanations need */
const char *lib_op_text(uint32_t op);
const char *lib_limit_name(uint64_t limit);
const char *lib_errno_name(uint32_t error);
const char *lib_errno_text(uint32_t error);
const char *lib_signal_name(uint64_t signal);
const char *lib_wc_status_text(uint32_t status);
const char *lib_cm_event_text(uint32_t event);
const char *lib_reject_text(int32_t reason);

#pragma GCC visibility pop

#endif /* RDMACHAN_LIB_INTERNAL_H */
