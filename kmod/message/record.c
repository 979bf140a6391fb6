// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - records of channels that came, each for the layer that knows what it means
 *
 * What only a channel has to know is dealt with in channel/, large messages in rndv/, and grants in
 * memory/. A message that carries grants is for two of them.
 */
#include "channel/chan.h"
#include "memory/grant.h"
#include "message/message.h"
#include "rndv/rndv.h"

/* Memory that is lent with a message that nobody will receive goes back. */
static noinline_for_stack enum rch_rule rch_record_grants(struct rch_chan *chan,
							  const struct rch_record *r)
{
	struct rch_segment *seg;
	enum rch_rule rule;
	bool ignored;

	rule = rch_grants_got(chan, r, &seg);
	if (rule || !seg)
		return rule;
	rule = rch_chan_data_keep(chan, r, seg, &ignored);
	if (ignored)
		rch_grants_refuse(chan, r);
	return rule;
}

/**
 * rch_record_got - a record came for a lane
 * @lane: lane, found under RCU
 * @r: the record, checked as far as the codec can
 * @page: the page it is in
 *
 * Return: the rule that was broken, or RCH_RULE_OK.
 */
enum rch_rule rch_record_got(struct rch_lane *lane, const struct rch_record *r,
			     struct page *page)
{
	struct rch_chan *chan = container_of(lane, struct rch_chan, lane);

	switch (r->type) {
	case RCH_REC_DATA:
		if (unlikely(r->flags & RCH_DATA_F_GRANTS))
			return rch_record_grants(chan, r);
		if (unlikely(r->flags & RCH_DATA_F_EARLY))
			return rch_chan_early_got(chan, r, page);
		return rch_chan_data_got(chan, r, page);
	case RCH_REC_ACCEPT:
		return rch_chan_accept_got(chan, r);
	case RCH_REC_REJECT:
		return rch_chan_reject_got(chan, r);
	case RCH_REC_RTS:
		return rch_chan_rts_got(chan, r);
	case RCH_REC_CTS:
		return rch_chan_cts_got(chan, r);
	case RCH_REC_FIN:
		return rch_chan_fin_got(chan);
	case RCH_REC_REVOKE:
	case RCH_REC_RELEASE:
	case RCH_REC_ATOMIC:
	case RCH_REC_ATOMIC_DONE:
		return rch_grants_record(chan, r);
	case RCH_REC_READ:
		return rch_chan_read_got(chan, r);
	case RCH_REC_TAKEN:
		return rch_chan_taken_got(chan, r);
	case RCH_REC_SHUT:
		return rch_chan_shut_got(chan, r);
	case RCH_REC_CLOSE:
		return rch_chan_close_got(chan, r);
	case RCH_REC_CLOSED:
		return rch_lane_closed_got(lane) ? RCH_RULE_OK : RCH_RULE_STATE;
	default:
		return RCH_RULE_RECORD_TYPE;
	}
}
