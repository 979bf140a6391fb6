#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""judge_test.py - whether the judge of the swarm finds what is wrong in a journal; TAP

A seed of two pairs that went well is made up, and one in which a cut cable ended a session. Each
test spoils a copy of one of them, and the judge has to say so.
"""
import sys

import judge
import plan as planner
import shrink

PLAN = """swarm seed=0 hosts=2
param name=dead_ms value=1000
pair id=1 client=a server=b ckind=call skind=call connect_ms=0
pair id=2 client=b server=a ckind=uring skind=call connect_ms=0
fault id=1 at=500 for=3000 what=cut side=from-a
fault id=2 at=500 for=100 what=delay side=from-a value=5
fault id=3 at=500 for=100 what=nomem value=5
"""
# In microseconds, as journals are.
SECOND = 10**6


class Story:
    """The journals of a seed, as lists of lines, and what was done."""

    def __init__(self):
        self.plan = PLAN
        self.deeds = ["1 started 1s", "1 started 2s", "1 started 1c", "1 started 2c",
                      "9000000 status 1s 0", "9000000 status 2s 0", "9000000 status 1c 0",
                      "9000000 status 2c 0"]
        self.journals = {}
        for pair in "12":
            hello, up, down = [(0, 32, "h" + pair)], [], []
            for seq in range(1, 6):
                up.append((seq, 100 * seq, f"u{pair}{seq}"))
                down.append((seq, 10 * seq, f"d{pair}{seq}"))
            up.append((6, 32, "ru" + pair))
            down.append((6, 32, "rd" + pair))
            flags = pair == "1"
            self.journals[pair + "c"] = self.end(["10 begin", "20 connect 1", "90 connected 1"],
                                                 hello + up, down, True)
            self.journals[pair + "s"] = self.end(["10 begin", "15 listening", "80 accepted"],
                                                 down, hello + up, flags)

    @staticmethod
    def end(lines, sent, received, flags):
        lines = list(lines)
        for seq, length, total in sent:
            lines += [f"100 i {seq} {length} {total}", f"110 s {seq}"]
        for seq, length, total in received:
            lines.append(f"120 r {seq if flags else -1} {length} {total}")
            if total.startswith("h"):
                lines.append("121 hello 1")
        return lines + ["130 receipt 5", "140 eof", "150 over ok", "160 closed", "170 exit"]

    def judge(self):
        texts = {name: "".join(f"{line}\n" for line in lines)
                 for name, lines in self.journals.items()}
        return judge.Judge(planner.Plan.parse(self.plan), "\n".join(self.deeds), texts).judge()[0]

    # The faults allowed on them

    def lines(self, name, word):
        """Where the lines with this word are."""
        return [at for at, line in enumerate(self.journals[name]) if line.split()[1] == word]

    def replace(self, name, word, *new, which=0):
        at = self.lines(name, word)[which]
        self.journals[name][at:at + 1] = new

    def fail_session(self, name, at, trouble):
        """From its first messages on this end was told a trouble."""
        journal = self.journals[name]
        last = self.lines(name, "r")[1]
        self.journals[name] = journal[:last + 1] + [
            f"{at} recv-failed {trouble}", f"{at} over failed", f"{at} closed", f"{at} exit"]

    def fail_one(self):
        """The third message of pair 1 was refused, others of its batch were sent; it told."""
        sent = ["112 i 3 300 u13", "113 f 3",
                "114 send-failed errno=12 cause=0 detail=0 at=0", "115 i 4 400 u14", "116 s 4"]
        at = self.lines("1c", "i")[3]
        self.journals["1c"] = self.journals["1c"][:at] + sent + [
            "150 over failed", "160 closed", "170 exit"]
        at = self.lines("1s", "r")[3]
        self.journals["1s"] = self.journals["1s"][:at] + [
            "120 r 4 400 u14", "140 eof", "150 over failed", "160 closed", "170 exit"]
        self.deeds += ["50 begin 3", "200 end 3"]
        return self

    def kill_server(self):
        """
        Nobody listens at host a meanwhile; its client tries to connect again, and gives up; then the
        server is there again, and finds a channel whose client has gone.
        """
        self.plan = self.plan.replace("ckind=uring", "ckind=queue")
        self.deeds[-3:-2] = [f"{2 * SECOND} killed 2s", f"{3 * SECOND} started 2s.2",
                             "9000000 status 2s killed", "9000000 status 2s.2 0"]
        self.journals["2s"] = self.journals["2s"][:-1]
        self.journals["2s.2"] = [
            f"{3 * SECOND} begin", f"{3 * SECOND} listening", f"{8 * SECOND + 500} accepted",
            f"{8 * SECOND + 700} recv-failed errno=104 cause=15 detail=0 at={8 * SECOND + 600}",
            f"{8 * SECOND + 800} over failed", f"{8 * SECOND + 900} closed", f"{9 * SECOND} exit"]
        self.journals["2c"][-1:] = [
            f"{2 * SECOND + 10} connect 2",
            f"{2 * SECOND + 20} connect-failed errno=111 cause=5 detail=0 at=0",
            f"{8 * SECOND + 10} connect 3",
            f"{8 * SECOND + 400} connect-failed errno=110 cause=11 detail=0 at=0", "170 exit"]
        self.deeds += [f"{8 * SECOND} begin 1", f"{8 * SECOND + 300} end 1"]
        return self

    def cut(self):
        """The cable was cut, and both ends of pair 1 were told."""
        self.deeds += [f"{SECOND} begin 1", f"{4 * SECOND} end 1"]
        self.fail_session("1c", 2300000, "errno=104 cause=18 detail=0 at=2300000")
        self.fail_session("1s", 2200000, "errno=112 cause=12 detail=1000 at=2200000")
        return self


def lost(story):
    story.replace("1s", "r", which=3)


def doubled(story):
    line = story.journals["1s"][story.lines("1s", "r")[3]]
    story.replace("1s", "r", line, line, which=3)


def altered(story):
    story.replace("1s", "r", "120 r 2 200 xxx", which=2)


def shorter(story):
    story.replace("1s", "r", "120 r 2 199 u12", which=2)


def wrong_flags(story):
    story.replace("1s", "r", "120 r 7 200 u12", which=2)


def swapped(story):
    at, other = story.lines("1c", "r")[2:4]
    lines = story.journals["1c"]
    lines[at], lines[other] = lines[other], lines[at]


def from_nowhere(story):
    story.replace("1c", "eof", "120 r 9 9 never", "140 eof")


def last_one_missing(story):
    """All but the last was received, and then the end, without a word."""
    story.replace("1s", "r", which=-1)


def no_end(story):
    story.journals["1c"] = story.journals["1c"][:-4]


def no_exit(story):
    story.journals["2s"].pop()


def died(story):
    story.deeds[-1] = "9000000 status 2c -11"


def no_journal(story):
    del story.journals["2s"]


def not_started(story):
    story.deeds.remove("1 started 2s")


def nothing_started(story):
    story.deeds = []
    story.journals = {}


def nothing_delivered(story):
    for name in story.journals:
        begin = story.journals[name][:2]
        story.journals[name] = begin + ["170 exit"]


def odd(story):
    story.replace("2c", "eof", "135 odd receipt", "140 eof")


def no_reason(story):
    story.fail_session("1c", 2300000, "errno=104 cause=18 detail=0 at=2300000")
    story.fail_session("1s", 2200000, "errno=112 cause=12 detail=1000 at=2200000")


def reason_is_harmless(story):
    story.deeds += ["2100000 begin 2", "2300000 end 2"]
    no_reason(story)


def one_end_silent(story):
    story.cut()
    at = story.lines("1s", "recv-failed")[0]
    del story.journals["1s"][at]


def wrong_errno(story):
    story.cut()
    story.replace("1s", "recv-failed", "2200000 recv-failed errno=104 cause=12 detail=0 at=2200000")


def wrong_cause(story):
    story.cut()
    story.replace("1s", "recv-failed", "2200000 recv-failed errno=19 cause=19 detail=0 at=2200000")


def too_late(story):
    """The cable is long whole when the end is told, and the module has found it then."""
    story.cut()
    late = 30 * SECOND
    story.fail_session("1s", late, f"errno=112 cause=12 detail=1000 at={late}")


def killed_by_nobody(story):
    story.fail_session("1c", 2300000, "errno=104 cause=14 detail=9 at=2300000")
    story.fail_session("1s", 2200000, "errno=104 cause=14 detail=9 at=2200000")


def slow_connect(story):
    story.replace("1c", "connected", f"{12 * SECOND} connected 1")


def ended_early(story):
    story.journals["1c"] = [line for line in story.journals["1c"] if "receipt" not in line]
    story.replace("1c", "over", "150 over failed")


def two_of_a_session(story):
    at = story.lines("1s", "accepted")[0]
    body = story.journals["1s"][at:-1]
    story.journals["1s"][-1:] = body + ["170 exit"]


def counter_is_wrong(story):
    story.replace("1c", "over", "149 adds 5 1", "150 over ok")
    story.replace("1s", "over", "149 counter 7", "150 over ok")


def one_more_missing(story):
    """A message that was accepted is missing behind the one that failed."""
    story.fail_one()
    story.replace("1s", "r", which=-1)
    story.replace("1s", "eof", "120 r 5 500 u15", "140 eof")
    story.replace("1c", "over", "117 i 5 500 u15", "118 s 5", "150 over failed")


def failed_and_told_of_none(story):
    story.fail_one()
    story.replace("1c", "f")


def no_server_was_killed(story):
    """No kill explains that nobody listens there."""
    story.kill_server()
    story.deeds = [deed.replace("status 2s killed", "status 2s 0") for deed in story.deeds
                   if "killed 2s" not in deed]


def another_listens_there(story):
    """Nor does one beside which another server of that host goes on."""
    story.plan = story.plan.replace("id=1 client=a server=b", "id=1 client=b server=a")
    story.journals["1s"][-1] = f"{9 * SECOND} exit"
    story.kill_server()


def reset_by_nobody(story):
    """The server's channel was reset, and each connect of its client has come to its end."""
    story.kill_server()
    del story.journals["2c"][-3:-1]


