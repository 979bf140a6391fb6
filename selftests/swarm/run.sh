#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - run some seeds of the swarm in a guest; TAP
#
# usage: run.sh SEEDS [FAULTS]
#
# SEEDS is like 1-200 or 3,7,20-30. FAULTS are numbers of faults of the plan with commas between,
# the others are left out; or "none". KERNEL in the environment names a kernel of vt.sh
# (uml-7.2; uml-7.2-san has sanitizers). What belongs to a seed that failed is in
# build/swarm/KERNEL/run/share.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
kernel=${KERNEL:-uml-7.2}
out=$RDMACHAN_BUILD/swarm/$kernel
mem=1536

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
case $kernel in *-san) mem=2048 ;; esac
mkdir -p "$out"
"$top/selftests/lab/packages.sh" check
if [ -z "${SWARM_AGAIN:-}" ]; then
	"$top/selftests/lab/payload.sh" "$kernel" "$out/payload" >"$out/payload.log" 2>&1 ||
		{ tail -n 20 "$out/payload.log" >&2; exit 2; }
fi
rm -rf "$out/run"
exec "$top/selftests/lab/vt.sh" --kernel "$kernel" --hosts 4 --mem $mem --timeout 36000 \
	--payload "$out/payload" --out "$out/run" \
	-- python3 drive.py --only "${2:-all}" --again "KERNEL=$kernel" "$1"
