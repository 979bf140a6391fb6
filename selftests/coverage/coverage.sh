#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# coverage.sh - what of the module the tests execute; TAP
#
# usage: coverage.sh [RUN...]
#
# Runs, all without arguments: kunit, those of the beds vt and siw that tests.list has, a folder
# each (vt/chan, siw/chan, ...), and cable. Each is a guest whose module counts. Then
# build/coverage/report.txt has the figures of each file and the lines that nothing executed; counts
# of runs that are not named are those of the last time. Tests that fail are told, and count
# nevertheless. It is an error when a source of the module has no count, or a run has none.

set -uo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/../lab/lib.sh"

top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/selftests
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/coverage
kernel=uml-7.2-cov
failed=0

# verdict STATUS NAME
verdict() {
	[ "$1" = 0 ] || { failed=1; echo -n "not "; }
	echo "ok - $2"
}

# guest NAME OPTION... -- COMMAND...: one that counts anew
guest() {
	local name=$1 log=$out/run/$1.log status
	local -a options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -rf "${out:?}/counts/$name"
	mkdir -p "$out/counts/$name" "$(dirname "$log")"
	# Faults are had in single slab caches, which must not be one with others.
	"$LAB/vt.sh" --kernel "$kernel" --mem 2048 "${options[@]}" --timeout 2400 --append slab_nomerge \
		--payload "$out/payload" --out "$out/run/$name" \
		--share "$out/counts/$name" -- sh gcov.sh "$@" >"$log" 2>&1
	status=$?
	grep -h '^not ok' "$log" | sed 's/^/# /'
	verdict $status "$name ($(grep -c '^ *ok ' "$log") tests)"
}

# run NAME
run() {
	local bed=${1%%/*} provider=rxe
	local -a programs

	[ "$bed" != siw ] || provider=siw
	case $1 in
	kunit) guest kunit --hosts 1 --provider none -- sh kunit.sh ;;
	cable) guest cable -- bash cable.sh ;;
	*)
		mapfile -t programs < <("$here/tests.py" run "$bed" "${1#*/}")
		[ ${#programs[@]} -gt 0 ] || die "there is no run $1"
		guest "$1" --provider $provider -- sh run.sh "${programs[@]}" ;;
	esac
}

main() {
	local name

	# shellcheck disable=SC2046 # words
	[ $# -gt 0 ] ||
		set -- kunit cable $("$here/tests.py" guests vt) $("$here/tests.py" guests siw)
	mkdir -p "$out"
	"$LAB/packages.sh" check && "$LAB/kernel.sh" --quiet $kernel >/dev/null || exit 1
	"$LAB/payload.sh" $kernel "$out/payload" >"$out/payload.log" 2>&1 ||
		{ tail "$out/payload.log"; exit 1; }
	# Counts of a module that was another do not fit this one.
	if ! cmp -s "$out/payload/rdmachan.ko" "$out/counted.ko"; then
		rm -rf "$out/counts"
		cp "$out/payload/rdmachan.ko" "$out/counted.ko"
	fi
	for name; do
		run "$name"
	done
	# The objects are named as they were when they were compiled.
	"$here/coverage/coverage.py" --objects "$CACHE/modules/$kernel/kmod" \
		--pure "$out/counts/kunit" --report "$out/report.txt" "$out/counts" >"$out/table" 2>&1
	verdict $? "each source of the module has counts"
	sed 's/^/# /' "$out/table"
	[ $failed -eq 0 ]
}

main "$@"
