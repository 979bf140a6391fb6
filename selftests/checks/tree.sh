#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tree.sh - whether the selftests and the KUnit suites are at home in a kernel's source; TAP
#
# A copy of the lab's source of 7.2, made of links, gets selftests/ as
# tools/testing/selftests/rdmachan, kmod/ as drivers/rdmachan, and the interface among the
# others. Then the kernel's own means build and run them: lib.mk and its runner, in a guest with two
# hosts, and kunit.py, which builds a kernel of its own: some minutes.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
. selftests/lab/lib.sh

out=$(realpath -m "${RDMACHAN_BUILD:-build}")/tree
number=0 failed=0

# verdict STATUS NAME LOG: the end of the log is shown when it failed
verdict() {
	number=$((number + 1))
	if [ "$1" != 0 ]; then
		tail -n 30 "$3" | sed 's/^/# /'
		echo -n "not "
		failed=1
	fi
	echo "ok $number - $2"
}

# The copy: TREE. What it changes is no link any more.
make_tree() {
	local src

	selftests/lab/kernel.sh --quiet uml-7.2 >/dev/null || die "there is no source"
	src=$(cat "$CACHE/src/7.2")
	TREE=$out/linux
	rm -rf "$TREE"
	mkdir -p "$out"
	cp -al "$src" "$TREE" 2>/dev/null || cp -a "$src" "$TREE"
	cp -r selftests "$TREE/tools/testing/selftests/rdmachan"
	cp -r kmod "$TREE/drivers/rdmachan"
	cp uapi/rdmachan.h "$TREE/include/uapi/linux/"
	sed -i '$a obj-y += rdmachan/' "$TREE/drivers/Makefile"
	sed -i 's|^endmenu|source "drivers/rdmachan/Kconfig"\n&|' "$TREE/drivers/Kconfig"
}

selftest() {
	make --no-print-directory -C "$TREE/tools/testing/selftests" TARGETS=rdmachan \
		KHDR_INCLUDES="-isystem $out/headers/usr/include" "$@"
}

kselftests() {
	local programs listed

	make -s -C "$TREE" ARCH=um O="$out/headers" headers >"$out/headers.log" 2>&1
	verdict $? "the interface is installed among the kernel's headers" "$out/headers.log"
	selftest all >"$out/build.log" 2>&1 && [ -x "$TREE/tools/testing/selftests/rdmachan/chan_test" ]
	verdict $? "lib.mk builds the tests" "$out/build.log"
	selftests/lab/payload.sh uml-7.2 "$out/payload" >"$out/payload.log" 2>&1 ||
		die "no payload, see $out/payload.log"
	selftests/lab/vt.sh --kernel uml-7.2 --mem 2048 --timeout 1200 --payload "$out/payload" \
		--share "$out" --out "$out/run" -- sh -c "insmod ./rdmachan.ko && mkdir -p '$out' &&
			mount --bind /share '$out' &&
			make -C '$TREE/tools/testing/selftests' TARGETS=rdmachan \
			KHDR_INCLUDES='-isystem $out/headers/usr/include' \
			run_tests && rmmod rdmachan" >"$out/run.log" 2>&1
	verdict $? "its runner runs them in a guest" "$out/run.log"
	programs=$(grep -cE '^ok [0-9]+ selftests: rdmachan: ' "$out/run.log")
	echo "# $programs programs passed, $(grep -c '^# ok ' "$out/run.log") tests"
	# There is no library there, and no header of the module's wire format.
	listed=$(awk -F'|' '$2 ~ /[[:space:]]host([[:space:]]|$)/ &&
		$1 !~ "^(lib/|fault/inject_test)"' selftests/tests.list | wc -l)
	[ "$programs" -gt 0 ] && [ "$programs" = "$listed" ]
	verdict $? "each program that a host runs has passed: $programs" "$out/run.log"
}

kunit() {
	local cases

	(cd "$TREE" && ./tools/testing/kunit/kunit.py run --build_dir="$out/kunit" \
		--kunitconfig=drivers/rdmachan/kunit/.kunitconfig) >"$out/kunit.log" 2>&1
	verdict $? "kunit.py builds and runs the suites" "$out/kunit.log"
	cases=$(sed -n 's/.*Testing complete\. Ran \([0-9]*\) tests: passed: \1$/\1/p' "$out/kunit.log")
	[ "${cases:-0}" -gt 300 ]
	verdict $? "all of them passed: ${cases:-none}" "$out/kunit.log"
}

make_tree
echo "1..6"
kselftests
kunit
rm -rf "$TREE"
exit $failed
