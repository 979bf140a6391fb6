/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire.h - what two modules say to each other
 *
 * All numbers are little-endian. A *frame* is one SEND: a header and records, each
 * padded to RCH_WIRE_ALIGN bytes. The connection manager's private data carries
 * the handshake. Documentation/protocol.rst tells the whole; the functions below
 * are the only code that reads or writes these structures.
 *
 * Whatever a peer sends is checked here as far as it can be without knowing
 * channels: a decoder reads only inside the bytes that came, and gives the rule
 * that was broken.
 */
#ifndef _RCH_PURE_WIRE_H
#define _RCH_PURE_WIRE_H

#include "../pure/types.h"

/** RCH_WIRE_VERSION - the protocol version that this module speaks */
#define RCH_WIRE_VERSION	1
/** RCH_WIRE_VERSION_MIN - the oldest version it speaks as well */
#define RCH_WIRE_VERSION_MIN	1
/** RCH_WIRE_MAGIC - "rdmc", begins the private data */
#define RCH_WIRE_MAGIC		0x636d6472U
/** RCH_WIRE_QUERY - "rdmq", begins the private data of a query */
#define RCH_WIRE_QUERY		0x716d6472U
/** RCH_WIRE_ALIGN - records begin at multiples of this */
#define RCH_WIRE_ALIGN		8U
/** RCH_FRAME_MIN - smallest frame size that may be agreed upon, bytes */
#define RCH_FRAME_MIN		1024U
/** RCH_FRAME_MAX - largest frame size that may be agreed upon, bytes */
#define RCH_FRAME_MAX		65536U
/** RCH_MESSAGE_MAX - largest message, bytes */
#define RCH_MESSAGE_MAX		(1U << 30)
/** RCH_DEAD_MIN - shortest dead time that a peer may have, milliseconds */
#define RCH_DEAD_MIN		200U
/** RCH_DOMAIN_ANY - REQ: whatever domain the service belongs to */
#define RCH_DOMAIN_ANY		0xffffffffU

/*
 * Feature bits: for what not every adapter can. A side offers what it can and names what it
 * cannot do without. A peer that needs a bit that is not known is refused, and told which.
 */

/** RCH_FEATURE_BARE - feature bit: the adapter has immediate data: bare frames are understood */
#define RCH_FEATURE_BARE	0x01U
/** RCH_FEATURE_KEY - feature bit: the adapter closes keys: frames can, of what was written to */
#define RCH_FEATURE_KEY		0x02U
/** RCH_FEATURE_ATOMIC - feature bit: the adapter does atomic operations for the kernel */
#define RCH_FEATURE_ATOMIC	0x04U
#define RCH_FEATURES		(RCH_FEATURE_BARE | RCH_FEATURE_KEY | RCH_FEATURE_ATOMIC)

/** RCH_LENDS - messages of a channel that memory may be lent for at a time */
#define RCH_LENDS		8U

/**
 * enum rch_rule - what a peer can break; the detail of RDMACHAN_CAUSE_PROTOCOL
 * @RCH_RULE_OK: nothing
 * @RCH_RULE_FRAME_SHORT: a frame is shorter than its header
 * @RCH_RULE_FRAME_VERSION: a frame's version is not the one agreed upon
 * @RCH_RULE_FRAME_FLAGS: unknown frame flags
 * @RCH_RULE_FRAME_LENGTH: a frame's length is not what came
 * @RCH_RULE_FRAME_EPOCH: a frame belongs to another life of the link
 * @RCH_RULE_SEQ_GAP: a frame was left out
 * @RCH_RULE_NUMBERS: an acknowledgement or limit that cannot be
 * @RCH_RULE_RECORD_SHORT: a record does not fit its frame
 * @RCH_RULE_RECORD_TYPE: unknown record type
 * @RCH_RULE_RECORD_FLAGS: unknown record flags
 * @RCH_RULE_RECORD_LENGTH: a record's length does not go with its type
 * @RCH_RULE_RESERVED: a reserved member is not zero
 * @RCH_RULE_CHANNEL: a record to channel 0 that needs one, or the reverse
 * @RCH_RULE_STATE: a record that the channel's state does not allow
 * @RCH_RULE_WINDOW: more data than the window allows
 * @RCH_RULE_SEGMENT: segments that do not make up a message
 * @RCH_RULE_MESSAGE_SIZE: a message above the limit
 * @RCH_RULE_MAGIC: private data is not ours
 * @RCH_RULE_SIZES: sizes in the handshake out of range
 * @RCH_RULE_PURE: a frame without records is not marked so, or the reverse
 * @RCH_RULE_ANSWER: an answer that does not come, or is not taken
 * @RCH_RULE_GRANT: a grant that cannot be, or is not there, or is there already
 * @RCH_RULE_KEY: a frame has closed a key that is not that of a message in it
 * @RCH_RULE_ACCESS: a READ, WRITE or atomic operation on memory that is not lent, or not for it
 * @RCH_RULES: how many there are
 */
