#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - fuzz on the host what a peer may say: the pure layer, and the code above it
#
# usage: run.sh replay
#        run.sh run SECONDS|--runs N [FUZZER...]
#        run.sh coverage
#        run.sh branches
#        run.sh seeds
#
# replay     the corpus and some short runs with a fixed seed; TAP, less than a minute
# run        a campaign: SECONDS in all, or N inputs for each of the FUZZERs (frame,
#            hello, link, peer). What it learns stays in the build directory for the next.
#            An input that breaks something is kept in findings/, and fails the run
# coverage   which branches of the pure layer (kmod/proto, kmod/pure) the corpus and the short runs take; the last
#            line is "coverage: pure NN.N % of branches", and only all of them is success
# branches   the same of the code above the path that "peer" runs, for each folder; a figure,
#            and no test
# seeds      write the corpus in the tree anew, after seeds.c was changed
#
# Needs clang with its runtime libraries (libFuzzer, sanitizers), and llvm for coverage.
# CLANG names another compiler. All that is built is below RDMACHAN_BUILD (build/).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
out=${RDMACHAN_BUILD:-$top/build}/fuzz
CLANG=${CLANG:-clang}

FUZZERS="frame hello link peer"
MAX_SECONDS=40
PURE=("$top"/kmod/{proto,pure}/*.c)
FLAGS=(-std=gnu11 -O2 -g -Wall -Wextra -Wno-missing-field-initializers -Werror
	-I"$here" -I"$top/kmod" -I"$top/uapi")
# The module's own code that "peer" runs, over kernel/ instead of the kernel.
MODULE=(base/quota.c channel/{chan,chan_early,chan_taken,chan_rx,chan_tx,segment}.c
	link/{lane,lane_small,link,link_query,link_return,link_rx,link_tx}.c
	memory/{grant,grant_access,grant_atomic,grant_hold,grant_lend,grant_revoke}.c
	message/{record,recv,send}.c dma/frame.c
	rndv/{borrow,cts,heir,lend,place,place_recv,place_send,rts}.c)
SANITIZE=("-fsanitize=address,undefined" -fno-sanitize-recover=all)
# A run has less memory than this: what it frees is kept for as long as it lasts. "peer" is twice
# as fast so, as memory that is used again is in the cache.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16:malloc_context_size=4}

die() { echo "run.sh: $*" >&2; exit 2; }

known() { case $1 in frame | hello | link | peer) ;; *) die "no fuzzer $1" ;; esac; }

# Sources of a fuzzer besides the pure layer.
sources() {
	printf '%s\n' "$here/$1_fuzz.c" "$here/records.c"
	case $1 in
	link) printf '%s\n' "$here"/end_*.c ;;
	peer) printf '%s\n' "$here"/peer_{do,host,say}.c "$here/kernel/kernel.c" \
		"${MODULE[@]/#/$top/kmod/}" ;;
	esac
}

# Flags that a fuzzer has besides: the kernel's headers are empty files, and kernel.h has their
# contents. Warnings that the kernel's own build has not are not the module's.
flags() {
	local header

	[ "$1" = peer ] || return 0
	grep -rhoE '#include <(linux|rdma|net|asm)/[^>]*>' "$top/kmod" |
		sed 's/.*<//; s/>//' | sort -u | grep -v '^linux/types.h$' |
		while read -r header; do
			mkdir -p "$out/headers/${header%/*}"
			: >"$out/headers/$header"
		done
	printf '%s\n' -iquote "$here/kernel" -isystem "$out/headers" \
		-include "$here/kernel/kernel.h" -DRCH_INJECT -Wno-unused-parameter \
		-Wno-sign-compare -Wno-missing-field-initializers
}

# Bytes of the largest input: some records, a hello with padding, some dozens of steps.
max_len() {
	case $1 in
	frame) echo 192 ;;
	hello) echo 64 ;;
	link) echo 160 ;;
	peer) echo 240 ;;
	esac
}

# Inputs of a short run, of some seconds each.
short_runs() {
	case $1 in
	frame) echo 1000000 ;;
	hello) echo 1000000 ;;
	link) echo 40000 ;;
	peer) echo 20000 ;;
	esac
}

# build NAME FLAG...: a fuzzer, with what FLAGs add
build() {
	local name=$1 target
	local -a files more

	shift
	mkdir -p "$out"
	target=$out/$name
	mapfile -t files < <(sources "${name%.cover}")
	mapfile -t more < <(flags "${name%.cover}")
	"$CLANG" "${FLAGS[@]}" "${more[@]}" "$@" -o "$target" "${files[@]}" "${PURE[@]}" ||
		die "cannot build $name; packages.sh installs what is needed"
}

build_seeds() {
	mkdir -p "$out"
	"$CLANG" "${FLAGS[@]}" "${SANITIZE[@]}" -o "$out/seeds" \
		"$here/seeds.c" "$here/seeds_peer.c" "$here/records.c" "${PURE[@]}" || die "cannot build seeds"
}

make_seeds() {
	rm -rf "$1"
	mkdir -p "$1"
	"$out/seeds" "$1"
}

# fuzz NAME PROGRAM CORPUS ARGUMENT...: run a fuzzer with our options
fuzz() {
	local name=$1 program=$2 grown=$3

	shift 3
	mkdir -p "$grown" "$out/findings"
	"$program" -max_len="$(max_len "$name")" -artifact_prefix="$out/findings/$name-" \
		-print_final_stats=1 "$@" "$grown" "$here/corpus/$name"
}

# A run that is the same each time, on a corpus that is thrown away. The time it may
# take is that of the processor: others may be busy.
short_run() (
	name=$1 program=$2
	rm -rf "$out/short/$name"
	ulimit -t $MAX_SECONDS
	fuzz "$name" "$program" "$out/short/$name" -seed=1 -runs="$(short_runs "$name")"
)

each_input() { "$out/$1" "$here/corpus/$1"/*; }

number=0
# test_one NAME COMMAND...: a line of TAP
test_one() {
	local name=$1 log

	shift
	number=$((number + 1))
	log=$out/replay-$number.log
	if "$@" >"$log" 2>&1; then
		echo "ok $number - $name"
	else
		tail -n 30 "$log" | sed 's/^/# /'
		echo "not ok $number - $name"
		bad=1
	fi
}

replay() {
	local name bad=0

	echo "1..9"
	build_seeds
	make_seeds "$out/corpus"
	test_one "the corpus is what seeds.c writes" diff -r "$out/corpus" "$here/corpus"
	for name in $FUZZERS; do
		build "$name" "${SANITIZE[@]}" -fsanitize=fuzzer
		test_one "$name: $(find "$here/corpus/$name" -type f | wc -l) inputs of the corpus" \
			each_input "$name"
		test_one "$name: $(short_runs "$name") inputs from seed 1" \
			short_run "$name" "$out/$name"
	done
	return $bad
}

# The figures of a campaign, from what libFuzzer says at its end.
report() {
	local name=$1 seconds=$2 log=$3

	awk -v name="$name" -v seconds="$seconds" '
		/cov: [0-9]+ ft: [0-9]+ corp: / { place = $0; sub(/.*cov:/, "cov:", place)
			sub(/ (lim|exec)[^ ]*:.*/, "", place) }
		/^stat::number_of_executed_units:/ { inputs = $2 }
		END { printf "%s: %d inputs in %d s, %s\n", name, inputs, seconds, place }
		' "$log"
}

