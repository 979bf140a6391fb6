#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that the module's layers use only those below them.

usage: layers.py [KMOD]

A layer is a folder of KMOD (kmod/ beside selftests/). Looks at all sources there: at what they
include, and at every name of a function or variable that another file defines. Prints TAP, with a
line "# file:line: what" for each violation, and exits 1 if there is one. Circles of files within
a folder are told and are none.
"""

import os
import re
import sys

# From the top. What lies in no folder is the top.
TOP = "main"
LAYERS = (TOP, "front", "op", "call", "queue", "message", "rndv", "memory", "channel", "link", "conn", "path", "dma", "base",
          "proto", "pure", "compat")
# Other modules: only the name of the folder is looked at.
OTHERS = ("kunit",)
# As many files a folder may have.
FILES = 12
# Pairs of layers of which the first still uses the second: these get fewer as well.
UPWARD = ()

# These touch what is given by a program, and nobody else does.
PROGRAMS = ("front", "op", "call")
USER = re.compile(
    r"\b(__user|(raw_)?copy_(struct_)?(from|to)_user|(__)?(get|put)_user|clear_user|"
    r"strn\w+_user|v?memdup_user\w*|import_(iovec|ubuf|single_range)|access_ok)\b")
# But for what stands for the kernel's own way to copy an iov_iter.
USER_DOOR = "base/iter.h"
# Only these.
RDMA = re.compile(r"^rdma/")
# These meet their surroundings in one file, but for what is below them.
PURE = ("proto", "pure")
PURE_DOOR = "pure/types.h"
UAPI = "rdmachan.h"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
NAME = re.compile(r"\brch_\w+\b")
TAGS = re.compile(r"\b(?:struct|enum|union)\s+rch_\w+")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
OBJECTS = re.compile(r"^\s*rdmachan-\S+\s*\+?:?=((?:\\\n|[^\n])*)", re.M)
PREFIX = re.compile(r"\$\(addprefix\s+([^,\s]+)\s*,([^)]*)\)")


def blank(match):
    """Replace by spaces: offsets and line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group())


class Source:
    """One file: its layer, its text without comments, and what it defines."""

    def __init__(self, root, name):
        self.name = name
        self.path = os.path.relpath(os.path.join(root, name))
        with open(os.path.join(root, name), encoding="utf-8") as file:
            self.text = COMMENT.sub(blank, file.read())
        self.code = DIRECTIVE.sub(blank, STRING.sub(blank, self.text))
        self.layer = name.split("/")[0] if "/" in name else TOP
        self.rank = -LAYERS.index(self.layer) if self.layer in LAYERS else None
        self.names, self.static = [], set()
        self.functions, self.variables = set(), set()
        self._read()

    def _read(self):
        """Fill in names, with their depth in braces, and those that are defined here."""
        depth, level = 0, []
        for char in self.code:
            depth -= char == "}"
            level.append(depth)
            depth += char == "{"
        for match in NAME.finditer(TAGS.sub(blank, self.code)):
            self.names.append((match.group(), match.start(), level[match.start()]))
            if level[match.start()] == 0:
                self._defines(match)

    def _defines(self, match):
        """Take the name if it is that of a function's body or of a variable."""
        before = re.split(r"[;{}]", self.code[max(0, match.start() - 300):match.start()])[-1]
        after = self.code[match.end():]
        words = set(re.findall(r"\w+", before))
        if after.lstrip().startswith("("):
            if "(" in before.replace("__aligned(", "") or not self._body_follows(match.end()):
                return
            found = self.functions
        else:
            # Else it is a type, a parameter, or only declared.
            if not re.match(r"\s*(\[[^]]*\]\s*)*[=;,]", after) or "(" in before or \
                    "extern" in words or "typedef" in words or "=" in before or \
                    not words or words <= {"struct", "enum", "union"}:
                return
            found = self.variables
        found.add(match.group())
        if "static" in words and "inline" not in words:
            self.static.add(match.group())

    def _body_follows(self, at):
        """Whether the parentheses that are opened at @at end before a body."""
        depth = 0
        while at < len(self.code):
            depth += {"(": 1, ")": -1}.get(self.code[at], 0)
            at += 1
            if depth == 0 and self.code[at - 1] == ")":
                break
        return self.code[at:].lstrip().startswith("{")

    def unit(self):
        """A source with its header: dma/mem is both."""
        return os.path.splitext(self.name)[0]

    def place(self, offset):
        return f"{self.path}:{self.text.count(chr(10), 0, offset) + 1}"


