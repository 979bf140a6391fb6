/* SPDX-License-Identifier: MIT */
/*
 * echo.h - a server that sends every message back
 */
#ifndef ECHO_H
#define ECHO_H

/* Serves all channels of @listener (with O_NONBLOCK) until it fails. */
int echo_run(int listener);

#endif /* ECHO_H */
