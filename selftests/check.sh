#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh - the whole test suite
#
# usage: check.sh [STAGE...]
#
# Stages, in this order; all without arguments:
#   static    layers, checkpatch, sparse, kernel-doc, shellcheck
#   compile   the module for each kernel, warnings are errors
#   tool      the tool's and library's tests on this machine
#   fuzz      the corpus and short runs of the fuzzers, on this machine
#   kunit     the pure layer, in User Mode Linux
#   uml       selftests in User Mode Linux, with rxe and with siw
#   san       the same, with rxe, on a kernel with KASAN, UBSAN, lockdep and kmemleak
#   stock     selftests and the tool's flow test on the stock kernels, two CPUs
#   pairs     two hosts: QEMU guests, and User Mode Linux with a cable that fails
#
# And one that runs only when it is named, as it builds a kernel and takes long:
#   debug     san, and the same on x86-64 with such checks and two CPUs
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
begun=$SECONDS

honest=(abi_test abi_fuzz chan_test place_test conn_test)

stage() { echo; echo "== $* ($((SECONDS - begun)) s)"; }

pass() { passed=$((passed + 1)); echo "ok - $*"; }
fail() { failed=$((failed + 1)); echo "not ok - $*"; }

# one NAME COMMAND...: a test that is one command; its output is shown when it fails
one() {
	local name=$1 log

	shift
	log=$out/$name.log
	mkdir -p "$(dirname "$log")"
	if "$@" >"$log" 2>&1 </dev/null; then
		pass "$name"
	else
		tail -n 40 "$log" | sed 's/^/# /'
		fail "$name (log: $log)"
	fi
}

# tap NAME COMMAND...: a run that prints TAP; each of its tests counts
tap() {
	local name=$1 log status good bad skip

	shift
	log=$out/$name.log
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	skip=$(grep -ciE '^ *ok [0-9-].*# skip' "$log")
	good=$(($(grep -cE '^ *ok [0-9-]' "$log") - skip))
	bad=$(grep -cE '^ *not ok [0-9-]' "$log")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	echo "$name: $good passed, $bad failed, $skip skipped"
	if [ "$bad" -gt 0 ]; then
		grep -E -A 12 '^ *not ok [0-9-]' "$log" | head -n 80 | sed 's/^/# /'
	elif [ $status -ne 0 ] || [ "$good" -eq 0 ]; then
		tail -n 40 "$log" | sed 's/^/# /'
		fail "$name: exit status $status (log: $log)"
	fi
}

check_static() {
	stage "static checks"
	one static/layers "$top/selftests/checks/layers.py"
	one static/checkpatch "$top/selftests/checks/checkpatch.sh"
	one static/sparse "$top/selftests/checks/sparse.sh"
	one static/kerneldoc "$top/selftests/checks/kerneldoc.sh"
	one static/shell "$top/selftests/checks/shell.sh"
}

check_compile() {
	local kernel

	stage "compile"
	for kernel in stock-6.1 stock-6.12 uml-6.12 src-7.2; do
		one "compile/$kernel" "$top/selftests/build.sh" "$kernel" \
			"$RDMACHAN_BUILD/$kernel"
	done
}

check_tool() {
	stage "tool and library"
	tap tool make -C "$top/userspace-tool" O="$RDMACHAN_BUILD/tool" check
}

check_fuzz() {
	stage "fuzzers"
	tap fuzz "$top/selftests/fuzz/run.sh" replay
}

payload() { "$top/selftests/payload.sh" "$1" "$out/payload-$1" >"$out/payload-$1.log" 2>&1; }

check_kunit() {
	stage "KUnit, User Mode Linux"
	payload uml-6.12 || fail "payload for uml-6.12, see $out/payload-uml-6.12.log"
	tap kunit "$lab/uml.sh" --net none --provider none --timeout 120 \
		--payload "$out/payload-uml-6.12" --out "$out/run/kunit" -- sh kunit.sh
}

check_uml() {
	payload uml-6.12 || fail "payload for uml-6.12"
	stage "selftests, User Mode Linux, rxe"
	tap uml-rxe "$lab/uml.sh" --provider rxe --mem 1536 --timeout 500 \
		--payload "$out/payload-uml-6.12" --out "$out/run/uml-rxe" -- bash run.sh
	stage "selftests, User Mode Linux, siw"
	# Connections that siw refuses are slow to end: a hostile peer takes minutes.
	tap uml-siw "$lab/uml.sh" --provider siw --mem 1536 --timeout 400 \
		--payload "$out/payload-uml-6.12" --out "$out/run/uml-siw" \
		-- bash run.sh "${honest[@]}"
}

