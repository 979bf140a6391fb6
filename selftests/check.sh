#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - the whole test suite
#
# usage: check.sh [STAGE...]
#
# Stages, begun in this order; all without arguments:
#   static    layers, checkpatch, sparse, kernel-doc, shellcheck
#   kunit     the pure layer, in User Mode Linux
#   uml       selftests and the tool's flow test in User Mode Linux 6.12, with rxe, selftests with
#             siw, and some of 7.2
#   san       the same, with rxe, on a kernel with KASAN, UBSAN, lockdep and kmemleak
#   compile   the module for each kernel, warnings are errors
#   tool      the tool's and library's tests on this machine
#   fuzz      the corpus and short runs of the fuzzers, on this machine
#   stock     the most of them on stock 6.1 and 6.12, two CPUs, and the flow test on 6.1
#   pairs     two hosts: QEMU guests, and User Mode Linux with a cable that fails
#
# And those that run only when they are named, as they take long:
#   cocci     the kernel's semantic patches over the module
#   debug     san, and the same on x86-64 with such checks and two CPUs
#   kcsan     the selftests on a kernel that finds data races, with two CPUs
#   soak      life and death under load, 200 times each, on kernels with sanitizers
#
# Each line "ok" or "not ok" of a test is counted. A run in which the kernel complained,
# or which did not end, counts as a failure of its own. The last line is
# "N passed, N failed", and the exit status 0 only when nothing failed.

set -uo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
lab=$top/selftests/lab
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/check
passed=0 failed=0 skipped=0
# What failed, told again at the end.
failures=()
# Of each run that goes on: what it is called, how it is judged, and its weight.
declare -A name_of judge_of weight_of
# By kernel: what has been done in this run.
declare -A compiled given
# Guests wait more than they compute. On two processors there is room for three of User Mode
# Linux, or for two with two emulated processors each.
room=$(($(nproc) * 3))
of_uml=2 of_emulated=3 of_uml_pair=2 of_emulated_pair=4
begun=$SECONDS

# What every adapter runs.
honest=(abi_test chan_test gather_test wait_test queue_test queue_end_test queue_cancel_test
	queue_row_test queue_pool_test queue_time_test lib_queue_test lib_queue_grant_test
	lib_queue_end_test busy_test end_test place_test region_test region_pool_test
	region_end_test stand_test ahead_test grant_test grant_return_test grant_data_test
	grant_end_test grant_link_test grant_queue_test grant_give_test grant_ask_test
	grant_key_test inject_test conn_test)
# What is the same for each adapter, and takes long.
above=(queue_poller_test uring_test uring_end_test)
# What is not the same in each series of the kernel.
serial=(abi_test chan_test queue_test queue_end_test queue_pool_test queue_poller_test region_test
	region_pool_test grant_test grant_data_test grant_give_test conn_test uring_test uring_end_test)

stage() { echo; echo "== $* ($((SECONDS - begun)) s)"; }

pass() { passed=$((passed + 1)); echo "ok - $*"; }
fail() { failed=$((failed + 1)); failures+=("$*"); echo "not ok - $*"; }

# show LOG: the end of it, or what the kernel has complained of
show() {
	if grep -q 'the kernel complained:' "$1"; then
		sed -n '/the kernel complained:/,$p' "$1" | head -n 60 | sed 's/^/# /'
	else
		tail -n 40 "$1" | sed 's/^/# /'
	fi
}

# one_test NAME STATUS: the run was one test, whose output is shown when it failed
one_test() {
	local name=$1 status=$2 log=$out/$1.log

	if [ "$status" = 0 ]; then
		pass "$name"
	else
		show "$log"
		fail "$name (log: $log)"
	fi
}

# not_ok LOG: the tests of it that failed, and after each what it has said, but for its beginning
not_ok() {
	sed 's/^ *//; s/\r$//' "$1" | awk '
		/^#/ { said[count++ % 8] = $0 }
		/^not ok [0-9-]/ {
			print
			for (i = count > 8 ? count - 8 : 0; i < count; i++)
				print "    " said[i % 8]
		}
		/^(not )?ok / { count = 0 }'
}