SPOILT = [lost, doubled, altered, shorter, wrong_flags, swapped, from_nowhere, last_one_missing,
          no_end, no_exit, died, no_journal, not_started, nothing_started, nothing_delivered, odd,
          no_reason, reason_is_harmless, one_end_silent, wrong_errno, wrong_cause, too_late,
          killed_by_nobody, slow_connect, ended_early, two_of_a_session, counter_is_wrong,
          one_more_missing, failed_and_told_of_none, no_server_was_killed, another_listens_there,
          reset_by_nobody]


class Tap:
    def __init__(self, count):
        self.number = 0
        self.failed = False
        print(f"1..{count}")

    def told(self, good, name, more=()):
        self.number += 1
        self.failed |= not good
        for line in more if not good else ():
            print(f"# {line}")
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}")


def plans(tap):
    texts = [str(planner.plan_of(seed)) for seed in range(1, 201)]
    tap.told(texts == [str(planner.plan_of(seed)) for seed in range(1, 201)] and
             len(set(texts)) == 200, "a seed is a plan, and another seed another plan")
    tap.told(all(str(planner.Plan.parse(text)) == text for text in texts), "a plan can be read")
    made = [planner.Plan.parse(text) for text in texts]
    kinds = {pair["ckind"] for plan in made for pair in plan.pairs.values()}
    whats = {fault["what"] for plan in made for fault in plan.faults.values()}
    tap.told(kinds == {*planner.KINDS, "grant"} and whats == set(planner.FAULTS),
             "plans have all ways and all faults", [kinds, whats])
    plan = made[0]
    some = sorted(plan.faults)[1:3]
    tap.told(sorted(plan.only(set(some)).faults) == some and not plan.only(set()).faults,
             "faults can be left out")
    left = shrink.shrink(lambda faults: {3, 8} <= set(faults), list(range(1, 13)))
    tap.told(left == [3, 8], "delta debugging keeps what is needed", [left])
    tap.told(shrink.shrink(lambda faults: True, [1, 2, 3]) == [],
             "and drops all when none is needed")


def main():
    good = ((Story(), "all went well"), (Story().cut(), "a cable was cut"),
            (Story().fail_one(), "one send of a batch failed"),
            (Story().kill_server(), "the last server of a host was killed"))
    tap = Tap(len(SPOILT) + len(good) + 6)
    for story, name in good:
        wrong = story.judge()
        tap.told(not wrong, f"no fault is found where {name}", wrong)
    for spoil in SPOILT:
        story = Story()
        spoil(story)
        tap.told(bool(story.judge()), spoil.__name__)
    plans(tap)
    sys.exit(tap.failed)


if __name__ == "__main__":
    main()
