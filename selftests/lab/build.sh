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
# KERNEL there are DIR/floor/rdmachan_floor.ko besides, which only benchmarks use, and
# DIR/shim/rdmachan_shim.ko, which only tests use; and compiled code is kept in the cache: of
# another clone's sources only what differs is compiled again. Warnings (W=1) of our own files
# are errors.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

top=$(cd "$(dirname "$0")/../.." && pwd)

# build DIR PART...: these folders of modules, in DIR, by the arguments in "args", for "out"
build() {
	local dir=$1 part log=$1/build.log
	shift

	: >"$log"
	for part; do
		if ! make "${args[@]}" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= M="$dir/$part" \
				-j"$(nproc)" modules >>"$log" 2>&1; then
			{ grep -E 'error|\*\*\*' "$log" || tail -n 20 "$log"; } |
				sed "s,$dir/,,g" >&2
			say "the module does not build for $name, see $out/build.log"
			return 1
		fi
	done
	# The headers of a kernel may warn at W=1; only what is said of our files counts.
	if grep -E '^[^ ]+\.[ch]:[0-9].*warning:' "$log" |
		sed "s,$dir/,,g" | grep -v '^/.*/include/' >&2; then
		say "the module builds with warnings for $name, see $out/build.log"
		return 1
	fi
}

# copy DIR OPTION...: the sources to DIR, which keeps what was compiled there
copy() {
	mkdir -p "$1"
	rsync -rlp "${@:2}" --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod*' \
		--exclude='.*.cmd' --exclude='*.gcno' --exclude=Module.symvers --exclude=modules.order \
		"$top/kmod" "$top/uapi" "$top/selftests/bench/floor" "$top/selftests/shim" \
		"$1/"
}

# build_in_cache ARGUMENT...: for the kernel "name", and bring all to "out"
#
# Another clone's files are older or newer than what was compiled, and the same or not: a file that
# is the same keeps its time here. Of Debian's headers all are old, so that another kernel than the
# last, or compiler, begins anew; so does a build after one that was interrupted or has found
# something.
build_in_cache() {
	local status=0 kernel work key

	kernel=$("$LAB/kernel.sh" --quiet "$name")
	read -ra args <"$kernel/make.args"
	args+=("$@")
	lab_lock "modules-$name"
	work=$CACHE/modules/$name
	key=$({ cat "$kernel"/{version,make.args,key} 2>/dev/null || :
		gcc --version; clang --version 2>/dev/null || :; } | hash_of -)
	[ "$(cat "$work/key" 2>/dev/null)" = "$key" ] || rm -rf "$work"
	rm -f "$work/key"
	copy "$work" --checksum
	build "$work" kmod floor shim || status=1
	[ "$status" -ne 0 ] || echo "$key" >"$work/key"
	mkdir -p "$out"
	rsync -a --delete "$work/" "$out/"
	[ "$status" -eq 0 ] || exit 1
}

if [ "${1:-}" = --kdir ]; then
	[ $# -eq 3 ] || die "usage: build.sh --kdir KDIR DIR"
	args=(-C "$2") out=$3 name=$2
	copy "$out" --times
	build "$out" kmod || exit 1
else
	[ $# -ge 2 ] || die "usage: build.sh KERNEL DIR [make arguments]"
	name=$1 out=$2
	build_in_cache "${@:3}"
fi
echo "built for $name: $out/kmod/rdmachan.ko"
