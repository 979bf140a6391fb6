/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hostile_verbs.h - a peer of the module that is a program: one queue pair, and as much
 * of the protocol as an honest peer needs
 *
 * Sent frames are the caller's. A frame is built honestly, may then be spoiled in any
 * way, and goes out as it is. Received frames are always taken as an honest peer takes them.
 *
 * The program's own contexts and channels are of this host, and the peer's ids and queue pair of
 * the other one, if there is one; or, with @here, the other way round.
 */
#ifndef RDMACHAN_HOSTILE_VERBS_H
#define RDMACHAN_HOSTILE_VERBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "../../kmod/pure/credit.h"
#include "../../kmod/proto/grant.h"
#include "../../kmod/proto/wire.h"

#define HOSTILE_PORT 7599
#define HOSTILE_DEPTH 64
#define HOSTILE_BUFFER 16384U
/* Larger than any frame, to lie with. */
#define HOSTILE_FRAME (72U << 10)
#define HOSTILE_SLOTS 16
#define HOSTILE_HEARD 64
#define HOSTILE_DOMAIN 4711
#define HOSTILE_MINE 100U

/* A frame that is being built. */
struct frame {
	u32 used;
	u8 data[HOSTILE_FRAME] __attribute__((aligned(8)));
};

/* A record that came. */
struct heard {
	u8 type;
	u8 flags;
	u32 chan;
	u32 length;
	u32 first;
	u32 second;
	u64 limit;
	struct rch_cts cts;
};

struct hostile {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comps;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *rx_mr;
	struct ibv_mr *tx_mr;
	u8 *rx;
	u8 *tx;
	u32 slot;
	u32 busy;

	/* Handshake. */
	struct rch_hello mine;
	struct rch_hello theirs;
	u8 reply[256];
	u32 reply_len;
	int event;
	int status;
	/* Number of a queue pair to claim, without having any. */
	u32 raw_qp;
	/*
	 * Connect from this port; 0: from a privileged one, as the module does. Or listen at this
	 * port; 0: at HOSTILE_PORT.
	 */
	int port;
	/* The peer is of this host, and connects to the other one. */
	bool here;
	/* The address to come from, in network order; 0: whichever it is. */
	u32 from;
	/* Never says that the connection stands: there is no RTU. */
	bool mute;
	/*
	 * READs that may be under way to this end, and from it: the numbers asked for, and agreed.
	 */
	u8 reads_in;
	u8 reads_out;
	u8 agreed_in;
	u8 agreed_out;
	/* What the module says of its adapter's end-to-end flow control. */
	u8 flow_control;

	/* Numbers, as an honest peer keeps them. */
	struct rch_credit credit;
	u32 epoch;
	/* Gives no buffer back, as far as the module can see. */
	bool stingy;
	/* Acknowledges nothing beyond @ack. */
	bool deaf;
	u32 ack;
	/* Key of the module's memory that the next frame closes, or 0. */
	u32 close_key;

	/* What came. */
	bool ended;
	int wc_status;
	u32 frames;
	/* Bare frames, those that told of all buffers, and of the last bytes and channel. */
	u32 bare;
	u32 bare_full;
	u32 bare_length;
	u32 bare_chan;
	/* Frames that closed a key here, and which the last did. */
	u32 closed;
	u32 closed_key;
	u64 data_bytes;
	/* The last message with grants; @lent_bytes is its payload. */
	struct rch_record lent;
	u8 lent_bytes[2048] __attribute__((aligned(8)));
	u32 count[RCH_REC_TYPES];
	u32 rejects[RCH_REJECTS];
	u32 heard_next;
	struct heard heard[HOSTILE_HEARD];
	/* Is told of each record, if anybody; a bare frame is one without bytes. */
	void (*took)(struct hostile *h, const struct rch_record *r);
};

/* hostile_verbs.c: connecting and moving bytes */
void hostile_begin(struct hostile *h);
void hostile_begin_here(struct hostile *h);
void hostile_end(struct hostile *h);
int hostile_request(struct hostile *h, const void *data, u8 len);
int hostile_connect(struct hostile *h);
int hostile_listen(struct hostile *h);
int hostile_accept(struct hostile *h, const void *data, u8 len);
int hostile_await_request(struct hostile *h, int timeout_ms);
int hostile_await_answer(struct hostile *h);
bool hostile_await_event(struct hostile *h, int event, int timeout_ms);
void hostile_pump(struct hostile *h, int timeout_ms);
int hostile_post(struct hostile *h, struct ibv_send_wr *wr, const void *data, u32 len);
void *hostile_reach(struct hostile *h, int opcode, u64 addr, u32 rkey, const void *data, u32 len);

/* hostile_frame.c: frames */
void hostile_hello(struct hostile *h, u32 service);
void hostile_agree(struct hostile *h);
void hostile_took(struct hostile *h, const void *data, u32 len);
void hostile_took_bare(struct hostile *h, u32 imm, u32 len);
void frame_begin(struct frame *f);
u8 *frame_add(struct frame *f, const struct rch_record *r);
void frame_open(struct frame *f, u32 number, u32 service);
void frame_accept(struct frame *f, u32 chan, u32 number);
void frame_end(struct frame *f, u32 chan, u8 flags, u32 detail);
void frame_close(struct frame *f, u32 chan, u8 flags);
void frame_read(struct frame *f, u32 chan, u64 messages);
void frame_taken(struct frame *f, u32 chan, u64 message);
void frame_simple(struct frame *f, u32 chan, u8 type, u8 flags);
void frame_credit(struct frame *f, u32 chan, u64 limit);
void frame_data(struct frame *f, u32 chan, u8 flags, u32 length, u32 total);
struct rch_wire_frame *frame_seal(struct hostile *h, struct frame *f, u8 flags);
int frame_send(struct hostile *h, const struct frame *f);
int hostile_say(struct hostile *h, struct frame *f);
int hostile_pure(struct hostile *h, u8 flags);
void hostile_beat(struct hostile *h, int ms);
const struct heard *hostile_find(const struct hostile *h, u8 type, u32 chan);

/* Take what comes until @cond holds. Is whether it does. */
#define HOSTILE_UNTIL(h, cond, ms)						\
	({									\
		int64_t until_ = now_ms() + (ms);				\
										\
		while (!(cond) && !(h)->ended && now_ms() < until_)		\
			hostile_pump(h, 20);					\
		(cond);								\
	})

#endif /* RDMACHAN_HOSTILE_VERBS_H */
