#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run_tests.sh - run test programs on this host, and tell of them as kselftest does
#
# usage: run_tests.sh FOLDER PROGRAM...
#
# Prints KTAP: each program is a test, and its words on its own tests are lines that begin with
# "# ". A program that ends with 4 was skipped, and one that takes longer than the file "settings"
# allows has failed. The module must be loaded, and one who runs this be root or of its group; then
# each test looks for what it needs. Exit status: 0 nothing failed, 1 something did or nothing ran,
# 4 all was skipped.

set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: run_tests.sh FOLDER PROGRAM...}
shift
limit=$(sed -n 's/^timeout=//p' "$here/settings")
status_file=$(mktemp)
# How long a round trip takes is this machine's load, and shall decide nothing.
eager=/sys/module/rdmachan/parameters/eager_us
eager_us=$(cat $eager 2>/dev/null)
trap 'rm -f "$status_file"; [ ! -w $eager ] || echo "$eager_us" >$eager' EXIT
number=0 passed=0 failed=0 skipped=0

if [ $# -eq 0 ]; then
	echo "run_tests.sh: no programs" >&2
	exit 1
fi
if [ ! -c /dev/rdmachan ]; then
	echo "1..0 # SKIP there is no /dev/rdmachan: load the module first (modprobe rdmachan)"
	exit 4
fi
[ ! -w $eager ] || echo 1000000 >$eager
echo "TAP version 13"
echo "1..$#"
for program; do
	number=$((number + 1))
	title="selftests: rdmachan: $program"
	echo "# timeout set to $limit"
	echo "# $title"
	{
		timeout --foreground "$limit" "$folder/$program" 2>&1
		echo $? >"$status_file"
	} | sed 's/^/# /'
	read -r status <"$status_file"
	case $status in
	0) echo "ok $number $title"; passed=$((passed + 1)) ;;
	4) echo "ok $number $title # SKIP"; skipped=$((skipped + 1)) ;;
	124) echo "not ok $number $title # TIMEOUT $limit seconds"; failed=$((failed + 1)) ;;
	*) echo "not ok $number $title # exit=$status"; failed=$((failed + 1)) ;;
	esac
done
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
[ $failed = 0 ] || exit 1
[ $passed != 0 ] || exit 4
