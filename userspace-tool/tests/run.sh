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
trap 'rm -f "$log"' EXIT

for test in "$build"/tests/*_test "$here"/*_test.sh; do
	[ -x "$test" ] || continue
	printf '# %s\n' "$(basename "$test")"
	BUILD=$build "$test" 2>&1
	status=$?
	# A program that dies says so by its exit code only.
	[ "$status" -le 1 ] || printf 'not ok - %s ended with code %s\n' "$(basename "$test")" "$status"
done | tee "$log"

passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^not ok ' "$log")
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
