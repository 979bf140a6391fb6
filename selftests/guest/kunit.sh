#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kunit.sh - run the KUnit suites in this kernel
#
# usage: kunit.sh [FOLDER]
#
# Loads rdmachan_kunit.ko from FOLDER (the current one, or its kunit/), prints what
# the kernel found as KTAP, and a line that sums it up. Meant for a guest of the
# lab: uml.sh --payload kmod/kunit --net none --provider none ... -- sh kunit.sh
#
# Exit status: 0 all passed, 1 something failed or nothing ran, 2 cannot run here.

MODULE=rdmachan_kunit
RESULTS=/sys/kernel/debug/kunit

die() {
	echo "Bail out! kunit.sh: $1"
	exit 2
}

find_module() {
	for file in "${1:-.}/$MODULE.ko" "${1:-.}/kunit/$MODULE.ko"; do
		if [ -f "$file" ]; then
			echo "$file"
			return
		fi
	done
}

# The results of all suites of the module: from debugfs, where each suite has a
# file, or else from the kernel's log.
collect() {
	if ls $RESULTS/rdmachan_*/results >/dev/null 2>&1; then
		cat $RESULTS/rdmachan_*/results
	else
		dmesg | sed -n "/rdmachan-kunit: begin/,\$p" | sed 's/^\[[^]]*\] //'
	fi
}

# Count the cases, parameters each for itself, which are the innermost lines. A
# result is wrong if a line says so, wherever it is.
sum_up() {
	awk '
		/^ *# Subtest: / { subtests++ }
		/^ *not ok / { failed++ }
		/^ *ok .*# SKIP/ { skipped++; next }
		/^ +ok / { passed++ }
		/^ok / { suites++ }
		END {
			printf "# kunit: %d suites, %d passed, %d failed, %d skipped\n",
				suites, passed, failed, skipped
			exit !(suites && passed && !failed)
		}'
}

main() {
	module=$(find_module "$1")
	[ -n "$module" ] || die "no $MODULE.ko in ${1:-.}"
	grep -qs "^$MODULE " /proc/modules && die "$MODULE is loaded already"
	echo "rdmachan-kunit: begin" >/dev/kmsg 2>/dev/null
	insmod "$module" || die "cannot load $module; has this kernel KUnit?"
	results=$(collect)
	echo "$results"
	rmmod $MODULE || die "cannot unload $MODULE"
	echo "$results" | sum_up
}

main "$@"