enum rch_rule {
	RCH_RULE_OK,
	RCH_RULE_FRAME_SHORT,
	RCH_RULE_FRAME_VERSION,
	RCH_RULE_FRAME_FLAGS,
	RCH_RULE_FRAME_LENGTH,
	RCH_RULE_FRAME_EPOCH,
	RCH_RULE_SEQ_GAP,
	RCH_RULE_NUMBERS,
	RCH_RULE_RECORD_SHORT,
	RCH_RULE_RECORD_TYPE,
	RCH_RULE_RECORD_FLAGS,
	RCH_RULE_RECORD_LENGTH,
	RCH_RULE_RESERVED,
	RCH_RULE_CHANNEL,
	RCH_RULE_STATE,
	RCH_RULE_WINDOW,
	RCH_RULE_SEGMENT,
	RCH_RULE_MESSAGE_SIZE,
	RCH_RULE_MAGIC,
	RCH_RULE_SIZES,
	RCH_RULE_PURE,
	RCH_RULE_ANSWER,
	RCH_RULE_GRANT,
	RCH_RULE_KEY,
	RCH_RULE_ACCESS,
	RCH_RULES,
};

/** RCH_FRAME_F_PURE - frame flag: no records, may use the reserved credits */
#define RCH_FRAME_F_PURE	0x01
/** RCH_FRAME_F_HELLO - frame flag: first frame of the active side */
#define RCH_FRAME_F_HELLO	0x02
#define RCH_FRAME_F_ALL		(RCH_FRAME_F_PURE | RCH_FRAME_F_HELLO)

/**
 * struct rch_wire_frame - header of a frame
 * @version: protocol version agreed upon
 * @flags: RCH_FRAME_F_*
 * @reserved: 0
 * @epoch: the life of the link that the frame belongs to
 * @seq: number of the frame
 * @ack: the sender of this frame has all frames before this number
 * @limit: the sender of this frame has no buffer for this number
 * @length: bytes of the frame with this header
 */
struct rch_wire_frame {
	u8 version;
	u8 flags;
	__le16 reserved;
	__le32 epoch;
	__le32 seq;
	__le32 ack;
	__le32 limit;
	__le32 length;
};

static_assert(sizeof(struct rch_wire_frame) == 24, "on the wire");

/**
 * struct rch_bare - the immediate data of a bare frame: a message and nothing else
 * @chan: channel number of the receiver of this
 * @seq: lowest bits of the number of the frame
 * @ack: lowest bits of the number before which the sender of this has all frames
 * @full: it has all its receive buffers posted
 */
struct rch_bare {
	u16 chan;
	u8 seq;
	u8 ack;
	bool full;
};

/** RCH_BARE_CHAN_MAX - largest channel number that a bare frame can name */
#define RCH_BARE_CHAN_MAX	0x7fffU
/** RCH_BARE_FULL - bit of the immediate data: all receive buffers are posted */
#define RCH_BARE_FULL		0x8000U

