#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tests.py - what tests.list says, for scripts

usage: tests.py beds [STAGE]        the beds, in their order; of STAGE check or check-all
       tests.py bed BED             its script and options, a word a line
       tests.py kernel BED          its kernel, as kernel.sh knows it
       tests.py groups BED          the guests of a bed: a folder, or "all"
       tests.py run BED GROUP       the programs of a guest, with their words: NAME or NAME:WORD
       tests.py folder NAME         where a program's source is
       tests.py table               a table for Documentation: where each program runs
       tests.py verify              TAP: the list and the tree name the same, and say why

A bed or program that is not there ends this with status 2 and the nearest name.
"""
import difflib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "tests.list")
# Every program runs in this bed, or the list says why not.
USUAL = "vt"


class Bed:
    """A line "bed NAME STAGE GROUPS SCRIPT OPTION..."."""

    def __init__(self, words):
        self.name, self.stage, self.groups = words[:3]
        self.command = words[3:]


class Program:
    """A line "FOLDER/NAME | BED[:WORD]... | why"."""

    def __init__(self, place, beds, why):
        self.folder, self.name = place.split("/")
        self.words = {}
        for bed in beds.split():
            name, _, word = bed.partition(":")
            self.words.setdefault(name, []).append(word)
        self.why = why


def read(path=LIST):
    beds, programs = {}, {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].strip() if line.startswith("#") else line.strip()
            if not line:
                continue
            if line.startswith("bed "):
                bed = Bed(line.split()[1:])
                beds[bed.name] = bed
                continue
            parts = [part.strip() for part in line.split("|")]
            if len(parts) not in (2, 3) or parts[0].count("/") != 1:
                sys.exit(f"tests.list:{number}: not FOLDER/NAME | BEDS | why: {line}")
            program = Program(*parts, *[""] * (3 - len(parts)))
            programs[program.name] = program
    if not beds or not programs:
        sys.exit("tests.list: no beds or no programs")
    return beds, programs


def known(kind, name, names):
    """Return what is called @name; or end, with the nearest name."""
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, 1, 0) or ["?"]
    print(f"tests.py: there is no {kind} '{name}'; did you mean '{near[0]}'? There are: "
          + " ".join(names), file=sys.stderr)
    sys.exit(2)


def groups(bed, programs):
    """The guests of a bed: by folder, in the order of the list, or all in one."""
    mine = [p for p in programs.values() if bed.name in p.words]
    if bed.groups == "one":
        return ["all"] if mine else []
    return list(dict.fromkeys(p.folder for p in mine))


def to_run(bed, group, programs):
    for program in programs.values():
        if bed.name in program.words and group in ("all", program.folder):
            for word in program.words[bed.name]:
                yield program.name + (":" + word if word else "")


def sources():
    """Programs of the tree, as FOLDER/NAME: files that have a main() of tests."""
    for folder in sorted(os.listdir(HERE)):
        path = os.path.join(HERE, folder)
        if not os.path.isdir(path):
            continue
        for name in sorted(os.listdir(path)):
            if not name.endswith(".c"):
                continue
            with open(os.path.join(path, name), encoding="utf-8") as file:
                if re.search(r"^TEST_HARNESS_MAIN", file.read(), re.M):
                    yield f"{folder}/{name[:-2]}"


def verify(beds, programs):
    wrong = []
    listed = {f"{p.folder}/{p.name}" for p in programs.values()}
    found = set(sources())
    wrong += [f"{name} is not in tests.list" for name in sorted(found - listed)]
    wrong += [f"{name} has no source with TEST_HARNESS_MAIN"
              for name in sorted(listed - found - {"abifuzz/abi_fuzz"})]
    for program in programs.values():
        if not program.words:
            wrong.append(f"{program.name} runs nowhere")
        wrong += [f"{program.name}: there is no bed {bed}"
                  for bed in program.words if bed not in beds and bed != "host"]
        if program.words.get(USUAL) != [""] and not program.why:
            wrong.append(f"{program.name} is not, or not all of it, in {USUAL}: the list says no why")
    wrong += [f"no program runs in bed {bed.name}" for bed in beds.values()
              if bed.groups != "none" and not groups(bed, programs)]
    for line in wrong:
        print("#", line)
    print(f"{'not ok' if wrong else 'ok'} 1 - tests.list: {len(programs)} programs, {len(beds)} beds")
    return 1 if wrong else 0


def table(beds, programs):
    names = [bed.name for bed in beds.values() if bed.groups != "none"]
    rows = [["program"] + names]
    for program in programs.values():
        row = [f"``{program.folder}/{program.name}``"]
        for name in names:
            words = program.words.get(name)
            row.append("" if words is None else "all" if "" in words else " ".join(words))
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    ruler = " ".join("=" * width for width in widths)
    print(ruler)
    for number, row in enumerate(rows):
        print(" ".join((cell or "\\").ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print(ruler)
    print(ruler)


def main(args):
    beds, programs = read()
    match args:
        case ["beds", *stage]:
            print("\n".join(b.name for b in beds.values() if not stage or b.stage == stage[0]))
        case ["bed", name]:
            print("\n".join(known("bed", name, beds).command))
        case ["kernel", name]:
            command = known("bed", name, beds).command
            print(command[command.index("--kernel") + 1])
        case ["groups", name]:
            print("\n".join(groups(known("bed", name, beds), programs)))
        case ["run", name, group]:
            bed = known("bed", name, beds)
            known("group", group, dict.fromkeys(groups(bed, programs) + ["all"], group))
            print("\n".join(to_run(bed, group, programs)))
        case ["folder", name]:
            print(known("program", name, programs).folder)
        case ["table"]:
            table(beds, programs)
        case ["verify"]:
            return verify(beds, programs)
        case _:
            print(__doc__.strip(), file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
