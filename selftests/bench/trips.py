#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""trips.py - the bed "trips": what takes how many round trips, beside peers, in virtual time

usage: trips.py PAYLOAD OUT

Boots a guest of vt.sh for each part and way, on a wire of a known length, and prints the tables of
Documentation/performance.rst. OUT gets what the guests have said, trips.json, and trips.svg,
streams.svg, delays.svg, rates.svg and losses.svg. In the environment patterns of names: ROWS of
parts (wire loss0.1 loss1 loss5 beside delays rates losses), CONTENDERS of ways. Exit status 1: something could not be measured, which is told.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

import plot

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab")
KERNEL = "uml-7.2"
WAYS = ("calls", "queue", "regions", "io_uring", "verbs", "rsockets", "tcp")
# As plots have them.
CONTENDERS = {"calls": "write_read", "queue": "queue", "regions": "queue_regions",
              "io_uring": "io_uring", "verbs": "ib_send", "rsockets": "rsockets", "tcp": "tcp"}
FEW = ("calls", "verbs", "rsockets", "tcp")
SOME = ("calls", "regions", "verbs", "rsockets", "tcp")
LONG = ("--delay", "10000")
# A part: the guest's word for it, the cable, and by which ways.
PARTS = {
    "wire": ("wire", LONG, WAYS),
    "loss0.1": ("loss", (*LONG, "--cable", "loss 0.1"), FEW),
    "loss1": ("loss", (*LONG, "--cable", "loss 1"), FEW),
    "loss5": ("loss", (*LONG, "--cable", "loss 5"), FEW),
    "beside": ("beside", ("--delay", "50", "--cable", "rate 1000"),
               ("calls", "queue", "regions", "verbs", "rsockets", "tcp")),
    "delays": ("delays", ("--delay", "10"), SOME),
    "rates": ("rates", ("--delay", "10"), SOME),
    "losses": ("losses", ("--delay", "10"), SOME),
}
# Streams over cables that differ in one thing: what it is, and which cable it is for the rest.
SWEEPS = {
    "delays": ("delay each way, ms", "1 Gbit/s"),
    "rates": ("Mbit/s of the cable", "1 ms each way"),
    "losses": ("percent of packets lost, each way", "1 Gbit/s, 1 ms each way"),
}
# Seconds of the wall: something that only computes never ends.
TIMEOUT = 180
SIZES = ("64", "4k", "16k", "64k", "256k", "1m", "8m")
SINGLE = {
    "open_first": "first connection", "open": "further one", "close": "closing it",
    "ask_first": "first, and an answer", "ask": "further, and an answer",
    "told": "until the other end is told", "read64": "READ, 64 B", "read64k": "READ, 64 KiB",
    "read1m": "READ, 1 MiB", "write64": "WRITE, 64 B", "write64k": "WRITE, 64 KiB",
    "write1m": "WRITE, 1 MiB", "add": "FETCH_ADD", "touch": "lending, until it is read",
    "revoke": "taking back",
}


def size_words(name):
    """64 B, 4 KiB, 1 MiB."""
    unit = {"k": " KiB", "m": " MiB"}.get(name[-1])
    return name[:-1] + unit if unit else name + " B"


class Results:
    """Values by part, row and way, and what could not be measured."""

    def __init__(self):
        self.values, self.failed, self.kernel = {}, [], "7.2"

    def take(self, part, way, directory):
        """What a guest has said."""
        for line in lines_of(os.path.join(directory, "output.log")):
            words = line.split(None, 3)
            if words[:1] == ["row"]:
                self.values.setdefault((part, words[1]), {})[way] = float(words[3])
            elif words[:1] == ["failed"]:
                self.failed.append(f"{part}: {words[1]}, {way}: {words[3].strip()}")
        for line in lines_of(os.path.join(directory, "console.log")):
            version = re.search(r"Linux version (\S+)", line)
            if version:
                self.kernel = version[1]

    def cell(self, part, row, way, digits=2):
        value = self.values.get((part, row), {}).get(way)
        return "\\" if value is None else number(value, digits)


def number(value, digits):
    """1,234 or 1.5: no more than is known."""
    return f"{value:,.0f}" if value >= 1000 else f"{round(value, digits):g}"


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readlines()


def boot(part, way, payload, directory):
    """Run one guest. Return: why it has failed, or None."""
    word, cable, _ = PARTS[part]
    done = subprocess.run(
        [os.path.join(LAB, "vt.sh"), "--kernel", KERNEL, "--mem", "1536", "--timeout",
         str(TIMEOUT), "--payload", payload, "--out", directory, *cable, "--",
         "python3", "trips_guest.py", word, way],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 124:
        return f"it came to a stop, and the guest was killed after {TIMEOUT} s"
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [""])[-1]
        return f"the guest has failed, status {done.returncode}: {said}"
    return None


def table(heads, rows):
    """Print a table as reStructuredText has them, if there is something in it."""
    if not set("".join("".join(row[1:]) for row in rows)) - set("\\ /"):
        return
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    ruler = " ".join("=" * width for width in widths)
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in [heads, *rows]]
    print("\n".join(["", ruler, lines[0], ruler, *lines[1:], ruler]))


