#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tests.py - what tests.list says, for scripts

usage: tests.py stages WHEN...      beds, and stages of "run" and "pair", for check, all or named
       tests.py guests STAGE        the guests of a stage: STAGE/GROUP of a bed, or their names
       tests.py words GUEST         "run" or "pair", the script, its options, --, and the command
       tests.py words BED PROGRAM[:WORD]...   the same for a guest that runs these
       tests.py beds                their names
       tests.py kernel STAGE        the kernels that it needs, as kernel.sh knows them
       tests.py run BED GROUP       the programs of a guest, with their words: NAME or NAME:WORD
       tests.py folder NAME         where a program's source is
       tests.py near KIND NAME WORD...   say that no KIND is called NAME, and which is nearest
       tests.py table               for Documentation: where each program runs
       tests.py verify              TAP: the list and the tree name the same, and say why

A name that is not there ends this with status 2, and the nearest one is told.
"""
import difflib
import os
import re
import shlex
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "tests.list")
# Every program runs in this bed, or the list says why not.
USUAL = "vt"
# When something runs: by "make check", by "make check-all" too, or when it is named.
WHENS = ("check", "all", "named")


class Bed:
    """A line "bed NAME WHEN GUESTS[:BED] SCRIPT OPTION... [-- VARIABLE=VALUE...]"."""

    def __init__(self, words):
        self.name, self.when, self.groups = words[:3]
        # Whose programs it runs: its own, or all of another bed.
        self.groups, _, self.of = self.groups.partition(":")
        self.of = self.of or self.name
        self.command = words[3:]
        self.environment = []
        if "--" in self.command:
            at = self.command.index("--")
            self.environment = ["env", *self.command[at + 1:]]
            del self.command[at:]

    def words(self, programs):
        return ["run", *self.command, "--", *self.environment, "sh", "run.sh", *programs]


class Run:
    """A line "run STAGE/NAME WHEN SCRIPT OPTION... -- COMMAND...", or one of a pair."""

    def __init__(self, kind, words):
        self.kind, self.name, self.when = kind, words[0], words[1]
        self.stage = self.name.split("/")[0]
        self.words = words[2:]
        if "--" not in self.words:
            sys.exit(f"tests.list: {self.name} has no command")


class Program:
    """A line "FOLDER/NAME | BED[:WORD]... | why"."""

    def __init__(self, place, beds, why):
        self.folder, self.name = place.split("/")
        self.words = {}
        for bed in beds.split():
            name, _, word = bed.partition(":")
            self.words.setdefault(name, []).append(word)
        self.why = why


class Tests:
    """All of tests.list, by name and in its order."""

    def __init__(self, path=LIST):
        self.beds, self.runs, self.programs = {}, {}, {}
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip() and not line.startswith("#"):
                    self._take(line, number)
        for what in ("beds", "runs", "programs"):
            if not getattr(self, what):
                sys.exit(f"tests.list has no {what}")

    def _take(self, line, number):
        if "|" in line:
            parts = [part.strip() for part in line.split("|")]
            if len(parts) not in (2, 3) or parts[0].count("/") != 1:
                sys.exit(f"tests.list:{number}: not FOLDER/NAME | BEDS | why: {line}")
            program = Program(*parts, *[""] * (3 - len(parts)))
            self.programs[program.name] = program
            return
        kind, *words = shlex.split(line)
        if kind == "bed":
            self.beds[words[0]] = Bed(words)
        elif kind in ("run", "pair"):
            self.runs[words[0]] = Run(kind, words)
        else:
            sys.exit(f"tests.list:{number}: neither bed nor run, pair or program: {line}")

    def stages(self, whens):
        """Names of stages; a stage is of the earliest time at which something of it runs."""
        names = {}
        for thing in [*self.beds.values(), *self.runs.values()]:
            stage = thing.name if isinstance(thing, Bed) else thing.stage
            if thing.when in whens:
                names[stage] = 0
        return list(names)

    def chosen(self, stage):
        """The runs of a stage that WHEN of the environment names, or those of its earliest time."""
        mine = [run for run in self.runs.values() if run.stage == stage]
        whens = os.environ.get("WHEN", "").split()
        if not whens:
            whens = [when for when in WHENS if any(run.when == when for run in mine)][:1]
        return [run for run in mine if run.when in whens]

    def guests(self, stage):
        if stage in self.beds:
            return [f"{stage}/{group}" for group in self.groups(self.beds[stage])]
        return [run.name for run in self.chosen(stage)]

    def groups(self, bed):
        """The guests of a bed: by folder, in the order of the list, or all in one."""
        mine = [p for p in self.programs.values() if words_in(p, bed)]
        if bed.groups == "one":
            return ["all"] if mine else []
        return list(dict.fromkeys(p.folder for p in mine))

    def to_run(self, bed, group):
        for program in self.programs.values():
            if group in ("all", program.folder):
                for word in words_in(program, bed):
                    yield program.name + (":" + word if word else "")

    def words(self, guest):
        if guest in self.runs:
            return [self.runs[guest].kind, *self.runs[guest].words]
        name, _, group = guest.partition("/")
        bed = known("bed", name, self.beds)
        return bed.words(self.to_run(bed, group))

    def kernels(self, stage):
        commands = [self.beds[stage].command] if stage in self.beds else [
            run.words for run in self.chosen(stage)]
        return sorted({command[command.index("--kernel") + 1] for command in commands})


def words_in(program, bed):
    """Return the words of those of its tests that a bed runs, or nothing."""
    return program.words.get(bed.name) or program.words.get(bed.of, [])


def known(kind, name, names):
    """Return what is called @name; or end, with the nearest name."""
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, 1, 0) or ["?"]
    print(f"tests.py: there is no {kind} '{name}'; did you mean '{near[0]}'? There are: "
          + " ".join(names), file=sys.stderr)
    sys.exit(2)


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
                text = file.read()
            # One that is the same tests again, with something else in a macro.
            for other in re.findall(r'^#include "(\w+_test\.c)"$', text, re.M):
                with open(os.path.join(HERE, folder, other), encoding="utf-8") as file:
                    text += file.read()
            if re.search(r"^TEST_HARNESS_MAIN|^int main\(", text, re.M) and re.search(
                    r"^TEST(_F)?(_TIMEOUT|_ROWS)?\(|harness_main\(", text, re.M):
                yield f"{folder}/{name[:-2]}"


def left_out(tests, path=os.path.join(HERE, "check.sh")):
    """Stages of the list that "make check" or "make check-all" would never begin."""
    with open(path, encoding="utf-8") as file:
        script = file.read()
    rows = {name: words.split() for name, words in re.findall(r"^(OF_\w+)=\((.*)\)$", script, re.M)}
    check = rows["OF_CHECK"]
    every = check + rows["OF_ALL"]
    return ([f"check.sh: {name} is not in OF_CHECK"
             for name in tests.stages(["check"]) if name not in check] +
            [f"check.sh: {name} is not in OF_ALL"
             for name in tests.stages(["check", "all"]) if name not in every])


def suites_left_out(folder=os.path.join(os.path.dirname(HERE), "kmod", "kunit")):
    """KUnit suites that no module holds, or that it does not run."""
    text = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text[name] = file.read()
    sources = [name for name in text if name.endswith(".c")]
    suites = {suite: name for name in sources
              for suite in re.findall(r"^(?:static )?struct kunit_suite (\w+)", text[name], re.M)}
    if not suites:
        return [f"{folder}: there is no suite"]
    return ([f"kunit/{name} is not in Kbuild" for name in sources
             if not re.search(rf"(^|\s){name[:-2]}\.o\b", text["Kbuild"])] +
            [f"kunit/{name}: main.c does not run {suite}" for suite, name in suites.items()
             if f"&{suite}" not in text["main.c"]])


def verify(tests):
    wrong = left_out(tests) + suites_left_out()
    beds, programs = tests.beds, tests.programs
    listed = {f"{p.folder}/{p.name}" for p in programs.values()}
    found = set(sources())
    wrong += [f"{name} is not in tests.list" for name in sorted(found - listed)]
    wrong += [f"{name} has no source with tests and a main()"
              for name in sorted(listed - found - {"abifuzz/abi_fuzz"})]
    for program in programs.values():
        if not program.words:
            wrong.append(f"{program.name} runs nowhere")
        wrong += [f"{program.name}: there is no bed {bed}"
                  for bed in program.words if bed not in beds and bed != "host"]
        if program.words.get(USUAL) != [""] and not program.why:
            wrong.append(f"{program.name}: not all of it is in {USUAL}, and the list says no why")
    for thing in [*beds.values(), *tests.runs.values()]:
        command = thing.command if isinstance(thing, Bed) else thing.words
        if thing.when not in WHENS:
            wrong.append(f"{thing.name}: {thing.when} is neither check nor all nor named")
        if not os.access(os.path.join(HERE, "lab", command[0]), os.X_OK):
            wrong.append(f"{thing.name}: there is no script lab/{command[0]}")
        if "--kernel" not in command:
            wrong.append(f"{thing.name} names no kernel")
    wrong += [f"no program runs in bed {bed.name}" for bed in beds.values()
              if bed.when != "named" and not tests.groups(bed)]
    for line in wrong:
        print("#", line)
    print("not ok" if wrong else "ok", "1 - tests.list:", len(programs), "programs,",
          len(beds), "beds,", len(tests.runs), "other runs")
    return 1 if wrong else 0


def table(tests):
    names = [bed.name for bed in tests.beds.values() if bed.when != "named" and bed.of == bed.name]
    rows = [["program"] + names]
    for program in tests.programs.values():
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
    tests = Tests()
    stages = dict.fromkeys(tests.stages(WHENS))
    match args:
        case ["stages", *when]:
            print("\n".join(tests.stages(when)))
        case ["guests", stage]:
            known("stage", stage, stages)
            print("\n".join(tests.guests(stage)))
        case ["words", name, _, *_] if name in tests.beds:
            print("\n".join(tests.beds[name].words(args[2:])))
        case ["words", guest]:
            print("\n".join(tests.words(guest)))
        case ["beds"]:
            print("\n".join(tests.beds))
        case ["kernel", stage]:
            known("stage or bed", stage, stages)
            print("\n".join(tests.kernels(stage)))
        case ["run", name, group]:
            bed = known("bed", name, tests.beds)
            known("group", group, dict.fromkeys(tests.groups(bed) + ["all"], group))
            print("\n".join(tests.to_run(bed, group)))
        case ["folder", name]:
            print(known("program", name, tests.programs).folder)
        case ["near", kind, name, *words]:
            known(kind, name, dict.fromkeys(words, 0))
        case ["table"]:
            table(tests)
        case ["verify"]:
            return verify(tests)
        case _:
            print(__doc__.strip(), file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
