#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sparse.sh - check the modules with sparse, byte order and address spaces included
#
# usage: sparse.sh [KERNEL...]
#
# KERNEL is a name that selftests/lab/kernel.sh knows (stock-6.1). Files are checked in the
# copy of the tree that build.sh makes in RDMACHAN_BUILD (build/) for that kernel, and
# compiled there if they are not; only what is said of our own counts. Where the kernel has
# KUnit the suites are checked too. Exit status: 0 nothing was found, 1 something was, 2
# cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."

die() { echo "sparse.sh: $*" >&2; exit 2; }

# Print what sparse says of our files, paths as in the tree.
check_kernel() {
	local kernel=$1 tree=$BUILD/$1 log=$BUILD/$1/sparse.log

	# What it finds fails the build, as warnings do.
	selftests/build.sh "$kernel" "$tree" C=2 CF=-D__CHECK_ENDIAN__ >/dev/null 2>&1 || :
	cp "$tree/build.log" "$log"
	grep -q " CHECK .*$tree" "$log" || { tail -n 5 "$log" >&2; die "$kernel: nothing was checked"; }
	CHECKED=$((CHECKED + $(grep -c " CHECK .*$tree" "$log")))
	grep -E "^$tree/[^ ]*: (warning|error):" "$log" |
		sed "s|$tree/||g; s|^|$kernel: |" || :
}

main() {
	local kernel findings found

	command -v sparse >/dev/null || die "sparse is not installed"
	BUILD=$(realpath -m "${RDMACHAN_BUILD:-build}")
	CHECKED=0
	[ $# -gt 0 ] || set -- stock-6.1
	findings=$(mktemp)
	for kernel in "$@"; do
		check_kernel "$kernel" >>"$findings"
	done
	cat "$findings"
	found=$(wc -l <"$findings")
	rm -f "$findings"
	echo "sparse.sh: $CHECKED files on $*, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
