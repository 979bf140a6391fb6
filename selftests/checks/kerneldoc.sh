#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kerneldoc.sh - check that kernel-doc comments are what the code is
#
# usage: kerneldoc.sh [FILE...]
#
# Without files all C files of the module, of the interface and of the tools that
# git knows. KERNEL_DOC names another kernel-doc than that of the lab's kernels.
# Exit status: 0 nothing was found, 1 something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."

die() { echo "kerneldoc.sh: $*" >&2; exit 2; }

find_kernel_doc() {
	local kernel dir file

	[ -z "${KERNEL_DOC:-}" ] || return 0
	for kernel in stock-6.12 stock-6.1; do
		dir=$(selftests/lab/kernel.sh "$kernel" 2>/dev/null) || continue
		for file in "$dir"/usr/lib/linux-kbuild-*/scripts/kernel-doc; do
			if [ -x "$file" ]; then
				KERNEL_DOC=$file
				return
			fi
		done
	done
	die "no kernel-doc in the packages of the lab's kernels"
}

# Whether a comment that is wrong is found: another kernel-doc may speak in another way.
try_kernel_doc() {
	local scratch said

	scratch=$(mktemp -d)
	printf '%s\n' '/**' ' * f - does nothing' ' * @a: not there' ' */' 'int f(int b)' '{' '}' \
		>"$scratch/wrong.c"
	said=$(look "$scratch/wrong.c")
	[ -n "$said" ] || die "$KERNEL_DOC does not find what is wrong"
	rm -r "$scratch"
}

# look FILE...: a line for each finding. A file without any such comment is no fault.
look() {
	local said found status=0

	said=$("$KERNEL_DOC" -none "$@" 2>&1) || status=$?
	found=$(grep -E ': (warning|error):' <<<"$said" |
		grep -v 'no structured comments found') || :
	if [ -n "$found" ]; then
		echo "$found"
	elif [ $status != 0 ]; then
		printf '%s\n' "$said" "$KERNEL_DOC: error: exit status $status"
	fi
}

main() {
	local findings found

	if [ $# -eq 0 ]; then
		mapfile -t FILES < <(git ls-files -co --exclude-standard \
			'kmod/*.[ch]' 'uapi/*.h' 'userspace-tool/*.[ch]' |
			while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
		set -- "${FILES[@]}"
	fi
	[ $# -gt 0 ] || die "no files"
	find_kernel_doc
	try_kernel_doc
	findings=$(look "$@")
	found=0
	if [ -n "$findings" ]; then
		echo "$findings"
		found=$(wc -l <<<"$findings")
	fi
	echo "kerneldoc.sh: $# files, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
