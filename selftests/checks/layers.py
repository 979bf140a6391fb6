#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that the module's layers use only those below them.

usage: layers.py [KMOD]

Looks at all sources under KMOD (kmod/ beside selftests/). Prints TAP, with a line
"# file:line: what" for each violation, and exits 1 if there is one.
"""

import fnmatch
import os
import re
import sys

# From the bottom. A file belongs to the first layer with a pattern that fits.
LAYERS = (
    ("pure", ("pure/*",)),
    ("path", ("path*", "device*", "frame*", "mem.*", "cm*")),
    ("link", ("link*", "lane*", "mux*")),
    ("objects", ("ctx*", "listener*", "quota*", "region*", "grant*", "chan.*", "chan_*", "segment.c")),
    ("queue", ("queue.*", "queue_done.c", "queue_life.c", "queue_line.c", "queue_map.c",
               "queue_pool.c", "queue_poller.c", "queue_time.c", "queue_wait.c")),
    ("programs", ("chrdev*", "ioctl*", "file*", "queue_op*", "queue_region*", "debugfs*")),
    ("main", ("main.c",)),
)
# Serve all layers, and use only pure and each other.
COMMON = ("rch.h", "params.c", "work.c", "error.*", "object.*", "inject.*", "trace.*", "iter.h",
          "busy.h", "async.h", "compat/*")
# Another module.
IGNORED = ("kunit/*", "*.mod.c")

# Only programs: what is given by a program is touched there and nowhere else.
USER = re.compile(
    r"\b(__user|(raw_)?copy_(struct_)?(from|to)_user|(__)?(get|put)_user|clear_user|"
    r"strn\w+_user|v?memdup_user\w*|import_(iovec|ubuf|single_range)|access_ok)\b")
# But for what stands for the kernel's own way to copy an iov_iter.
USER_DOOR = "iter.h"
# Only path.
RDMA = re.compile(r"^rdma/")
# Pure meets its surroundings here, but for what is below it.
PURE_DOOR = "pure/types.h"
UAPI = "rdmachan.h"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
NAME = re.compile(r"\brch_\w+\b")
NAME_CALL = re.compile(r"\b(rch_\w+)[ \t]*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)

COMMON_RANK = 0.5


def blank(match):
    """Replace by spaces: offsets and line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group())


def fits(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


class Source:
    """One file: its layer, its text without comments, its functions."""

    def __init__(self, root, name):
        self.name = name
        self.path = os.path.relpath(os.path.join(root, name))
        with open(os.path.join(root, name), encoding="utf-8") as file:
            self.text = COMMENT.sub(blank, file.read())
        self.code = DIRECTIVE.sub(blank, STRING.sub(blank, self.text))
        self.rank, self.layer = rank_of(name)
        self.functions = set(self._functions())

    def _functions(self):
        """Names of functions that have their body here, at the outermost level."""
        depth, level = 0, []
        for char in self.code:
            depth -= char == "}"
            level.append(depth)
            depth += char == "{"
        for match in NAME_CALL.finditer(self.code):
            if level[match.start()] == 0 and self._body_follows(match.end()):
                yield match.group(1)

    def _body_follows(self, at):
        """Whether the parentheses that were opened before @at end before a body."""
        depth = 1
        while depth and at < len(self.code):
            depth += {"(": 1, ")": -1}.get(self.code[at], 0)
            at += 1
        return self.code[at:].lstrip().startswith("{")

    def place(self, offset):
        return f"{self.path}:{self.text.count(chr(10), 0, offset) + 1}"


def rank_of(name):
    """Return the height of a file's layer, and its name."""
    if fits(name, COMMON):
        return COMMON_RANK, "common"
    for rank, (layer, patterns) in enumerate(LAYERS):
        if fits(name, patterns):
            return rank, layer
    return None, None


def find_sources(root):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file in sorted(files):
            name = os.path.relpath(os.path.join(folder, file), root)
            if file.endswith((".c", ".h")) and not fits(name, IGNORED):
                yield Source(root, name)


def local_include(sources, source, header):
    """The file that an include by "..." means, from its folder or from the top."""
    near = os.path.normpath(os.path.join(os.path.dirname(source.name), header))
    return sources.get(near) or sources.get(os.path.normpath(header))


def check_places(sources):
    for source in sources.values():
        if source.rank is None:
            yield source.place(0), "belongs to no layer; see the table in layers.py"


def check_includes(sources):
    for source in sources.values():
        for match in INCLUDE.finditer(source.text):
            other = local_include(sources, source, match.group(2))
            if match.group(1) == '"' and other and other.rank > source.rank:
                yield (source.place(match.start()),
                       f"{source.layer} includes {other.name} of {other.layer}")


def check_headers(sources):
    for source in sources.values():
        for match in INCLUDE.finditer(source.text):
            header, local = match.group(2), match.group(1) == '"'
            place = source.place(match.start())
            if RDMA.match(header) and source.layer != "path":
                yield place, f"{source.layer} includes <{header}>"
            elif (source.layer == "pure" and not local and header != UAPI and
                  source.name != PURE_DOOR):
                yield place, f"pure includes <{header}>, which only {PURE_DOOR} may"


def check_user(sources):
    for source in sources.values():
        if source.layer == "programs" or source.name == USER_DOOR:
            continue
        for match in USER.finditer(source.code):
            yield source.place(match.start()), f"{source.layer} uses {match.group()}"


def check_calls(sources):
    owners = {}
    for source in sources.values():
        for name in source.functions:
            owners.setdefault(name, source)
    for source in sources.values():
        for match in NAME.finditer(source.code):
            owner = owners.get(match.group())
            if (owner and owner.rank > source.rank and
                    match.group() not in source.functions):
                yield (source.place(match.start()), f"{source.layer} uses "
                       f"{match.group()}() of {owner.layer} ({owner.name})")


CHECKS = (
    ("every file has its layer", check_places),
    ("includes go down", check_includes),
    ("headers of the kernel stay in their layer", check_headers),
    ("only programs' layer touches their memory", check_user),
    ("calls go down", check_calls),
)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../kmod")
    sources = {source.name: source for source in find_sources(root)}
    placed = {n: s for n, s in sources.items() if s.rank is not None}
    functions = sum(len(s.functions) for s in sources.values())
    failed = not functions

    print(f"1..{len(CHECKS) + 1}")
    print(f"# layers.py: {len(sources)} files, "
          f"{functions} functions")
    print(f"{'ok' if functions else 'not ok'} 1 - there are sources")
    for number, (title, check) in enumerate(CHECKS, 2):
        violations = list(check(sources if check is check_places else placed))
        failed |= bool(violations)
        print(f"{'not ok' if violations else 'ok'} {number} - {title}")
        for place, what in violations:
            print(f"# {place}: {what}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
