#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# profile.sh - where the instructions of one message go
#
# usage: profile.sh WAY SIZE COUNT        (as cost.c; WAY is also "none": no profile)
#
# Runs cost.c in a guest that counts instructions, and shows the functions of the kernel
# and the programs together: instructions for each message, and the share of all.
# LINES says how many lines (60), KERNEL which kernel (stock-6.1), FAST=1 measures without
# a profile.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
out=${RDMACHAN_BUILD:-$top/build}/profile
kernel=${KERNEL:-stock-6.1}
way=$1 size=$2 count=$3
option=()

"$top/selftests/lab/packages.sh" check
"$top/selftests/lab/payload.sh" "$kernel" "$out/payload" >/dev/null
cat >"$out/payload/profile_guest.sh" <<'EOF'
insmod ./rdmachan.ko ${PARAMS-} && ./cost "$@" || exit 1
[ -n "${FAST-}" ] && exit
echo "symbols"
grep -i ' [tw] ' /proc/kallsyms | gzip | base64
echo "end of symbols"
EOF
if [ -z "${FAST-}" ]; then
	cc -O2 -shared -fPIC -o "$out/profile.so" "$top/selftests/lab/profile.c"
	option=(--plugin "$out/profile.so,out=$out/blocks")
fi
"$top/selftests/lab/guest.sh" --kernel "$kernel" --icount --smp 1 --mem 1024 --mtu 4200 \
	--timeout 900 --payload "$out/payload" --out "$out/run" "${option[@]}" -- \
	sh -c "FAST=${FAST-} PARAMS='${PARAMS-}' sh profile_guest.sh $way $size $count" >"$out/log" || {
	tail -n 20 "$out/log" | cut -c1-160
	exit 1
}
grep 'us each' "$out/log"
[ -n "${FAST-}" ] || "$top/selftests/lab/profile.py" "$out/log" "$out/blocks" "${LINES:-60}"
