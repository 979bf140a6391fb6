#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run one guest and follow its side channel.

usage: watch.py --side FILE --output FILE --timeout SECONDS [--prefix TEXT]
                [--kill-on TEXT] [--control FIFO] -- COMMAND...

COMMAND runs the guest (QEMU or User Mode Linux) and writes what the guest puts
on its side channel to FILE. Lines "rdmachan-lab: ..." there are the lab's own;
"rdmachan-lab: cable CMD" is passed on to the cable's control FIFO, "rdmachan-lab: pause N"
stops the guest for N ms, as a host does with a virtual machine that it moves; everything else
is the output of the program under test, which goes to the
output file and, with the prefix, to stdout while it happens.

The exit status is the N of the guest's last line "rdmachan-lab: exit N", or
124   the time was over; the guest was killed
125   the guest ended without that line: a panic, or the emulator failed
137   --kill-on: a line of the output held TEXT; the guest was killed by SIGKILL
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

MARK = b"rdmachan-lab: "
CABLE = MARK + b"cable "
PAUSE = re.compile(rb"^rdmachan-lab: pause (\d+)$")
EXIT = re.compile(rb"^rdmachan-lab: exit (\d+)$")
POLL = 0.02
# What a guest gets to power off after its result.
GRACE = 200

TIMEOUT, NO_RESULT, KILLED = 124, 125, 137


class SideChannel:
    """Splits the growing side file into the lab's lines and the output."""

    def __init__(self, side, output, prefix, control):
        self.side = open(side, "rb")
        self.output = open(output, "wb")
        self.prefix = prefix.encode()
        self.control = control and open(control, "wb", buffering=0)
        self.rest = b""
        self.blank = 0
        self.pause = 0
        self.status = None

    def read(self):
        """Return the output lines that arrived since the last call."""
        self.rest += self.side.read()
        *lines, self.rest = self.rest.split(b"\n")
        return [line for line in map(self._take, lines) if line is not None]

    def _take(self, line):
        line = line.rstrip(b"\r")
        if line.startswith(MARK):
            match = EXIT.match(line)
            pause = PAUSE.match(line)
            if match:
                self.status = int(match.group(1))
                self.blank = 0
            elif pause:
                self.pause = int(pause.group(1)) / 1000
            elif line.startswith(CABLE) and self.control:
                self.control.write(line[len(CABLE):] + b"\n")
            elif line != MARK + b"ready" and not line.startswith(MARK + b"clock "):
                self._show(line)
            return None
        # The guest puts an empty line before its result: hold empty ones back.
        if not line:
            self.blank += 1
            return None
        for _ in range(self.blank):
            self._write(b"")
        self.blank = 0
        self._write(line)
        return line

    def _write(self, line):
        self.output.write(line + b"\n")
        self.output.flush()
        self._show(line)

    def _show(self, line):
        sys.stdout.buffer.write(self.prefix + line + b"\n")
        sys.stdout.buffer.flush()

    def finish(self):
        """Take what is left, a last line without its end included."""
        self.read()
        if self.rest:
            self._take(self.rest)


def watch(guest, channel, deadline, kill_on):
    """Follow the guest to its end and return the exit status."""
    while True:
        ended = guest.poll() is not None
        lines = channel.read()
        if channel.pause:
            pause(guest, channel.pause)
            channel.pause = 0
        if kill_on and any(kill_on in line for line in lines):
            return KILLED
        if channel.status is not None:
            return channel.status if wait_quietly(guest) else NO_RESULT
        if ended:
            channel.finish()
            return NO_RESULT if channel.status is None else channel.status
        if time.monotonic() > deadline:
            channel.finish()
            return TIMEOUT
        time.sleep(POLL)


def pause(guest, seconds):
    """Stop the guest; its clocks go on meanwhile.

    Only its first process: the others of User Mode Linux are traced by that one.
    """
    os.kill(guest.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(guest.pid, signal.SIGCONT)


def wait_quietly(guest):
    """Return: whether the guest powers off, as one does that has told its status."""
    try:
        guest.wait(GRACE)
    except subprocess.TimeoutExpired:
        print("watch.py: the guest did not power off", file=sys.stderr)
        return False
    return True


def kill_all(guest):
    """Kill the guest with the processes that it made (User Mode Linux)."""
    try:
        os.killpg(guest.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    guest.wait()


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--timeout", type=float, required=True)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--kill-on", type=str.encode)
    parser.add_argument("--control")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def main():
    args = parse_arguments()
    # An interrupted run takes its guest with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    open(args.side, "wb").close()
    deadline = time.monotonic() + args.timeout
    channel = SideChannel(args.side, args.output, args.prefix, args.control)
    # Should this process be killed, the guest goes too.
    command = ["setpriv", "--pdeathsig", "KILL", *args.command]
    guest = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                             close_fds=False, start_new_session=True)
    try:
        return watch(guest, channel, deadline, args.kill_on)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        kill_all(guest)


if __name__ == "__main__":
    sys.exit(main())
