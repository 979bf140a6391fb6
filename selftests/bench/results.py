#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make results and plots of what the guests of bench.sh have printed.

usage: results.py [--part] DIR BED...

Reads DIR/BED/rows, and writes DIR/results.json and the plots. That is a list of rows:
name, bed, kernel, unit, better (low or high), values (a number for each contender), aim
(words, or null), limit (the aim as a value), reached. A row with several aims is there
once for each, as NAME/AIM. The last line printed is "bench: N of M aims reached"; exit
status 1 tells that something could not be measured. With --part only some rows were
asked for, and there are no plots.
"""

import fnmatch
import json
import os
import statistics
import sys

import plot
from aims import AIMS, BETTER, CONTENDERS


def better_of(row):
    return next(better for kind, better in BETTER.items() if row.startswith(kind))


def best(row, values):
    return min(values) if better_of(row) == "low" else max(values)


class Bed:
    """What one bed has measured: values by row and contender."""

    def __init__(self, directory, name):
        self.name = name
        self.kernel = None
        self.units = {}
        self.values = {}
        self.failed = []
        samples = {}
        for line in self.lines(os.path.join(directory, name, "rows")):
            words = line.split(None, 4)
            if words[0] == "kernel":
                self.kernel = words[1]
            elif words[0] == "failed":
                self.failed.append(line.strip())
            else:
                _, row, contender, unit, value = words
                self.units[row] = unit
                samples.setdefault((row, contender), []).append(float(value))
        # Where all was measured several times.
        for (row, contender), numbers in samples.items():
            self.values.setdefault(row, {})[contender] = statistics.median(numbers)

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.readlines()

    def best_of(self, row, contenders):
        """The best value of a row among contenders, or None."""
        values = self.values.get(row, {})
        there = [values[c] for c in contenders if c in values]
        return best(row, there) if there else None

    def limit(self, row, aim):
        """What an aim asks for in a row, or None."""
        if aim.value is not None:
            return aim.value
        if aim.other_row:
            base = self.best_of(aim.other_row, aim.ours)
        else:
            base = self.best_of(row, aim.peers)
        return None if base is None else base * aim.factor

    def base_row(self, row):
        values = self.values[row]
        return {
            "name": row, "bed": self.name, "kernel": self.kernel,
            "unit": self.units[row], "better": better_of(row),
            "values": {c: values[c] for c in CONTENDERS if c in values},
            "aim": None, "limit": None, "reached": None,
        }

    def aim_row(self, row, aim):
        """The row as that of an aim; None where the aim does not exist."""
        limit, ours = self.limit(row, aim), self.best_of(row, aim.ours)
        if limit is None or ours is None:
            return None
        result = self.base_row(row)
        low = result["better"] == "low"
        result["name"] = f"{row}/{aim.name}"
        result["aim"] = words_of(aim, low)
        result["limit"] = round(limit, 3)
        result["measured"] = ours
        result["reached"] = ours <= limit if low else ours >= limit
        return result

    def rows(self):
        for row in self.values:
            aims = [self.aim_row(row, aim) for aim in AIMS
                    if aim.bed == self.name and fnmatch.fnmatch(row, aim.row)]
            aims = [result for result in aims if result]
            yield from aims or [self.base_row(row)]

    def missing(self):
        """Rows for the aims whose row has not been measured as they need it."""
        for aim in AIMS:
            if aim.bed != self.name or "*" in aim.row:
                continue
            if aim.row in self.values and self.aim_row(aim.row, aim):
                continue
            better = better_of(aim.row)
            yield {
                "name": f"{aim.row}/{aim.name}", "bed": self.name, "kernel": self.kernel,
                "unit": None, "better": better, "values": {},
                "aim": words_of(aim, better == "low"), "limit": None, "reached": False,
            }


def words_of(aim, low):
    ours = "best of " + ", ".join(aim.ours) if len(aim.ours) > 1 else aim.ours[0]
    than = "at most" if low else "at least"
    if aim.value is not None:
        return f"{ours}: {than} {aim.value:g}"
    peers = aim.other_row or ("best of " if len(aim.peers) > 1 else "") + ", ".join(aim.peers)
    return f"{ours}: {than} {aim.factor:g} x {peers}"


def show(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def print_bed(bed):
    """A table: a line for each row, a column for each contender."""
    there = [c for c in CONTENDERS if any(c in v for v in bed.values.values())]
    width = [max(len(c), 9) for c in there]
    print(f"\n{bed.name}, {bed.kernel}")
    print(f"{'':15}" + "".join(f" {c:>{w}}" for c, w in zip(there, width)))
    for row, values in bed.values.items():
        cells = [show(values[c]) if c in values else "-" for c in there]
        print(f"{row:9}{bed.units[row]:6}" +
              "".join(f" {cell:>{w}}" for cell, w in zip(cells, width)))


def print_aims(rows):
    for row in rows:
        if not row["values"]:
            print(f"MISSED  {row['bed']} {row['name']}: not measured ({row['aim']})")
        elif row["aim"]:
            word = "reached" if row["reached"] else "MISSED "
            print(f"{word} {row['bed']} {row['name']}: {show(row['measured'])}, "
                  f"limit {show(row['limit'])} {row['unit']} ({row['aim']})")


def complaints(beds):
    """What could not be measured."""
    for bed in beds:
        yield from (f"{bed.name}: {line}" for line in bed.failed)
        if not bed.values:
            yield f"{bed.name}: nothing was measured"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--part"]
    part = len(arguments) < len(sys.argv) - 1
    if len(arguments) < 2:
        sys.exit(__doc__)
    directory = arguments[0]
    beds = [Bed(directory, name) for name in arguments[1:]]
    rows = [row for bed in beds for row in bed.rows()]
    missing = [] if part else [row for bed in beds for row in bed.missing()]
    with open(os.path.join(directory, "results.json"), "w", encoding="utf-8") as file:
        json.dump(rows + missing, file, indent=1)
        file.write("\n")
    if not part:
        plot.plots(rows, directory)
    for bed in beds:
        print_bed(bed)
    print()
    print_aims(rows + missing)
    failed = list(complaints(beds))
    for line in failed:
        print(line)
    aims = [row for row in rows + missing if row["aim"]]
    print(f"bench: {sum(row['reached'] for row in aims)} of {len(aims)} aims reached")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