def echo_cell(results, size, way):
    """Later ones, and the first one where that differs."""
    later = results.cell("wire", f"echo{size}", way)
    first = results.cell("wire", f"echo{size}_first", way)
    return later if first == later else f"{later}; {first}"


def print_tables(results):
    ways = list(WAYS)
    table(["echo (the first)", *ways], [
        [size_words(size), *(echo_cell(results, size, way) for way in ways)]
        for size in ("0", *SIZES)])
    table(["stream, KB a trip", *ways], [
        [size_words(size), *(results.cell("wire", f"stream{size}", way, 1) for way in ways)]
        for size in ("64", "4k", "64k", "1m")])
    columns = [way for way in ways if way != "io_uring"]
    table(["what", *columns], [
        [words, *(results.cell("wire", name, way) for way in columns)]
        for name, words in SINGLE.items()])
    table(["loss: p50 / p99 / p99.9, ms", *FEW], [
        [f"{part[4:]} %", *(" / ".join(results.cell(part, f"loss_{which}", way, 0)
                                      for which in ("p50", "p99", "p999")) for way in FEW)]
        for part in PARTS if part.startswith("loss")])
    ways = list(PARTS["beside"][2])
    table(["beside bulk", *ways], [
        [words, *(beside_cell(results, name, way) for way in ways)]
        for name, words in (("p50", "p50, us"), ("p99", "p99, us"), ("max", "longest, us"),
                            ("bulk", "bulk, MB/s"))])
    for kind, (words, _) in SWEEPS.items():
        table([f"MB/s by {words}", *SOME], [
            [f"{value:g}", *(results.cell(kind, f"{kind}{value:g}", way) for way in SOME)]
            for value in sweep(results, kind)])


def sweep(results, kind):
    """Settings of the cables that were measured."""
    return sorted(float(row[len(kind):]) for part, row in results.values if part == kind)


def beside_cell(results, name, way):
    value = results.values.get(("beside", f"beside_{name}"), {}).get(way)
    if value is None:
        return "\\"
    return number(value if name == "bulk" else value * 1e3, 1)


def draw(results, directory):
    """The plots, as far as there is enough for them."""
    def rows(kind, names):
        measured = {kind + name: results.values.get(("wire", kind + name)) for name in names}
        return [{"name": name, "values": {CONTENDERS[way]: v for way, v in values.items()}}
                for name, values in measured.items() if values]

    subtitle = f"Linux {results.kernel}, rxe; a wire of 10 ms each way, in virtual time"
    pictures = {
        "trips": plot.draw_curves(
            rows("echo", SIZES), "echo", "A message and its answer (less is better)",
            "bytes of a message", "round trips", subtitle=subtitle),
        "streams": plot.draw_curves(
            rows("stream", ("64", "4k", "64k", "1m")), "stream",
            "Messages in one direction (more is better)", "bytes of a message",
            "thousand bytes a round trip", subtitle=subtitle),
    }
    for kind, (words, rest) in SWEEPS.items():
        pictures[kind] = plot.draw_lines(
            {CONTENDERS[way]: {value: results.values[kind, f"{kind}{value:g}"][way]
                               for value in sweep(results, kind)
                               if results.values[kind, f"{kind}{value:g}"].get(way)}
             for way in SOME},
            {value: f"{value:g}" for value in sweep(results, kind)},
            "Messages of 64 KiB in one direction (more is better)", words,
            "million bytes a second", f"Linux {results.kernel}, rxe, in virtual time; {rest}")
    for name, drawing in pictures.items():
        if drawing:
            drawing.write(os.path.join(directory, name + ".svg"))


def chosen(variable, names):
    """Those that a pattern in the environment names; a pattern that names none ends this."""
    patterns = os.environ.get(variable, "").split() or ["*"]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            sys.exit(f"trips.py: {variable}: there is no '{pattern}'; there are: {' '.join(names)}")
    return [name for name in names if any(fnmatch.fnmatch(name, p) for p in patterns)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    payload, out = sys.argv[1:]
    parts, ways = chosen("ROWS", PARTS), chosen("CONTENDERS", WAYS)
    results = Results()
    for part in parts:
        for way in PARTS[part][2]:
            if way not in ways:
                continue
            directory = os.path.join(out, part, way)
            # A measurement of another run is no figure of this one.
            shutil.rmtree(directory, ignore_errors=True)
            os.makedirs(directory)
            why = boot(part, way, payload, directory)
            results.take(part, way, directory)
            if why:
                results.failed.append(f"{part}: {way}: {why}")
    with open(os.path.join(out, "trips.json"), "w", encoding="utf-8") as file:
        json.dump({"kernel": results.kernel, "failed": results.failed, "rows": [
            {"part": part, "name": name, "values": values}
            for (part, name), values in results.values.items()]}, file, indent=1)
        file.write("\n")
    print_tables(results)
    draw(results, out)
    print()
    for line in results.failed:
        print("not measured:", line)
    return 1 if results.failed or not results.values else 0


if __name__ == "__main__":
    sys.exit(main())
