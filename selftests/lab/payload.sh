#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# payload.sh - gather what a guest needs to run tests
#
# usage: payload.sh KERNEL DIR
#
# DIR gets the module for KERNEL, the tool, the examples, the test programs and the
# scripts that run them. It is what the scripts of selftests/lab take as --payload.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${RDMACHAN_BUILD:-$top/build}
kernel=$1 dir=$2

"$top/selftests/lab/build.sh" "$kernel" "$build/$kernel"
# Payloads may be gathered beside each other. The programs are the same for all kernels.
exec 8>"$build/payload.lock"
flock 8
# The guests' image has no libmd, so the tool takes it in.
make --no-print-directory -s -j"$(nproc)" -C "$top/userspace-tool" O="$build/guest-tool" \
	LIBMD_LIBS=-l:libmd.a guest
rm -rf "$dir"
mkdir -p "$dir/examples" "$dir/tests"
cp "$build/guest-tool/tests/filepeer" "$dir/tests/"
cp "$build/$kernel/kmod/rdmachan.ko" "$build/$kernel/floor/rdmachan_floor.ko" \
	"$build/$kernel/shim/rdmachan_shim.ko" "$dir/"
[ ! -e "$build/$kernel/kmod/kunit/rdmachan_kunit.ko" ] ||
	cp "$build/$kernel/kmod/kunit/rdmachan_kunit.ko" "$dir/"
cp "$build/guest-tool/rdmachan" "$dir/"
cp -P "$build"/guest-tool/librdmachan.so* "$dir/"
find "$build/guest-tool/examples" -maxdepth 1 -type f -executable \
	-exec cp -t "$dir/examples" {} +
cp "$top"/userspace-tool/tests/{flow,transfer,relay,contract}_test.sh \
	"$top"/userspace-tool/tests/helpers.sh "$top"/userspace-tool/man/rdmachan.8 \
	"$top"/selftests/guest/*.sh \
	"$top"/selftests/bench/bench_guest.sh "$top"/selftests/bench/trips_{guest,bounds}.py \
	"$top"/selftests/swarm/{drive,judge,plan}.py "$dir/"
make --no-print-directory -s -j"$(nproc)" -C "$top/selftests" O="$build/selftests" \
	LIBRARY="$build/guest-tool/librdmachan.a"
exec 8>&-
find "$build/selftests" -maxdepth 1 -type f -executable -exec cp -t "$dir" {} +
cp -r "$top/selftests/abifuzz/corpus" "$dir/abi-corpus"
