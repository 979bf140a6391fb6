#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lab.sh - what the lab's scripts do without a guest: locks, complaints of kernels, the cable

set -uo pipefail

lab=$(cd "$(dirname "$0")/../lab" && pwd)
RDMACHAN_CACHE=$(mktemp -d)
export RDMACHAN_CACHE
trap 'rm -rf "$RDMACHAN_CACHE"' EXIT
failed=0
# Seconds for what would else never end. Beside guests these checks get little of the processors: it
# is far beyond what the guests take.
limit=1500

# verdict STATUS NAME
verdict() {
	[ "$1" = 0 ] || { failed=1; echo -n "not "; }
	echo "ok - $2"
	[ "$1" = 0 ]
}

# with_locks COMMAND: in a process of its own, that has the script's functions
with_locks() {
	timeout "$limit" bash -c "set -euo pipefail; . '$lab/lib.sh'; $1" 2>/dev/null
}

# splat STATUS NAME LINE...: the verdict on a log of these lines
splat() {
	local wanted=$1 name=$2 status=0

	shift 2
	printf '[    1.000000] %s\n' "$@" >"$RDMACHAN_CACHE/log"
	"$lab/splat-scan.sh" "$RDMACHAN_CACHE/log" >/dev/null || status=$?
	[ "$status" = "$wanted" ]
	verdict $? "$name"
}

# A process that waited for a lock of its own would never get a second kernel out of the
# same archive.
with_locks 'lab_lock one; lab_lock two; lab_lock one'
verdict $? "a lock that one has can be taken again"
# shellcheck disable=SC2016 # for the inner shell
with_locks 'lab_lock one; ! flock -n "$CACHE/locks/one" true'
verdict $? "nobody else gets it meanwhile"

# A run that waits for its second kernel does not hold up one that wants its first.
for name in stock-6.1 stock-6.12; do
	mkdir -p "$RDMACHAN_CACHE/kernels/$name"
	echo "$name" >"$RDMACHAN_CACHE/kernels/$name/version"
done
exec 9>"$RDMACHAN_CACHE/locks/kernel-stock-6.12"
flock 9
: >"$RDMACHAN_CACHE/waits"
"$lab/kernel.sh" stock-6.1 stock-6.12 >/dev/null 2>>"$RDMACHAN_CACHE/waits" 9>&- &
tail -n +1 -f --pid=$! "$RDMACHAN_CACHE/waits" | grep -q "waiting.*kernel-stock-6.12"
timeout "$limit" "$lab/kernel.sh" stock-6.1 >/dev/null 2>&1 9>&-
verdict $? "a run holds the lock of one kernel at a time"
exec 9>&-
wait

# Debian publishes headers some hours before the image that is signed.
# shellcheck disable=SC2016 # for the inner shell
with_locks 'APT=()
	apt-cache() { [ "$3" != image ] || return 100; echo "Version: 1"; }
	[ "$(archive_first image image-unsigned)" = image-unsigned ]
	[ "$(archive_first other image-unsigned)" = other ]
	[ -z "$(archive_first image)" ]'
verdict $? "a package that others only name is not taken"

from="rdmachan test: memory fails on purpose from here"
to="rdmachan test: memory fails on purpose to here"
lack="kworker/0:1: vmalloc error: size 8192, failed to allocate pages, mode:0xdc2"
splat 0 "an ordinary log" "rdmachan: loaded" "rdma_rxe: loaded"
splat 1 "a complaint" "rdmachan: loaded" "WARNING: CPU: 0" "Call Trace:" " foo+0x1/0x2"
splat 1 "memory that is not there" "$lack" "Call Trace:" " foo+0x1/0x2"
splat 0 "memory that is not there on purpose" "$from" "$lack" "Call Trace:" " foo" "$to"
splat 1 "something else meanwhile" "$from" "$lack" "Call Trace:" "Call Trace:" "$to"
splat 1 "a warning meanwhile" "$from" "$lack" "WARNING: CPU: 0" "Call Trace:" "$to"
splat 1 "memory that is not there any more" "$from" "$to" "$lack" "Call Trace:"

post="WARNING: CPU: 0 PID: 10 at drivers/infiniband/sw/rxe/rxe_verbs.c:1019 rxe_post_recv+0x257/0x3c0"
mad=" ? ib_mad_post_receive_mads+0x1cf/0x430 [ib_core]"
ours=" ? rch_path_refill+0x1cf/0x430 [rdmachan]"
end="---[ end trace 0000000000000000 ]---"
splat 0 "the core's datagrams when a device goes" "$post" "Call Trace:" "$mad" "$end" "ready"
splat 1 "a queue pair of somebody else's" "$post" "Call Trace:" " ? foo+0x1/0x2 [foo]" "$end"
splat 1 "a queue pair of the module's" "$post" "Call Trace:" "$mad" "$ours" "$end"
splat 1 "datagrams, and no end" "$post" "Call Trace:" "$mad"
splat 1 "datagrams, and a complaint amid them" "$post" "Call Trace:" "BUG: foo" "$mad" "$end"
splat 1 "datagrams, and a complaint behind" "$post" "Call Trace:" "$mad" "$end" "BUG: foo"

# One end sends numbered frames until it is killed, the other ends when some are missing between
# two that have come: the cable was cut and mended.
cable=$RDMACHAN_CACHE/cable
cat >"$RDMACHAN_CACHE/send.py" <<'END'
import os, socket, time
end = socket.socket(fileno=int(os.environ["CABLE_FD"]))
number = 0
while True:
    end.send(number.to_bytes(60, "big"))
    number += 1
    time.sleep(0.001)
END
cat >"$RDMACHAN_CACHE/receive.py" <<'END'
import os, socket
end = socket.socket(fileno=int(os.environ["CABLE_FD"]))
last = int.from_bytes(end.recv(100), "big")
while True:
    number = int.from_bytes(end.recv(100), "big")
    if number != last + 1:
        break
    last = number
END
gcc -O2 -Wall -Wextra -Werror -o "$cable" "$lab/cable.c" &&
	timeout "$limit" "$cable" --flap 50 "exec python3 $RDMACHAN_CACHE/send.py" \
		"python3 $RDMACHAN_CACHE/receive.py; pkill -f $RDMACHAN_CACHE/send.py" \
		>"$RDMACHAN_CACHE/cable.log" 2>&1
grep -qE 'ab received .* cut [1-9]' "$RDMACHAN_CACHE/cable.log"
verdict $? "a cable that flaps is cut and mended" || sed 's/^/# /' "$RDMACHAN_CACHE/cable.log"
exit $failed
