#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""trips_guest.py - in a guest of vt.sh with two hosts: what one way takes, in round trips

usage: trips_guest.py wire WAY      opening, echoes, streams, lent memory, closing
       trips_guest.py loss WAY      an echo, many times, over whatever cable there is
       trips_guest.py beside WAY    an echo beside four streams of large messages
       trips_guest.py KIND WAY      a stream of 64 KiB messages over worse and worse cables; KIND
                                    is one of delays, rates and losses
       trips_guest.py check         TAP: bounds of the module's own ways

Prints "row NAME WAY VALUE", or "failed NAME WAY WHY".
"""
import os
import re
import statistics
import subprocess
import sys

from trips_bounds import BOUNDS

# A round trip, in nanoseconds: the hosts are made with a cable of this length.
TRIP = 2 * int(os.environ.get("TRIP_ONE_WAY_US", "10000")) * 1000
# By the names of bench: for messages, and for memory that is lent.
WAYS = {
    "calls": ("write_read", "ioctl"), "queue": ("queue_memory", "queue_memory"),
    "regions": ("queue_regions", "queue"), "io_uring": ("io_uring", None),
    "verbs": ("verbs", "verbs"), "rsockets": ("rsockets", None), "tcp": ("tcp", None),
}
OURS = ("calls", "queue", "regions", "io_uring")
# Streams of bytes know no message of none.
NO_EMPTY = ("rsockets", "tcp")
ECHOES = {"0": 0, "64": 64, "4k": 4096, "16k": 16384, "64k": 65536, "256k": 262144,
          "1m": 1 << 20, "8m": 8 << 20}
STREAMS = {"64": 64, "4k": 4096, "64k": 65536, "1m": 1 << 20}
ACCESSES = {"64": 64, "64k": 65536, "1m": 1 << 20}
LENT = 4096
# Of stream.c.
LOOK_BYTES = 4096
# Seconds of the guest's clock, after which something has come to a stop.
LIMIT = 3600
# Round trips of a stream: from the first message to where it is steady, those that count, and those
# that remain. Bursts repeat after 1, 2, 3, 4 or 11 of them.
STEADY, COUNTED, REST = 40, 132, 4
# Of TCP, which may stumble for some, it is the median of so many single ones, and more remain.
TCP_COUNTED, TCP_REST = 61, 40
ECHO_COUNT, LOSS_COUNT, BESIDE_MS, BULK = 9, 10000, 3000, 256 << 10
# Cables by the kind of what differs: ms each way, Mbit/s, percent that are lost each way.
CABLES = {
    "delays": [(ms, 1000, 0) for ms in (0.01, 0.1, 1, 10, 100)],
    "rates": [(1, mbit, 0) for mbit in (10, 100, 1000, 10000)],
    "losses": [(1, 1000, percent) for percent in (0.01, 0.1, 0.3, 1, 3)],
}
# A stream over such a cable: what counts begins after so many round trips, and takes as many or so
# many milliseconds, whichever is longer; rather less where so many bytes need less.
CABLE_TRIPS, CABLE_MS, CABLE_BYTES, LOSSES_MS = 40, 500, 96 << 20, 6000


class Failed(Exception):
    """Something could not be measured."""


def bench(test, way, size, count, *options):
    """Lines of numbers that a measurement has printed."""
    words = ["./bench", "--apart", *options, test, way, str(size), str(count)]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"it came to a stop: no end after {LIMIT} s") from None
    except FileNotFoundError:
        raise Failed("bench was not built: librdmacm or liburing is missing") from None
    if done.returncode:
        raise Failed(" ".join(done.stderr.split()) or f"exit status {done.returncode}")
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def trips(nanoseconds):
    return nanoseconds / TRIP


def arrived(stamps, begin, count):
    """How many stamps there are in a whole number of round trips."""
    end = begin + count * TRIP - TRIP // 16
    if stamps[-1] < end:
        raise Failed("the stream ended too soon")
    return sum(begin <= stamp < end for stamp in stamps)


def steady(way, stamps, skipped):
    """How many stamps a round trip has in the middle of a stream, behind some that are skipped.

    The first one that counts begins a burst, so that the edges lie where nothing arrives.
    """
    after = stamps[0] + skipped * TRIP
    begin = next((now for before, now in zip(stamps, stamps[1:])
                  if now >= after and now - before > TRIP // 8), after)
    if way == "tcp":
        return statistics.median(arrived(stamps, begin + i * TRIP, 1) for i in range(TCP_COUNTED))
    return arrived(stamps, begin, COUNTED) / COUNTED


def stream(way, size, skipped=STEADY):
    """Thousand bytes a round trip."""
    count = TCP_COUNTED + TCP_REST if way == "tcp" else COUNTED + REST
    ms = (skipped + count) * TRIP // 1000000
    stamps, = bench("stream", WAYS[way][0], size, ms)
    return steady(way, stamps, skipped) * max(size, LOOK_BYTES // size * size) / 1000


def echo(way, size):
    """Round trips of the first echo on a connection, and of later ones."""
    samples, = bench("lat", WAYS[way][0], size, ECHO_COUNT, "--raw")
    return trips(samples[0]), trips(statistics.median(samples[ECHO_COUNT // 2:]))


def opening(way):
    """Round trips of the first and the second connection, and of closing one."""
    opened, closed = bench("open", WAYS[way][0], 1, 3)
    return trips(opened[0]), trips(opened[-1]), trips(closed[0])


def ask(way):
    """Round trips of connecting, a message and its answer, the first and the second time."""
    samples, = bench("ask", WAYS[way][0], 64, 3)
    return trips(samples[0]), trips(samples[-1])


def told(way):
    """Round trips from closing until the other end is told."""
    samples, = bench("closed", WAYS[way][0], 1, 3)
    return trips(samples[0])


def lent(way, test, size, *options):
    """Round trips of something done to memory that is lent; the median of some."""
    samples, = bench(test, WAYS[way][1], size, 5, *options)
    return trips(statistics.median(samples))


def attempt(way, names, measure, *arguments):
    """Print a row for each name."""
    try:
        values = measure(way, *arguments)
    except Failed as why:
        print(f"failed {','.join(names)} {way} {why}", flush=True)
        return
    for name, value in zip(names, values if isinstance(values, tuple) else (values,)):
        print(f"row {name} {way} {value:.3f}", flush=True)


def wire(way):
    for name, size in ECHOES.items():
        size = size or int(way in NO_EMPTY)
        attempt(way, [f"echo{name}_first", f"echo{name}"], echo, size)
    for name, size in STREAMS.items():
        attempt(way, [f"stream{name}"], stream, size)
    if WAYS[way][1]:
        for test in ("read", "write"):
            for name, size in ACCESSES.items():
                attempt(way, [f"{test}{name}"], lent, test, size, "--raw")
        attempt(way, ["add"], lent, "add", 8, "--raw")
        attempt(way, ["touch"], lent, "touch", LENT)
        if way in OURS:
            attempt(way, ["revoke"], lent, "revoke", LENT)
    quiet()
    # No region has to do with it, and io_uring cannot.
    if way not in ("regions", "io_uring"):
        attempt(way, ["open_first", "open", "close"], opening)
        quiet()
        attempt(way, ["ask_first", "ask"], ask)
        quiet()
        attempt(way, ["told"], told)


def part_of(samples, percent):
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * percent / 100))]


def percentiles(samples):
    """Milliseconds."""
    return tuple(part_of(samples, percent) / 1e6 for percent in (50, 99, 99.9, 100))


def loss(way):
    def measure(way):
        samples, = bench("lat", WAYS[way][0], 64, LOSS_COUNT, "--raw")
        return percentiles(samples)

    attempt(way, ["loss_p50", "loss_p99", "loss_p999", "loss_max"], measure)


def beside(way):
    def measure(way):
        samples, (begun, ended, size) = bench("beside", WAYS[way][0], BULK, BESIDE_MS)
        return *percentiles(samples), size / ((ended - begun) / 1e3), len(samples)

    attempt(way, ["beside_p50", "beside_p99", "beside_p999", "beside_max", "beside_bulk",
                  "beside_count"], measure)


def cable(*words):
    subprocess.run(["lab-cable", *(str(word) for word in words)], check=True)


def carried(way, ms, mbit, percent):
    """Million bytes a second of a stream of 64 KiB messages."""
    warm = CABLE_TRIPS * 2 * ms + 20
    counted = LOSSES_MS if percent else max(CABLE_TRIPS * 2 * ms, min(
        CABLE_MS, CABLE_BYTES * 8 / mbit / 1000))
    # The slowest cable has some messages, too.
    counted = max(counted, 64 * STREAMS["64k"] * 8 / mbit / 1000)
    stamps, = bench("stream", WAYS[way][0], STREAMS["64k"], int(warm + counted) + 1)
    begin = stamps[0] + warm * 1e6
    end = begin + counted * 1e6
    return sum(begin <= stamp < end for stamp in stamps) * STREAMS["64k"] / counted / 1e3


def cables(kind, way):
    """The queue pair is made for each cable anew: an acknowledgement is waited for accordingly."""
    for setting in CABLES[kind]:
        cable("delay", setting[0])
        cable("rate", setting[1])
        cable("loss", setting[2])
        quiet()
        attempt(way, [f"{kind}{setting[('delays', 'rates', 'losses').index(kind)]:g}"], carried,
                *setting)


# The bounds

def longer(way, size):
    """By how much a stream differs from what it is some hundred round trips later."""
    later = stream(way, size, STEADY + 3 * COUNTED)
    return abs(later / stream(way, size) - 1)


def measured(name, way):
    """The value of a row that a bound is about."""
    kind, size = re.fullmatch(r"([a-z_]+?)(\d+[km]?)?", name).groups()
    if kind == "echo":
        return echo(way, ECHOES[size])[1]
    if kind == "stream":
        return stream(way, STREAMS[size])
    if kind in ("read", "write"):
        return lent(way, kind, ACCESSES[size], "--raw")
    return {
        "open_first": lambda: opening(way)[0],
        "open": lambda: opening(way)[1],
        "close": lambda: opening(way)[2],
        "ask_first": lambda: ask(way)[0],
        "ask": lambda: ask(way)[1],
        "add": lambda: lent(way, "add", 8, "--raw"),
        "touch": lambda: lent(way, "touch", LENT),
        "revoke": lambda: lent(way, "revoke", LENT),
        "longer": lambda: longer(way, STREAMS["64k"]),
    }[name]()


def check():
    print(f"1..{len(BOUNDS)}")
    failed = 0
    for number, (name, way, words, limit) in enumerate(BOUNDS, 1):
        quiet()
        try:
            value = measured(name, way)
            good = value <= limit + 0.01 if words == "at most" else value >= limit - 0.01
            # What was not measured is 0.
            good = good and (value > 0 or limit == 0)
            said = f"{value:.3f}, wanted {words} {limit}"
        except Failed as why:
            good, said = False, str(why)
        failed |= not good
        print(f"# {name} {way}: {said}\n{'ok' if good else 'not ok'} {number} - {name} {way}",
              flush=True)
    return int(failed)


def quiet():
    """Wait until no link is left."""
    subprocess.run(["busybox", "sleep", "3"], check=False)


def prepare():
    subprocess.run(["insmod", "./rdmachan.ko", "idle_ms=1000"], check=True)
    # Nobody has to ask where the other one is.
    for host, peer in (("a", 2), ("b", 1)):
        subprocess.run(["ip", "-n", host, "neigh", "replace", f"10.77.0.{peer}", "lladdr",
                        f"02:77:00:00:00:{peer:02x}", "dev", "eth0", "nud", "permanent"],
                       check=True)


def main(arguments):
    prepare()
    match arguments:
        case ["check"]:
            return check()
        case ["wire" | "loss" | "beside" as part, way] if way in WAYS:
            {"wire": wire, "loss": loss, "beside": beside}[part](way)
        case [kind, way] if kind in CABLES and way in WAYS:
            cables(kind, way)
        case _:
            print(__doc__.strip(), file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
