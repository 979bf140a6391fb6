// SPDX-License-Identifier: GPL-2.0
/*
 * rules.c - the rules of the protocol in words, for the kernel's log
 */
#include "wire.h"

static const char * const rule_texts[RCH_RULES] = {
	[RCH_RULE_OK] = "none",
	[RCH_RULE_FRAME_SHORT] = "a frame shorter than its header",
	[RCH_RULE_FRAME_VERSION] = "a frame of a version that was not agreed upon",
	[RCH_RULE_FRAME_FLAGS] = "a frame with unknown flags",
	[RCH_RULE_FRAME_LENGTH] = "a frame whose length is not what came",
	[RCH_RULE_FRAME_EPOCH] = "a frame of another life of the link",
	[RCH_RULE_SEQ_GAP] = "a frame was left out",
	[RCH_RULE_NUMBERS] = "an acknowledgement or a credit that cannot be",
	[RCH_RULE_RECORD_SHORT] = "a record that does not fit its frame",
	[RCH_RULE_RECORD_TYPE] = "a record of an unknown type",
	[RCH_RULE_RECORD_FLAGS] = "a record with unknown flags",
	[RCH_RULE_RECORD_LENGTH] = "a record whose length does not go with its type",
	[RCH_RULE_RESERVED] = "a reserved member that is not zero",
	[RCH_RULE_CHANNEL] = "a record for a channel that is not there",
	[RCH_RULE_STATE] = "a record that its channel was not waiting for",
	[RCH_RULE_WINDOW] = "more data than the window allows",
	[RCH_RULE_SEGMENT] = "segments that do not make up a message",
	[RCH_RULE_MESSAGE_SIZE] = "a message above the limit",
	[RCH_RULE_MAGIC] = "a handshake that is none",
	[RCH_RULE_SIZES] = "a handshake with versions, sizes or times out of range",
	[RCH_RULE_PURE] = "a frame without records that is not marked so, or the reverse",
	[RCH_RULE_ANSWER] = "an answer that did not come, or was not taken",
	[RCH_RULE_GRANT] = "a grant that cannot be, is not there, or is there already",
	[RCH_RULE_KEY] = "a frame that closes memory which no message of it was written to",
	[RCH_RULE_ACCESS] = "an access to memory that is not lent, or not for it",
};

/** rch_rule_text - what a peer did who broke @rule; never NULL */
const char *rch_rule_text(enum rch_rule rule)
{
	if ((u32)rule >= RCH_RULES)
		return "unknown";
	return rule_texts[rule];
}
