/* SPDX-License-Identifier: GPL-2.0 */
/*
 * peer_host.h - the host under peer_fuzz.c: an adapter, memory, limits
 */
#ifndef _RCH_PEER_HOST_H
#define _RCH_PEER_HOST_H

#include "channel/chan.h"

/** HOST_REGION - bytes of the program's only region */
#define HOST_REGION 131072U
/** HOST_PIECE - bytes that a key of the adapter is for, when a message is written here */
#define HOST_PIECE 49152U
/** HOST_SHIFT - size of the pieces that a grant has keys for */
#define HOST_SHIFT 14U

/**
 * struct host - what the script lets the adapter do, and its past work
 * @slow: what the adapter is given takes until host_adapter_done()
 * @busy: accesses of the peer's memory wait for their turn
 * @nomem: the allocation that fails, counted down; 0: none does
 * @wrap: the module's numbers begin just before their wrap
 * @by_device: the adapter does atomic operations
 * @drained: the adapter does nothing any more
 * @users: of the path
 * @uses: of the region
 * @atomics: grants of the region that allow atomic operations
 * @lent: memory regions that the peer has keys of
 * @region: bytes of the program's region
 * @sent: a frame was handed to the adapter
 */
struct host {
	bool slow;
	bool busy;
	u32 nomem;
	bool wrap;
	bool by_device;
	bool drained;
	u32 users;
	u32 uses;
	u32 atomics;
	u32 lent;
	u8 *region;
	void (*sent)(const struct rch_txf *txf);
};

extern struct host host;

void host_begin(void (*sent)(const struct rch_txf *txf));
void host_end(void);
bool host_adapter_done(void);
bool host_access_done(int ret);
struct rch_regions *host_regions(void);
struct rch_region *host_region(void);
void host_register(struct rch_link *link);

#endif /* _RCH_PEER_HOST_H */
