#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# coverage.sh - what of the module the tests execute
#
# usage: coverage.sh [RUN...]
#
# Runs, all without arguments: kunit rxe siw transfer dead bad_cable. Each is a guest, or
# a pair of them, whose module counts. build/coverage/report.txt then has the figures of
# each file and the lines that were not executed; counts of runs that are not named are
# those of the last time. The exit status is 0 when all tests passed.

set -uo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
lab=$top/selftests/lab
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/coverage
kernel=uml-6.12-cov
failed=0

# begin NAME: forget the run's last counts
begin() {
	echo "== $1"
	rm -rf "${out:?}/counts/$1"
	mkdir -p "$out/counts/$1" "$out/run"
}

# result NAME STATUS
result() {
	grep -hE '^not ok|passed, .* failed' "$out/run/$1.log" | tail -n 20
	[ "$2" -eq 0 ] && return
	echo "$1: exit status $2 (log: $out/run/$1.log)"
	failed=1
}

# guest NAME OPTION... -- COMMAND...
guest() {
	local name=$1
	local -a options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	begin "$name"
	# Faults are had in single slab caches, which must not be one with others.
	"$lab/uml.sh" --kernel "$kernel" "${options[@]}" --timeout 1200 --append slab_nomerge \
		--payload "$out/payload" --out "$out/run/$name" \
		--share "$out/counts/$name" -- sh gcov.sh "$@" >"$out/run/$name.log" 2>&1
	result "$name" $?
}

# pair NAME TEST OPTION...
pair() {
	local name=$1 test=$2

	shift 2
	begin "$name"
	"$lab/uml-pair.sh" --kernel "$kernel" --timeout 200 --payload "$out/payload" \
		--out "$out/run/$name" --share "$out/counts/$name" \
		--a "DEAD_MS=2000 sh gcov.sh sh pair_a.sh $test" \
		--b "DEAD_MS=2000 sh gcov.sh sh pair_b.sh $test" "$@" \
		>"$out/run/$name.log" 2>&1
	result "$name" $?
}

run_kunit() { guest kunit --net none --provider none -- sh kunit.sh; }
run_rxe() { guest rxe --provider rxe --mem 2048 -- sh -c 'bash run.sh && bash run.sh memory_test'; }
run_siw() { guest siw --provider siw --mem 2048 -- bash run.sh; }
run_transfer() { pair transfer transfer; }
run_dead() { pair dead dead --kill-b-on "kill host b now"; }
run_bad_cable() { SIZE=1048576 pair bad_cable loss \
	--cable-args "--delay 1 --duplicate 1 --reorder 0.1 --seed 2"; }

mkdir -p "$out"
"$lab/packages.sh" check && "$lab/kernel.sh" --quiet $kernel >/dev/null || exit 1
"$lab/payload.sh" $kernel "$out/payload" >"$out/payload.log" 2>&1 ||
	{ tail "$out/payload.log"; exit 1; }
# Counts of a module that was another do not fit this one.
for counts in "$out"/counts/*; do
	[ "$counts" -nt "$RDMACHAN_BUILD/$kernel/kmod/rdmachan.ko" ] || rm -rf "$counts"
done
[ $# -gt 0 ] || set -- kunit rxe siw transfer dead bad_cable
for name in "$@"; do
	"run_$name"
done
"$top/selftests/coverage/coverage.py" --objects "$RDMACHAN_BUILD/$kernel/kmod" \
	--pure "$out/counts/kunit/a" --report "$out/report.txt" "$out"/counts/*/* || failed=1
[ $failed -eq 0 ]
