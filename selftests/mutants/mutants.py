#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mutants.py - whether the tests notice when the module is changed in one place

usage: mutants.py [N [SEED]]     N mutants (60), chosen by SEED (1)
       mutants.py --only ID...   those that are named, as this prints them
       mutants.py --points       all ids, with what each changes

A mutant is the module with one operator, constant, call or return changed (points.py). It is
built, and runs KUnit, if the suites' code has changed, and then test programs in virtual time,
until a test fails, the kernel complains, or a program takes far longer than with the module
as it is. Programs of the folder that fits the changed file come first and all of them, then
those of the others that are quick, and last what else fits the file, some of it over iWARP. A
mutant that does not compile is not counted, nor is one whose objects are the same as before:
another takes its place.

The module as it is has to pass all that first. Results are in build/mutants/results.txt. Exit
status: 0 all mutants were tried, whatever was found; 2 the instrument has failed.
"""

import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(TOP, "selftests", "lab")
BUILD = os.environ.get("RDMACHAN_BUILD", os.path.join(TOP, "build"))
OUT = os.path.join(BUILD, "mutants")
KERNEL = "uml-7.2"

sys.path[:0] = [HERE, os.path.join(TOP, "selftests")]
sys.dont_write_bytecode = True
from points import points  # noqa: E402 pylint: disable=wrong-import-position
from tests import Tests    # noqa: E402 pylint: disable=wrong-import-position

# Not of the module as users have it.
NOT_THESE = ("base/inject.c", "base/inject.h", "link/link_inject.c", "front/debugfs.c")

# A guest each, of these folders' programs.
GROUPS = {
    "chan": ("chan",),
    "queue": ("queue", "uring"),
    "memory": ("memory",),
    "grant": ("grant",),
    "link": ("link", "lib"),
    "abi": ("abi", "abifuzz"),
    "hostile": ("hostile",),
    "fault": ("fault",),
}
# Which groups come first for a file: the first pattern that fits. The first group runs whole.
NEAR = (
    (r"memory/grant|proto/grant|path/path_(lend|key|access)|(front/ioctl|call/call)_grant",
     ("grant", "hostile")),
    (r"op/queue_placed", ("memory", "queue")),
    (r"op/|queue/|front/(file_(queue|async)|ioctl_until)", ("queue", "grant")),
    (r"memory/|rndv/|channel/segment|path/path_(mr|rdma)|dma/mem|proto/way",
     ("memory", "chan", "hostile")),
    (r"channel/chan|message/|link/lane|dma/frame|base/iter|proto/|pure/", ("chan", "hostile", "memory")),
    (r"link/|conn/|path/|dma/|channel/", ("link", "chan", "hostile")),
    (r"", ("abi", "chan", "link")),
)
# They take 3 s and more, and run with the files of their group, or those that ALSO has.
SLOW = {"end_test", "place_test", "queue_end_test", "region_end_test", "grant_data_test",
        "grant_end_test", "grant_give_test", "grant_key_test", "grant_link_test",
        "grant_notify_test",
        "grant_queue_test", "timeout_test", "inject_nomem_test", "hostile_peer", "hostile_flood"}

# What else a file needs, in a guest of its own: all patterns that fit. The owner's kernel is asked
# for atomic operations, and READ registers memory, over iWARP only.
ALSO = (
    (r"link/|conn/|path/|dma/", "vt", ("hostile_peer", "hostile_flood")),
    (r"memory/region", "vt", ("grant_key_test",)),
    (r"queue/", "vt", ("grant_queue_test",)),
    (r"memory/grant_atomic|path/path_access", "siw", ("grant_ask_test", "grant_key_test")),
)

# Of a program: so many seconds, and so many times what it needs with the module as it is.
LIMIT_S, LIMIT_TIMES = 20, 5

NOT_OK = re.compile(r"^\s*not ok(?: \d+)?(?: -)? (.*?)(?: # \d+ s)?$")
DONE = re.compile(r"^# (\w+): \d+ s$")
KUNIT_DONE = re.compile(r"^# kunit: \d+ suites, \d+ passed, 0 failed")
# Of a line of the kernel's log.
TIME = re.compile(r"^\[ *[0-9.]+\] ")
ALL_DONE = re.compile(r"^([1-9]\d*) passed, 0 failed$")


class Failed(Exception):
    """The instrument has failed, not a mutant."""


def need(condition, what):
    if not condition:
        raise Failed(what)


def run(*command, **options):
    """Run a command and return what it says."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False, errors="replace", **options)
    need(result.returncode == 0,
         f"{os.path.basename(command[0])} has failed:\n{result.stdout[-2000:]}")
    return result.stdout


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


