#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - two hosts exchange data over RDMA channels, without an adapter
#
# usage: demo.sh
#
# Installs missing packages (apt), fetches Debian's stock kernel into the cache, builds
# module and tool, boots two QEMU guests joined by a virtual cable with rxe in each,
# and lets them work. The last line is "demo: PASS" or "demo: FAIL".

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
lab=$top/selftests/lab
build=${RDMACHAN_BUILD:-$top/build}
kernel=${KERNEL:-stock-6.1}
out=$build/demo

fail() { echo "demo: $*"; echo "demo: FAIL"; exit 1; }

"$lab/packages.sh" demo || fail "packages are missing"
dir=$("$lab/kernel.sh" "$kernel") || fail "no kernel"
"$lab/payload.sh" "$kernel" "$out/payload" || fail "the build failed"

# A real file: the kernel's own image and as many of its modules as make 40 MiB.
list=$out/files
{ echo "$dir/vmlinuz"; find "$dir/lib/modules" -name '*.ko*' | sort; } >"$list"
tar -cf - -T "$list" 2>/dev/null | head -c $((41 << 20)) >"$out/payload/demo-file" || true
(cd "$out/payload" && sha256sum demo-file >demo-file.sha256)
[ "$(stat -c %s "$out/payload/demo-file")" -ge $((40 << 20)) ] || fail "no file to send"

echo "Booting two guests with $(head -n 1 "$dir/version"), rxe in each, joined by a cable"
"$lab/two-guests.sh" --kernel "$kernel" --mem 1024 --timeout 200 \
	--payload "$out/payload" --out "$out/run" \
	--a 'sh demo_a.sh' --b 'sh demo_b.sh' || fail "see $out/run"
rm -f "$out/payload/demo-file"
echo "demo: PASS"
