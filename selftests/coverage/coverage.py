#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
coverage.py - add up the counts of gcov of several runs

usage: coverage.py --objects DIR --pure DIR --report FILE COUNTS

COUNTS is a tree that holds, below a folder of each run and host, .gcda files in the places of the
sources; DIR of --objects is where the module was compiled, with the .gcno files in the same places.
--pure is the part of COUNTS whose branches of the pure layer count. The report has a line for
each file and then, file by file, the lines that nothing executed. Prints the table, and the last
line. Exits 1 when there is a source without a count, or a run without any.
"""
import argparse
import collections
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

# It is made of static_assert() only.
NO_CODE = {"front/abi"}


def objects_of(objects):
    """Names, without their end, of what the module was compiled of: main, proto/wire, ...

    What a source has left behind that lies elsewhere now is none of them.
    """
    return {os.path.relpath(os.path.join(folder, name), objects)[:-5]
            for folder, _, names in os.walk(objects) for name in names
            if name.endswith(".gcno") and not name.endswith(".mod.gcno") and name[0] != "."
            and os.path.exists(os.path.join(folder, name[:-5] + ".c"))}


def counted(counts):
    """Yield each .gcda file; the part of its path that is the module's is not known here."""
    for folder, _, names in os.walk(counts):
        for name in sorted(names):
            if name.endswith(".gcda"):
                yield os.path.join(folder, name)


def gcov(known, objects, counts):
    """Yield what gcov says of each source file of the module, for each .gcda."""
    for gcda in counted(counts):
        name = object_of(known, gcda)
        if name is None:
            sys.exit(f"coverage.py: {gcda} is of no object below {objects}")
        yield from gcov_one(gcda, os.path.join(objects, name + ".gcno"), objects)


def object_of(known, gcda):
    """The longest end of a path that is the name of an object."""
    parts = gcda[:-5].split(os.sep)
    for i in range(len(parts)):
        if "/".join(parts[i:]) in known:
            return "/".join(parts[i:])
    return None


def empty_runs(counts):
    """Folders of counts without any, for example vt/chan/a."""
    for folder, folders, names in os.walk(counts):
        if not folders and not any(name.endswith(".gcda") for name in names):
            yield os.path.relpath(folder, counts)


def gcov_one(gcda, gcno, objects):
    with tempfile.TemporaryDirectory() as scratch:
        # gcov looks for one beside the other.
        shutil.copy(gcda, scratch)
        shutil.copy(gcno, scratch)
        subprocess.run(["gcov", "--branch-probabilities", "--json-format",
                        os.path.basename(gcda)], cwd=scratch, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for result in os.listdir(scratch):
            if not result.endswith(".json.gz"):
                continue
            with gzip.open(os.path.join(scratch, result)) as stream:
                data = json.load(stream)
            for source in data["files"]:
                path = os.path.join(data["current_working_directory"], source["file"])
                path = os.path.relpath(os.path.normpath(path), objects)
                if not path.startswith(("..", "kunit/")):
                    yield path, source


class Counts:
    """Of lines, by (file, line); of branches, by (file, line, how many, which)."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def add(self, path, source):
        for line in source["lines"]:
            place = (path, line["line_number"])
            self.lines[place] += line["count"]
            for number, branch in enumerate(line["branches"]):
                # A function that was inlined differently has others.
                key = place + (len(line["branches"]), number)
                self.branches[key] += branch["count"]

    def read(self, known, objects, tree):
        for path, source in gcov(known, objects, tree):
            self.add(path, source)
        return self


def best_variants(branches):
    """
    A line of an inline function can have other numbers of branches in other places,
    some of which are left out as they cannot be taken there: keep those of the place
    that takes most of its own.
    """
    variants = collections.defaultdict(dict)
    for key, count in branches.items():
        variants[key[:3]][key] = count
    best = {}
    for key, variant in variants.items():
        taken = share(*ratio(variant))
        if key[:2] not in best or taken > best[key[:2]][0]:
            best[key[:2]] = (taken, variant)
    return {key: n for _, variant in best.values() for key, n in variant.items()}


def share(part, whole):
    return 100.0 * part / whole if whole else 0.0


def ratio(counts, path=None):
    chosen = [n for place, n in counts.items() if path is None or place[0] == path]
    return sum(1 for n in chosen if n), len(chosen)


def table(out, counts):
    out.write("%-24s %7s %7s %7s\n" % ("file", "lines", "of", "%"))
    for path in sorted({place[0] for place in counts.lines}):
        part, whole = ratio(counts.lines, path)
        out.write("%-24s %7d %7d %7.1f\n" % (path, part, whole, share(part, whole)))


def missing_lines(out, counts, objects):
    for path in sorted({place[0] for place in counts.lines}):
        lines = sorted(place[1] for place, n in counts.lines.items()
                       if place[0] == path and not n)
        if not lines:
            continue
        with open(os.path.join(objects, path), encoding="utf-8") as stream:
            text = stream.read().split("\n")
        out.write("\n%s: not executed\n" % path)
        for line in lines:
            out.write("%6d  %s\n" % (line, text[line - 1].expandtabs(4)))


def missing_branches(out, branches):
    places = sorted({key[:2] for key, n in branches.items() if not n})
    if places:
        out.write("\npure: branches not taken by KUnit\n")
    for path, line in places:
        out.write("  %s:%d\n" % (path, line))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", required=True)
    parser.add_argument("--pure", required=True)
    parser.add_argument("--report", required=True)
    parser.add_argument("counts")
    args = parser.parse_args()
    objects = os.path.realpath(args.objects)

    known = objects_of(objects)
    everything = Counts().read(known, objects, args.counts)
    pure = Counts().read(known, objects, args.pure)
    branches = best_variants({key: n for key, n in pure.branches.items()
                              if key[0].startswith(("proto/", "pure/"))})
    files = {place[0] for place in everything.lines}
    wrong = [f"{name}.c has {'a count' if name in NO_CODE else 'no count'}"
             for name in sorted(known)
             if not name.startswith("kunit/") and (name + ".c" in files) == (name in NO_CODE)]
    wrong += [f"{run} has no count" for run in empty_runs(args.counts)]
    if not known or not branches:
        wrong.append("there is nothing to count: no objects, or no branches of the pure layer")
    summary = "coverage: kmod %.1f %% of lines, pure %.1f %% of branches\n" % (
        share(*ratio(everything.lines)), share(*ratio(branches)))
    with open(args.report, "w", encoding="utf-8") as out:
        table(out, everything)
        missing_lines(out, everything, objects)
        missing_branches(out, branches)
        out.write("\n" + summary)
    with open(args.report, encoding="utf-8") as report:
        sys.stdout.write(report.read().split("\n\n")[0] + "\n")
    for line in wrong:
        sys.stdout.write(line + "\n")
    sys.stdout.write(summary)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
