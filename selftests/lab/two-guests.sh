#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# two-guests.sh - boot two guests in QEMU, joined by a cable, and run a command
# in each
#
# usage: two-guests.sh [option...] --out DIR --a COMMAND --b COMMAND
#
# --a, --b        shell commands for host a (10.77.0.1, fd77::1) and for host b
#                 (10.77.0.2, fd77::2); the names a, b, a6, b6 resolve in both
# --kernel K      for both, or --kernel-a, --kernel-b   (stock-6.1)
# --kill-a-on T, --kill-b-on T
#                 SIGKILL that guest when its output has a line with T
# --payload --timeout --smp --mem --mtu --provider --append   for both, as in
#                 guest.sh
#
# The folders DIR/a and DIR/b get what guest.sh writes; the output streams to
# stdout with "a: " and "b: " before each line. Each guest also finds PEER_IP,
# PEER_IP6 and the commands
#
#   lab-signal NAME    tell the other guest that NAME happened
#   lab-await NAME [SECONDS]   wait until the other one has told so (600)
#
# in its path. Each guest powers off when its command is over: the one that must
# stay for the other ends by awaiting its word.
#
# The last line is "pair: a=N b=N". Exit status: 0 if both are 0, where
# being killed as asked (137) counts as 0; else a's, or b's if that is 0.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=selftests/lab/pair.sh
. "$LAB/pair.sh"

KERNEL_A=stock-6.1 KERNEL_B=stock-6.1
COMMON=()

parse_arguments() {
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in
		--kernel) KERNEL_A=$2 KERNEL_B=$2 ;;
		--kernel-a) KERNEL_A=$2 ;;
		--kernel-b) KERNEL_B=$2 ;;
		--timeout | --smp | --mem | --mtu | --provider | --append)
			COMMON+=("$1" "$2") ;;
		*) pair_argument "$1" "$2" ;;
		esac
		shift 2
	done
	pair_check
}

# The side of the cable's socket that listens starts first.
start_guests() {
	local cable=$1

	pair_options a
	"$LAB/guest.sh" --kernel "$KERNEL_A" --net "cable:$cable:on" \
		"${COMMON[@]}" "${OPTIONS[@]}" &
	PAIR_PIDS[a]=$!
	until [ -S "$cable" ] || ! kill -0 "${PAIR_PIDS[a]}" 2>/dev/null; do
		sleep 0.1
	done
	pair_options b
	"$LAB/guest.sh" --kernel "$KERNEL_B" --net "cable:$cable:off" \
		"${COMMON[@]}" "${OPTIONS[@]}" &
	PAIR_PIDS[b]=$!
}

main() {
	local sockets

	parse_arguments "$@"
	KERNEL_A=$(kernel_dir "$KERNEL_A")
	KERNEL_B=$(kernel_dir "$KERNEL_B")
	pair_prepare
	# A socket's path has to be short.
	sockets=$(mktemp -d /tmp/rdmachan.XXXXXX)
	# shellcheck disable=SC2064 # the value of now
	trap "pair_stop; rm -rf '$sockets'" EXIT
	start_guests "$sockets/cable"
	pair_wait
}

main "$@"
