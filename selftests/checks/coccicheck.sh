#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# coccicheck.sh - look for the mistakes that the kernel's semantic patches know
#
# usage: coccicheck.sh [PATCH...]
#
# PATCH is a file below scripts/coccinelle of the kernel's source; without any, all that
# can report. What coccicheck-exceptions.txt lists, with its reason, is not reported. Exit
# status: 0 nothing was found, 1 something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."

EXCEPTIONS=selftests/checks/coccicheck-exceptions.txt

die() { echo "coccicheck.sh: $*" >&2; exit 2; }

# look PATCH: its output, one line each: PATCH: FILE:LINE:... text. A patch tells which
# options it needs.
look() {
	local options

	options=$(sed -n 's|^///* *Options: *||p' "$PATCHES/$1" | head -n 1)
	# shellcheck disable=SC2086 # a list of words
	if ! spatch -D report --very-quiet --timeout 120 --cocci-file "$PATCHES/$1" $options \
		--dir kmod 2>"$SCRATCH/${1//\//-}.errors"; then
		echo "kmod: cannot be applied"
	fi >"$SCRATCH/${1//\//-}.said"
	echo "$1" >>"$SCRATCH/applied"
	grep -E "^[^ ]+:[0-9]|cannot be applied" "$SCRATCH/${1//\//-}.said" | sed "s|^|$1: |"
}

excepted() {
	local patch files why

	while read -r patch files why; do
		# shellcheck disable=SC2053 # patterns
		[[ $patch != "#"* && -n $why && $1 == $patch:* && $1 == *$files* ]] && return
	done <"$EXCEPTIONS"
	return 1
}

# Whether a mistake is found that one of the patches knows. All that is said is read: with pipefail
# a reader that ends early makes the other fail.
try_spatch() {
	local said

	mkdir "$SCRATCH/wrong"
	printf '%s\n' 'void f(void *p)' '{' 'if (p)' 'kfree(p);' '}' >"$SCRATCH/wrong/wrong.c"
	said=$(cd "$SCRATCH/wrong" && spatch -D report --very-quiet --no-includes --include-headers \
		--cocci-file "$PATCHES/free/ifnullfree.cocci" wrong.c 2>/dev/null) || :
	[ -n "$said" ] ||
		die "spatch does not find what is wrong"
}

main() {
	local line found=0 but=0

	command -v spatch >/dev/null || die "spatch is not installed"
	PATCHES=$(selftests/lab/kernel.sh --quiet checkpatch)/coccinelle || die "no patches"
	SCRATCH=$(mktemp -d)
	trap 'rm -rf "$SCRATCH"' EXIT
	export PATCHES SCRATCH
	export -f look
	[ $# -gt 0 ] || mapfile -t patches < <(cd "$PATCHES" &&
		grep -rl --include='*.cocci' '^virtual report' . | sed 's|^\./||' | sort)
	[ $# -eq 0 ] || patches=("$@")
	[ ${#patches[@]} -gt 0 ] || die "there are no semantic patches in $PATCHES"
	try_spatch
	# shellcheck disable=SC2016 # the other shell's
	printf '%s\0' "${patches[@]}" |
		xargs -0 -n 1 -P "$(nproc)" bash -c 'look "$1"' look >"$SCRATCH/found" || :
	[ "$(wc -l <"$SCRATCH/applied")" = ${#patches[@]} ] || die "not every patch was applied"
	while IFS= read -r line; do
		if excepted "$line"; then
			but=$((but + 1))
		else
			found=$((found + 1))
			echo "$line"
		fi
	done <"$SCRATCH/found"
	echo "coccicheck.sh: ${#patches[@]} semantic patches, $found findings, $but excepted"
	[ $found -eq 0 ]
}

main "$@"
