#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shell.sh - check all shell scripts with shellcheck
#
# usage: shell.sh [FILE...]
#
# Without files all that git knows and whose first line names a shell, or which say
# so to shellcheck. A script in which nothing was found is not checked again until it, shellcheck
# or a file that scripts include changes. Exit status: 0 nothing was found, 1 something was,
# 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."
. selftests/lab/lib.sh

die() { echo "shell.sh: $*" >&2; exit 2; }

# scripts FILE...: those that are one
scripts() {
	awk 'FNR > 3 { nextfile }
		/^#!.*[\/ ](ba|da)?sh([^a-z]|$)/ || /^# shellcheck shell=/ { print FILENAME; nextfile }' "$@"
}

# Whether a mistake is found: a variable without quotes.
try_shellcheck() {
	local said

	# shellcheck disable=SC2016 # not to be expanded
	said=$(printf '%s\n' '#!/bin/sh' 'rm $1' | shellcheck -) || :
	[[ $said = *SC2086* ]] || die "shellcheck does not find what is wrong"
}

# included FILE...: those that name no program which runs them: scripts include them
included() { awk 'FNR == 1 && !/^#!/ { print FILENAME } { nextfile }' "$@"; }

# not_clean FILE...: those in which something may be found
not_clean() {
	local common file
	local -a shared

	mapfile -t shared < <(included "${all[@]}")
	common=$({ shellcheck --version; cat selftests/checks/shell.sh "${shared[@]}"; } | hash_of -)
	for file; do
		key_of[$file]=$common-$(hash_of "$file")
		[ -e "$CLEAN/${key_of[$file]}" ] || files+=("$file")
	done
}

main() {
	local file findings found=0 status=0
	local -a all=() files=()
	local -A key_of=()

	command -v shellcheck >/dev/null || die "shellcheck is not installed"
	try_shellcheck
	if [ $# -eq 0 ]; then
		mapfile -t all < <(git ls-files -co --exclude-standard)
		for file in "${all[@]}"; do
			[ ! -f "$file" ] || files+=("$file")
		done
		mapfile -t all < <(scripts "${files[@]}")
		files=()
	else
		all=("$@")
	fi
	[ ${#all[@]} -gt 0 ] || die "no scripts"
	for file in "${all[@]}"; do
		[ -r "$file" ] || die "failed to read $file"
	done
	CLEAN=$CACHE/shell-clean
	mkdir -p "$CLEAN"
	find "$CLEAN" -type f -mtime +30 -delete
	not_clean "${all[@]}"
	for file in "${files[@]}"; do
		findings=$(shellcheck -x -f gcc "$file") || status=$?
		# 1 is for findings.
		[ "$status" -le 1 ] || die "shellcheck failed"
		if [ -z "$findings" ]; then
			touch "$CLEAN/${key_of[$file]}"
			continue
		fi
		echo "$findings"
		found=$((found + $(wc -l <<<"$findings")))
	done
	echo "shell.sh: ${#all[@]} scripts, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