/**
 * enum rch_record_type - types of records. All that a new one needs is listed in
 *	Documentation/internals.rst, "Where to change what"
 * @RCH_REC_OPEN: open a channel to a service; &struct rch_wire_open
 * @RCH_REC_ACCEPT: it is open; &struct rch_wire_accept
 * @RCH_REC_REJECT: it is not; &struct rch_wire_reject
 * @RCH_REC_DATA: a segment of a message
 * @RCH_REC_CREDIT: the channel's window; &struct rch_wire_credit
 * @RCH_REC_SHUT: the sender of this sends no more, or reads no more
 * @RCH_REC_CLOSE: the channel ends; &struct rch_wire_close
 * @RCH_REC_CLOSED: answer to CLOSE, the last record of a channel
 * @RCH_REC_RTS: request to send: a message that could be written straight to where it is
 *	wanted; &struct rch_wire_rts
 * @RCH_REC_CTS: clear to send: where to write; &struct rch_wire_cts
 * @RCH_REC_FIN: the bytes that the last CTS had room for were written
 * @RCH_REC_REVOKE: the owner of a grant wants it back; &struct rch_wire_grant_end
 * @RCH_REC_RELEASE: its holder gives it back, and has no access under way; the same
 * @RCH_REC_ATOMIC: the owner is to do an atomic operation; &struct rch_wire_atomic
 * @RCH_REC_ATOMIC_DONE: it has; &struct rch_wire_atomic_done
 * @RCH_REC_READ: the program of the sender of this receives no more; &struct rch_wire_read
 * @RCH_REC_TAKEN: the program of the sender of this has received a message that has asked for
 *	this; &struct rch_wire_taken
 * @RCH_REC_TYPES: one more than the last
 */
enum rch_record_type {
	RCH_REC_OPEN = 1,
	RCH_REC_ACCEPT = 2,
	RCH_REC_REJECT = 3,
	RCH_REC_DATA = 4,
	RCH_REC_CREDIT = 5,
	RCH_REC_SHUT = 6,
	RCH_REC_CLOSE = 7,
	RCH_REC_CLOSED = 8,
	RCH_REC_RTS = 9,
	RCH_REC_CTS = 10,
	RCH_REC_FIN = 11,
	RCH_REC_REVOKE = 12,
	RCH_REC_RELEASE = 13,
	RCH_REC_ATOMIC = 14,
	RCH_REC_ATOMIC_DONE = 15,
	RCH_REC_READ = 16,
	RCH_REC_TAKEN = 17,
	RCH_REC_TYPES,
};

/** RCH_DATA_F_FIRST - record flag: the first segment of a message */
#define RCH_DATA_F_FIRST	0x01
/** RCH_DATA_F_LAST - record flag: the last segment */
#define RCH_DATA_F_LAST		0x02
/** RCH_DATA_F_ABORT - record flag: the message ends here and is thrown away */
#define RCH_DATA_F_ABORT	0x04
/** RCH_DATA_F_GRANTS - record flag: a whole message that begins with grants, see grant.h */
#define RCH_DATA_F_GRANTS	0x08
/** RCH_DATA_F_EARLY - record flag: a whole message, and chan is the number that OPEN gave */
#define RCH_DATA_F_EARLY	0x10
/** RCH_DATA_F_TELL - record flag, with LAST: TAKEN is to tell when the message is received */
#define RCH_DATA_F_TELL		0x20
#define RCH_DATA_F_ALL		(RCH_DATA_F_FIRST | RCH_DATA_F_LAST | RCH_DATA_F_ABORT | \
				 RCH_DATA_F_GRANTS | RCH_DATA_F_EARLY | RCH_DATA_F_TELL)

/**
 * RCH_MSG_TELL - what is sent besides the message flags of a program, which are 16 bits: the
 *	message asks for TAKEN. Only in the module, not on the wire
 */
#define RCH_MSG_TELL		0x10000U

/** RCH_OPEN_F_EARLY - record flag of OPEN: messages may come before ACCEPT is known */
#define RCH_OPEN_F_EARLY	0x01
#define RCH_OPEN_F_ALL		RCH_OPEN_F_EARLY

/** RCH_SHUT_F_RECV - record flag of SHUT: the sender of this reads no more */
#define RCH_SHUT_F_RECV		0x01
/** RCH_SHUT_F_SEND - record flag of SHUT: the sender of this sends no more */
#define RCH_SHUT_F_SEND		0x02
/** RCH_SHUT_F_EARLY - record flag of SHUT, with SEND alone: chan is the number that OPEN gave */
#define RCH_SHUT_F_EARLY	RCH_DATA_F_EARLY
#define RCH_SHUT_F_ALL		(RCH_SHUT_F_RECV | RCH_SHUT_F_SEND | RCH_SHUT_F_EARLY)

/** RCH_CLOSE_F_RESET - record flag of CLOSE: data may have been thrown away */
#define RCH_CLOSE_F_RESET	0x01
#define RCH_CLOSE_F_ALL		RCH_CLOSE_F_RESET