# What is changed.

def files(folder):
    """Names of all files below a folder, those of the folder itself first."""
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.relpath(os.path.join(path, name), folder)


def sources(kmod):
    """Files of the module that are changed, by their names in kmod/."""
    found = [name for name in files(kmod)
             if name.endswith((".c", ".h")) and not name.endswith(".mod.c")]
    return [name for name in found if name not in NOT_THESE
            and name.split("/")[0] not in ("kunit", "compat")]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def all_points(kmod):
    """Return all points of the module, by file and line."""
    lines = {}
    for name in sources(kmod):
        for point in points(name, read(os.path.join(kmod, name))):
            lines.setdefault((name, point.line), []).append(point)
    need(lines, f"there is no point in {kmod}")
    return lines


def choose(lines, seed):
    """Yield points in the order of a seed: a line each, so that files count by their lines."""
    def number(*words):
        text = ":".join(map(str, (seed, *words)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    for place in sorted(lines, key=lambda place: number("line", *place)):
        yield lines[place][number("point", *place) % len(lines[place])]


def named(lines, ids):
    known = {point.id: point for line in lines.values() for point in line}
    for name in ids:
        need(name in known, f"there is no point {name}: mutants.py --points has them all")
        yield known[name]


# What it is built to.

class Module:
    """Two copies of sources and objects: as they are, and with a change."""

    def __init__(self):
        self.clean, self.work = os.path.join(OUT, "clean"), os.path.join(OUT, "work")
        self.kmod = os.path.join(self.work, "kmod")
        self.log = os.path.join(OUT, "build.log")

    def prepare(self):
        """Build the module as it is, and what a guest needs."""
        os.makedirs(OUT, exist_ok=True)
        run(os.path.join(LAB, "packages.sh"), "check")
        run(os.path.join(LAB, "payload.sh"), KERNEL, os.path.join(OUT, "payload"))
        run("rsync", "-a", "--delete", os.path.join(BUILD, KERNEL) + "/", self.clean + "/")
        kernel = run(os.path.join(LAB, "kernel.sh"), "--quiet", KERNEL).split()[-1]
        self.make = ["make", *read(os.path.join(kernel, "make.args")).split(), "W=1",
                     "CONFIG_DEBUG_INFO_BTF_MODULES=", f"M={self.kmod}", f"-j{os.cpu_count()}",
                     "modules"]
        self.restore()
        self.objects = {name: self._code(name) for name in self._objects()}
        self.modules = {name: digest(path) for name, path in self.made().items()}
        need(self.objects, "the module has no objects")
        need(self._make() and self._changed() == [] and self.made_digests() == self.modules,
             f"what was built here is not what build.sh has built, see {self.log}")

    def restore(self):
        run("rsync", "-a", "--checksum", "--delete", self.clean + "/", self.work + "/")

    def made(self):
        return {name: os.path.join(self.kmod, name)
                for name in ("rdmachan.ko", "kunit/rdmachan_kunit.ko")}

    def made_digests(self):
        return {name: digest(path) for name, path in self.made().items()}

    def _objects(self):
        """Names of the objects that are compiled, not linked."""
        for name in files(self.kmod):
            if name.endswith(".o") and not name.endswith(".mod.o") and \
                    os.path.exists(os.path.join(self.kmod, name[:-2] + ".c")):
                yield name

    def _code(self, name):
        """The digest of an object without what debuggers read."""
        bare = os.path.join(OUT, "bare.o")
        run("objcopy", "--strip-debug", os.path.join(self.kmod, name), bare)
        return digest(bare)

    def _changed(self):
        """Objects that are newer than those of the module as it is."""
        def when(folder, name):
            return os.stat(os.path.join(folder, "kmod", name)).st_mtime_ns

        return [name for name in self.objects if when(self.work, name) != when(self.clean, name)]

    def _make(self):
        with open(self.log, "wb") as log:
            return subprocess.run(self.make, stdout=log, stderr=log, check=False).returncode == 0

    def build(self, point):
        """Build with a change; return the modules that differ, or None if it does not compile."""
        self.restore()
        path = os.path.join(self.kmod, point.name)
        text = read(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(point.applied(text))
        if not self._make():
            need(re.search(r"error: ", read(self.log)),
                 f"make has failed, but not by the change, see {self.log}")
            return None
        changed = self._changed()
        need(changed, f"{point.id}: nothing was built again")
        if point.name.endswith(".c"):
            need(point.name[:-2] + ".o" in changed, f"{point.id}: its object was not built again")
        other = [name for name in changed if self._code(name) != self.objects[name]]
        # What debuggers read may differ nevertheless, and with it the modules.
        if not other:
            return []
        modules = [name for name, was in self.modules.items()
                   if digest(self.made()[name]) != was]
        need(modules, f"{point.id}: {other} differ, and no module does")
        return modules


# What runs it.

class Group:
    """The programs of one guest."""

    def __init__(self, name, bed, programs):
        self.name, self.programs = name, programs
        script, *self.options = bed.command
        need(script == "vt.sh" and KERNEL in self.options, f"{bed.name} is not of {KERNEL}")


def groups():
    """
    Return all guests: of a group by (group, whole), which are the same without slow programs; and
    of a row of ALSO by that.
    """
    tests = Tests()
    bed = tests.beds["vt"]
    known = {folder for folders in GROUPS.values() for folder in folders}
    there = set(tests.groups(bed))
    need(known == there, f"folders of tests that have no group: {sorted(there ^ known)}")
    need(SLOW <= set(tests.programs), "SLOW names programs that are not there")
    found = {}
    for name, folders in GROUPS.items():
        mine = [program for folder in folders for program in tests.to_run(bed, folder)]
        quick = [program for program in mine if program not in SLOW]
        slow = [program for program in mine if program in SLOW]
        found[name, False] = Group(name + "-quick", bed, quick)
        found[name, True] = Group(name, bed, quick + slow) if slow else found[name, False]
    for row in ALSO:
        bed, programs = tests.beds[row[1]], row[2]
        need(all("" in tests.programs[program].words.get(bed.name, ()) for program in programs),
             f"ALSO: not all of {programs} runs in {bed.name}")
        found[row] = Group(f"{bed.name}-{programs[0]}", bed, list(programs))
    return found


def order(name, guests):
    """The guests for a change in a file."""
    first = next(near for pattern, near in NEAR if re.match(pattern, name))
    return [guests[first[0], True], *(guests[group, False] for group in dict.fromkeys(
        [*first[1:], *GROUPS]) if group != first[0]),
        *(guests[row] for row in ALSO if re.match(row[0], name))]


class Guest:
    """A guest that runs programs, watched until something is wrong or all have passed."""

    def __init__(self, payload, steps, times, options=()):
        self.payload, self.steps, self.times, self.options = payload, steps, times, options
        self.out = os.path.join(OUT, "run")
        self.took = {}
        self.step = 0
        self.tail = []

    def command(self):
        programs = [step for step in self.steps if step != "kunit"]
        command = [] if "kunit" not in self.steps else ["sh kunit.sh"]
        if programs:
            command.append("sh run.sh " + " ".join(programs))
        return [os.path.join(LAB, "vt.sh"), *self.options, "--payload", self.payload, "--out",
                self.out, "--timeout", "1200", "--", "sh", "-c", " && ".join(command)]

    def current(self):
        return self.steps[self.step] if self.step < len(self.steps) else "unloading"

    def limit(self):
        return LIMIT_S + LIMIT_TIMES * self.times.get(self.current(), 60 if not self.times else 1)

    def run(self):
        """Return what was found, or None if all has passed."""
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        with subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as guest:
            try:
                found = self._watch(guest)
                if found is None:
                    return self._judge(guest.wait())
                return found
            finally:
                self._end(guest)

    def _watch(self, guest):
        """Follow the output; return what was found, or None when it has ended."""
        rest, since = b"", time.monotonic()
        while True:
            left = since + self.limit() - time.monotonic()
            if left <= 0:
                return f"{self.current()}: not at its end after {self.limit():.0f} s"
            if not select.select([guest.stdout], [], [], left)[0]:
                continue
            data = os.read(guest.stdout.fileno(), 65536)
            if not data:
                return None
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                line = line.decode(errors="replace").rstrip("\r")
                self.tail.append(line)
                wrong = NOT_OK.match(line)
                if wrong:
                    return f"{self.current()}: {wrong.group(1)}"
                done = DONE.match(line)
                if KUNIT_DONE.match(line) or done:
                    name = done.group(1) if done else "kunit"
                    need(name == self.current(), f"{name} has run, and not {self.current()}")
                    self.took[name] = time.monotonic() - since
                    since = time.monotonic()
                    complaint = self._complaint()
                    self.step += 1
                    if complaint:
                        return complaint

    def _complaint(self):
        """What the kernel complains of."""
        console = os.path.join(self.out, "console.log")
        scan = subprocess.run([os.path.join(LAB, "splat-scan.sh"), console], text=True,
                              stdout=subprocess.PIPE, check=False, errors="replace")
        need(scan.returncode in (0, 1), "splat-scan.sh has failed")
        said = [TIME.sub("", line) for line in scan.stdout.splitlines()
                if not line.startswith("-- ")]
        return f"{self.current()}: the kernel: {said[0].strip()}" if said else None

    def _judge(self, status):
        """What the exit status of a guest says that has told of no test that failed."""
        need(status not in (2, 126), f"a guest could not begin, see {self.out}")
        if status == 0:
            need(self.step == len(self.steps), f"{self.current()} has not run, see {self.out}")
            need(self.steps == ["kunit"] or any(ALL_DONE.match(line) for line in self.tail),
                 f"a guest has no test that passed, see {self.out}")
            return None
        complaint = self._complaint()
        if complaint:
            return complaint
        return f"{self.current()}: the guest ended with status {status}"

    def _end(self, guest):
        """Whatever it does, it ends, and its kernel with it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(guest.pid, number)
            except ProcessLookupError:
                return
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                guest.poll()
                try:
                    os.killpg(guest.pid, 0)
                except ProcessLookupError:
                    return
                time.sleep(0.05)
        raise Failed("a guest does not end")


def make_payload(name, programs, module):
    """What a guest is given: links to all but the programs that it does not run."""
    source, path = os.path.join(OUT, "payload"), os.path.join(OUT, "payloads", name)
    others = set(Tests().programs) - set(programs)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    for entry in os.listdir(source):
        if entry not in others and not entry.endswith(".ko"):
            os.symlink(os.path.join(source, entry), os.path.join(path, entry))
    for file in module.made().values():
        os.symlink(file, os.path.join(path, os.path.basename(file)))
    return path


def run_group(group, module, times, kunit=False):
    """Return what a guest has found, or None, and how long each program took."""
    payload = make_payload(group.name, group.programs, module)
    guest = Guest(payload, ["kunit"] * kunit + group.programs, times, group.options)
    return guest.run(), guest.took


# The whole.

def baseline_key(module, guests):
    """What has passed once need not pass again: the module, the tests, and how they run."""
    payload = os.path.join(OUT, "payload")
    files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(payload)
                   for name in names)
    files += [os.path.join(folder, name) for folder, _, names in os.walk(LAB) for name in names]
    text = "".join(f"{path} {digest(path)}\n" for path in files)
    text += str([module.modules, [[group.programs, group.options] for group in guests.values()]])
    return hashlib.sha256(text.encode()).hexdigest()


def baseline(module, guests):
    """See the module as it is pass; return the seconds of each program, in its slowest guest."""
    path, key = os.path.join(OUT, "baseline.json"), baseline_key(module, guests)
    if os.path.exists(path):
        known = json.loads(read(path))
        if known["key"] == key:
            return known["times"]
    print("# the module as it is:", flush=True)
    module.restore()
    times, kunit = {}, True
    for group in dict.fromkeys(guests.values()):
        begun = time.monotonic()
        found, took = run_group(group, module, {}, kunit)
        need(found is None, f"the module as it is does not pass {group.name}: {found}")
        for name, seconds in took.items():
            times[name] = round(max(seconds, times.get(name, 0)), 2)
        kunit = False
        print(f"# {group.name}: {len(group.programs)} programs pass in "
              f"{time.monotonic() - begun:.0f} s", flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"key": key, "times": times}, file, indent=1)
    return times


def try_mutant(point, module, guests, times):
    """Return (verdict, by what)."""
    modules = module.build(point)
    if modules is None:
        return "does not compile", ""
    if not modules:
        return "same code", ""
    kunit = "kunit/rdmachan_kunit.ko" in modules
    for group in order(point.name, guests):
        found, _ = run_group(group, module, times, kunit)
        kunit = False
        if found:
            return "found", found
    return "survived", ""


def report(results, file=None):
    """One line for each, and the sum."""
    tried = {name: sum(verdict == name for _, verdict in results)
             for name in ("found", "survived", "same code", "does not compile")}
    count = tried["found"] + tried["survived"]
    percent = 100 * tried["found"] // count if count else 0
    print(f"{count} mutants, {tried['found']} found ({percent} %), {tried['survived']} survived; "
          f"besides: {tried['same code']} with the same code, "
          f"{tried['does not compile']} that do not compile", file=file, flush=True)


def campaign(wanted, number, module, guests):
    """Try mutants until there are @number that count; all if it is None."""
    times = baseline(module, guests)
    results = []
    with open(os.path.join(OUT, "results.txt"), "w", encoding="utf-8") as file:
        for point in wanted:
            begun = time.monotonic()
            verdict, by = try_mutant(point, module, guests, times)
            results.append((point, verdict))
            old, new = point.describe(read(os.path.join(module.clean, "kmod", point.name)))
            seconds = time.monotonic() - begun
            for to in (sys.stdout, file):
                print(f"{verdict}: {point.id}: {old} => {new}\n"
                      f"\t{by + ', ' if by else ''}{seconds:.0f} s", file=to, flush=True)
            if verdict == "survived":
                print(f"\tagain: make mutants ONLY={point.id}", flush=True)
            if sum(verdict in ("found", "survived") for _, verdict in results) == number:
                break
        report(results, file)
    need(number is None or sum(verdict in ("found", "survived") for _, verdict in results)
         == number, f"there are not {number} mutants")
    report(results)


def main(args):
    lines = all_points(os.path.join(TOP, "kmod"))
    if args == ["--points"]:
        for place in sorted(lines):
            text = read(os.path.join(TOP, "kmod", place[0]))
            for point in lines[place]:
                print(point.id, *point.describe(text), sep="\t")
        return
    if args[:1] == ["--only"]:
        number, wanted = None, list(named(lines, args[1:]))
        need(wanted, "--only names none")
    else:
        need(len(args) <= 2 and all(word.isdigit() for word in args), __doc__)
        number, seed = (int(word) for word in (args + ["60", "1"][len(args):]))
        need(number > 0, "no mutant is wanted")
        wanted = choose(lines, seed)
    module = Module()
    module.prepare()
    campaign(wanted, number, module, groups())


if __name__ == "__main__":
    # Also when it is killed its guest ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main(sys.argv[1:])
    except Failed as failed:
        print(f"mutants.py: {failed}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
