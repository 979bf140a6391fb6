#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sparse.sh - check the modules with sparse, byte order and address spaces included
#
# usage: sparse.sh [KERNEL...]
#
# KERNEL is a name that selftests/lab/kernel.sh knows (stock-6.1). Files are checked where
# build.sh compiles them for that kernel, and compiled if they are not; only what is said of
# our own counts. Where the kernel has KUnit the suites are checked too. Sources in which
# nothing was found are not checked again until one of them, the kernel or sparse changes.
# Exit status: 0 nothing was found, 1 something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."
. selftests/lab/lib.sh

# What the findings depend on, as one word.
sources() {
	local kernel

	kernel=$(selftests/lab/kernel.sh --quiet "$1")
	{
		cat "$kernel"/{version,make.args} selftests/lab/build.sh selftests/checks/sparse.sh
		sparse --version
		echo "${RDMACHAN_INJECT:-}"
		find kmod uapi selftests/bench/floor selftests/shim -type f | LC_ALL=C sort | xargs sha256sum
	} 2>&1 | hash_of -
}

# check_kernel KERNEL FOUND: the output of sparse about our files goes to FOUND, paths as in the
# tree
check_kernel() {
	local checked wanted kernel=$1 found=$2 log=$BUILD/$1/build.log tree=$CACHE/modules/$1 status=0

	# A finding fails the build, as warnings do.
	selftests/lab/build.sh "$kernel" "$BUILD/$kernel" C=2 CF=-D__CHECK_ENDIAN__ >/dev/null 2>&1 ||
		status=$?
	grep -q " CHECK .*$tree" "$log" || { tail -n 5 "$log" >&2; die "$kernel: nothing was checked"; }
	checked=$(grep -o " CHECK .*${tree}[^ ]*" "$log" | sort -u | wc -l)
	# Each source of the module, and those of the suites where they are compiled.
	wanted=$(find "$tree"/{kmod,floor,shim} -name '*.c' ! -name '*.mod.c' ! -path '*/kunit/*' |
		wc -l)
	[ "$checked" -ge "$wanted" ] || die "$kernel: only $checked of $wanted sources were checked"
	CHECKED=$((CHECKED + checked))
	grep -E "^$tree/[^ ]*: (warning|error):" "$log" |
		sed "s|$tree/||g; s|^|$kernel: |" >"$found" || :
	[ "$status" -eq 0 ] || [ -s "$found" ] || die "$kernel: it does not build, see $log"
}

# Whether a mistake is found.
try_sparse() {
	echo 'void *wrong = 0;' >"$SCRATCH/wrong.c"
	# grep reads to the end: sparse may not be killed by a pipe that is closed.
	sparse -Wnon-pointer-null "$SCRATCH/wrong.c" 2>&1 | grep NULL >/dev/null ||
		die "sparse does not find what is wrong"
	rm "$SCRATCH/wrong.c"
}

main() {
	local kernel found clean

	command -v sparse >/dev/null || die "sparse is not installed"
	BUILD=$(realpath -m "${RDMACHAN_BUILD:-build}")
	CHECKED=0
	[ $# -gt 0 ] || set -- stock-6.1
	mkdir -p "$CACHE/sparse-clean"
	find "$CACHE/sparse-clean" -type f -mtime +30 -delete
	SCRATCH=$(mktemp -d)
	trap 'rm -rf "$SCRATCH"' EXIT
	try_sparse
	for kernel; do
		clean=$CACHE/sparse-clean/$kernel-$(sources "$kernel")
		if [ -e "$clean" ]; then
			echo "sparse.sh: nothing was found in these sources before, for $kernel"
			continue
		fi
		check_kernel "$kernel" "$SCRATCH/$kernel"
		[ -s "$SCRATCH/$kernel" ] || touch "$clean"
		cat "$SCRATCH/$kernel"
	done
	found=$(find "$SCRATCH" -type f -exec cat {} + | wc -l)
	echo "sparse.sh: $CHECKED files on $*, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
