#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - figures of rdmachan beside those of its peers, in one boot of one guest
#
# usage: bench.sh
#
# The guest has one CPU, and its time counts executed instructions, so the figures
# repeat to less than one in a hundred whatever else this machine does. Results go to
# build/bench/rows and to stdout.

set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
out=${RDMACHAN_BUILD:-$top/build}/bench
kernel=${KERNEL:-stock-6.1}

"$top/selftests/lab/packages.sh" check
"$top/selftests/payload.sh" "$kernel" "$out/payload" >/dev/null
"$top/selftests/lab/guest.sh" --kernel "$kernel" --icount --smp 1 --mem 1024 --mtu 4200 \
	--timeout 900 --payload "$out/payload" --out "$out/run" -- bash bench_guest.sh
grep '^row ' "$out/run/output.log" >"$out/rows"
echo "Figures of $kernel: $out/rows"
