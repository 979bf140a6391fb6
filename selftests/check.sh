#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - the whole test suite
#
# usage: check.sh [STAGE...]     without arguments what "make check" runs
#        check.sh all            what "make check-all" runs: that, and all that takes long
#
# Stages are those that tests.list has, beds among them, and:
#
#   static    layers, checkpatch, sparse, kernel-doc, shellcheck, the list of tests, the lab's scripts
#   compile   the module for each kernel, warnings are errors
#   tool      the tool's and library's tests on this machine
#   fuzz      the corpus and short runs of the fuzzers, on this machine
#
# and of "make check-all" only:
#
#   clang     the module for 6.12 once more, by clang
#   tree      the selftests and the KUnit suites in a kernel's source, by the kernel's own means
#   coverage  what of the module the tests execute
#   cocci     the kernel's semantic patches over the module
#   firsthour what a new user does first, on Debian 12 and 13 that have nothing (needs root)
#
# Each line "ok" or "not ok" of a test is counted. A run in which the kernel complained,
# which did not end, or which had no test, counts as a failure of its own. The last line is
# "N passed, N failed", and the exit status 0 only when nothing failed.

set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
here=$top/selftests
lab=$here/lab
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/check
# shellcheck source=selftests/lab/runs.sh
. "$lab/runs.sh"

# In the order in which they begin: first what goes on for long, and bears no company but its own.
OF_CHECK=(static compile 6.1 6.12 pairs san vt shim siw workers kunit flow hosts bench swarm tool fuzz)
OF_ALL=("${OF_CHECK[@]}" clang 6.1-long 6.12-long siw-long seeds shim-ring shim-few shim-slow shim-siw workers-long san-long loss uml-6.12 uml-6.12-siw tree coverage cocci firsthour dbg kcsan)
# By kernel: the work done in this run.
declare -A compiled given

# They go on beside the stages that follow.
check_static() {
	local name

	beside static/layers "$here/checks/layers.py"
	beside static/names "$here/checks/names.py"
	beside static/rst "$here/checks/rst.py"
	beside static/abi "$here/checks/abi.py"
	beside static/list "$here/tests.py" verify
	beside static/mutants "$here/checks/mutants.py"
	for name in checkpatch guards html kerneldoc lab shell; do
		beside "static/$name" "$here/checks/$name.sh"
	done
	beside static/swarm "$here/swarm/judge_test.py"
	# It compiles what a guest is given, too.
	begin one_test 0 static/sparse nice -n 5 "$here/checks/sparse.sh" stock-6.1
}

# compile KERNEL [COMMAND...]: begin it, once
compile() {
	[ -z "${compiled[$1]:-}" ] || return 0
	compiled[$1]=1
	[ "$1" != stock-6.1 ] || ended static/sparse
	begin one_test 0 "compile/$1" "${@:2}" "$lab/build.sh" "$1" "$RDMACHAN_BUILD/$1"
}

check_compile() {
	local kernel

	for kernel in stock-6.1 stock-6.12 uml-7.2; do
		compile "$kernel"
	done
}

# No guest runs it.
check_clang() { compile clang-6.12 nice -n 5; }

# payload KERNEL: what guests of this kernel are given
payload() {
	[ -z "${given[$1]:-}" ] || return 0
	given[$1]=1
	compile "$1"
	ended "compile/$1"
	"$lab/payload.sh" "$1" "$out/payload-$1" >"$out/payload-$1.log" 2>&1 ||
		fail "payload for $1, see $out/payload-$1.log"
}

# The library and the tool, over a library that plays the device.
check_tool() {
	begin tap_tests "$of_guest" tool make -C "$top/userspace-tool" O="$RDMACHAN_BUILD/tool" check
}

check_fuzz() { begin tap_tests "$of_guest" fuzz "$here/fuzz/run.sh" replay; }

# Not in every run: two minutes of two processors.
check_cocci() { begin one_test "$room" static/coccicheck "$here/checks/coccicheck.sh"; }

