#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""drive.py - in a guest of vt.sh: carry out the plans of some seeds, and judge them; TAP

usage: drive.py [--out DIR] [--only FAULTS] [--again WORDS] SEEDS      1-20, 3,7,9 and so on

Each seed has the module loaded anew, cables that are good, and addresses and devices as the lab
made them. Its files are in DIR/SEED: "plan", what was done and when in "deeds", and of each
program a journal.
"""
import argparse
import heapq
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import judge
import plan as planner

# A thing that should take moments has not happened at all after so many seconds.
NET = 120
PARAMETERS = "/sys/module/rdmachan/parameters/"
INJECT = "/sys/kernel/debug/rdmachan/inject/"
# As splat-scan.sh has them, in short: it looks at all of the log once more.
SPLATS = re.compile(r"BUG: |WARNING: |Oops|general protection|KASAN|UBSAN|ODEBUG: |refcount_t: |"
                    r"possible (circular|recursive|irq|deadlock)|inconsistent lock state|"
                    r"suspicious RCU usage|bad unlock balance|INFO: task|INFO: rcu|"
                    r"sleeping function called|scheduling while atomic")


class Broken(Exception):
    """The swarm itself cannot go on."""


def run(*words, check=True):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        raise Broken(f"{' '.join(words)}: {done.stdout.strip()}")
    return done


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


def number_of(host):
    return planner.HOSTS.index(host) + 1


def address(host):
    return f"10.77.0.{number_of(host)}"


def device(host):
    return f"rxe{number_of(host) - 1}"


class Program:
    """A program of the plan that was started."""

    def __init__(self, name, words, folder):
        self.name, self.words = name, words
        self.path = os.path.join(folder, name)
        self.ended = None
        self.stopped = False
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def says(self, word):
        with open(self.path, encoding="ascii") as file:
            return any(line.split()[1] == word for line in file if line.endswith("\n"))

    def is_over(self):
        return self.process.poll() is not None


class Seed:
    """One seed: its programs and what is done to them."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        self.programs = {}
        self.servers = {}
        self.restarts = {}
        self.events = []
        self.deeds = []
        self.order = 0
        os.makedirs(folder, exist_ok=True)

    # The actions, with the clock of the journals.

    def deed(self, *words):
        self.deeds.append(f"{time.monotonic_ns() // 1000} {' '.join(map(str, words))}")

    def later(self, at, act, *args):
        self.order += 1
        heapq.heappush(self.events, (at, self.order, act, args))

    # Programs

    def words_of(self, pair, role):
        words = ["./swarm_peer", f"role={'client' if role == 'c' else 'server'}",
                 f"kind={pair[role + 'kind']}", f"pair={pair['id']}", f"service={5000 + pair['id']}",
                 f"host={pair['client' if role == 'c' else 'server']}"]
        if role == "c":
            words.append(f"peer={address(pair['server'])}")
        quit = pair.get("quit", "")
        for name in ("uid", "up", "down", "window", "min", "max", "pause_us", "depth", "sessions",
                     "start_ms", "gap_ms", "connect_ms", "seed"):
            words.append(f"{name}={pair[name]}")
        if quit.startswith(role):
            words += [f"quit={quit[1:]}", f"quit_session={pair['quit_session']}",
                      f"quit_after={pair['quit_after']}"]
        return words

    def start(self, pair, role):
        name = f"{pair['id']}{role}"
        count = self.restarts[name] = self.restarts.get(name, 0) + 1
        program = Program(name if count == 1 else f"{name}.{count}", self.words_of(pair, role),
                          self.folder)
        self.programs[program.name] = program
        self.servers[name] = program
        if pair["id"] in self.plan.pairs:
            self.deed("started", program.name)
        return program

    def start_servers(self):
        servers = [self.start(pair, "s") for pair in self.plan.pairs.values()]
        until = time.monotonic() + NET
        for program in servers:
            while not program.says("listening"):
                if program.is_over() or time.monotonic() > until:
                    raise Broken(f"{program.name} does not listen")
                time.sleep(0.005)

    # Faults

    def cable(self, word, *values):
        run("lab-cable", word, *map(str, values))

    def begin_cable(self, fault):
        if fault["what"] == "reorder":
            # A reordered packet goes ahead of what the cable delays.
            self.cable("delay", 2, fault["side"])
        word, value = fault["what"], fault.get("value")
        self.cable(word, *([] if value is None else [value]), fault["side"])

    def end_cable(self, fault):
        if fault["what"] == "cut":
            self.cable("mend", fault["side"])
            return
        self.cable(fault["what"], 0, fault["side"])
        if fault["what"] == "reorder":
            self.cable("delay", 0, fault["side"])

    def begin_device(self, fault):
        run("rdma", "link", "del", device(fault["host"]))

    def end_device(self, fault):
        host = fault["host"]
        run("lab-on", host, "rdma", "link", "add", device(host), "type", "rxe", "netdev", "eth0")

    def begin_address(self, fault):
        host = fault["host"]
        run("ip", "-n", host, "addr", "del", f"{address(host)}/24", "dev", "eth0")

    def end_address(self, fault):
        host = fault["host"]
        run("ip", "-n", host, "addr", "add", f"{address(host)}/24", "dev", "eth0")

    def set_mtu(self, host, mtu):
        run("ip", "-n", host, "link", "set", "eth0", "mtu", str(mtu))

    def begin_mtu(self, fault):
        self.set_mtu(fault["host"], fault["value"])

    def end_mtu(self, fault):
        self.set_mtu(fault["host"], 4200)

    def begin_kill(self, fault):
        program = self.servers.get(fault["program"])
        if not program or program.is_over():
            return
        program.process.kill()
        program.process.wait()
        program.ended = "killed"
        self.deed("killed", program.name)

    def end_kill(self, fault):
        program = self.servers.get(fault["program"])
        if fault["program"].endswith("s") and program.ended == "killed":
            self.start(self.plan.pairs[int(fault["program"][:-1])], "s")

    def begin_stop(self, fault):
        program = self.servers.get(fault["program"])
        if program and not program.is_over():
            program.process.send_signal(signal.SIGSTOP)
            program.stopped = True
            self.deed("stopped", program.name)

    def end_stop(self, fault):
        program = self.servers.get(fault["program"])
        if program and program.stopped:
            program.process.send_signal(signal.SIGCONT)
            program.stopped = False
            self.deed("continued", program.name)

    def begin_nomem(self, fault):
        put(INJECT + "nomem", f"site={fault['site']} skip={fault['skip']} every={fault['every']} "
                              f"count={fault['count']}")

    def end_nomem(self, _fault):
        put(INJECT + "nomem", "off")

    def begin_frame(self, fault):
        text = f"skip={fault['skip']} every={fault['every']} count={fault['count']}"
        put(INJECT + fault["name"], text + (" ms=30" if fault["name"] == "delay" else ""))

    def end_frame(self, fault):
        put(INJECT + fault["name"], "off")

    def begin_param(self, fault):
        put(PARAMETERS + fault["name"], fault["value"])

    def end_param(self, fault):
        put(PARAMETERS + fault["name"], self.plan.params[fault["name"]])

    def fault(self, which, fault):
        what = fault["what"]
        if what in ("loss", "delay", "duplicate", "reorder", "rate", "cut"):
            what = "cable"
        if which == "begin":
            self.deed(which, fault["id"])
        getattr(self, f"{which}_{what}")(fault)
        if which == "end":
            self.deed(which, fault["id"])

    # All of it

    def load(self):
        run("insmod", "./rdmachan.ko",
            *(f"{name}={value}" for name, value in self.plan.params.items()))
        os.chmod("/dev/rdmachan", 0o666)

    def go(self):
        self.start_servers()
        begun = time.monotonic()
        clients = [self.start(pair, "c") for pair in self.plan.pairs.values()]
        for fault in self.plan.faults.values():
            self.later(fault["at"], self.fault, "begin", fault)
            self.later(fault["at"] + fault["for"], self.fault, "end", fault)
        while self.events:
            at, _, act, args = heapq.heappop(self.events)
            time.sleep(max(0, begun + at / 1000 - time.monotonic()))
            act(*args)
        self.deed("calm")
        return self.wait_all(clients, "goes on")

    def wait_all(self, programs, what):
        """Returns those that hang."""
        until = time.monotonic() + NET
        hung = []
        for program in programs:
            try:
                program.process.wait(max(0.001, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                hung.append(f"{program.name} {what} {NET} s after all faults")
        return hung

    def stop_servers(self):
        servers = [program for program in self.programs.values() if not program.is_over()]
        for program in servers:
            program.process.send_signal(signal.SIGTERM)
        return self.wait_all(servers, "does not end, though its client has,")

    def end(self):
        for program in self.programs.values():
            if not program.is_over():
                program.process.kill()
            status = program.process.wait()
            self.deed("status", program.name, program.ended or status)
        put(os.path.join(self.folder, "deeds"), "\n".join(self.deeds) + "\n")

    # Afterwards

    def probe(self, client, server, number):
        """Whether two hosts can talk, with nothing wrong between them."""
        pair = planner.Line("pair", id=900 + number, client=client, server=server, ckind="call",
                            skind="call", uid=0, up=4, down=4, window=1, min=0, max=9000, pause_us=0,
                            depth=1, sessions=1, start_ms=0, gap_ms=0, connect_ms=0, seed=number)
        there = self.start(pair, "s")
        while not there.says("listening"):
            if there.is_over():
                raise Broken(f"{there.name} does not listen")
            time.sleep(0.005)
        here = self.start(pair, "c")
        hung = self.wait_all([here], "probes")
        there.process.send_signal(signal.SIGTERM)
        hung += self.wait_all([there], "was probed, and goes on")
        if hung:
            return hung
        with open(here.path, encoding="ascii") as file:
            text = file.read()
        if " over ok\n" in text:
            return []
        return [f"{client} cannot talk to {server} though all is mended: "
                f"{text.splitlines()[-3:]}"]

    def probes(self):
        wrong = []
        number = 0
        for client, server in sorted({(pair["client"], pair["server"])
                                      for pair in self.plan.pairs.values()}):
            number += 1
            wrong += self.probe(client, server, number)
        return wrong

    def unload(self):
        put(PARAMETERS + "idle_ms", 100)
        left = run("./leak_check", "60000", check=False)
        wrong = [] if not left.returncode else ["left behind: " + left.stdout.replace("\n", " ")]
        time.sleep(1)
        gone = run("rmmod", "rdmachan", check=False)
        if gone.returncode:
            raise Broken("the module cannot be unloaded: " + gone.stdout.strip())
        return wrong


def good_cables(hosts):
    for host in planner.HOSTS[:hosts]:
        for side in (f"from-{host}", f"to-{host}"):
            if os.path.exists(f"/run/cable/{side}"):
                os.remove(f"/run/cable/{side}")
                run("lab-cable", "mend", side)


def new_devices(hosts):
    """After a seed that may have left an adapter that is broken."""
    for host in planner.HOSTS[:hosts]:
        run("ip", "-n", host, "link", "set", "eth0", "mtu", "4200")
        run("ip", "-n", host, "addr", "replace", f"{address(host)}/24", "dev", "eth0")
        run("rdma", "link", "del", device(host), check=False)
        run("lab-on", host, "rdma", "link", "add", device(host), "type", "rxe", "netdev", "eth0")
    time.sleep(1)


def rping(client, server):
    """Whether the adapters can connect and talk, without the module."""
    there = subprocess.Popen(["lab-on", server, "rping", "-s", "-a", address(server), "-C", "3"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(1)
    done = run("lab-on", client, "timeout", "30", "rping", "-c", "-a", address(server), "-C", "3",
               check=False)
    there.terminate()
    there.wait()
    return not done.returncode


def broken_adapters(plan):
    """Pairs of hosts between which rping fails as well."""
    return [f"{client} to {server}" for client in plan.hosts for server in plan.hosts
            if client != server and not rping(client, server)]


def keep(out, seed):
    """What is to be looked at goes to the folder that the host sees."""
    if os.path.isdir("/share"):
        shutil.copytree(os.path.join(out, str(seed)), f"/share/{seed}", dirs_exist_ok=True)


class Log:
    """The kernel's log, from now on."""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.complaints()

    def complaints(self):
        found = []
        while True:
            try:
                text = os.read(self.file, 8192).decode("utf-8", "replace")
            except BlockingIOError:
                return found
            except OSError:
                continue
            if SPLATS.search(text):
                found.append("the kernel complains: " + text.split(";", 1)[-1].split("\n")[0])


def one_seed(plan, folder, log):
    """Returns what is wrong, the kernel's complaints, and figures."""
    seed = Seed(plan, folder)
    put(os.path.join(folder, "plan"), plan)
    seed.load()
    wrong = seed.go()
    wrong += seed.stop_servers()
    seed.deed("probing")
    wrong += seed.probes()
    seed.end()
    wrong += seed.unload()
    found, figures = judge.judge_folder(folder)
    return wrong + found, log.complaints(), figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="/tmp/swarm")
    parser.add_argument("--only", default="all")
    parser.add_argument("--again", default="", help="more words of the line that runs it again")
    parser.add_argument("seeds")
    args = parser.parse_args()
    seeds = planner.seeds_of(args.seeds)
    hosts = int(os.environ["LAB_HOSTS"])
    log = Log()
    failed = skipped = 0
    total = judge.Figures()
    print(f"1..{len(seeds)}", flush=True)
    for number, seed in enumerate(seeds, 1):
        plan = planner.plan_of(seed).only(planner.faults_of(args.only))
        good_cables(hosts)
        try:
            wrong, complaints, figures = one_seed(plan, os.path.join(args.out, str(seed)), log)
        except Broken as error:
            print(f"# {error}\nnot ok {number} - seed {seed}: the swarm is broken", flush=True)
            sys.exit(1)
        verdict, why = "ok", ""
        if wrong or complaints:
            broken = broken_adapters(plan)
            for line in wrong + complaints:
                print(f"# {line}")
            # No adapter's fault excuses the kernel's complaint.
            if broken and not complaints:
                skipped += 1
                why = f" # SKIP rping fails as well, {', '.join(broken)}: the adapter is at fault"
            else:
                failed += 1
                verdict = "not ok"
                only = f" ONLY={args.only}" if args.only != "all" else ""
                print(f"# again: make swarm SEEDS={seed}{only} {args.again}; with fewer faults: "
                      f"{args.again} selftests/swarm/shrink.py {seed}")
        else:
            total.add(figures)
        print(f"{verdict} {number} - seed {seed}: {figures}{why}", flush=True)
        if wrong or complaints:
            keep(args.out, seed)
            new_devices(hosts)
    print(f"# all: {total}")
    # A count that is missing proves nothing.
    if skipped * 4 > len(seeds):
        print(f"# {skipped} of {len(seeds)} seeds do not count: these are too many")
        failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
