#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""shrink.py - drop faults from a seed's plan as long as it still fails

usage: shrink.py SEED [FAULTS]

FAULTS are those to begin with, all unless given. Each try is a guest of its own. KERNEL is as for
run.sh. A try fails as the first one did when the same kind of thing is wrong, whatever the time and
the program: the words of its lines without their numbers. The last line tells how to run what is
left.
"""
import os
import re
import subprocess
import sys

import plan as planner

HERE = os.path.dirname(os.path.abspath(__file__))


def kinds(lines):
    """Lines of what is wrong without what differs from one try to the next."""
    return {re.sub(r"\b\d+[cs](\.\d+)?\b|\d+(\.\d+)?", "N", line) for line in lines}


def trial(seed, faults, again):
    """What is wrong with these faults alone; empty when nothing is."""
    text = ",".join(map(str, sorted(faults))) or "none"
    env = dict(os.environ, **({"SWARM_AGAIN": "1"} if again else {}))
    done = subprocess.run([os.path.join(HERE, "run.sh"), str(seed), text], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    if not re.search(r"^(not )?ok 1 ", done.stdout, re.M):
        sys.exit(f"the guest has told no verdict:\n{done.stdout}")
    if not re.search(r"^not ok 1 ", done.stdout, re.M):
        return set()
    return kinds(line for line in done.stdout.splitlines()
                 if line.startswith("# ") and not line.startswith(("# again", "# all")))


def shrink(fails, items):
    """Delta debugging: a smaller list of which fails() is still true, each one of it needed."""
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        chunks = [items[at:at + size] for at in range(0, len(items), size)]
        rests = [[item for item in items if item not in chunk] for chunk in chunks]
        smaller = next((try_ for try_ in chunks if fails(try_)), None)
        if smaller is not None:
            items, parts = smaller, 2
            continue
        smaller = next((try_ for try_ in rests if len(chunks) > 2 and fails(try_)), None)
        if smaller is not None:
            items, parts = smaller, max(parts - 1, 2)
        elif parts >= len(items):
            break
        else:
            parts = min(parts * 2, len(items))
    return [] if items and fails([]) else items


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    seed = int(sys.argv[1])
    plan = planner.plan_of(seed).only(planner.faults_of(sys.argv[2] if len(sys.argv) > 2 else ""))
    items = sorted(plan.faults)
    first = trial(seed, items, False)
    if not first:
        sys.exit(f"seed {seed} does not fail by itself; seeds before it in the same guest may matter")

    def fails(faults):
        found = bool(trial(seed, faults, True) & first)
        print(f"# {','.join(map(str, faults)) or 'none'}: {'fails' if found else 'does not fail'}",
              flush=True)
        return found

    left = shrink(fails, items)
    for number in left:
        print(plan.faults[number])
    print(f"make swarm SEEDS={seed} ONLY={','.join(map(str, left)) or 'none'} "
          f"KERNEL={os.environ.get('KERNEL', 'uml-7.2')}")


if __name__ == "__main__":
    main()
