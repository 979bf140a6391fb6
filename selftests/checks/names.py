#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that a backtrace tells each static function of the module from the others.

usage: names.py [KMOD]

A static function of link/link_tx.c has a name that begins with "link_", one of op/ begins with
"op_", and no two files define the same name. So the line of a backtrace names the place in the
source. kunit/ is another module: there only the second rule holds. Looks at all .c files of KMOD
(kmod/ beside selftests/). Prints TAP, a test for each folder, with a line "# file:line: what" for
each violation, and exits 1 if there is one.
"""

import collections
import os
import re
import sys

FUNCTION = re.compile(r"^static\s+(?:\w+[\s*]+)+?(\w+)\(", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# A name with this prefix is known in all of the module.
PUBLIC = "rch_"


def functions(path):
    """Each static function of a file, once, as (name, line)."""
    with open(path, encoding="utf-8") as source:
        text = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source.read())
    found = {}
    for match in FUNCTION.finditer(text):
        found.setdefault(match.group(1), text.count("\n", 0, match.start(1)) + 1)
    return found.items()


def noun(folder, file):
    """What the names of a file begin with."""
    return "op" if folder == "op" else re.split(r"[_.]", file)[0]


def main():
    """Return: the exit code."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../kmod")
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.normpath(top)
    places = collections.defaultdict(list)
    wrong = collections.defaultdict(list)
    folders = set()
    for directory, _, files in sorted(os.walk(root)):
        folder = os.path.relpath(directory, root)
        for file in sorted(name for name in files if name.endswith(".c")):
            where = os.path.join(folder, file)
            folders.add(folder)
            for name, line in functions(os.path.join(directory, file)):
                places[name].append((folder, f"{where}:{line}"))
                begins = noun(folder, file) + "_"
                if folder != "kunit" and not name.startswith((begins, PUBLIC)):
                    wrong[folder].append(f"{where}:{line}: {name}() does not begin with {begins}")
    for name, found in places.items():
        if len(found) > 1:
            for folder, where in found:
                wrong[folder].append(f"{where}: {name}() is defined {len(found)} times")
    if not places:
        print(f"not ok 1 - names\n# no static function below {root}")
        return 1
    for number, folder in enumerate(sorted(folders), 1):
        print(f"{'not ' if wrong[folder] else ''}ok {number} - names in {folder}")
        for line in wrong[folder]:
            print(f"# {line}")
    print(f"# {len(places)} names in {len(folders)} folders")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