class Tree:
    """All files of the module."""

    def __init__(self, root):
        self.root = root
        self.all = {}
        self.others = 0
        for folder, folders, files in os.walk(root):
            folders.sort()
            for file in sorted(files):
                name = os.path.relpath(os.path.join(folder, file), root)
                if not file.endswith((".c", ".h")) or file.endswith(".mod.c"):
                    continue
                if name.split("/")[0] in OTHERS:
                    self.others += 1
                else:
                    self.all[name] = Source(root, name)
        self.sources = [s for s in self.all.values() if s.rank is not None]
        self.owners = {}
        for source in self.sources:
            for name in (source.functions | source.variables) - source.static:
                self.owners.setdefault(name, source)

    def included(self, source):
        """Yield where @source includes which other file of the module."""
        for match in INCLUDE.finditer(source.text):
            near = os.path.normpath(os.path.join(os.path.dirname(source.name), match.group(2)))
            other = self.all.get(near) or self.all.get(os.path.normpath(match.group(2)))
            if match.group(1) == '"' and other and other.rank is not None:
                yield match.start(), other

    def used(self, source):
        """Yield where @source names what another file defines, at which depth in braces."""
        for name, start, level in source.names:
            owner = self.owners.get(name)
            if owner and owner is not source and \
                    name not in source.functions and name not in source.variables:
                yield name, start, level, owner

    def objects(self):
        """Names of the sources that Kbuild builds the module of."""
        try:
            with open(os.path.join(self.root, "Kbuild"), encoding="utf-8") as file:
                text = "".join(OBJECTS.findall(file.read()))
        except FileNotFoundError:
            return set()
        text = PREFIX.sub(
            lambda m: " ".join(m.group(1) + word for word in m.group(2).split()), text)
        return {word[:-2] + ".c" for word in text.split() if word.endswith(".o")}

    def graph(self):
        """Which unit uses which others. What a header only declares it does not use."""
        edges = {source.unit(): set() for source in self.sources}
        for source in self.sources:
            unit = edges[source.unit()]
            unit.update(other.unit() for _, other in self.included(source))
            unit.update(owner.unit() for _, _, level, owner in self.used(source) if level)
        return edges

    def circles(self):
        """Return the largest sets of units each of which uses all of them at last (Tarjan)."""
        edges, number, low, stack, found = self.graph(), {}, {}, [], []

        def visit(unit):
            number[unit] = low[unit] = len(number)
            stack.append(unit)
            for other in sorted(edges[unit]):
                if other not in number:
                    visit(other)
                if other in stack:
                    low[unit] = min(low[unit], low[other])
            if low[unit] == number[unit]:
                at = stack.index(unit)
                found.append(sorted(stack[at:]))
                del stack[at:]

        sys.setrecursionlimit(10000)
        for unit in sorted(edges):
            if unit not in number:
                visit(unit)
        return [circle for circle in found if len(circle) > 1]


def folder_of(unit):
    return unit.split("/")[0] if "/" in unit else TOP


def check_places(tree):
    for source in tree.all.values():
        if source.rank is None:
            yield source.place(0), "belongs to no layer; see the table in layers.py"
        elif source.name.count("/") > 1 or (source.layer == TOP and source.name != "main.c"):
            yield source.place(0), "lies not in a folder of kmod/"


def check_built(tree):
    objects = tree.objects()
    files = {name for name in tree.all if name.endswith(".c")}
    for name in sorted(files ^ objects):
        yield name, "is built of no source" if name in objects else "is not in Kbuild"


def check_crowds(tree):
    count = {layer: 0 for layer in LAYERS}
    for source in tree.sources:
        count[source.layer] += 1
    for layer, files in count.items():
        if files > FILES:
            yield layer, f"has {files} files, more than {FILES}"
        elif not files:
            yield layer, "has no file"


def upward(tree):
    """Yield all uses of a higher layer: where, from, to, and what."""
    for source in tree.sources:
        for start, other in tree.included(source):
            if other.rank > source.rank:
                yield (source.place(start), source.layer, other.layer,
                       f"{source.layer} includes {other.name}")
        for name, start, _, owner in tree.used(source):
            if owner.rank > source.rank:
                yield (source.place(start), source.layer, owner.layer,
                       f"{source.layer} uses {name} of {owner.layer} ({owner.name})")


def check_down(tree):
    seen = set()
    for place, low, high, what in upward(tree):
        seen.add((low, high))
        if (low, high) not in UPWARD:
            yield place, what
    for pair in sorted(set(UPWARD) - seen):
        yield "layers.py", f"{pair[0]} uses {pair[1]} no more: the table need not allow it"


def check_circles(tree):
    for circle in tree.circles():
        folders = {folder_of(unit) for unit in circle}
        pairs = {pair for pair in UPWARD if set(pair) <= folders}
        if len(folders) > 1 and not pairs:
            yield " ".join(circle), "use each other"


def check_headers(tree):
    for source in tree.sources:
        for match in INCLUDE.finditer(source.text):
            header, local = match.group(2), match.group(1) == '"'
            place = source.place(match.start())
            if RDMA.match(header) and source.layer not in ("conn", "path", "dma"):
                yield place, f"{source.layer} includes <{header}>"
            elif (source.layer in PURE and not local and header != UAPI and
                  source.name != PURE_DOOR):
                yield place, f"{source.layer} includes <{header}>, which only {PURE_DOOR} may"


def check_user(tree):
    for source in tree.sources:
        if source.layer in PROGRAMS or source.name == USER_DOOR:
            continue
        for match in USER.finditer(source.code):
            yield source.place(match.start()), f"{source.layer} uses {match.group()}"


CHECKS = (
    ("every file lies in the folder of its layer", check_places),
    ("every source is built, and was looked at", check_built),
    ("no folder is crowded", check_crowds),
    ("includes and calls go down", check_down),
    ("no circle of files crosses folders", check_circles),
    ("headers of the kernel stay in their layer", check_headers),
    ("only programs' layers touch their memory", check_user),
)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../kmod"))
    functions = sum(len(source.functions) for source in tree.sources)
    circles = tree.circles()
    crossing = [c for c in circles if len({folder_of(unit) for unit in c}) > 1]
    failed = not functions

    print(f"1..{len(CHECKS) + 1}")
    print(f"# layers.py: {len(tree.all)} files, {tree.others} of other modules, "
          f"{functions} functions; {len(list(upward(tree)))} uses go up, "
          f"{len(crossing)} circles of files cross folders")
    print(f"{'ok' if functions else 'not ok'} 1 - there are sources")
    for number, (title, check) in enumerate(CHECKS, 2):
        violations = list(check(tree))
        failed |= bool(violations)
        print(f"{'not ok' if violations else 'ok'} {number} - {title}")
        for place, what in violations:
            print(f"# {place}: {what}")
    for circle in circles:
        if circle not in crossing:
            print(f"# in {folder_of(circle[0])}/ these use each other: "
                  + " ".join(unit.split("/")[-1] for unit in circle))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
