/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ioctl.h - a call of a program on its way
 */
#ifndef _RCH_IOCTL_H
#define _RCH_IOCTL_H

#include <linux/types.h>
#include <rdmachan.h>

struct file;

/** union rch_arg - what calls are given: each starts with its size */
union rch_arg {
	u32 size;
	struct rdmachan_info info;
	struct rdmachan_listen_args listen;
	struct rdmachan_accept_args accept;
	struct rdmachan_connect_args connect;
	struct rdmachan_send_args send;
	struct rdmachan_recv_args recv;
	struct rdmachan_shutdown_args shutdown;
	struct rdmachan_finish_args finish;
	struct rdmachan_tune_args tune;
	struct rdmachan_busy_poll_args busy_poll;
	struct rdmachan_query_args query;
	struct rdmachan_list_args list;
	struct rdmachan_queue_create_args queue_create;
	struct rdmachan_enter_args enter;
	struct rdmachan_region_register_args region_register;
	struct rdmachan_region_unregister_args region_unregister;
	struct rdmachan_pool_create_args pool_create;
	struct rdmachan_grant_args grant;
	struct rdmachan_release_args release;
	struct rdmachan_revoke_args revoke;
	struct rdmachan_access_args access;
	struct rdmachan_atomic_args atomic;
};

/**
 * struct rch_until - when a call ends
 * @member: what the program's structure says of it: the call was interrupted before
 * @deadline: as of rch_deadline()
 * @begun: the first part of the call is done, and not to be done again
 */
struct rch_until {
	u64 member;
	unsigned long deadline;
	bool begun;
};

/**
 * struct rch_call - one call on its way
 * @file: on which file
 * @arg: its structure
 * @user: where it came from
 * @user_size: how large it is there
 * @fd: a file descriptor to give out once the structure was copied back
 * @new_file: its file
 * @until: when it ends
 * @until_at: the member for that in the program's structure; NULL if the call has no timeout
 * @copy_back: copy the structure back although the call fails
 * @copied: the structure is with the program already, or has no outputs
 */
struct rch_call {
	struct file *file;
	union rch_arg arg;
	void __user *user;
	u32 user_size;
	int fd;
	struct file *new_file;
	struct rch_until until;
	u64 __user *until_at;
	bool copy_back;
	bool copied;
};

/* ioctl_until.c APIs: process context; may sleep */
int rch_until_begin(struct rch_until *until, u64 member, u32 timeout_ms);
int rch_until_end(const struct rch_until *until, int ret, u64 __user *to);
int rch_call_until(struct rch_call *call, u64 *member, u32 timeout_ms);

/* ioctl_grant.c APIs: process context; may sleep */
int rch_run_grant(struct rch_call *call);
int rch_run_release(struct rch_call *call);
int rch_run_revoke(struct rch_call *call);
int rch_run_read(struct rch_call *call);
int rch_run_write(struct rch_call *call);
int rch_run_atomic(struct rch_call *call);

#endif /* _RCH_IOCTL_H */