check_san() {
	stage "KUnit and selftests, User Mode Linux with sanitizers"
	payload uml-6.12-san || fail "payload for uml-6.12-san"
	tap san-kunit "$lab/uml.sh" --kernel uml-6.12-san --net none --provider none \
		--timeout 300 --payload "$out/payload-uml-6.12-san" \
		--out "$out/run/san-kunit" -- sh kunit.sh
	tap san "$lab/uml.sh" --kernel uml-6.12-san --provider rxe --mem 2048 \
		--timeout 900 --payload "$out/payload-uml-6.12-san" \
		--out "$out/run/san" -- bash run.sh "${honest[@]}" fault_test nomem_test
}

# dbg_guest NAME COMMAND...; the ACPI interpreter alone would take a minute there.
dbg_guest() {
	local name=$1

	shift
	tap "$name" "$lab/guest.sh" --kernel dbg-6.12 --smp 2 --mem 2048 \
		--append pci=noacpi --timeout 2400 --payload "$out/payload-dbg-6.12" \
		--out "$out/run/$name" -- "$@"
}

check_debug() {
	check_san
	stage "KUnit and selftests, x86-64 with sanitizers, two CPUs"
	payload dbg-6.12 || fail "payload for dbg-6.12"
	dbg_guest dbg-kunit sh kunit.sh
	dbg_guest dbg bash run.sh
}

check_stock() {
	local kernel

	for kernel in stock-6.1 stock-6.12; do
		stage "selftests, $kernel, two CPUs"
		payload $kernel || fail "payload for $kernel"
		tap "$kernel" "$lab/guest.sh" --kernel $kernel --smp 2 --mem 3072 \
			--timeout 1200 --payload "$out/payload-$kernel" \
			--out "$out/run/$kernel" -- bash run.sh
		tap "$kernel-flow" "$lab/guest.sh" --kernel $kernel --smp 2 --mem 1024 \
			--timeout 300 --payload "$out/payload-$kernel" \
			--out "$out/run/$kernel-flow" -- bash flow.sh
	done
}

# qemu_pair NAME TEST ARGUMENT...
qemu_pair() {
	local name=$1 test=$2

	shift 2
	one "pairs/$name" "$lab/two-guests.sh" --timeout 200 \
		--payload "$out/payload-stock-6.1" --out "$out/run/$name" \
		--a "DEAD_MS=${DEAD_MS:-5000} sh pair_a.sh $test" \
		--b "DEAD_MS=${DEAD_MS:-5000} sh pair_b.sh $test" "$@"
}

# uml_pair NAME TEST ARGUMENT...
uml_pair() {
	local name=$1 test=$2

	shift 2
	one "pairs/$name" "$lab/uml-pair.sh" --timeout 200 \
		--payload "$out/payload-uml-6.12" --out "$out/run/$name" \
		--a "SIZE=${SIZE:-4194304} DEAD_MS=${DEAD_MS:-5000} sh pair_a.sh $test" \
		--b "DEAD_MS=${DEAD_MS:-5000} sh pair_b.sh $test" "$@"
}

check_pairs() {
	stage "two hosts"
	payload stock-6.1 || fail "payload for stock-6.1"
	payload uml-6.12 || fail "payload for uml-6.12"
	qemu_pair qemu-transfer transfer
	DEAD_MS=4000 qemu_pair qemu-dead dead --kill-b-on "kill host b now"
	uml_pair uml-transfer transfer
	uml_pair uml-siw-transfer transfer --provider siw
	uml_pair uml-loss loss --cable-args "--loss 1 --seed 1"
	# rxe answers each frame out of order by going back: few of them cost much.
	SIZE=1048576 uml_pair uml-bad-cable loss \
		--cable-args "--delay 1 --duplicate 1 --reorder 0.1 --seed 2"
	SIZE=67108864 uml_pair uml-cut cut
	DEAD_MS=2000 uml_pair uml-dead dead --kill-b-on "kill host b now"
}

mkdir -p "$out"
"$lab/packages.sh" check || { echo "packages are missing"; echo "0 passed, 1 failed"; exit 1; }
"$lab/kernel.sh" --quiet stock-6.1 stock-6.12 uml-6.12 uml-6.12-san checkpatch >/dev/null ||
	{ echo "kernels are missing"; echo "0 passed, 1 failed"; exit 1; }
[ $# -gt 0 ] || set -- static compile tool fuzz kunit uml san stock pairs
for name in "$@"; do
	"check_$name"
done

echo
[ $skipped -eq 0 ] && echo "$passed passed, $failed failed" ||
	echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