# tap_tests NAME STATUS: the run has printed TAP; each of its tests counts
tap_tests() {
	local name=$1 status=$2 log=$out/$1.log good bad skip

	skip=$(grep -ciE '^ *ok [0-9-].*# skip' "$log")
	good=$(($(grep -cE '^ *ok [0-9-]' "$log") - skip))
	bad=$(grep -cE '^ *not ok [0-9-]' "$log")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	echo "$name: $good passed, $bad failed, $skip skipped ($((SECONDS - begun)) s)"
	if [ "$bad" -gt 0 ]; then
		mapfile -t -O ${#failures[@]} failures < <(not_ok "$log" | sed "s/^not/$name: not/")
	elif [ "$status" != 0 ] || [ "$good" -eq 0 ]; then
		show "$log"
		fail "$name: exit status $status (log: $log)"
	fi
}

# reap: wait until one of the runs ends, and judge it
reap() {
	local pid status=0

	wait -n -p pid "${!name_of[@]}" || status=$?
	room=$((room + weight_of[$pid]))
	"${judge_of[$pid]}" "${name_of[$pid]}" "$status"
	unset "name_of[$pid]"
}

# all_ended: wait for all of them
all_ended() {
	while [ ${#name_of[@]} -gt 0 ]; do
		reap
	done
}

# ended NAME: wait for this one
ended() {
	while [[ " ${name_of[*]} " == *" $1 "* ]]; do
		reap
	done
}

# begin JUDGE WEIGHT NAME COMMAND...: begin a run, whose output goes to a file, as soon as
# there is room for its weight, or nothing else runs. It goes on beside what follows.
begin() {
	local judge=$1 weight=$2 name=$3 log=$out/$3.log

	shift 3
	while [ "$weight" -gt "$room" ] && [ ${#name_of[@]} -gt 0 ]; do
		reap
	done
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null &
	name_of[$!]=$name judge_of[$!]=$judge weight_of[$!]=$weight
	room=$((room - weight))
}

# alone COMMAND...: begin such runs and wait until they have ended
alone() {
	"$@"
	all_ended
}

# beside NAME COMMAND...: one test that computes in what time the guests leave
beside() { begin one_test 0 "$1" nice -n 19 "${@:2}"; }

# They go on beside the stages that follow.
check_static() {
	local name

	stage "static checks"
	beside static/layers "$top/selftests/checks/layers.py"
	beside static/rst "$top/selftests/checks/rst.py"
	for name in checkpatch kerneldoc lab shell; do
		beside "static/$name" "$top/selftests/checks/$name.sh"
	done
	# It compiles what a guest is given, too.
	begin one_test 0 static/sparse nice -n 5 "$top/selftests/checks/sparse.sh" stock-6.1
}

# compile KERNEL: begin it, once
compile() {
	[ -z "${compiled[$1]:-}" ] || return 0
	compiled[$1]=1
	[ "$1" != stock-6.1 ] || ended static/sparse
	begin one_test 0 "compile/$1" "${@:2}" "$lab/build.sh" "$1" \
		"$RDMACHAN_BUILD/$1"
}

# payload KERNEL: what guests of this kernel are given
payload() {
	[ -z "${given[$1]:-}" ] || return 0
	given[$1]=1
	compile "$1"
	ended "compile/$1"
	"$lab/payload.sh" "$1" "$out/payload-$1" >"$out/payload-$1.log" 2>&1 ||
		fail "payload for $1, see $out/payload-$1.log"
}

# The kernel that no guest runs has what time the guests leave.
check_compile() {
	local kernel

	stage "compile"
	for kernel in stock-6.1 stock-6.12 uml-6.12 uml-7.2; do
		compile "$kernel"
	done
	compile clang-6.12 nice -n 19
}

check_tool() {
	stage "tool and library"
	begin tap_tests $of_uml tool \
		make -C "$top/userspace-tool" O="$RDMACHAN_BUILD/tool" check
}

check_fuzz() {
	stage "fuzzers"
	begin tap_tests $of_uml fuzz "$top/selftests/fuzz/run.sh" replay
}

# kunit NAME KERNEL: a guest that is begun
kunit() {
	begin tap_tests $of_uml "$1" "$lab/uml.sh" --kernel "$2" --net none --provider none \
		--timeout 300 --payload "$out/payload-$2" --out "$out/run/$1" -- sh kunit.sh
}

check_kunit() {
	stage "KUnit, User Mode Linux"
	payload uml-6.12
	kunit kunit uml-6.12
}

# uml_guest NAME KERNEL PROVIDER MEM PROGRAM...: a guest that is begun, whose programs find
# "environment" in theirs
uml_guest() {
	local name=$1 kernel=$2 provider=$3 mem=$4

	shift 4
	begin tap_tests $of_uml "$name" "$lab/uml.sh" --kernel "$kernel" --provider "$provider" \
		--mem "$mem" --timeout 1800 --payload "$out/payload-$kernel" \
		--out "$out/run/$name" -- env "${environment:-LC_ALL=C}" bash run.sh "$@"
}

check_uml() {
	stage "selftests, User Mode Linux, rxe and siw"
	payload uml-6.12
	uml_guest uml-rxe uml-6.12 rxe 1536 "${honest[@]}" "${above[@]}" abi_fuzz
	# Connections that siw refuses are slow to end: a hostile peer takes minutes.
	uml_guest uml-siw uml-6.12 siw 1536 "${honest[@]}" abi_fuzz life_test hostile_region
	uml_guest uml-rxe-more uml-6.12 rxe 1536 inject_nomem_test life_test hostile_peer \
		hostile_flood hostile_region hostile_stand hostile_cross hostile_deep hostile_grant \
		quota_test memory_test
	begin tap_tests $of_uml uml-flow "$lab/uml.sh" --kernel uml-6.12 --provider rxe --mem 1536 \
		--timeout 900 --payload "$out/payload-uml-6.12" --out "$out/run/uml-flow" -- \
		bash flow.sh
	payload uml-7.2
	uml_guest uml-7.2 uml-7.2 rxe 1536 "${serial[@]}"
	uml_guest uml-7.2-siw uml-7.2 siw 1536 chan_test place_test:reader grant_data_test conn_test
}

check_san() {
	stage "KUnit and selftests, User Mode Linux with sanitizers"
	payload uml-6.12-san
	environment=FEW_TURNS=1 uml_guest san uml-6.12-san rxe 2048 \
		abi_test chan_test gather_test wait_test queue_test queue_end_test \
		queue_cancel_test queue_row_test queue_pool_test queue_time_test \
		queue_poller_test lib_queue_test lib_queue_grant_test lib_queue_end_test \
		busy_test end_test place_test region_test region_pool_test region_end_test \
		stand_test ahead_test grant_test grant_return_test grant_data_test \
		grant_end_test grant_link_test grant_queue_test grant_give_test grant_key_test
	environment=FEW_TURNS=1 uml_guest san-more uml-6.12-san rxe 2048 inject_test conn_test \
		quota_test abi_fuzz fault_test fault_grant_test nomem_test hostile_region \
		hostile_stand hostile_cross hostile_deep hostile_grant uring_test uring_end_test
	kunit san-kunit uml-6.12-san
}

# dbg_guest NAME KERNEL COMMAND...: a guest that is begun
dbg_guest() {
	local name=$1 kernel=$2

	shift 2
	begin tap_tests $of_emulated "$name" "$lab/guest.sh" --kernel "$kernel" --smp 2 --mem 2048 \
		--timeout "${TIMEOUT:-2400}" \
		--payload "$out/payload-$kernel" --out "$out/run/$name" -- "$@"
}

check_debug() {
	check_san
	stage "KUnit and selftests, x86-64 with sanitizers, two CPUs"
	payload dbg-6.12
	alone dbg_guest dbg-kunit dbg-6.12 sh kunit.sh
	alone dbg_guest dbg dbg-6.12 bash run.sh
}

check_kcsan() {
	stage "selftests, x86-64 with KCSAN, two CPUs"
	payload kcsan-6.12
	begin one_test 0 kcsan-module grep -q __tsan_ "$out/payload-kcsan-6.12/rdmachan.ko"
	# That nothing is reported proves something only if it has watched.
	# shellcheck disable=SC2016 # for the guest
	alone dbg_guest kcsan kcsan-6.12 sh -c 'bash run.sh; status=$?
		watched=$(sed -n "s/^setup_watchpoints: //p" /sys/kernel/debug/kcsan)
		[ "${watched:-0}" -gt 1000 ] || { echo -n "not "; status=1; }
		echo "ok - KCSAN watched $watched accesses"; exit $status'
}

# stock_guest NAME KERNEL MEM COMMAND: a guest that is begun
stock_guest() {
	begin tap_tests $of_emulated "$1" "$lab/guest.sh" --kernel "$2" --smp 2 --mem "$3" --timeout 1800 \
		--payload "$out/payload-$2" --out "$out/run/$1" -- sh -c "$4"
}

# The emulated processors are slow: what depends on the kernel's version or on two
# processors runs here, and what takes long and depends on the latter alone on one of the
# kernels.
check_stock() {
	local kernel
	local -A programs

	programs[stock-6.1]="abi_test chan_test queue_test queue_end_test queue_cancel_test"
	programs[stock-6.1]+=" queue_pool_test queue_poller_test place_test:place region_test region_pool_test"
	programs[stock-6.1]+=" memory_test uring_test uring_end_test"
	programs[stock-6.12]="abi_test chan_test gather_test wait_test:link queue_test queue_row_test"
	programs[stock-6.12]+=" queue_pool_test queue_time_test busy_test end_test region_test region_pool_test"
	programs[stock-6.12]+=" stand_test ahead_test"
	programs[stock-6.12]+=" region_end_test:killed grant_return_test grant_end_test:races"
	programs[stock-6.12]+=" place_test:memory conn_test life_test uring_test"
	for kernel in stock-6.1 stock-6.12; do
		stage "selftests, $kernel, two CPUs"
		payload $kernel
		# With 6.12 it is among those of User Mode Linux.
		[ $kernel = stock-6.12 ] || stock_guest $kernel-flow $kernel 1024 "bash flow.sh"
		stock_guest $kernel $kernel 3072 "bash run.sh ${programs[$kernel]}"
	done
}

# Not in every run: two minutes of two processors.
check_cocci() {
	stage "semantic patches"
	begin one_test $room static/coccicheck "$top/selftests/checks/coccicheck.sh"
}

# qemu_pair NAME TEST ARGUMENT...
qemu_pair() {
	local name=$1 test=$2

	shift 2
	begin one_test $of_emulated_pair "pairs/$name" "$lab/two-guests.sh" --timeout 200 \
		--payload "$out/payload-stock-6.1" --out "$out/run/$name" \
		--a "DEAD_MS=${DEAD_MS:-5000} sh pair_a.sh $test" \
		--b "DEAD_MS=${DEAD_MS:-5000} sh pair_b.sh $test" "$@"
}

# uml_pair NAME TEST ARGUMENT...
uml_pair() {
	local name=$1 test=$2
	local env="DEAD_MS=${DEAD_MS:-5000} IDLE_MS=${IDLE_MS:-30000} ROUNDS=${ROUNDS:-5}"

	shift 2
	begin one_test $of_uml_pair "pairs/$name" "$lab/uml-pair.sh" --timeout "${TIMEOUT:-200}" \
		--kernel "${KERNEL:-uml-6.12}" --payload "$out/payload-${KERNEL:-uml-6.12}" \
		--out "$out/run/$name" \
		--a "SIZE=${SIZE:-4194304} $env sh pair_a.sh $test" \
		--b "SIZE=${SIZE:-4194304} $env sh pair_b.sh $test" "$@"
}

check_pairs() {
	stage "two hosts"
	payload stock-6.1
	payload uml-6.12
	qemu_pair qemu-transfer transfer
	DEAD_MS=4000 qemu_pair qemu-dead dead --kill-b-on "kill host b now"
	uml_pair uml-transfer transfer
	uml_pair uml-siw-transfer transfer --provider siw
	uml_pair uml-loss loss --cable-args "--loss 1 --seed 1"
	SIZE=1048576 uml_pair uml-grants grants --cable-args "--loss 1 --seed 3"
	SIZE=1048576 uml_pair uml-siw-grants grants --provider siw
	DEAD_MS=2000 uml_pair uml-grants-dead grants-dead --kill-b-on "kill host b now"
	SIZE=67108864 uml_pair uml-busy busy
	# rxe answers each frame out of order by going back: few of them cost much.
	SIZE=1048576 uml_pair uml-bad-cable loss \
		--cable-args "--delay 1 --duplicate 1 --reorder 0.1 --seed 2"
	SIZE=1048576 uml_pair uml-far far --cable-args "--delay 100"
	SIZE=67108864 uml_pair uml-cut cut
	DEAD_MS=1000 IDLE_MS=100 uml_pair uml-crossing crossing --cable-args "--delay 20"
	DEAD_MS=2000 uml_pair uml-dead dead --kill-b-on "kill host b now"
}

# soak PROVIDER: a guest that is begun. To look for memory that is lost would take nine
# tenths of the time, as devices are made and unmade; "debug" does.
soak() {
	begin tap_tests $of_uml "soak-$1" "$lab/uml.sh" --kernel uml-6.12-san --provider "$1" --mem 1536 \
		--append kmemleak=off --timeout 10800 \
		--payload "$out/payload-uml-6.12-san" --out "$out/run/soak-$1" \
		-- sh -c "LIFE_ROUNDS=$rounds bash run.sh life_test"
}

# soak_dbg PROVIDER: the same with two processors. Nor are the states of timers and work
# watched there, and the stacks kept of who has had memory: that is two fifths of the time.
# What KASAN finds is to be looked for again with them.
soak_dbg() {
	begin tap_tests $of_emulated "soak-dbg-$1" "$lab/guest.sh" --kernel dbg-6.12 --few-gids \
		--provider "$1" --smp 2 --mem 2048 --timeout 36000 \
		--append "kmemleak=off no_debug_objects stack_depot_disable=on" \
		--payload "$out/payload-dbg-6.12" --out "$out/run/soak-dbg-$1" \
		-- sh -c "LIFE_ROUNDS=$rounds bash run.sh life_test"
}

check_soak() {
	local rounds=${ROUNDS:-200}

	stage "life and death, $rounds times: User Mode Linux with sanitizers"
	payload uml-6.12-san
	soak rxe
	soak siw
	KERNEL=uml-6.12-san TIMEOUT=10800 ROUNDS=$rounds DEAD_MS=1000 IDLE_MS=100 \
		uml_pair soak-crossing crossing --cable-args "--delay 20" --append kmemleak=off \
		--mem 1024
	stage "life and death, $rounds times: x86-64 with sanitizers, two CPUs"
	"$lab/kernel.sh" --quiet dbg-6.12 >/dev/null
	payload dbg-6.12
	soak_dbg rxe
	soak_dbg siw
}

mkdir -p "$out"
trap 'jobs -pr | xargs -r kill' EXIT
"$lab/packages.sh" check || { echo "packages are missing"; echo "0 passed, 1 failed"; exit 1; }
"$lab/kernel.sh" --quiet stock-6.1 stock-6.12 uml-6.12 uml-6.12-san uml-7.2 \
		checkpatch >/dev/null ||
	{ echo "kernels are missing"; echo "0 passed, 1 failed"; exit 1; }
[ $# -gt 0 ] || set -- static kunit uml san compile tool fuzz stock pairs
for name in "$@"; do
	"check_$name"
done
all_ended

echo
[ $failed -eq 0 ] || printf '%s\n' "${failures[@]}" | head -n 100 | sed '/^ /!s/^/failed: /'
[ $skipped -eq 0 ] && echo "$passed passed, $failed failed" ||
	echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