/** RCH_RTS_F_CANCEL - record flag of RTS: it is taken back, with or without a CTS */
#define RCH_RTS_F_CANCEL	0x01
/** RCH_RTS_F_PLACED - record flag of RTS: nothing is asked: the message was written where a
 * standing CTS says; with CANCEL: none was, and none will be
 */
#define RCH_RTS_F_PLACED	0x02
/** RCH_RTS_F_TELL - record flag of RTS, without CANCEL: as RCH_DATA_F_TELL */
#define RCH_RTS_F_TELL		0x04
#define RCH_RTS_F_ALL		(RCH_RTS_F_CANCEL | RCH_RTS_F_PLACED | RCH_RTS_F_TELL)

/** RCH_CTS_F_STANDING - record flag of CTS: nobody has asked */
#define RCH_CTS_F_STANDING	0x01
/** RCH_CTS_F_AHEAD - record flag of CTS, with STANDING: void unless the message before is placed */
#define RCH_CTS_F_AHEAD		0x02
#define RCH_CTS_F_ALL		(RCH_CTS_F_STANDING | RCH_CTS_F_AHEAD)

/**
 * struct rch_wire_record - header of a record
 * @chan: channel number of the receiver of this; 0 for OPEN; with RCH_DATA_F_EARLY or
 *	RCH_SHUT_F_EARLY that of the sender
 * @type: &enum rch_record_type
 * @flags: belong to the type
 * @msg_flags: DATA: message flags of the program; else 0
 * @length: bytes that follow, without padding
 * @total: DATA: bytes of the whole message; else 0
 */
struct rch_wire_record {
	__le32 chan;
	u8 type;
	u8 flags;
	__le16 msg_flags;
	__le32 length;
	__le32 total;
};

static_assert(sizeof(struct rch_wire_record) == 16, "on the wire");

/**
 * struct rch_wire_open - OPEN
 * @chan: number that the opener gave the channel
 * @service: service asked for
 * @window: cost of records that the opener holds, see window.h
 * @message_max: largest message that the opener receives
 * @reserved: 0
 */
struct rch_wire_open {
	__le32 chan;
	__le32 service;
	__le64 window;
	__le32 message_max;
	__le32 reserved;
};

static_assert(sizeof(struct rch_wire_open) == 24, "on the wire");

/**
 * struct rch_wire_accept - ACCEPT
 * @chan: number that the accepting side gave the channel
 * @message_max: largest message that it receives
 * @window: cost of records that it holds
 */
struct rch_wire_accept {
	__le32 chan;
	__le32 message_max;
	__le64 window;
};

static_assert(sizeof(struct rch_wire_accept) == 16, "on the wire");

/**
 * enum rch_reject - why an OPEN or a connection is refused
 * @RCH_REJECT_NO_SERVICE: nobody listens for the service
 * @RCH_REJECT_BACKLOG: too many channels wait there already
 * @RCH_REJECT_DOMAIN: the service belongs to another domain, which is named: open
 *	the channel on a link to that one
 * @RCH_REJECT_RESOURCES: no memory or the like
 * @RCH_REJECT_VERSION: handshake: no version in common
 * @RCH_REJECT_FEATURE: handshake: features missing, which are named
 * @RCH_REJECT_PROTOCOL: handshake: cannot be understood; that or query: claims an address that is
 *	not its GID's
 * @RCH_REJECT_MTU: handshake: the packets are larger than this host carries: how large they may
 *	be is named
 * @RCH_REJECT_PORT: handshake or query: it does not come from a privileged port
 * @RCH_REJECT_LIVES: query: the link lives here
 * @RCH_REJECT_ENDED: query: there is no such link, or it has ended
 * @RCH_REJECTS: one more than the last
 */
enum rch_reject {
	RCH_REJECT_NO_SERVICE = 1,
	RCH_REJECT_BACKLOG = 2,
	RCH_REJECT_DOMAIN = 3,
	RCH_REJECT_RESOURCES = 4,
	RCH_REJECT_VERSION = 5,
	RCH_REJECT_FEATURE = 6,
	RCH_REJECT_PROTOCOL = 7,
	RCH_REJECT_MTU = 8,
	RCH_REJECT_PORT = 9,
	RCH_REJECT_LIVES = 10,
	RCH_REJECT_ENDED = 11,
	RCH_REJECTS,
};

