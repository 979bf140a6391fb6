#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# sparse.sh - check the modules with sparse, byte order and address spaces included
#
# usage: sparse.sh [KERNEL...]
#
# KERNEL is a name that selftests/lab/kernel.sh knows (stock-6.1). The module is
# built in a copy of the tree; only what is said of its own files counts. Where the
# kernel has KUnit the suites are checked too. Exit status: 0 nothing was found, 1
# something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."

die() { echo "sparse.sh: $*" >&2; exit 2; }

# Print what sparse and the compiler say of our files, paths as in the tree.
check_kernel() {
	local copy=$1 kernel=$2 dir part top=''
	local -a args

	dir=$(selftests/lab/kernel.sh "$kernel" 2>/dev/null) || die "no kernel $kernel"
	read -ra args <"$dir/make.args"
	rm -rf "$copy/tree"
	mkdir "$copy/tree"
	git ls-files -co --exclude-standard Kbuild kmod uapi selftests/floor |
		cpio -pd --quiet "$copy/tree"
	[ -f "$copy/tree/Kbuild" ] || top=kmod
	for part in "$top" selftests/floor; do
		make -k "${args[@]}" M="$copy/tree/$part" C=2 CF="-D__CHECK_ENDIAN__" \
			-j"$(nproc)" KBUILD_MODPOST_WARN=1 modules
	done >"$copy/log" 2>&1 || :
	grep -q " CHECK .*$copy" "$copy/log" ||
		{ tail -n 5 "$copy/log" >&2; die "$kernel: nothing was checked"; }
	CHECKED=$((CHECKED + $(grep -c " CHECK .*$copy" "$copy/log")))
	grep -E "^$copy/tree/[^ ]*: (warning|error):" "$copy/log" |
		sed "s|$copy/tree/||g; s|^|$kernel: |" >>"$copy/findings" || :
}

main() {
	local kernel found

	command -v sparse >/dev/null || die "sparse is not installed"
	COPY=$(mktemp -d)
	trap 'rm -rf "$COPY"' EXIT
	: >"$COPY/findings"
	CHECKED=0
	[ $# -gt 0 ] || set -- stock-6.1
	for kernel in "$@"; do
		check_kernel "$COPY" "$kernel"
	done
	cat "$COPY/findings"
	found=$(wc -l <"$COPY/findings")
	echo "sparse.sh: $CHECKED files on $*, $found findings"
	[ "$found" -eq 0 ]
}

main "$@"
