#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guards.sh - whether checks fail that have looked at nothing; TAP
#
# Each check has its input taken away here: no sources, no counts, no log, no list, a tool that says
# nothing. One that passes then would pass always.

# shellcheck disable=SC2317,SC2030,SC2031 # refuses calls them; variables in parentheses stay there

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

top=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0 failed=0
mkdir "$scratch/empty"
printf '#!/bin/sh\n' >"$scratch/silent"
chmod +x "$scratch/silent"

# refuses NAME WORD COMMAND...: it fails, and says WORD
refuses() {
	local name=$1 word=$2 status

	shift 2
	"$@" >"$scratch/said" 2>&1
	status=$?
	number=$((number + 1))
	if [ $status = 0 ] || ! grep -qi -- "$word" "$scratch/said"; then
		echo "# exit status $status:"
		sed 's/^/# /' "$scratch/said"
		echo -n "not "
		failed=1
	fi
	echo "ok $number - $name"
}

# judge STATUS LINE...: the verdict that runs.sh makes of a run that has ended so and said these
# lines; nothing else ran
judge() {
	local status=$1

	shift
	printf '%s\n' "$@" >"$scratch/run.log"
	(
		export out=$scratch
		# shellcheck source=selftests/lab/runs.sh
		. selftests/lab/runs.sh
		tap_tests run "$status"
		sum_up
	)
}

# A guest whose console stays empty.
silent_guest() {
	(
		set -e
		. selftests/lab/lib.sh
		# shellcheck disable=SC2034 # run_and_scan's
		OUT=$scratch TIMEOUT=10 PREFIX='' KILL_ON=''
		: >"$scratch/console.log"
		echo 'rdmachan-lab: exit 0' >"$scratch/what"
		run_and_scan "$scratch/emulator.log" sh -c "cat $scratch/what >>$scratch/side.log"
	)
}

# A guest that is killed on purpose, as its word asks for, when its kernel has complained.
killed_guest() {
	(
		set -e
		. selftests/lab/lib.sh
		# shellcheck disable=SC2034 # run_and_scan's
		OUT=$scratch TIMEOUT=60 PREFIX='' KILL_ON=ready
		printf '%s\n' "Linux version 6" "BUG: KASAN: slab-use-after-free in f" >"$scratch/console.log"
		status=0
		run_and_scan "$scratch/emulator.log" \
			sh -c "echo 'rdmachan-lab: ready' >>$scratch/side.log; sleep 60" || status=$?
		[ "$status" != 137 ]
		exit "$status"
	)
}

# A guest that has told its status, and does not power off.
hanging_guest() {
	(
		set -e
		sed 's/^GRACE = .*/GRACE = 1/' selftests/lab/watch.py >"$scratch/watch.py"
		echo 'rdmachan-lab: exit 0' >"$scratch/what"
		python3 -B "$scratch/watch.py" --side "$scratch/side.log" --output "$scratch/output.log" \
			--timeout 60 -- sh -c "cat $scratch/what >>$scratch/side.log; exec sleep 100"
	)
}

# A stage that has no guest when "make check" runs.
stage_of_nothing() {
	(
		# shellcheck disable=SC2034 # listed's
		here=selftests
		eval "$(sed -n '/^listed()/,/^}/p' selftests/check.sh)"
		guest() { :; }
		fail() { echo "$1"; exit 1; }
		WHEN=check listed tree
	)
}

# A suite of KUnit that the module does not run.
suite_of_nobody() {
	cp -r kmod/kunit "$scratch/"
	sed -i 's/&rch_ring_suite, //' "$scratch/kunit/main.c"
	python3 -B -c "import sys; sys.path.insert(0, 'selftests'); import tests
sys.exit('\n'.join(tests.suites_left_out('$scratch/kunit')))"
}

# Make with a list that names nothing.
make_of_nothing() {
	cp selftests/Makefile "$scratch/empty/"
	: >"$scratch/empty/tests.list"
	make -C "$scratch/empty"
}

list_of_nothing() {
	python3 -B -c "import sys; sys.path.insert(0, 'selftests'); import tests
tests.Tests('/dev/null')"
}

# A list with a stage that no run of check.sh begins.
stage_of_nobody() {
	sed 's/^\(OF_CHECK=.*\) swarm /\1 /' selftests/check.sh >"$scratch/check.sh"
	python3 -B -c "import sys; sys.path.insert(0, 'selftests'); import tests
sys.exit('\n'.join(tests.left_out(tests.Tests('selftests/tests.list'), '$scratch/check.sh')))"
}

