#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - run the tests of the host: run.sh BUILD-DIRECTORY
#
# Each program writes TAP. Ends with one line "N passed, N failed".
set -u

build=$1
here=$(dirname "$0")
log=$(mktemp)
trap 'rm -f "$log" "$log.one" "$log.status"' EXIT

# One program; its output is in "one". One that dies says so by its exit code only, or by
# having told of less tests than it announces at its end.
run_one() {
	name=$(basename "$1")
	printf '# %s\n' "$name"
	{
		BUILD=$build "$1" 2>&1
		echo $? >"$log.status"
	} | tee "$log.one"
	status=$(cat "$log.status")
	told=$(grep -cE '^(not )?ok ' "$log.one")
	if [ "$status" -gt 1 ]; then
		printf 'not ok - %s ended with code %s\n' "$name" "$status"
	elif [ "$told" -eq 0 ] || ! grep -q "^1\.\.$told\$" "$log.one"; then
		printf 'not ok - %s has told of %s tests, and announced others\n' "$name" "$told"
	elif [ "$status" -ne 0 ] && ! grep -q '^not ok ' "$log.one"; then
		printf 'not ok - %s ended with code %s, and no test failed\n' "$name" "$status"
	fi
}

for test in "$build"/tests/*_test "$here"/*_test.sh; do
	if [ -x "$test" ]; then
		run_one "$test"
	else
		printf 'not ok - there is no program %s\n' "$test"
	fi
done | tee "$log"

passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^not ok ' "$log")
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
