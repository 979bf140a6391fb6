#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# test.sh - run some tests in one bed, and see all they say
#
# usage: test.sh BED [PROGRAM[:WORD]...] [-- OPTION...]
#
# BED is one that tests.list has, such as vt. PROGRAM is a test program, WORD a part of the names
# of those of its tests that are to run; without any PROGRAM all run that the bed has. OPTIONs are
# for the bed's script: "-- --cable 'loss 1' --seed 3" for vt.sh, for instance. What the programs
# need is built first. The guest's files are in build/test/BED.
#
# The exit status is that of the bed's script: 0 when all passed.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
here=$top/selftests
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}

usage() {
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	echo "beds: $("$here/tests.py" beds | tr '\n' ' ')" >&2
	exit 2
}

main() {
	local bed kernel out i
	local -a programs=() options=() words=()

	[ $# -gt 0 ] || usage
	bed=$1
	shift
	kernel=$("$here/tests.py" kernel "$bed") || exit 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		"$here/tests.py" folder "${1%%:*}" >/dev/null || exit 2
		programs+=("$1")
		shift
	done
	options=("${@:2}")
	[ ${#programs[@]} -gt 0 ] || mapfile -t programs < <("$here/tests.py" run "$bed" all)
	# Without the first word, and in two: the bed's script with its options, and the command.
	mapfile -t words < <("$here/tests.py" words "$bed" "${programs[@]}")
	for ((i = 1; i < ${#words[@]}; i++)); do
		[ "${words[i]}" != -- ] || break
	done
	out=$RDMACHAN_BUILD/test/$bed
	mkdir -p "$out"
	"$here/lab/packages.sh" check
	"$here/lab/payload.sh" "$kernel" "$out/payload" >"$out/payload.log" 2>&1 ||
		{ tail -n 20 "$out/payload.log" >&2; exit 2; }
	exec "$here/lab/${words[1]}" --timeout 1200 "${words[@]:2:i - 2}" --payload "$out/payload" \
		--out "$out/run" "${options[@]}" "${words[@]:i}"
}

main "$@"