/**
 * struct rch_wire_reject - REJECT
 * @reason: &enum rch_reject
 * @domain: for RCH_REJECT_DOMAIN
 */
struct rch_wire_reject {
	__le32 reason;
	__le32 domain;
};

static_assert(sizeof(struct rch_wire_reject) == 8, "on the wire");

/**
 * struct rch_wire_credit - CREDIT
 * @limit: the window's new limit
 */
struct rch_wire_credit {
	__le64 limit;
};

static_assert(sizeof(struct rch_wire_credit) == 8, "on the wire");

/**
 * struct rch_wire_read - READ
 * @messages: that the program of the sender of this has received on the channel: it has found the
 *	end behind them, or has shut receiving down
 */
struct rch_wire_read {
	__le64 messages;
};

static_assert(sizeof(struct rch_wire_read) == 8, "on the wire");

/**
 * struct rch_wire_taken - TAKEN
 * @message: number of the last message with TELL that the program of the sender of this has
 *	received on the channel, counted from 1 on; with it all before
 */
struct rch_wire_taken {
	__le64 message;
};

static_assert(sizeof(struct rch_wire_taken) == 8, "on the wire");

/**
 * struct rch_wire_close - CLOSE
 * @cause: enum rdmachan_cause as the receiver of this shall report it
 * @detail: with RESET, belongs to the cause; else the last 32 bits of the number of messages that
 *	the program of the sender of this has received on the channel
 */
struct rch_wire_close {
	__le32 cause;
	__le32 detail;
};

static_assert(sizeof(struct rch_wire_close) == 8, "on the wire");

/**
 * struct rch_wire_rts - RTS
 * @total: bytes of the message, not 0
 * @serial: number that the sender gave this wish, repeated in every CTS for it; with
 *	RCH_RTS_F_PLACED: that of the standing CTS
 * @msg_flags: message flags of the program
 * @reserved: 0
 */
struct rch_wire_rts {
	__le32 total;
	__le32 serial;
	__le32 msg_flags;
	__le32 reserved;
};

static_assert(sizeof(struct rch_wire_rts) == 16, "on the wire");

/**
 * struct rch_wire_cts - CTS
 * @addr: where the next bytes of the message go
 * @rkey: key for it
 * @length: how many; 0: send the message as DATA; or, standing, it is taken back
 * @serial: of the RTS; or, standing, a number that the receiver gave it
 * @message: standing: for which message of the channel, counted from 0 on; else 0
 */
struct rch_wire_cts {
	__le64 addr;
	__le32 rkey;
	__le32 length;
	__le32 serial;
	__le32 message;
};

static_assert(sizeof(struct rch_wire_cts) == 24, "on the wire");

/**
 * struct rch_wire_hello - private data of REQ and REP
 * @magic: RCH_WIRE_MAGIC
 * @version_min: REQ: oldest version spoken; REP: the version agreed upon
 * @version_max: REQ: newest version spoken; REP: the version agreed upon
 * @depth: receive buffers posted
 * @features: bits offered; REP: bits agreed upon
 * @required: bits the sender cannot do without
 * @boot_id: random number of this life of the module
 * @link: number that the sender gave the link
 * @epoch: REQ: life of the link; REP: the same
 * @next_seq: number of the first frame expected
 * @frame_size: largest frame; REP: the one agreed upon
 * @dead_ms: dead time of the sender
 * @domain: trust domain of the sender: the user id there
 * @service: REQ: service that the first channel asks for; REP: 0
 * @peer_domain: REQ: trust domain wanted at the peer, or RCH_DOMAIN_ANY; REP: 0
 *
 * 56 bytes, all that a REQ has room for.
 */
struct rch_wire_hello {
	__le32 magic;
	u8 version_min;
	u8 version_max;
	__le16 depth;
	__le32 features;
	__le32 required;
	__le64 boot_id;
	__le32 link;
	__le32 epoch;
	__le32 next_seq;
	__le32 frame_size;
	__le32 dead_ms;
	__le32 domain;
	__le32 service;
	__le32 peer_domain;
};

static_assert(sizeof(struct rch_wire_hello) == 56, "private data of a REQ");

