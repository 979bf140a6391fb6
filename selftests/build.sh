#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh - build the module in a copy of its sources
#
# usage: build.sh KERNEL DIR [make arguments]
#                                     KERNEL as selftests/lab/kernel.sh knows it
#        build.sh --kdir KDIR DIR     KDIR is the build directory of a kernel
#
# DIR/kmod/rdmachan.ko is the module, and DIR/kmod/kunit/rdmachan_kunit.ko the suites
# where the kernel has KUnit. There is no BTF in it, which would ask for pahole. For a
# KERNEL there is DIR/floor/rdmachan_floor.ko besides, which only benchmarks use.
# Warnings (W=1) of our own files are errors.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)

die() { echo "build.sh: $*" >&2; exit 1; }

if [ "${1:-}" = --kdir ]; then
	[ $# -eq 3 ] || die "usage: build.sh --kdir KDIR DIR"
	args=(-C "$2") out=$3 name=$2 parts=(kmod)
else
	[ $# -ge 2 ] || die "usage: build.sh KERNEL DIR [make arguments]"
	dir=$("$top/selftests/lab/kernel.sh" --quiet "$1")
	read -ra args <"$dir/make.args"
	out=$2 name=$1 parts=(kmod floor)
	args+=("${@:3}")
fi

# build PART: one folder of modules
build() {
	make "${args[@]}" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= M="$out/$1" -j"$(nproc)" modules
}

mkdir -p "$out"
rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod*' --exclude='.*.cmd' --exclude='*.gcno' \
	--exclude=Module.symvers --exclude=modules.order \
	"$top/kmod" "$top/uapi" "$top/selftests/floor" "$out/"
log=$out/build.log
: >"$log"
for part in "${parts[@]}"; do
	if ! build "$part" >>"$log" 2>&1; then
		grep -E 'error|\*\*\*' "$log" >&2 || tail -n 20 "$log" >&2
		die "the module does not build for $name, see $log"
	fi
done
# The headers of a kernel may warn at W=1; only what is said of our files counts.
if grep -E "^($out/)?([a-z_]+/)*[a-z_]+\.[ch]:[0-9].*warning:" "$log" |
	grep -v '^/.*/include/' >&2; then
	die "the module builds with warnings for $name"
fi
echo "built for $name: $out/kmod/rdmachan.ko"