check_tree() { begin tap_tests "$of_guest" tree "$here/checks/tree.sh"; }

check_firsthour() { begin tap_tests "$of_guest" firsthour "$here/firsthour/firsthour.sh"; }

check_coverage() { begin tap_tests "$of_guest" coverage "$here/coverage/coverage.sh"; }

# That KCSAN says nothing proves something only if it watches the module.
check_kcsan() {
	listed kcsan
	begin one_test 0 kcsan-module grep -q __tsan_ "$out/payload-kcsan-6.12/rdmachan.ko"
}

# guest NAME: begin what tests.list has by this name. Where time is virtual it bears to wait, and
# leaves the processors to what does not.
guest() {
	local name=$1 kernel kind script i nice=0
	local -a words options

	mapfile -t words < <("$here/tests.py" words "$name")
	for ((i = 0; i < ${#words[@]}; i++)); do
		[ "${words[i]}" != --kernel ] || kernel=${words[i + 1]}
		[ "${words[i]}" != -- ] || break
	done
	kind=${words[0]} script=${words[1]} options=("${words[@]:2:i - 2}")
	words=("${words[@]:i + 1}")
	[ "$script" != vt.sh ] || nice=5
	payload "$kernel"
	options=(--timeout 1500 --payload "$out/payload-$kernel" --out "$out/run/$name" "${options[@]}")
	if [ "$kind" = pair ]; then
		begin one_test "$of_guest" "$name" "$lab/$script" "${options[@]}" \
			--a "${words[*]:1} sh pair_a.sh ${words[0]}" \
			--b "${words[*]:1} sh pair_b.sh ${words[0]}"
	else
		begin tap_tests "$of_guest" "$name" nice -n "$nice" "$lab/$script" "${options[@]}" \
			-- "${words[@]}"
	fi
}

# listed STAGE: all guests that tests.list has for it
listed() {
	local name count=0

	for name in $("$here/tests.py" guests "$1"); do
		guest "$name"
		count=$((count + 1))
	done
	[ $count -gt 0 ] || fail "$1: tests.list has no guest for this stage"
}

# run_stage NAME: one of this script, or of tests.list
run_stage() {
	stage "$1"
	if declare -F "check_$1" >/dev/null; then
		"check_$1"
	else
		listed "$1"
	fi
}

# Kernels that the stages boot or compile for: all are there before the first guest runs.
kernels_of() {
	local name

	for name; do
		case $name in
		static) echo stock-6.1 checkpatch ;;
		compile) echo stock-6.1 stock-6.12 uml-7.2 ;;
		clang) echo clang-6.12 ;;
		tree) echo uml-7.2 ;;
		cocci) echo checkpatch ;;
		tool | fuzz | coverage | firsthour) ;;
		*) "$here/tests.py" kernel "$name" ;;
		esac
	done | tr ' ' '\n' | sort -u
}

main() {
	local name known
	local -a kernels

	case ${1:-} in
	'') export WHEN=check && set -- "${OF_CHECK[@]}" ;;
	all) export WHEN="check all" && set -- "${OF_ALL[@]}" ;;
	esac
	known=" ${OF_ALL[*]} $("$here/tests.py" stages check all named | tr '\n' ' ') "
	for name; do
		# shellcheck disable=SC2086 # words
		[[ $known = *" $name "* ]] || "$here/tests.py" near stage "$name" $known || exit 2
	done
	mkdir -p "$out"
	trap 'jobs -pr | xargs -r kill' EXIT
	mapfile -t kernels < <(kernels_of "$@")
	# A stage such as fuzz needs none.
	if ! "$lab/packages.sh" check ||
		! { [ ${#kernels[@]} = 0 ] ||
			"$lab/kernel.sh" --quiet "${kernels[@]}" >/dev/null; }; then
		echo "packages or kernels are missing"
		echo "0 passed, 1 failed"
		exit 1
	fi
	for name; do
		run_stage "$name"
	done
	all_ended
	sum_up
}

main "$@"