/**
 * struct rch_wire_query - private data of a REQ that asks whether a link lives
 * @magic: RCH_WIRE_QUERY
 * @link: number that the sender gave the link
 * @peer_link: number that the receiver gave it
 * @epoch: life of the link
 * @boot_id: as in the hello of the sender
 * @peer_boot: as in the hello of the receiver
 *
 * It is refused: by RCH_REJECT_LIVES or RCH_REJECT_ENDED, which are answers, or by
 * RCH_REJECT_PROTOCOL or RCH_REJECT_PORT.
 */
struct rch_wire_query {
	__le32 magic;
	__le32 link;
	__le32 peer_link;
	__le32 epoch;
	__le64 boot_id;
	__le64 peer_boot;
};

static_assert(sizeof(struct rch_wire_query) == 32, "private data of a REQ");

/**
 * struct rch_wire_refusal - private data of REJ
 * @magic: RCH_WIRE_MAGIC
 * @version_min: oldest version spoken
 * @version_max: newest version spoken
 * @reserved: 0
 * @reason: &enum rch_reject
 * @detail: RCH_REJECT_DOMAIN: the domain; RCH_REJECT_FEATURE: missing bits; RCH_REJECT_MTU: bytes
 */
struct rch_wire_refusal {
	__le32 magic;
	u8 version_min;
	u8 version_max;
	__le16 reserved;
	__le32 reason;
	__le32 detail;
};

static_assert(sizeof(struct rch_wire_refusal) == 16, "on the wire");

/* The same in the host's byte order, for the rest of the module. */

/** struct rch_frame - decoded &struct rch_wire_frame */
struct rch_frame {
	u8 flags;
	u32 epoch;
	u32 seq;
	u32 ack;
	u32 limit;
	u32 length;
};

/**
 * struct rch_run - a record, and whole messages of its channel that follow it at once
 * @count: messages; 1 also for a record that is none
 * @span: from the first byte of the first to the last of the last, with headers between
 * @bytes: of all messages
 * @longest: of them
 */
struct rch_run {
	u32 count;
	u32 span;
	u32 bytes;
	u32 longest;
};

/** struct rch_record - decoded &struct rch_wire_record, with its bytes */
struct rch_record {
	u32 chan;
	u8 type;
	u8 flags;
	u16 msg_flags;
	u32 length;
	u32 total;
	const u8 *payload;
	struct rch_run run;
};

/** struct rch_open - decoded &struct rch_wire_open, and RCH_OPEN_F_EARLY */
struct rch_open {
	u32 chan;
	u32 service;
	u64 window;
	u32 message_max;
	bool early;
};

/** struct rch_accept - decoded &struct rch_wire_accept */
struct rch_accept {
	u32 chan;
	u32 message_max;
	u64 window;
};

/** struct rch_rts - decoded &struct rch_wire_rts, and RCH_RTS_F_TELL */
struct rch_rts {
	u32 total;
	u32 serial;
	u16 msg_flags;
	bool tell;
};

/** struct rch_cts - decoded &struct rch_wire_cts, and RCH_CTS_F_AHEAD */
struct rch_cts {
	u64 addr;
	u32 rkey;
	u32 length;
	u32 serial;
	u32 message;
	bool ahead;
};

/** struct rch_hello - decoded &struct rch_wire_hello */
struct rch_hello {
	u8 version_min;
	u8 version_max;
	u16 depth;
	u32 features;
	u32 required;
	u64 boot_id;
	u32 link;
	u32 epoch;
	u32 next_seq;
	u32 frame_size;
	u32 dead_ms;
	u32 domain;
	u32 service;
	u32 peer_domain;
};

/** struct rch_query - decoded &struct rch_wire_query */
struct rch_query {
	u32 link;
	u32 peer_link;
	u32 epoch;
	u64 boot_id;
	u64 peer_boot;
};

/** struct rch_refusal - decoded &struct rch_wire_refusal */
struct rch_refusal {
	u8 version_min;
	u8 version_max;
	u32 reason;
	u32 detail;
};

/**
 * struct rch_cursor - walks the records of a frame
 * @buf: the frame
 * @offset: of the next record
 * @end: bytes of the frame
 */
struct rch_cursor {
	const u8 *buf;
	u32 offset;
	u32 end;
};

/** RCH_FRAME_OVERHEAD - bytes of a frame that one DATA record cannot use */
#define RCH_FRAME_OVERHEAD \
	((u32)(sizeof(struct rch_wire_frame) + sizeof(struct rch_wire_record)))

