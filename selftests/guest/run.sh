#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - load the module and run tests; for a guest, as root
#
# usage: run.sh PROGRAM[:WORD]...
#
# WORD chooses the tests of a program whose names hold it. The module is
# rdmachan.ko in the folder of this script. Environment: LAB_IP and LAB_IP6, own
# addresses on an RDMA device; LAB_RDMA and LAB_DEV, the device and its network
# interface, for tests that take it away; LAB_PEER_*, the same of another host, if there is one;
# SLOW, how many times slower than others the machine is; SHIM, parameters of rdmachan_shim.ko, which
# then has the adapter behave as others do, see shim/shim.h; INJECT, faults of the module's that are
# on from the start; WORKERS, how many items each of the module's workqueues runs at a time.
#
# All output is TAP; the last line is "N passed, N failed". A program that runs nothing has
# failed.

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
passed=0
failed=0

# verdict STATUS NAME
verdict() {
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2"
	fi
}

# count PATTERN: lines of the last program's output
count() {
	grep -c "$1" "$scratch/log"
}

# How many objects each adapter has for all of the kernel; the other host's is of the same kernel.
objects() {
	for device in ${LAB_RDMA:+"$LAB_RDMA"} ${LAB_PEER_RDMA:-}; do
		rdma resource show "$device" | sed 's/^[0-9]*: //' | grep . || echo "$device: not told"
	done
}

# The module's parameters: a test that leaves one changed has others fail, or pass for nothing. Tests
# know the dead time that is usual.
parameters() {
	grep . /sys/module/rdmachan/parameters/* | sed "s,.*/,,${SLOW:+;/^dead_ms:/d}"
}

# Prints those that the last program has left changed.
changed() {
	parameters >"$scratch/parameters.now"
	grep -vxF -f "$scratch/parameters" "$scratch/parameters.now"
}

# run PROGRAM[:WORD]
run() {
	name=${1%%:*}
	word=${1#"$name"}
	begun=$(date +%s)
	# Its output is seen at once: it may never end.
	{
		"$here/$name" ${word:+"${word#:}"} 2>&1
		echo $? >"$scratch/status"
	} | tee "$scratch/log"
	read -r status <"$scratch/status"
	good=$(count '^ok ')
	bad=$(count '^not ok ')
	passed=$((passed + good))
	failed=$((failed + bad))
	# A program that died has no line that says so; all that it has may be skipped.
	if [ "$status" != 0 ] && [ "$status" != 4 ] && [ "$bad" = 0 ]; then
		verdict 1 "$name ended with status $status"
	elif [ $((good + bad)) = 0 ]; then
		verdict 1 "$name ran nothing"
	elif ! grep -q "^1\.\.$((good + bad))\$" "$scratch/log"; then
		verdict 1 "$name ran $((good + bad)) tests, and not as many as it has announced"
	fi
	"$here/leak_check" 8000 && [ -s "$scratch/parameters" ] && ! changed
	verdict $? "$name left nothing behind"
	echo "# $name: $(($(date +%s) - begun)) s"
}

# Prints those that there are. A link is the name of one that is shared, and stays for ever.
own_caches() {
	[ -d /sys/kernel/slab ] || echo "there is no /sys/kernel/slab"
	find /sys/kernel/slab/ -maxdepth 1 -type d -name 'rch_*' | grep .
}

[ $# -gt 0 ] || { sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 2; }
if [ -n "${SHIM:-}" ]; then
	# shellcheck disable=SC2086 # words
	insmod "$here/rdmachan_shim.ko" $SHIM
	verdict $? "the adapter has $SHIM"
fi
objects=$(objects)
[ -f "$here/rdmachan.ko" ] && ! grep -q '^rdmachan ' /proc/modules &&
	# Where all is slower by SLOW, a host that has said nothing for as long is not dead yet.
	# How long a round trip takes is the machine's load, and shall decide nothing.
	insmod "$here/rdmachan.ko" eager_us=1000000 ${SLOW:+dead_ms=$((SLOW * 5000))}
[ -c /dev/rdmachan ]
verdict $? "the module is loaded"
parameters >"$scratch/parameters"
for fault in ${INJECT:-}; do
	status=0
	echo "count=0" >"/sys/kernel/debug/rdmachan/inject/$fault" || status=1
	verdict $status "the module has the fault $fault"
done
if [ -n "${WORKERS:-}" ]; then
	status=0
	for queue in /sys/devices/virtual/workqueue/rdmachan*/max_active; do
		echo "$WORKERS" >"$queue" || status=1
	done
	verdict $status "each queue of work runs $WORKERS at a time"
fi
for program in "$@"; do
	run "$program"
done
# That waits for what a channel that ended just now has still to tell.
"$here/leave_channel" && rmmod rdmachan
verdict $? "the module is unloaded"
if [ -n "${SHIM:-}" ]; then
	rmmod rdmachan_shim
	verdict $? "the adapter is what it was"
fi
! own_caches
verdict $? "the module has left no cache of memory"
left=$(objects)
echo "# before: $objects"
echo "# now: $left"
[ -n "$left" ] && [ "$left" = "$objects" ]
verdict $? "the adapter has no objects more than before"
# That KCSAN reports nothing says something only if it has looked at the module.
if [ -f /sys/kernel/debug/kcsan ]; then
	watched=$(sed -n 's/^setup_watchpoints: //p' /sys/kernel/debug/kcsan)
	[ "${watched:-0}" -gt 1000 ]
	verdict $? "KCSAN watched $watched accesses"
fi
rm -rf "$scratch"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
