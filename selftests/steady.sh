#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# steady.sh - whether the tests have the same verdict each time, however busy the machine is
#
# usage: steady.sh [STAGE...]      of check.sh; without any, what "make check" runs
#
# Runs them three times beside a program that keeps each processor busy, and once more held to
# one processor. All four runs must have passed the same number of tests, and none may have
# failed. Nothing is repeated until it passes. Takes a multiple of the time of "make check".

set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
out=${RDMACHAN_BUILD:-$top/build}/steady
sums=() bad=0

# busy: as many processes that compute as there are processors
busy() {
	local i

	for ((i = 0; i < $(nproc); i++)); do
		sh -c 'while :; do :; done' &
		loads+=($!)
	done
}

# run NAME COMMAND...
run() {
	local name=$1 begun=$SECONDS sum status=0

	shift
	"$@" >"$out/$name.log" 2>&1 || status=$?
	sum=$(tail -n 1 "$out/$name.log")
	sums+=("$sum")
	echo "$name: $sum ($((SECONDS - begun)) s)"
	[ $status -eq 0 ] && return
	bad=1
	grep '^failed: ' "$out/$name.log"
}

main() {
	local i
	local -a loads=()

	mkdir -p "$out"
	trap 'kill "${loads[@]}" 2>/dev/null' EXIT
	busy
	for i in 1 2 3; do
		run "busy-$i" "$top/selftests/check.sh" "$@"
	done
	kill "${loads[@]}"
	loads=()
	run one-processor taskset -c 0 "$top/selftests/check.sh" "$@"
	if [ "$(printf '%s\n' "${sums[@]}" | sort -u | wc -l)" != 1 ]; then
		echo "the runs differ"
		bad=1
	fi
	[ $bad -eq 0 ] && echo "steady: four times ${sums[0]}"
	exit $bad
}

main "$@"
