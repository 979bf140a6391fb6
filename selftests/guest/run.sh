#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - load the module and run the tests; for a guest, as root
#
# usage: run.sh [PROGRAM[:WORD]...]
#
# WORD chooses the tests of a program whose names hold it. The module is
# rdmachan.ko in the folder of this script. Environment: LAB_IP and LAB_IP6, own
# addresses on an RDMA device; LAB_RDMA and LAB_DEV, the device and its network
# interface, for tests that take it away.
#
# All output is TAP; the last line is "N passed, N failed".

here=$(cd "$(dirname "$0")" && pwd)
programs='abi_test abi_fuzz chan_test gather_test wait_test queue_test queue_end_test'
programs="$programs queue_cancel_test queue_row_test queue_pool_test queue_time_test"
programs="$programs queue_poller_test"
programs="$programs lib_queue_test lib_queue_grant_test lib_queue_end_test"
programs="$programs busy_test end_test place_test region_test region_pool_test region_end_test"
programs="$programs stand_test ahead_test grant_test grant_return_test grant_data_test"
programs="$programs grant_end_test grant_link_test grant_queue_test grant_give_test"
programs="$programs grant_ask_test grant_key_test quota_test"
programs="$programs inject_test inject_nomem_test conn_test life_test"
[ ! -e /proc/self/fail-nth ] || programs="$programs fault_test fault_grant_test nomem_test"
[ ! -x "$here/uring_test" ] || programs="$programs uring_test uring_end_test"
[ ! -x "$here/hostile_peer" ] || programs="$programs hostile_peer hostile_flood hostile_region"
[ ! -x "$here/hostile_peer" ] || programs="$programs hostile_stand hostile_cross hostile_deep hostile_grant"
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

# run PROGRAM[:WORD]
run() {
	name=${1%%:*}
	word=${1#"$name"}
	log=$(mktemp)
	begun=$(date +%s)
	"$here/$name" ${word:+"${word#:}"} > "$log" 2>&1
	status=$?
	cat "$log"
	passed=$((passed + $(grep -c '^ok ' "$log")))
	failed=$((failed + $(grep -c '^not ok ' "$log")))
	# A program that died has no line that says so.
	if [ "$status" != 0 ] && ! grep -q '^not ok ' "$log"; then
		verdict 1 "$name ended with status $status"
	fi
	rm -f "$log"
	"$here/leak_check" 8000
	verdict $? "$name left nothing behind"
	echo "# $name: $(($(date +%s) - begun)) s"
}

[ -f "$here/rdmachan.ko" ] && ! grep -q '^rdmachan ' /proc/modules &&
	insmod "$here/rdmachan.ko"
[ -c /dev/rdmachan ]
verdict $? "the module is loaded"
if [ $# = 0 ]; then
	# shellcheck disable=SC2086 # a list
	set -- $programs
fi
for program in "$@"; do
	run "$program"
done
rmmod rdmachan
verdict $? "the module is unloaded"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