# guest_runs LINE...: the line of run.sh about a program of these lines
guest_runs() {
	mkdir -p "$scratch/guest"
	cp selftests/guest/run.sh "$scratch/guest/"
	cp "$scratch/silent" "$scratch/guest/leak_check"
	printf '%s\n' '#!/bin/sh' "$@" >"$scratch/guest/program"
	chmod +x "$scratch/guest/program"
	sh "$scratch/guest/run.sh" program
}

# Benchmarks of a bed that has no figure.
bench_of_nothing() {
	mkdir -p "$scratch/bench"
	: >"$scratch/bench/icount.log"
	selftests/bench/results.py --part "$scratch/bench" icount
}

# A program that announces more tests than it tells of.
tool_tests() {
	mkdir -p "$scratch/build/tests" "$scratch/tests"
	cp userspace-tool/tests/run.sh "$scratch/tests/"
	[ -z "${1:-}" ] || printf '#!/bin/sh\n%s\n' "$1" >"$scratch/build/tests/a_test"
	chmod +x "$scratch"/build/tests/* 2>/dev/null
	"$scratch/tests/run.sh" "$scratch/build"
}

# A configuration that has lost what a fragment asks for.
lost_option() {
	(
		. selftests/lab/lib.sh
		eval "$(sed -n '/^report_lost_options()/,/^}/p' selftests/lab/kernel.sh)"
		echo "CONFIG_KUNIT=y" >"$scratch/fragments"
		echo "# CONFIG_KUNIT is not set" >"$scratch/.config"
		report_lost_options "$scratch"
	)
}

# A tree of counts with one run that has none.
no_counts() {
	mkdir -p "$scratch/counts/$1" "$scratch/objects"
	selftests/coverage/coverage.py --objects "$scratch/objects" --pure "$scratch/counts" \
		--report "$scratch/report" "$scratch/counts"
}

# harness_of BODY [WORD]: a program with one test, "reads"
harness_of() {
	cat >"$scratch/one.c" <<-END
	#include "harness.h"
	#include "common.h"
	TEST(reads) { $1 }
	TEST_HARNESS_MAIN
	END
	mkdir -p "$scratch/include"
	ln -sfn "$top/uapi" "$scratch/include/linux"
	cc -D_GNU_SOURCE -Iselftests/harness -I"$scratch/include" \
		-o "$scratch/one" "$scratch/one.c" -x c - <<-'END' || return 0
	#include <sys/wait.h>
	#include "common.h"
	void sleep_ms(unsigned int ms) { }
	int child_status(pid_t child) { int s = -1; waitpid(child, &s, 0); return s; }
	END
	"$scratch/one" ${2:+"$2"}
}

refuses "layers without sources" "not ok 1" selftests/checks/layers.py "$scratch/empty"
refuses "names without sources" "no static function" selftests/checks/names.py "$scratch/empty"
mkdir -p "$scratch/twice/link" "$scratch/twice/conn"
echo "static int link_take(void)" >"$scratch/twice/link/link.c"
echo "static void link_take(void)" >"$scratch/twice/conn/path.c"
refuses "a name in two files" "link_take() is defined 2 times" \
	selftests/checks/names.py "$scratch/twice"
refuses "a name without its noun" "link_take() does not begin with path_" \
	selftests/checks/names.py "$scratch/twice"
echo "#include <linux/types.h>" >"$scratch/empty.h"
refuses "a header without structures" "only 0 structures" selftests/checks/abi.py "$scratch/empty.h"
sed 's/RDMACHAN_OP_RECV = 5/RDMACHAN_OP_RECV = 6/' uapi/rdmachan.h >"$scratch/changed.h"
refuses "a number that has changed" "RDMACHAN_OP_RECV was 5 and is 6" \
	selftests/checks/abi.py "$scratch/changed.h"
refuses "pages that are not there" "no pages" selftests/checks/rst.py "$scratch/empty"
refuses "a script that is not there" "failed" selftests/checks/shell.sh "$scratch/none.sh"
refuses "a kernel-doc that says nothing" "does not find" \
	env KERNEL_DOC="$scratch/silent" selftests/checks/kerneldoc.sh kmod/main.c
mkdir "$scratch/patch"
echo 'exit 0' >"$scratch/patch/checkpatch.pl"
refuses "a checkpatch that says nothing" "does not find" \
	env CHECKPATCH="$scratch/patch/checkpatch.pl" selftests/checks/checkpatch.sh kmod/main.c
refuses "a file that checkpatch is to read" "no file" selftests/checks/checkpatch.sh none.c
mkdir "$scratch/stubs"
for name in shellcheck sparse spatch; do
	cp "$scratch/silent" "$scratch/stubs/$name"
	case $name in shellcheck) check=shell ;; sparse) check=sparse ;; spatch) check=coccicheck ;; esac
	refuses "a $name that says nothing" "does not find" \
		env PATH="$scratch/stubs:$PATH" "selftests/checks/$check.sh"
done
refuses "a log that is not there" "no file" selftests/lab/splat-scan.sh "$scratch/none.log"
refuses "a kernel that has not said a word" "has not said a word" silent_guest
refuses "a kernel that complains before it is killed" "KASAN" killed_guest
refuses "a guest that does not power off" "did not power off" hanging_guest
refuses "a run that says nothing" "0 passed, 1 failed" judge 0
refuses "a run of tests that are all skipped" "0 passed, 1 failed" judge 0 "1..1" "ok 1 a # SKIP"
refuses "a run that ends before its last test" "3 tests announced, 2 told" \
	judge 0 "1..3" "ok 1 a" "ok 2 b"
refuses "a script's test that explains itself afterwards" "# it is 3, not 1" \
	judge 1 "1..2" "not ok 1 a" "# it is 3, not 1" "ok 2 b"
refuses "a run whose emulator fails" "exit status 125" judge 125 "1..1" "ok 1 a"
refuses "a guest's program that says nothing" "program ran nothing" guest_runs
refuses "a guest's program that ends too early" "not as many as it has announced" \
	guest_runs "echo 1..2" "echo ok 1 a"
refuses "a guest's program that dies" "ended with status 9" guest_runs "exit 9"
refuses "benchmarks without figures" "nothing was measured" bench_of_nothing
refuses "a folder without suites" "no rdmachan_kunit.ko" \
	sh selftests/guest/kunit.sh "$scratch/empty"
refuses "suites without results" "0 suites" sh -c \
	"$(sed -n '/^sum_up() {/,/^}/p' selftests/guest/kunit.sh); echo 'KTAP version 1' | sum_up"
refuses "a module that has not counted" "not ok" sh selftests/guest/gcov.sh true
refuses "coverage without counts" "nothing to count" no_counts kunit/a
refuses "coverage of a run without counts" "kunit/b has no count" no_counts kunit/b
refuses "branches without functions" "no function" \
	sh -c "echo '{\"data\": []}' | selftests/fuzz/branches.py kmod/proto kmod/pure"
refuses "a list of tests that is empty" "has no beds" list_of_nothing
refuses "a stage that nobody runs" "swarm is not in OF_ALL" stage_of_nobody
refuses "a stage without a guest" "tree: tests.list has no guest" stage_of_nothing
refuses "a suite that nobody runs" "main.c does not run rch_ring_suite" suite_of_nobody
refuses "a compiler that fails without a word" "ended with 1" \
	env CXX=false selftests/checks/abi.py
refuses "a Makefile with an empty list" "names no program" make_of_nothing
refuses "a test program of the tool that is not there" "no program" tool_tests
refuses "one that says nothing" "told of 0 tests" tool_tests "exit 0"
refuses "one that ends too early" "told of 1 tests" tool_tests "echo ok 1; echo 1..2"
refuses "one that fails without a word" "no test failed" tool_tests "echo ok 1; echo 1..1; exit 1"
refuses "an option that a kernel has not got" "has no CONFIG_KUNIT" lost_option
refuses "tests of a host without programs" "no programs" selftests/run_tests.sh "$scratch"
refuses "a bed that is not there" "did you mean 'vt'" selftests/test.sh vtt
refuses "a test program that is not there" "did you mean 'chan_test'" selftests/test.sh vt chantest
refuses "a stage that is not there" "did you mean 'static'" selftests/check.sh statik
refuses "a test that is not there" "did you mean 'reads'" harness_of "" raeds
refuses "a child whose last look fails" "not ok 1 reads" \
	harness_of "EXPECT_EQ(child_status(LATER(0, EXPECT_EQ(1, 2))), 0);"
refuses "a test that fails and is skipped then" "not ok 1 reads" \
	harness_of 'EXPECT_EQ(1, 2); SKIP("there is none");'
refuses "sixty-five hosts" "1 to 64" selftests/lab/vt.sh --hosts 65 --out "$scratch" -- true
mkdir -p "$scratch/kernel/build"
refuses "a kernel without virtual time" "has no virtual time" \
	selftests/lab/vt.sh --kernel "$scratch/kernel" --out "$scratch/vt" -- true
echo "1..$number"
cd "$top" || exit 1
exit $failed