# campaign NAME LIMIT: fuzz, and say what it came to
campaign() {
	local name=$1 limit=$2 log=$out/$1.log begun=$SECONDS status=0

	build "$name" "${SANITIZE[@]}" -fsanitize=fuzzer
	(
		renice -n 10 -p "$BASHPID"
		fuzz "$name" "$out/$name" "$out/grown/$name" "$limit"
	) >"$log" 2>&1 || status=$?
	report "$name" $((SECONDS - begun)) "$log"
	[ $status -eq 0 ] && return
	grep -E 'broken:|ERROR:|runtime error|Test unit written' "$log" || tail -n 20 "$log"
	return 1
}

run() {
	local limit=seconds name bad=0
	local -a names

	if [ "${1:-}" = --runs ]; then
		limit=runs
		shift
	fi
	[[ ${1:-} =~ ^[0-9]+$ ]] || die "run SECONDS or --runs N"
	read -ra names <<<"${*:2}"
	[ $# -gt 1 ] || read -ra names <<<"$FUZZERS"
	case $limit in
	seconds) limit=-max_total_time=$(($1 / ${#names[@]})) ;;
	runs) limit=-runs=$1 ;;
	esac
	for name in "${names[@]}"; do
		known "$name"
		campaign "$name" "$limit" || bad=1
	done
	return $bad
}

# The tool of the compiler's own version.
llvm() {
	local tool

	tool=$("$CLANG" -print-prog-name="$1")
	shift
	"$tool" "$@"
}

cover() {
	"$out/$1.cover" "$here/corpus/$1"/* && short_run "$1" "$out/$1.cover"
}

# profile NAME...: run these fuzzers, and export what they took
profile() {
	local name
	local -a objects=()

	rm -rf "$out/profile"
	mkdir -p "$out/profile"
	export LLVM_PROFILE_FILE=$out/profile/%p.profraw
	for name; do
		build "$name.cover" -fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping
		cover "$name" >"$out/cover.log" 2>&1 || die "$name fails; see $out/cover.log"
		objects+=(-object "$out/$name.cover")
	done
	llvm llvm-profdata merge -o "$out/profile/all" "$out"/profile/*.profraw
	llvm llvm-cov export -instr-profile="$out/profile/all" "${objects[@]:1:1}" \
		"${objects[@]:2}"
}

coverage() {
	profile frame hello link | "$here/branches.py" "$top/kmod/proto" "$top/kmod/pure"
}

branches() {
	local folder

	profile peer >"$out/export"
	for folder in link memory rndv channel message; do
		"$here/branches.py" "$top/kmod/$folder" <"$out/export" |
			grep -v ': never \|no function' || true
	done
}

mode=${1:-}
[ $# -eq 0 ] || shift
case $mode in
replay) replay ;;
run) run "$@" ;;
coverage) coverage ;;
branches) branches ;;
seeds) build_seeds; make_seeds "$here/corpus" ;;
*) sed -n '5,10s/^# *//p' "$0" >&2; exit 2 ;;
esac
