#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Show what profile.c counted, by function.

usage: profile.py LOG BLOCKS LINES

LOG is the output of profile.sh's guest, with the kernel's symbols; BLOCKS what the plugin
has written. Each line has instructions for each message, their share, how often the function
was entered for each, and its name.
"""

import base64
import bisect
import collections
import gzip
import re
import sys


def symbols(log):
    """Addresses, ascending, and the names that begin there."""
    text = log.split("symbols\n", 1)[1].split("end of symbols", 1)[0]
    found = []
    for line in gzip.decompress(base64.b64decode(text)).decode().splitlines():
        address, _, name, *module = line.split()
        found.append((int(address, 16), name + (" " + module[0] if module else "")))
    found.sort()
    return [a for a, _ in found], [n for _, n in found]


def main():
    """Print the table."""
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        log = file.read()
    messages = int(re.search(r"bytes, (\d+) messages", log).group(1))
    starts, names = symbols(log)
    counts = collections.Counter()
    groups = collections.Counter()
    entered = collections.Counter()
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            address, count, times = line.split()
            address, count = int(address, 16), int(count)
            if address < 1 << 47:
                name = "(programs)"
            else:
                place = max(bisect.bisect_right(starts, address) - 1, 0)
                name = names[place]
                if starts[place] == address:
                    entered[name] += int(times)
            counts[name] += count
            module = re.search(r"\[(.*)\]", name)
            groups[module.group(1) if module else name if name == "(programs)" else "kernel"] += count
    total = sum(counts.values())
    print(f"{total / messages:10.0f} instructions for each message")
    for name, count in groups.most_common(12):
        print(f"{count / messages:10.1f} {100 * count / total:5.1f} %  in {name}")
    print()
    for name, count in counts.most_common(int(sys.argv[3])):
        share, calls = 100 * count / total, entered[name] / messages
        print(f"{count / messages:10.1f} {share:5.1f} % {calls:8.2f}  {name}")


main()
