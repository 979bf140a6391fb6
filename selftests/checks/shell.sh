#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shell.sh - check all shell scripts with shellcheck
#
# usage: shell.sh [FILE...]
#
# Without files all that git knows and whose first line names a shell, or which say
# so to shellcheck. Exit status: 0 nothing was found, 1 something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."

die() { echo "shell.sh: $*" >&2; exit 2; }

is_script() {
	[ -f "$1" ] && head -n 3 "$1" | grep -qE \
		'^#!.*[/ ](ba|da)?sh\b|^# shellcheck shell=' 2>/dev/null
}

# Whether a mistake is found: a variable without quotes.
try_shellcheck() {
	local said

	# shellcheck disable=SC2016 # not to be expanded
	said=$(printf '%s\n' '#!/bin/sh' 'rm $1' | shellcheck -) || :
	[[ $said = *SC2086* ]] || die "shellcheck does not find what is wrong"
}

main() {
	local file findings found=0 status=0
	local -a files=()

	command -v shellcheck >/dev/null || die "shellcheck is not installed"
	try_shellcheck
	if [ $# -eq 0 ]; then
		while read -r file; do
			! is_script "$file" || files+=("$file")
		done < <(git ls-files -co --exclude-standard)
	else
		files=("$@")
	fi
	[ ${#files[@]} -gt 0 ] || die "no scripts"
	findings=$(shellcheck -x -f gcc "${files[@]}") || status=$?
	# 1 is for findings.
	[ "$status" -le 1 ] || die "shellcheck failed"
	if [ -n "$findings" ]; then
		echo "$findings"
		found=$(wc -l <<<"$findings")
	fi
	echo "shell.sh: ${#files[@]} scripts, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
