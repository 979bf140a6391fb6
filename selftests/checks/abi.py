#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""abi.py - whether the interface is what its first version was, and fits every program; TAP

usage: abi.py [HEADER [HEADER_OF_VERSION_1]]

The header of version 1 is kept in selftests/abi/v1. Each number of it must be the same in the
current header, and each member of a structure at the same place; a structure may have grown at its
end, and its RDMACHAN_*_SIZE_1 stays what the structure had then. No structure has holes, nor has one
of the wire, and the module asserts the size of each when it is compiled. The current header compiles without a warning as C and as C++, for 64 and for 32 bits, and layouts are
the same in all. Nothing is run that is built for another machine: the numbers are asserted when it
is compiled. CC and CXX are the compilers.
"""
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
KMOD = os.path.join(TOP, "kmod")
HEADER = os.path.join(TOP, "uapi/rdmachan.h")
FIRST = os.path.join(TOP, "selftests/abi/v1/rdmachan.h")
WARNINGS = "-Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only".split()
LANGUAGES = {
    "C": (os.environ.get("CC", "cc"), "c", "-std=c11"),
    "C++": (os.environ.get("CXX", "c++"), "c++", "-std=c++11"),
}
# Where the headers of a 32-bit C library are not installed those of the kernel serve.
BITS = {64: ["-m64"], 32: ["-m32"]}

STRUCT = re.compile(r"^(?:__extension__ )?struct (rdmachan_\w+) \{\n(.*?)^\};", re.M | re.S)
MEMBER = re.compile(r"^\t+(?:struct )?\w+ (\w+)(?:\[\w+\])?;$", re.M)
UNION = re.compile(r"^\tunion \{\n(.*?)^\t\};", re.M | re.S)


class Header:
    """What a header has: structures with their members, unions as lists, and names of numbers"""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        self.path = path
        self.structs = {}
        for name, body in STRUCT.findall(text):
            body = UNION.sub(lambda m: "\t" + "union_of %s;" % "__".join(
                MEMBER.findall(m.group(1))), body)
            self.structs[name] = [m.split("__") if u else [m] for u, m in re.findall(
                r"^\t(union_of )?(?:struct )?(?:\w+ )?(\w+)(?:\[\w+\])?;$", body, re.M)]
        self.numbers = re.findall(r"^#define (RDMACHAN_\w+)[ \t]+\S", text, re.M)
        for body in re.findall(r"^enum \w+ \{\n(.*?)^\};", text, re.M | re.S):
            self.numbers += re.findall(r"^\t(RDMACHAN_\w+)\b", body, re.M)

    def facts(self):
        """Expressions, by what they say"""
        for number in self.numbers:
            yield number, number
        for struct, members in self.structs.items():
            yield f"sizeof({struct})", f"sizeof(struct {struct})"
            for names in members:
                for name in names:
                    yield (f"{struct}.{name}", f"offsetof(struct {struct}, {name})")
                    yield (f"sizeof({struct}.{name})", f"sizeof(((struct {struct} *)0)->{name})")

    def measure(self):
        """The values of all facts, for this machine"""
        with tempfile.TemporaryDirectory() as scratch:
            source = "".join(f'\tprintf("%llu %s\\n", (unsigned long long)({value}), "{fact}");\n'
                             for fact, value in self.facts())
            source = ("#include <stddef.h>\n#include <stdio.h>\n#include \"%s\"\n"
                      "int main(void)\n{\n%s\treturn 0;\n}\n" % (os.path.abspath(self.path), source))
            with open(scratch + "/a.c", "w", encoding="utf-8") as file:
                file.write(source)
            subprocess.run([LANGUAGES["C"][0], "-o", scratch + "/a", scratch + "/a.c"], check=True)
            lines = subprocess.run([scratch + "/a"], check=True, capture_output=True,
                                   text=True).stdout.splitlines()
        return {fact: int(value) for value, fact in (line.split(" ", 1) for line in lines)}


def holes(header, facts):
    """Structures whose members do not fill them"""
    for struct, members in header.structs.items():
        end = 0
        for names in members:
            if facts[f"{struct}.{names[0]}"] != end:
                yield f"struct {struct} has a hole before {names[0]}"
            end = facts[f"{struct}.{names[0]}"] + max(
                facts[f"sizeof({struct}.{name})"] for name in names)
        if facts[f"sizeof({struct})"] != end:
            yield f"struct {struct} has a hole at its end"


def size_name(struct):
    """RDMACHAN_SEND_SIZE_1 of struct rdmachan_send_args"""
    return re.sub("_args$", "", struct).upper() + "_SIZE_1"


def sizes(header, facts, first):
    """Structures without the size of their first version, or with another one"""
    for struct in header.structs:
        name = size_name(struct)
        if name not in facts:
            yield f"there is no {name} of struct {struct}"
        elif f"sizeof({struct})" in first and facts[name] != first[f"sizeof({struct})"]:
            yield f"{name} is not what struct {struct} had in its first version"


def changes(facts, first):
    """What of the first version is there no more, or means another thing"""
    for fact, value in first.items():
        grown = re.match(r"sizeof\(\w+\)$", fact)
        if fact not in facts:
            yield f"{fact} is gone"
        elif facts[fact] < value or (facts[fact] != value and not grown):
            yield f"{fact} was {value} and is {facts[fact]}"


def compiles(header, facts, language, bits):
    """Compile the header alone, with its layout asserted. Return: what the compiler says"""
    compiler, name, standard = LANGUAGES[language]
    check = "_Static_assert" if name == "c" else "static_assert"
    source = f'#include "{os.path.abspath(header.path)}"\n#include <stddef.h>\n' + "".join(
        f'{check}({value} == {facts[fact]}ULL, "{fact}");\n' for fact, value in header.facts()
        if "of" in value)
    command = [compiler, "-x", name, standard, *WARNINGS, *BITS[bits], "-ffreestanding"]
    if bits == 32:
        command += ["-idirafter", "/usr/include/x86_64-linux-gnu"]
    run = subprocess.run(command + ["-"], input=source, capture_output=True, text=True, check=False)
    return run.stderr.splitlines() or ([f"{compiler} ended with {run.returncode}"]
                                       if run.returncode else [])


def unasserted(header):
    """Structures whose size the module does not assert"""
    with open(os.path.join(KMOD, "front/abi.c"), encoding="utf-8") as file:
        text = file.read()
    for struct in header.structs:
        if not re.search(rf"^RCH_\w+\({struct}, ", text, re.M):
            yield f"kmod/front/abi.c has no line for struct {struct}"


WIRE = {"u8": 1, "__le16": 2, "__le32": 4, "__le64": 8}


def wire():
    """Structures of the wire with holes, or whose size is not asserted"""
    count = 0
    for path in ("proto/wire.h", "proto/grant.h"):
        with open(os.path.join(KMOD, path), encoding="utf-8") as file:
            text = file.read()
        for struct, body in re.findall(r"^struct (rch_wire_\w+) \{\n(.*?)^\};", text, re.M | re.S):
            count += 1
            end = 0
            for member, name in re.findall(r"^\t(\w+) (\w+);$", body, re.M):
                if end % WIRE[member]:
                    yield f"struct {struct} has a hole before {name}"
                end += WIRE[member]
            if f"static_assert(sizeof(struct {struct}) == {end}, " not in text:
                yield f"kmod/{path} does not assert that struct {struct} has {end} bytes"
    if count < 10:
        yield f"there are only {count} structures of the wire"


class Tap:
    """Tells results"""

    def __init__(self):
        self.count = self.failed = 0

    def tell(self, name, problems):
        problems = list(problems)
        for line in problems:
            print("#", line)
        self.count += 1
        self.failed += bool(problems)
        print("not ok" if problems else "ok", self.count, "-", name)


def main(path=HEADER, first_path=FIRST):
    header, first = Header(path), Header(first_path)
    facts, first_facts, tap = header.measure(), first.measure(), Tap()
    tap.tell("the header has structures and numbers",
             [] if len(header.structs) > 30 and len(header.numbers) > 200 else
             [f"only {len(header.structs)} structures, {len(header.numbers)} numbers"])
    tap.tell("structures have no holes", holes(header, facts))
    tap.tell("each structure tells the size of its first version", sizes(header, facts, first_facts))
    tap.tell("what version 1 has means the same", changes(facts, first_facts))
    tap.tell("the module asserts the size of each structure", unasserted(header))
    tap.tell("structures of the wire have no holes, and the size that is asserted", wire())
    for language in LANGUAGES:
        for bits in BITS:
            tap.tell(f"{language} with {bits} bits: no warning, the same layout",
                     compiles(header, facts, language, bits))
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
