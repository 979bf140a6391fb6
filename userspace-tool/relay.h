/* SPDX-License-Identifier: MIT */
/*
 * relay.h - between a channel and standard input and output
 */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>

/**
 * enum relay_mode - what a message is
 * @RELAY_STREAM: the bytes of one read of the input; no bounds are shown
 * @RELAY_LINES: a line, without its newline
 * @RELAY_WHOLE: the whole input
 */
enum relay_mode {
	RELAY_STREAM,
	RELAY_LINES,
	RELAY_WHOLE,
};

/*
 * Both directions until both have ended; or, one way, standard input to the channel, and nothing
 * is received. Returns &enum tool_exit.
 */
int relay_run(int chan, enum relay_mode mode, bool one_way);
/* Channel to standard output only. One that has failed is shut down and not closed. */
int relay_output(int chan, enum relay_mode mode);

#endif /* RELAY_H */