/** rch_wire_space - bytes that a record with @len bytes takes in a frame */
static inline u32 rch_wire_space(u32 len)
{
	return ALIGN((u32)sizeof(struct rch_wire_record) + len, RCH_WIRE_ALIGN);
}

/** rch_wire_segment_max - largest DATA record in a frame of @frame_size bytes */
static inline u32 rch_wire_segment_max(u32 frame_size)
{
	return (frame_size - RCH_FRAME_OVERHEAD) & ~(RCH_WIRE_ALIGN - 1);
}

/** rch_wire_bare_put - immediate data of a bare frame, in the host's byte order */
static inline u32 rch_wire_bare_put(const struct rch_bare *b)
{
	return b->chan | (b->full ? RCH_BARE_FULL : 0) | (u32)b->seq << 16 | (u32)b->ack << 24;
}

/** rch_wire_bare_get - the opposite */
static inline void rch_wire_bare_get(u32 imm, struct rch_bare *b)
{
	b->full = imm & RCH_BARE_FULL;
	b->chan = imm & RCH_BARE_CHAN_MAX;
	b->seq = imm >> 16 & 0xff;
	b->ack = imm >> 24;
}

/**
 * rch_wire_is_early - whether a record names its channel by the number that OPEN gave
 * @type: &enum rch_record_type
 * @flags: of the record, which belong to the type
 */
static inline bool rch_wire_is_early(u8 type, u8 flags)
{
	return (flags & RCH_DATA_F_EARLY) && (type == RCH_REC_DATA || type == RCH_REC_SHUT);
}

/* rules.c APIs */
const char *rch_rule_text(enum rch_rule rule);

/* wire.c APIs */
void rch_wire_frame_put(void *buf, const struct rch_frame *f);
enum rch_rule rch_wire_frame_get(const void *buf, u32 len, struct rch_frame *f);

void *rch_wire_record_put(void *buf, const struct rch_record *r);
void rch_wire_cursor_init(struct rch_cursor *c, const void *buf, u32 frame_length);
enum rch_rule rch_wire_record_next(struct rch_cursor *c, struct rch_record *r);
void rch_wire_run(struct rch_cursor *c, struct rch_record *r);
void rch_wire_run_next(const u8 *payload, u32 length, struct rch_record *r);

/** rch_wire_record_more - whether the frame has another record */
static inline bool rch_wire_record_more(const struct rch_cursor *c)
{
	return c->offset < c->end;
}

void rch_wire_open_put(void *buf, const struct rch_open *o);
void rch_wire_open_get(const struct rch_record *r, struct rch_open *o);
void rch_wire_accept_put(void *buf, const struct rch_accept *a);
void rch_wire_accept_get(const struct rch_record *r, struct rch_accept *a);
void rch_wire_pair_put(void *buf, u32 first, u32 second);
void rch_wire_pair_get(const struct rch_record *r, u32 *first, u32 *second);
void rch_wire_credit_put(void *buf, u64 limit);
u64 rch_wire_credit_get(const struct rch_record *r);
void rch_wire_read_put(void *buf, u64 messages);
u64 rch_wire_read_get(const struct rch_record *r);
void rch_wire_taken_put(void *buf, u64 message);
u64 rch_wire_taken_get(const struct rch_record *r);
void rch_wire_rts_put(void *buf, const struct rch_rts *rts);
void rch_wire_rts_get(const struct rch_record *r, struct rch_rts *rts);
void rch_wire_cts_put(void *buf, const struct rch_cts *cts);
void rch_wire_cts_get(const struct rch_record *r, struct rch_cts *cts);

void rch_wire_hello_put(void *buf, const struct rch_hello *h);
enum rch_rule rch_wire_hello_get(const void *buf, u32 len, struct rch_hello *h);
void rch_wire_query_put(void *buf, const struct rch_query *q);
enum rch_rule rch_wire_query_get(const void *buf, u32 len, struct rch_query *q);
void rch_wire_refusal_put(void *buf, const struct rch_refusal *r);
enum rch_rule rch_wire_refusal_get(const void *buf, u32 len, struct rch_refusal *r);

u8 rch_wire_version(u8 peer_min, u8 peer_max);

#endif /* _RCH_PURE_WIRE_H */
