/* SPDX-License-Identifier: GPL-2.0 */
/*
 * raw.h - what abi_fuzz and its raw peer, the program abi_raw, have in common
 */
#ifndef RDMACHAN_RAW_H
#define RDMACHAN_RAW_H

#include <stdatomic.h>
#include <stdint.h>

/* Types of records, and 0 for bare frames. */
#define RAW_RECORDS 18

/**
 * enum raw_figure - what a raw peer counts
 * @RAW_ASKED: connections that it asked for
 * @RAW_LINKS: links that it made
 * @RAW_TAKEN_IN: links that the module made to it
 * @RAW_ENDED: links that were ended, and not by the raw peer
 * @RAW_FRAMES: frames that it sent
 * @RAW_ACKED: those of them that the module has acknowledged
 * @RAW_DAMAGED: those of them that are damaged
 * @RAW_CAME: frames of the module that came
 * @RAW_OPENED: channels that it opened
 * @RAW_LET_IN: channels of the module that it accepted
 * @RAW_DELIVERED: messages of its own that programs have received, as far as the module tells
 * @RAW_MESSAGES: messages of programs that came
 * @RAW_GIVEN: grants of programs that came
 * @RAW_ACCESSES: READs, WRITEs and atomic operations on memory of programs
 * @RAW_BROKE: its processes that could not go on
 * @RAW_FIGURES: how many there are
 */
enum raw_figure {
	RAW_ASKED,
	RAW_LINKS,
	RAW_TAKEN_IN,
	RAW_ENDED,
	RAW_FRAMES,
	RAW_ACKED,
	RAW_DAMAGED,
	RAW_CAME,
	RAW_OPENED,
	RAW_LET_IN,
	RAW_DELIVERED,
	RAW_MESSAGES,
	RAW_GIVEN,
	RAW_ACCESSES,
	RAW_BROKE,
	RAW_FIGURES,
};

/**
 * struct raw_stats - figures of all raw peers, in memory that the processes share
 * @figures: of &enum raw_figure
 * @records: records that were sent, of each type
 */
struct raw_stats {
	atomic_ulong figures[RAW_FIGURES];
	atomic_ulong records[RAW_RECORDS];
};

/* Where the raw peer listens of the process with these services. */
static inline int raw_port_of(uint32_t services)
{
	return services + 1600;
}

#endif /* RDMACHAN_RAW_H */
