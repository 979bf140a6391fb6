# SPDX-License-Identifier: GPL-2.0
"""What "make bench" compares, and what rdmachan has to reach: data only."""

import collections

# In this order in tables and plots.
CONTENDERS = {
    "ioctl": "ioctl",
    "write_read": "write/read",
    "queue": "queue",
    "queue_poller": "queue, poller",
    "queue_regions": "queue, regions",
    "io_uring": "io_uring",
    "ib_send": "verbs, SEND",
    "ib_read": "verbs, READ",
    "ib_write": "verbs, WRITE",
    "ib_atomic": "verbs, FETCH_ADD",
    "floor": "kernel verbs, threads",
    "floor_reply": "kernel verbs, handlers",
    "rsockets": "rsockets",
    "tcp": "TCP",
    "udp": "UDP",
    "unix": "AF_UNIX",
}

# The ways of rdmachan.
OURS = ("ioctl", "write_read", "queue", "queue_poller", "queue_regions", "io_uring")
QUEUES = ("queue", "queue_poller", "queue_regions")
VERBS = ("ib_send", "ib_read")
# The ways to memory that is lent.
REACH = ("ioctl", "queue")

# Which of two values of a row is better, by the beginning of its name.
BETTER = {
    "lat": "low", "connect": "low", "tput": "high", "rate": "high",
    "read": "low", "write": "low", "add": "low", "give": "low", "get": "high", "put": "high",
}

# An aim: in a row of a bed, the best of some contenders is at most (or at least, where
# high is better) a factor times the best of others, or times the value of the same
# contenders in another row, or is an absolute value. "row" is a pattern; an aim for which
# neither side is measured in a row does not exist there.
Aim = collections.namedtuple("Aim", "bed row name ours factor peers other_row value",
                             defaults=((), None, None))


def than(bed, row, name, ours, factor, *peers):
    return Aim(bed, row, name, ours, factor, peers)


def than_row(bed, row, name, ours, factor, other_row):
    return Aim(bed, row, name, ours, factor, other_row=other_row)


def absolute(bed, row, name, ours, value):
    return Aim(bed, row, name, ours, 1, value=value)


AIMS = (
    than("icount", "lat64", "write_read", ("write_read",), 0.95, "ib_send"),
    than("icount", "lat64", "queue", QUEUES, 0.9, "ib_send"),
    than("icount", "lat64", "queue-floor", QUEUES, 1.15, "floor"),
    absolute("icount", "rate1", "queue", QUEUES, 600000),
    than_row("icount", "rate64", "queue", QUEUES, 0.8, "rate1"),
    absolute("icount", "rate1", "write_read", ("write_read",), 200000),
    than("icount", "lat4k", "write_read", ("write_read",), 0.9, "ib_send"),
    than("icount", "lat4k", "queue", QUEUES, 0.9, "ib_send"),
    than("icount", "lat64k", "write_read", ("write_read",), 1.0, "ib_send"),
    than("icount", "lat64k", "queue", QUEUES, 1.0, "ib_send"),
    than("icount", "tput1m", "queue", QUEUES, 1.0, *VERBS),
    than("icount", "connect", "write_read", ("write_read",), 1.0, "tcp"),
    than("icount", "read64", "grant", REACH, 1.0, "ib_read"),
    than("icount", "add8", "grant", REACH, 1.0, "ib_atomic"),
    than("icount", "get1m", "grant", REACH, 1.0, "ib_read"),
    than("icount", "put1m", "grant", REACH, 1.0, "ib_write"),
    # Two round trips of 64 bytes.
    than("icount", "give4k", "grant", ("ioctl",), 1.0, "write_read"),
    than("icount", "give1m", "grant", ("ioctl",), 1.0, "write_read"),
    # Ahead of verbs and of rsockets in every row.
    than("icount-6.12", "*", "ahead", OURS, 1.0, *VERBS, "rsockets"),
    than("wire", "*", "ahead", OURS, 1.0, *VERBS, "rsockets"),
)
