/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inject.h - faults on purpose, on any kernel
 *
 * A fault is off until root asks for it in debugfs. Code that can have one asks here
 * whether this is the moment; what then happens is its own matter. While no fault is on,
 * asking is the reading of one flag.
 */
#ifndef _RCH_INJECT_H
#define _RCH_INJECT_H

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/types.h>

struct seq_file;

/**
 * enum rch_fault - what can be made to go wrong; those of frames come first
 * @RCH_FAULT_DROP: a frame that came is lost
 * @RCH_FAULT_DUPLICATE: a frame comes twice
 * @RCH_FAULT_CORRUPT: a byte of a frame that came is another
 * @RCH_FAULT_DELAY: a frame comes late, and those behind it not earlier
 * @RCH_FAULT_REORDER: a frame comes behind the next one
 * @RCH_FAULT_KILL: the queue pair fails
 * @RCH_FAULT_ADDRESS: the connection manager tells that the own hardware address has changed
 * @RCH_FAULT_FATAL: the adapter's driver tells that the adapter has failed
 * @RCH_FAULT_WITHHOLD: the peer is not told that a buffer is free again
 * @RCH_FAULT_FORGET: the adapter has done an atomic operation, and has no result
 * @RCH_FAULT_BOUNCE: the adapter reaches memory through bounce buffers only
 * @RCH_FAULT_SLOW: the adapter takes its time to give a memory region back
 * @RCH_FAULT_WRAP: the indices of a ring, and the serials of a channel, are about to wrap when
 *	it is made
 * @RCH_FAULT_FOREIGN: rxe counts as an adapter of which nothing is known
 * @RCH_FAULT_NOMEM: an allocation fails
 * @RCH_FAULTS: how many there are
 */
enum rch_fault {
	RCH_FAULT_DROP,
	RCH_FAULT_DUPLICATE,
	RCH_FAULT_CORRUPT,
	RCH_FAULT_DELAY,
	RCH_FAULT_REORDER,
	RCH_FAULT_KILL,
	RCH_FAULT_ADDRESS,
	RCH_FAULT_FATAL,
	RCH_FAULT_WITHHOLD,
	RCH_FAULT_FORGET,
	RCH_FAULT_BOUNCE,
	RCH_FAULT_SLOW,
	RCH_FAULT_WRAP,
	RCH_FAULT_FOREIGN,
	RCH_FAULT_NOMEM,
	RCH_FAULTS,
};

/** enum rch_site - what an allocation is for; the names are in inject.c */
enum rch_site {
	RCH_SITE_ANY,
	RCH_SITE_CONTEXT,
	RCH_SITE_LISTENER,
	RCH_SITE_PORT,
	RCH_SITE_CHANNEL,
	RCH_SITE_OBJECT,
	RCH_SITE_LINK,
	RCH_SITE_LANE,
	RCH_SITE_VERBS,
	RCH_SITE_RING,
	RCH_SITE_PAGE,
	RCH_SITE_FRAME,
	RCH_SITE_ITEM,
	RCH_SITE_SEGMENT,
	RCH_SITE_REGION,
	RCH_SITE_WRITE,
	RCH_SITE_PIN,
	RCH_SITE_QUEUE,
	RCH_SITE_PLACE,
	RCH_SITE_GRANT,
	RCH_SITES,
};

/*
 * A flag and not a static key: under QEMU's emulation a processor can keep the breakpoint
 * of a code patch for ever, and hang in it (Documentation/testing.rst). The flag is in a
 * cache line that is only read.
 */
extern bool rch_inject_any;

/* inject.c APIs: any context */
bool rch_inject_hits(enum rch_fault fault, u32 where, u32 *value);
bool rch_inject_armed(enum rch_fault fault);
void rch_inject_held(int frames);

/* inject.c APIs: may sleep */
int rch_inject_set(enum rch_fault fault, char *text);
void rch_inject_show(struct seq_file *file, enum rch_fault fault);
void rch_inject_show_total(struct seq_file *file);
void rch_inject_stop(void);
const char *rch_inject_name(enum rch_fault fault);

/** rch_inject_on - whether any fault is on */
static inline bool rch_inject_on(void)
{
#ifdef RCH_INJECT
	return unlikely(READ_ONCE(rch_inject_any));
#else
	return false;
#endif
}

/** rch_first_number - where what counts to 2^32 begins: at 0, but for a test of its wrap */
static inline u32 rch_first_number(void)
{
	return rch_inject_on() && rch_inject_hits(RCH_FAULT_WRAP, 0, NULL) ? -5 : 0;
}

/** rch_no_memory - whether an allocation shall fail */
static inline bool rch_no_memory(enum rch_site site)
{
	return rch_inject_on() && rch_inject_hits(RCH_FAULT_NOMEM, site, NULL);
}

/** rch_try - what @alloc gets, or NULL when it shall fail */
#define rch_try(site, alloc) (rch_no_memory(site) ? NULL : (alloc))

/** rch_try_verb - the same for what the RDMA core makes, which fails with an ERR_PTR() */
#define rch_try_verb(alloc) (rch_no_memory(RCH_SITE_VERBS) ? ERR_PTR(-ENOMEM) : (alloc))

#endif /* _RCH_INJECT_H */
