#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Say which branches of the code of some folders were taken both ways.

usage: branches.py FOLDER... <EXPORT

EXPORT is what "llvm-cov export" writes about one program or more. Branches of files in
the FOLDERs count; an inline function that several objects have is one, whoever ran it. Prints
a line for each way that was never taken, then each file, then the whole; exits 1 if a
way is missing.
"""

import collections
import json
import os
import sys

# Of a branch in the export: where it is, how often each way, and in which file.
PLACE, TRUE, FALSE, FILE = slice(0, 4), 4, 5, 6


def sources(export, folders):
    """Names of the sources in the folders whose functions the export has."""
    return {os.path.basename(function["filenames"][0])
            for data in export["data"] for function in data["functions"]
            if os.path.dirname(os.path.realpath(function["filenames"][0])) in folders}


def branches(export, folders):
    """Yield (place, how often true, how often false) for each instance of a branch."""
    for data in export["data"]:
        for function in data["functions"]:
            name = function["name"].rsplit(":", 1)[-1]
            files = function["filenames"]
            if os.path.dirname(os.path.realpath(files[0])) not in folders:
                continue
            for branch in function.get("branches", ()):
                path = os.path.basename(files[branch[FILE]])
                place = (path, *branch[PLACE], name, branch[FILE])
                yield place, branch[TRUE], branch[FALSE]


def main():
    folders = [os.path.realpath(folder) for folder in sys.argv[1:]]
    taken = {}
    export = json.load(sys.stdin)
    unseen = {name for folder in folders for name in os.listdir(folder) if name.endswith(".c")}
    unseen -= sources(export, folders)
    for name in sorted(unseen):
        print(f"{name}: no function of it was seen")
    for place, true, false in branches(export, folders):
        old = taken.get(place, (0, 0))
        taken[place] = (old[0] + true, old[1] + false)

    total, missing = collections.Counter(), collections.Counter()
    for place, counts in sorted(taken.items()):
        path, line, column, name = place[0], place[1], place[2], place[5]
        total[path] += 2
        for way, count in zip(("true", "false"), counts):
            if not count:
                missing[path] += 1
                print(f"{path}:{line}:{column}: never {way}, in {name}()")
    for path in sorted(total):
        print(f"{path}: {total[path] - missing[path]} of {total[path]}")
    ways, gone = sum(total.values()), sum(missing.values())
    percent = 100 * (ways - gone) / ways if ways else 0
    # Rounded down: 100.0 is all of them.
    print(f"coverage: {os.path.basename(folder)} {int(percent * 10) / 10:.1f} % of branches")
    return 1 if gone or unseen or not ways else 0


if __name__ == "__main__":
    sys.exit(main())
