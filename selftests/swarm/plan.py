#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""plan.py - what a seed of the swarm stands for

usage: plan.py SEED [ONLY]       print the plan

A plan is text. Its lines are "KIND WORD=VALUE...":

    swarm seed= hosts=           hosts a, b, ... of the guest are used
    param name= value=           a parameter of the module from the beginning
    pair id= client= server= ... two programs, see peer.h; ckind and skind are their ways
    tool id= client= server= ... two programs that are commands of the tool
    fault id= at= for= what= ... what goes wrong, when, and for how long, in milliseconds

ONLY is "none", or numbers of faults with commas between: the others are left out. The same seed
gives the same plan, on any machine.
"""
import sys

HOSTS = "abcd"
# How a program may send and receive; the most bytes of a message that it sends so. Without a region a
# queue sends what its send buffer holds, which may be the smallest there is.
KINDS = {"call": 4 << 20, "queue": 65536, "pool": 65536, "region": 4 << 20, "uring": 1 << 20}


class Dice:
    """Numbers from a seed, by splitmix64: Python's own are not promised to stay."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) & (1 << 64) - 1

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (1 << 64) - 1
        x = self.state
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        x = (x ^ x >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return x ^ x >> 31

    def among(self, low, high):
        return low + self.number() % (high - low + 1)

    def pick(self, row):
        return row[self.number() % len(row)]

    def weighted(self, table):
        """A key of the table, whose values say how often it comes."""
        at = self.among(0, sum(table.values()) - 1)
        for key, weight in table.items():
            if at < weight:
                return key
            at -= weight
        raise AssertionError

    def chance(self, percent):
        return self.among(0, 99) < percent


class Line(dict):
    """A line of a plan: its kind, and words with values, numbers where they are some."""

    def __init__(self, kind, **words):
        super().__init__(words)
        self.kind = kind

    def __str__(self):
        return " ".join([self.kind, *(f"{word}={value}" for word, value in self.items())])

    @classmethod
    def parse(cls, text):
        kind, *words = text.split()
        line = cls(kind)
        for word in words:
            name, _, value = word.partition("=")
            line[name] = int(value) if value.lstrip("-").isdigit() else value
        return line


class Plan:
    """All lines of a plan, by kind."""

    def __init__(self, lines):
        self.lines = lines
        self.head = self._all("swarm")[0]
        self.params = {line["name"]: line["value"] for line in self._all("param")}
        self.pairs = {line["id"]: line for line in self._all("pair")}
        self.tools = {line["id"]: line for line in self._all("tool")}
        self.faults = {line["id"]: line for line in self._all("fault")}
        self.hosts = HOSTS[:self.head["hosts"]]

    def _all(self, kind):
        return [line for line in self.lines if line.kind == kind]

    def __str__(self):
        return "".join(f"{line}\n" for line in self.lines)

    @classmethod
    def parse(cls, text):
        return cls([Line.parse(line) for line in text.splitlines() if line.strip()])

    def only(self, faults):
        """The same with these faults alone, numbers; None leaves all."""
        if faults is None:
            return self
        return Plan([line for line in self.lines
                     if line.kind != "fault" or line["id"] in faults])


class Maker:
    """Makes a plan of a seed."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = Dice(seed)
        self.length = self.dice.among(3000, 9000)
        self.hosts = HOSTS[:self.dice.weighted({2: 3, 3: 3, 4: 2})]
        self.lines = [Line("swarm", seed=seed, hosts=len(self.hosts))]
        # The time when the only one of its kind is free again.
        self.busy = {}

    def plan(self):
        dice = self.dice
        for name, value in (
                ("dead_ms", dice.pick((1000, 2000, 5000))), ("linger_ms", 5000),
                ("idle_ms", dice.pick((300, 1000, 5000))), ("gather_us", dice.pick((0, 100, 1000))),
                ("depth", dice.pick((16, 32, 64))), ("buffer", dice.pick((65536, 262144, 1 << 20)))):
            self.lines.append(Line("param", name=name, value=value))
        pairs = dice.among(5, 14)
        for number in range(1, pairs + 1):
            self.pair(number)
        # One in eight has no fault: then nothing at all may go wrong.
        if self.seed % 8:
            for number in range(1, dice.among(2, 12) + 1):
                self.fault(number)
        return Plan(self.lines)

    def pair(self, number):
        dice = self.dice
        client = dice.pick(self.hosts)
        server = dice.pick([host for host in self.hosts if host != client])
        kinds = [dice.pick(list(KINDS)) for _ in range(2)]
        if dice.chance(12):
            kinds = ["grant", "grant"]
        large = number <= 2
        most = min(KINDS.get(kind, 1 << 20) for kind in kinds)
        most = min(most, dice.pick((4 << 20, 1 << 20)) if large else dice.pick((256, 9000, 70000)))
        count = dice.among(10, 30) if large else dice.among(10, 80)
        mode = dice.pick(("up", "down", "both", "answer"))
        if kinds[0] == "grant":
            mode = "answer"
        sessions = dice.among(1, 4)
        share = self.length * 1000 // sessions
        line = Line("pair", id=number, client=client, server=server, ckind=kinds[0],
                    skind=kinds[1], uid=dice.weighted({0: 5, 1000: 2, 1001: 1}),
                    up=0 if mode == "down" else count,
                    down=0 if mode == "up" else count if mode == "answer" else
                    dice.among(1, count),
                    window=dice.pick((1, 4, 16)) if mode == "answer" else 0,
                    min=1 if "uring" in kinds else 0, max=most,
                    pause_us=dice.pick((0, share // count // 2, share // count)),
                    depth=dice.pick((1, 4)), sessions=sessions,
                    start_ms=dice.among(0, self.length // 3), gap_ms=dice.pick((10, 200, 800)),
                    connect_ms=dice.pick((0, 0, 3000)), seed=dice.number() >> 33)
        if dice.chance(25):
            self.quit(line, count)
        self.lines.append(line)

    def quit(self, line, count):
        """One of the two ends a session before its time."""
        dice = self.dice
        who = dice.pick("cs")
        kind = line[who + "kind"]
        ways = ["shut"]
        if who == "c":
            ways.append("exit")
        if kind in ("queue", "pool", "region", "uring"):
            ways.append("close")
        if kind == "grant" and who == "s":
            ways = ["revoke"]
        line.update(quit=who + dice.pick(ways), quit_session=dice.among(1, line["sessions"]),
                    quit_after=dice.among(1, count))

    def free(self, what, at, end):
        """Whether this thing may have something done to it then; it may not again meanwhile."""
        if self.busy.get(what, -1) >= at:
            return False
        self.busy[what] = end
        return True

    def fault(self, number):
        dice = self.dice
        what = dice.weighted(FAULTS)
        at = dice.among(100, self.length)
        line = Line("fault", id=number, at=at)
        line["for"] = dice.among(50, 2500)
        line["what"] = what
        target = getattr(self, "fault_" + what)(line)
        # Two at once on one thing would undo each other.
        if not self.taken(target, at, at + line["for"]):
            self.lines.append(line)

    def taken(self, target, at, end):
        spans = self.busy.setdefault(target, [])
        if any(at <= other_end + 100 and begin <= end + 100 for begin, other_end in spans):
            return True
        spans.append((at, end))
        return False

    def side(self):
        return self.dice.pick(("from-", "to-")) + self.dice.pick(self.hosts)

    def fault_loss(self, line):
        line.update(side=self.side(), value=self.dice.pick((0.5, 1, 2, 5)))
        return "loss", line["side"]

    def fault_delay(self, line):
        line.update(side=self.side(), value=self.dice.pick((1, 5, 20, 60)))
        return "delay", line["side"]

    def fault_duplicate(self, line):
        line.update(side=self.side(), value=self.dice.pick((1, 5, 20)))
        return "duplicate", line["side"]

    def fault_reorder(self, line):
        line.update(side=self.side(), value=self.dice.pick((0.5, 2)))
        return "delay", line["side"]

    def fault_rate(self, line):
        line.update(side=self.side(), value=self.dice.pick((20, 100, 500)))
        return "rate", line["side"]

    def fault_cut(self, line):
        line.update(side=self.dice.pick((self.side(), self.dice.pick(self.hosts))))
        line["for"] = self.dice.pick((100, 600, 2000, 8000))
        return "cut", line["side"][-1]

    def fault_device(self, line):
        line.update(host=self.dice.pick(self.hosts))
        return "host", line["host"]

    def fault_address(self, line):
        line.update(host=self.dice.pick(self.hosts))
        return "host", line["host"]

    def fault_mtu(self, line):
        line.update(host=self.dice.pick(self.hosts), value=self.dice.pick((2200, 1500)))
        return "host", line["host"]

    def program(self):
        pairs = [line for line in self.lines if line.kind == "pair"]
        return f"{self.dice.pick(pairs)['id']}{self.dice.pick('cs')}"

    def fault_kill(self, line):
        line.update(program=self.program())
        return "program", line["program"]

    def fault_stop(self, line):
        line.update(program=self.program())
        return "program", line["program"]

    def fault_nomem(self, line):
        line.update(site=self.dice.pick(SITES), skip=self.dice.among(0, 20),
                    every=self.dice.among(1, 20), count=self.dice.among(1, 6))
        return "nomem", ""

    def fault_frame(self, line):
        line.update(name=self.dice.pick(("drop", "reorder", "kill", "duplicate", "delay",
                                         "withhold")),
                    skip=self.dice.among(0, 200), every=self.dice.among(1, 50),
                    count=self.dice.among(1, 4))
        return "frame", line["name"]

    def fault_param(self, line):
        name = self.dice.pick(list(PARAMS))
        line.update(name=name, value=self.dice.pick(PARAMS[name]))
        return "param", name


# How often each comes.
FAULTS = {"loss": 4, "delay": 4, "duplicate": 3, "reorder": 2, "rate": 2, "cut": 5, "device": 3,
          "address": 2, "mtu": 2, "kill": 5, "stop": 4, "nomem": 3, "frame": 4, "param": 4}
SITES = ("any", "context", "listener", "channel", "object", "link", "lane", "verbs", "ring", "page",
         "frame", "item", "segment", "region", "write", "pin", "queue", "place", "grant")
PARAMS = {"dead_ms": (1000, 3000), "gather_us": (0, 1000), "depth": (16, 128), "idle_ms": (100, 2000),
          "buffer": (65536, 4 << 20), "linger_ms": (1000,)}


def plan_of(seed):
    return Maker(seed).plan()


def faults_of(text):
    """What ONLY says: a set of numbers, or None for all faults."""
    if not text or text == "all":
        return None
    return set() if text == "none" else {int(word) for word in text.split(",")}


def seeds_of(text):
    """1-20,33 as numbers."""
    seeds = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        seeds += range(int(low), int(high or low) + 1)
    return seeds


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    only = faults_of(sys.argv[2] if len(sys.argv) > 2 else "")
    print(plan_of(int(sys.argv[1])).only(only), end="")


if __name__ == "__main__":
    main()
