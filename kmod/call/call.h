/* SPDX-License-Identifier: GPL-2.0 */
/*
 * call.h - what a call of a program and an operation of its queue have in common
 *
 * What a program says is looked at and copied here, whichever way it has come; an object that is
 * made for it gets its file here, and why nothing is made is told here. All of it in process
 * context of the program, but where told otherwise; it may sleep.
 */
#ifndef _RCH_CALL_H
#define _RCH_CALL_H

#include <linux/fs.h>
#include <linux/types.h>
#include <rdmachan.h>

struct iov_iter;
struct iovec;
struct net;
struct rch_chan;
struct rch_charge;
struct rch_grant_call;

#define RCH_FD_F_ALL (RDMACHAN_FD_F_CLOEXEC | RDMACHAN_FD_F_NONBLOCK)

/** enum rch_file_kind - what a program has a file for */
enum rch_file_kind {
	RCH_FILE_CTX,
	RCH_FILE_LISTENER,
	RCH_FILE_CHAN,
	RCH_FILE_QUEUE,
	RCH_FILES,
};

/* call_file.c APIs */
void rch_files_init(const struct file_operations *const fops[RCH_FILES]);
bool rch_file_is(const struct file *file, enum rch_file_kind kind);
struct file *rch_file_create(enum rch_file_kind kind, void *object, u32 flags);
int rch_import(int direction, u64 ptr, u32 count, struct iovec *fast, u32 fast_count,
	       struct iovec **iov, struct iov_iter *iter);

/* call_error.c APIs */
int rch_error_check(u64 ptr);
int rch_error_out(u64 ptr, const struct rdmachan_error *error);
int rch_refused(int ret, u64 ptr, struct rdmachan_error *error);
void rch_chan_error_out(struct rch_chan *chan, u64 ptr, int ret);

/* call_connect.c APIs */
int rch_connect_check(struct rdmachan_connect_args *connect);
u32 rch_connect_timeout(const struct rdmachan_connect_args *connect);
unsigned long rch_connect_deadline(const struct rdmachan_connect_args *connect);
struct rch_chan *rch_connect_chan(struct net *net, const struct rch_charge *owner,
				  const struct rdmachan_connect_args *connect,
				  unsigned long deadline);
void rch_connect_failed(struct rch_chan *chan, const struct rdmachan_connect_args *connect,
			int ret);

/* call_grant.c APIs */
struct rch_grant_call *rch_grant_call_make(struct rch_chan *chan,
					   const struct rdmachan_grant_args *grant);
int rch_grant_call_give(struct rch_grant_call *gc, bool nonblock, unsigned long deadline);
void rch_grant_call_free(struct rch_grant_call *gc);

/** rch_service_valid - whether a service may have this number */
static inline bool rch_service_valid(u32 service)
{
	return service && service != U32_MAX;
}

/** rch_shutdown_ok - whether a program may ask for this */
static inline bool rch_shutdown_ok(u32 how)
{
	if (how == RDMACHAN_SHUTDOWN_ABORT)
		return true;
	return how && !(how & ~(RDMACHAN_SHUTDOWN_RECV | RDMACHAN_SHUTDOWN_SEND));
}

#endif /* _RCH_CALL_H */
