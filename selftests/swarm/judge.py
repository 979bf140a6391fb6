#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""judge.py - whether what the programs of a seed were told fits what was done to them

usage: judge.py DIR...       folders with "plan", "deeds" and journals, as drive.py leaves them

It holds, of each session of a pair:

* what is received is a beginning of what was sent, byte by byte, each message once, in order; a
  message whose sender was told that it failed may be missing;
* who is told the end of a stream has received all that was accepted for it;
* a session that has not come to its end is reported at both ends, by an errno with its cause, and
  something that was done at that time explains the cause (see EXPLAINED);
* no connect, and no silence of a peer, lasts longer than what limits it.

A seed that tells of nothing is wrong: no program, a journal that is missing or has no end, no
message that was delivered.
"""
import errno
import os
import sys

import plan as planner

CAUSES = """none no-device address route unreachable no-module no-service backlog rejected version
feature timeout peer-dead peer-closed peer-killed peer-reset peer-restarted peer-shutdown disconnected
device-removed transport protocol resources peer-resources shutdown message-size unload user-limit
user-bytes total-limit memlock memory-kind uncertain atomics port-down mtu own-address neighbour
port-taken send-buffer unprivileged peer-stalled device-fatal local-address message-lost""".split()

# What each errno of the connection may have as its cause: Documentation/uapi.rst.
ERRNOS = {
    errno.ENODEV: "no-device device-removed unload device-fatal",
    errno.EHOSTUNREACH: "address route",
    errno.ETIMEDOUT: "timeout",
    errno.EHOSTDOWN: "unreachable peer-dead peer-stalled",
    errno.ECONNREFUSED: "no-module no-service backlog rejected version feature peer-resources "
                        "unprivileged",
    errno.ECONNRESET: "peer-killed peer-reset peer-restarted disconnected transport port-down mtu "
                      "own-address neighbour peer-resources message-lost",
    errno.EPIPE: "peer-closed peer-shutdown shutdown",
    errno.EPROTO: "protocol",
    errno.EMSGSIZE: "message-size send-buffer none",
    errno.ENOMEM: "resources memlock none",
    errno.EREMOTEIO: "uncertain",
    errno.EKEYREVOKED: "none",
    errno.EDQUOT: "user-limit",
    errno.ENOBUFS: "user-bytes",
    errno.EADDRNOTAVAIL: "local-address",
    errno.ENOSPC: "total-limit",
}

# A silent peer: the findings that each end may have, and connections meanwhile.
SILENCE = "peer-dead disconnected unreachable timeout address transport"
# What explains what: by what was done, the causes at the host, or of the program, to which it was
# done, and those at the other end. Cables are both hosts' matter.
EXPLAINED = {
    "cut": (SILENCE + " lost", SILENCE + " lost"),
    "loss": (SILENCE + " lost", SILENCE + " lost"),
    "device": ("device-removed no-device address",
               "disconnected peer-dead unreachable timeout no-module rejected transport"),
    # The device gives up what it sent meanwhile, maybe when the address is there again.
    "address": ("own-address no-device address transport " + SILENCE, SILENCE),
    # Large packets that come are dropped there, and packets behind them wait.
    "mtu": ("mtu " + SILENCE, SILENCE),
    "kill": ("", "peer-killed peer-reset no-service"),
    "quit": ("", "peer-closed peer-shutdown peer-reset none"),
    "interrupted": ("", "peer-reset"),
    "gave-up": ("", "peer-reset"),
    "gone": ("", "no-module"),
    "nomem": ("none resources", "peer-resources"),
    "frame": ("protocol disconnected transport", "protocol disconnected transport"),
}
# These explain nothing: a delay, a duplicate, a program that is stopped are nobody's end.
HARMLESS = ("delay", "duplicate", "reorder", "rate", "stop", "param")

TICK_MS = 10


def timer_late(ms):
    """How late a timer of the kernel may end that lasts so long."""
    late = TICK_MS
    while ms >= 63 * late:
        late *= 8
    return late


class Figures:
    """How much there was of what."""

    NAMES = ("seeds", "programs", "sessions", "good", "messages", "bytes", "errors", "faults")

    def __init__(self):
        self.counts = dict.fromkeys(self.NAMES, 0)

    def count(self, name, more=1):
        self.counts[name] += more

    def add(self, other):
        for name, value in other.counts.items():
            self.counts[name] += value

    def __str__(self):
        counts = self.counts
        return (f"{counts['programs']} programs, {counts['good']} of {counts['sessions']} sessions "
                f"whole, {counts['messages']} messages, {counts['bytes'] >> 10} KiB, "
                f"{counts['faults']} faults, {counts['errors']} errors told")


class Trouble:
    """An error that a program was told."""

    def __init__(self, at, what, words):
        self.told, self.what = at, what
        values = {name: int(value) for name, value in (word.split("=") for word in words)}
        self.errno = values["errno"]
        self.cause = CAUSES[values.get("cause", 0)]
        self.detail = values.get("detail", 0)
        # When it came about, if the module told.
        self.at = values.get("at", 0) or at

    def __str__(self):
        name = errno.errorcode.get(self.errno, self.errno)
        return f"{self.what} {name} {self.cause} detail {self.detail}"


class Session:
    """What one end tells of one session."""

    def __init__(self, program, begun):
        self.program, self.begun = program, begun
        self.number = None
        self.connected = self.over = self.closed = None
        self.verdict = ""
        self.sent, self.accepted, self.unsent, self.received = [], set(), set(), []
        self.troubles, self.odd = [], []
        self.eof = self.quit = False
        self.extra = {}

    @property
    def reported(self):
        return bool(self.troubles)

    @property
    def gave_up(self):
        """Its program left, as a call had failed for a reason of its own host."""
        return any(trouble.cause in ("none", "resources") for trouble in self.troubles)


class Journal:
    """What one program tells."""

    def __init__(self, name, text):
        self.name = name
        self.pair = int(name.split(".")[0][:-1])
        self.client = name.split(".")[0][-1] == "c"
        self.sessions, self.troubles, self.odd = [], [], []
        self.begun = self.ended = self.listening = None
        self.cut = bool(text) and not text.endswith("\n")
        for line in text.split("\n")[:-1]:
            at, word, *rest = line.split()
            self._take(int(at), word, rest)
        self.quit = any(session.quit for session in self.sessions)

    def _take(self, at, word, rest):
        if word == "begin":
            self.begun = at
        elif word == "exit":
            self.ended = at
        elif word == "listening":
            self.listening = at
        elif word in ("connect", "accepted"):
            session = Session(self, at)
            if word == "connect":
                session.number = int(rest[0])
            else:
                session.connected = at
            self.sessions.append(session)
        elif self.sessions:
            self._of_session(self.sessions[-1], at, word, rest)
        elif word.endswith("-failed"):
            self.troubles.append(Trouble(at, word, rest))
        else:
            self.odd.append(f"{word} without a session")

    def _of_session(self, session, at, word, rest):
        if word == "i":
            session.sent.append((int(rest[0]), int(rest[1]), rest[2]))
        elif word == "s":
            session.accepted.add(int(rest[0]))
        elif word == "f":
            session.unsent.add(int(rest[0]))
        elif word == "r":
            session.received.append((int(rest[0]), int(rest[1]), rest[2]))
        elif word.endswith("-failed"):
            session.troubles.append(Trouble(at, word, rest))
        elif word == "connected":
            session.connected = at
        elif word == "hello":
            session.number = int(rest[0])
        elif word == "eof":
            session.eof = True
        elif word == "over":
            session.over, session.verdict = at, rest[0]
        elif word == "closed":
            session.closed = at
        elif word == "quit":
            session.quit = True
        elif word == "odd":
            session.odd.append(" ".join(rest))
        elif word != "receipt":
            session.extra.setdefault(word, []).append((at, rest))


class Deed:
    """Something that was done, from when to when, in microseconds."""

    def __init__(self, what, words, begun):
        self.what, self.words = what, words
        self.begun, self.ended = begun, None

    def touches(self, begun, ended, slack):
        end = self.ended if self.ended is not None else float("inf")
        return begun <= end + slack and ended >= self.begun


class Judge:
    """One seed."""

    def __init__(self, plan, deeds, journals):
        self.plan = plan
        self.journals = {name: Journal(name, text) for name, text in journals.items()}
        self.wrong = []
        self.figures = Figures()
        self.deeds = []
        self.killed, self.stops, self.status = {}, {}, {}
        self.started = []
        self._read_deeds(deeds)
        # The last frame may be so old, and the end is told so much later.
        dead = max([plan.params.get("dead_ms", 5000)] +
                   [fault["value"] for fault in plan.faults.values()
                    if fault["what"] == "param" and fault["name"] == "dead_ms"])
        self.bound = (dead * 5 // 4 + timer_late(dead) + 1000) * 1000

    def _read_deeds(self, text):
        open_deeds = {}
        for line in text.splitlines():
            at, word, *rest = line.split()
            at = int(at)
            if word == "begin":
                fault = self.plan.faults[int(rest[0])]
                if fault["what"] not in HARMLESS and fault["what"] != "kill":
                    deed = open_deeds[rest[0]] = Deed(fault["what"], fault, at)
                    self.deeds.append(deed)
                self.figures.count("faults")
            elif word == "end" and rest[0] in open_deeds:
                open_deeds[rest[0]].ended = at
            elif word == "started":
                self.started.append(rest[0])
            elif word == "killed":
                self.killed[rest[0]] = at
            elif word == "stopped":
                self.stops.setdefault(rest[0], []).append([at, float("inf")])
            elif word == "continued":
                self.stops[rest[0]][-1][1] = at
            elif word == "status":
                self.status[rest[0]] = rest[1]

    def find(self, where, what):
        self.wrong.append(f"{where}: {what}")

    def judge(self):
        self._programs()
        for number in self.plan.pairs:
            self._pair(number)
        self.figures.count("seeds")
        if not self.figures.counts["programs"]:
            self.find("seed", "no program was started")
        if not self.figures.counts["messages"]:
            self.find("seed", "nothing was delivered")
        return self.wrong, self.figures

    # Programs as such

    def _programs(self):
        for pair in self.plan.pairs:
            for role in "cs":
                if f"{pair}{role}" not in self.started:
                    self.find(f"{pair}{role}", "was never started")
        for name in self.started:
            journal = self.journals.get(name)
            if not journal:
                self.find(name, "has no journal")
                continue
            self.figures.count("programs")
            self._program(name, journal)

    def _program(self, name, journal):
        status = self.status.get(name)
        if status == "killed":
            return
        if journal.cut:
            self.find(name, "its journal ends within a line")
        if status != "0":
            self._ended_early(name, journal, status)
        elif journal.ended is None and not journal.quit:
            self.find(name, "ended without a word")
        for odd in journal.odd:
            self.find(name, odd)

    def _ended_early(self, name, journal, status):
        """A program that could not even begin tells why."""
        if not journal.troubles:
            self.find(name, f"ended with status {status}")
        for trouble in journal.troubles:
            self._explain(journal, None, trouble, journal.begun, trouble.told)

    # Pairs

    def _pair(self, number):
        ends = {True: [], False: []}
        for name in self.started:
            journal = self.journals.get(name)
            if journal and journal.pair == number:
                ends[journal.client].extend(journal.sessions)
        servers = {}
        for session in ends[False]:
            if session.number is None:
                self._alone(session)
                continue
            if session.number in servers:
                self.find(session.program.name, f"session {session.number} came twice")
            servers[session.number] = session
        for session in ends[True]:
            self._session(session, servers.pop(session.number, None))
        for session in servers.values():
            self.find(session.program.name, f"session {session.number} is nobody's")

    def _alone(self, server):
        """
        A channel on which no hello came: its client has given up meanwhile, or its call was
        interrupted and began anew.
        """
        if server.received and not server.odd:
            self.find(server.program.name, "messages before the hello")
        self._end(server, None)

    def _session(self, client, server):
        self.figures.count("sessions")
        where = f"{client.program.name} session {client.number}"
        self._connect(client)
        if client.connected is None:
            if server:
                self.find(where, "did not connect, and the server has it")
            for trouble in client.troubles:
                self._explain(client.program, client, trouble, client.begun, trouble.told)
            if not client.troubles and not self._was_killed(client):
                self.find(where, "neither connected nor failed")
            return
        if server:
            self._stream(client, server)
            self._stream(server, client)
            self._both(client, server)
            self._counter(where, client, server)
            self._end(server, client)
        self._end(client, server)
        if client.verdict == "ok" and (not server or server.verdict != "ok"):
            self._one_sided(where, server, client)
        if client.verdict == "ok" and server and server.verdict == "ok":
            self.figures.count("good")

    def _one_sided(self, where, server, client):
        """The last word of a session may be lost, and nothing else."""
        if not server:
            self.find(where, "is whole for the client, and no server has it")
        elif len(server.received) < len(client.sent) - 1:
            self.find(where, "is whole for the client, and not for the server")

    def _stream(self, sender, receiver):
        where = f"{sender.program.name} to {receiver.program.name} session {sender.number}"
        at = 0
        for got in receiver.received:
            at = self._skip_unsent(sender, at, got)
            if at >= len(sender.sent):
                self.find(where, f"message {got} came and was never sent")
                return
            if not self._same(sender.sent[at], got):
                self.find(where, self._difference(sender, at, got))
                return
            at += 1
        self.figures.count("messages", len(receiver.received))
        self.figures.count("bytes", sum(got[1] for got in receiver.received))
        # A side that ends its own direction finds the end there.
        if receiver.eof and not receiver.quit and len(receiver.received) < len(sender.accepted):
            self.find(where, f"{len(sender.accepted)} were accepted, {len(receiver.received)} "
                             "received, and then the end")
        if not sender.accepted <= {message[0] for message in sender.sent}:
            self.find(where, "accepted what was never sent")

    def _counter(self, where, client, server):
        """What the holder of a grant has added is there, and nothing else."""
        if "counter" not in server.extra or "adds" not in client.extra:
            return
        counted = int(server.extra["counter"][0][1][0])
        certain, uncertain = map(int, client.extra["adds"][0][1])
        if not certain <= counted <= certain + uncertain:
            self.find(where, f"{certain} were added, {uncertain} uncertain, and the counter is "
                             f"{counted}")

    def _skip_unsent(self, sender, at, got):
        """Which message is the next that came: not one that the sender was told has failed."""
        while at < len(sender.sent) and sender.sent[at][0] in sender.unsent and \
                not self._same(sender.sent[at], got):
            at += 1
        return at

    @staticmethod
    def _same(sent, got):
        seq, length, total = sent
        return got[1:] == (length, total) and (got[0] < 0 or got[0] == seq & 0xFFFF or
                                               got[0] == 0)

    @staticmethod
    def _difference(sender, at, got):
        earlier = [number for number, sent in enumerate(sender.sent[:at])
                   if sent[1:] == got[1:] and got[1] >= 8]
        later = [number for number, sent in enumerate(sender.sent[at:], at)
                 if sent[1:] == got[1:] and got[1] >= 8]
        what = f"message {at} is {got}, and was sent as {sender.sent[at]}"
        if earlier:
            return f"{what}: number {earlier[-1]} came again"
        if later:
            return f"{what}: what is before number {later[0]} is lost"
        return f"{what}: altered"

    def _was_killed(self, session):
        return session.program.name in self.killed and session.over is None

    def _both(self, client, server):
        """What is not delivered is reported at both ends."""
        for sender, receiver in ((client, server), (server, client)):
            missing = len(sender.accepted) - len(receiver.received)
            if missing <= 0:
                continue
            # A receipt has no receipt: a side that has sent it, and has all else, knows no more.
            ends = (receiver,) if missing == 1 and sender.verdict == "ok" else (sender, receiver)
            for end in ends:
                if not (end.reported or end.quit or self._was_killed(end) or
                        (end.eof and end.verdict == "failed")):
                    self.find(f"{end.program.name} session {client.number}",
                              f"{len(sender.accepted)} were accepted, {len(receiver.received)} "
                              "received, and nobody tells")

    def _end(self, session, other):
        """Each end tells how it ended, and why it did not come to its end."""
        where = f"{session.program.name} session {session.number}"
        for odd in session.odd:
            self.find(where, f"what came is no {odd}")
        if self._was_killed(session):
            return
        if session.over is None:
            if not session.quit:
                self.find(where, "has no end")
            return
        for trouble in session.troubles:
            self._explain(session.program, session, trouble, trouble.at, trouble.told)
        if session.verdict == "failed" and not session.troubles and not session.odd:
            self._cut_short(where, session, other)

    def _cut_short(self, where, session, other):
        """It found the end of the stream, and no error: the peer has ended before its time."""
        ends = [other] if other else self._others_of(session)
        if not any(end.quit or end.gave_up for end in ends):
            self.find(where, "came to its end too early, and nobody told why")

    def _others_of(self, session):
        """The sessions of the other program that it may have been, as no hello came."""
        client = session.program.client
        return [other for journal in self.journals.values()
                if journal.pair == session.program.pair and journal.client != client
                for other in journal.sessions
                if (other.number is None if client else other.begun <= session.begun)]

    # Causes

    def _connect(self, client):
        """A connect ends in time."""
        limit = self.plan.pairs[client.program.pair]["connect_ms"] or \
            self.plan.params.get("connect_ms", 10000)
        end = client.connected
        if end is None and client.troubles:
            end = client.troubles[0].told
        if end is None or self._stopped(client.program.name, client.begun, end):
            return
        if end - client.begun > (limit + timer_late(limit) + 2 * TICK_MS) * 1000:
            self.find(f"{client.program.name} session {client.number}",
                      f"connecting took {(end - client.begun) // 1000} ms, and the limit is {limit}")

    def _stopped(self, name, begun, ended):
        return any(begun <= stop[1] and ended >= stop[0] for stop in self.stops.get(name, ()))

    def _explain(self, journal, session, trouble, begun, ended):
        where = f"{journal.name} session {session.number if session else '-'}"
        if trouble.cause not in ERRNOS.get(trouble.errno, "").split():
            self.find(where, f"{trouble}: this errno does not go with this cause")
            return
        self.figures.count("errors")
        if trouble.cause == "shutdown" and session and session.quit:
            return
        if not any(self._fits(journal, trouble, deed, begun, ended) for deed in self._all_deeds(
                journal)):
            self.find(where, f"{trouble} at {ended / 1e6:.3f} s: nothing that was done explains it")

    def _all_deeds(self, journal):
        """Faults, and what became of the program at the other end."""
        yield from self.deeds
        for name, other in self.journals.items():
            if other.pair != journal.pair or other.client == journal.client:
                continue
            if name in self.killed:
                deed = Deed("kill", {}, self.killed[name])
                deed.ended = self._serves_again(name, self.killed[name])
                yield deed
                yield from self._gone(other, deed)
            for session in other.sessions:
                if session.quit or session.gave_up:
                    yield Deed("quit", {}, session.begun)
            yield from self._interrupted(other)
            yield from self._gave_up_connecting(other)

    def _gone(self, server, kill):
        """The killed server may have been the last of its host: then nobody listens there."""
        host = self.plan.pairs[server.pair]["server"]
        others = [journal for journal in self.journals.values()
                  if not journal.client and journal.pair != server.pair and journal.listening and
                  self.plan.pairs[journal.pair]["server"] == host]
        if not server.client and not any(self._listened(other, kill) for other in others):
            deed = Deed("gone", {}, kill.begun)
            deed.ended = kill.ended
            yield deed

    def _listened(self, server, kill):
        """Whether a server listened from that kill until the killed one was there again."""
        end = min((at for at in (server.ended, self.killed.get(server.name)) if at),
                  default=float("inf"))
        return server.listening <= kill.begun and end >= (kill.ended or float("inf"))

    @staticmethod
    def _gave_up_connecting(client):
        """The server may have accepted a channel whose client was told that it failed."""
        for session in client.sessions:
            if client.client and session.connected is None and session.troubles:
                deed = Deed("gave-up", {}, session.begun)
                deed.ended = session.troubles[0].told
                yield deed

    def _interrupted(self, client):
        """
        A program that is stopped and continued connects anew, and so does one that io_uring has
        something to do for, such as the end of an earlier ring.
        """
        if not client.client:
            return
        kind = self.plan.pairs[client.pair]["ckind"]
        for session in client.sessions:
            if kind == "uring" or self._stopped(client.name, session.begun, session.begun + 10**7):
                deed = Deed("interrupted", {}, session.begun)
                deed.ended = session.connected or session.begun + 10**7
                yield deed

    def _serves_again(self, name, at):
        """When the service of a killed server is there again; a client does not come back."""
        again = [journal.listening for other, journal in self.journals.items()
                 if other.split(".")[0] == name.split(".")[0] and journal.listening and
                 journal.listening > at]
        return min(again) if again else None

    def _fits(self, journal, trouble, deed, begun, ended):
        near, far = (set(text.split()) for text in EXPLAINED[deed.what])
        cause = trouble.cause
        if cause == "uncertain":
            # The cause of the end that left it so; none: the adapter has lost the result.
            cause = CAUSES[trouble.detail] if trouble.detail else "lost"
        if not deed.touches(begun, ended, self.bound):
            return False
        pair = self.plan.pairs[journal.pair]
        own, peer = pair["client"], pair["server"]
        if not journal.client:
            own, peer = peer, own
        if deed.what in ("kill", "quit", "interrupted", "gave-up", "gone"):
            return cause in far
        if deed.what in ("nomem", "frame"):
            return cause in near | far
        host = deed.words.get("host") or deed.words["side"][-1]
        if host not in (own, peer):
            return False
        return cause in (near if host == own else far)


def judge_folder(folder):
    """Returns what is wrong, lines, and figures."""
    def read(name):
        with open(os.path.join(folder, name), encoding="ascii", errors="replace") as file:
            return file.read()

    plan = planner.Plan.parse(read("plan"))
    journals = {name: read(name) for name in os.listdir(folder)
                if name[0].isdigit() and not name.endswith(".err") and
                int(name.split(".")[0][:-1]) in plan.pairs}
    return Judge(plan, read("deeds"), journals).judge()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for folder in sys.argv[1:]:
        wrong, figures = judge_folder(folder)
        for line in wrong:
            print(f"# {line}")
        print(f"{'not ok' if wrong else 'ok'} - {folder}: {figures}")
        failed |= bool(wrong)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
