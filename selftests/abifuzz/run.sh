#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - a campaign of the fuzzer of the interface
#
# usage: run.sh [SECONDS]
#
# Boots User Mode Linux with KCOV, KASAN and lockdep, and has abi_fuzz go on from the
# corpus for SECONDS (600), in rounds of some minutes each. After each round that went
# well the corpus in the tree, but for what was written by hand, is replaced by what it
# came to. The last line has the figures. ABI_FUZZ_SEED and ABI_FUZZ_PROCS set the first seed and the processes that fuzz
# side by side (3).
#
# Findings (calls that end with an error that is not documented, or not at all) are
# in build/abifuzz/round/findings, cases of a round in which the kernel died in "kept". In
# "console.log" of build/abifuzz/out has what it said.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/abifuzz
kernel=uml-6.12-kcov
ROUND_S=400

die() { echo "run.sh: $*" >&2; exit 1; }

# fuzz SECONDS SEED KMEMLEAK: one round
fuzz() {
	local status=0

	rm -rf "$out/round"
	mkdir -p "$out/round"
	"$top/selftests/lab/uml.sh" --kernel $kernel --provider rxe --mem 2048 --append "kmemleak=$3" \
		--timeout $(($1 + 180)) --payload "$out/payload" --share "$out/round" \
		--out "$out/out" -- sh -ec "insmod rdmachan.ko
			./abi_fuzz run --seconds $1 --seed $2 --procs ${ABI_FUZZ_PROCS:-3} \
				--corpus abi-corpus --out /share
			./leak_check 20000
			rmmod rdmachan" >"$out/round.log" 2>&1 || status=$?
	grep -E '^(not ok|abi_fuzz:)' "$out/round.log" || :
	[ "$status" -eq 0 ] || die "the round failed ($status): see $out/round.log and $out/round"
}

keep_corpus() {
	[ -e "$out/round/corpus/cases-00" ] || die "no corpus came back"
	rm -f "$here"/corpus/cases-* "$out"/payload/abi-corpus/cases-*
	cp "$out"/round/corpus/cases-* "$here/corpus/"
	cp "$out"/round/corpus/cases-* "$out/payload/abi-corpus/"
}

main() {
	local left=${1:-600} seed=${ABI_FUZZ_SEED:-1} seconds calls=0 round log leaks=on

	mkdir -p "$out"
	"$top/selftests/lab/payload.sh" $kernel "$out/payload" >"$out/payload.log" 2>&1 ||
		{ tail "$out/payload.log" >&2; die "no payload"; }
	while [ "$left" -gt 0 ]; do
		seconds=$((left < ROUND_S ? left : ROUND_S))
		fuzz $seconds "$seed" $leaks
		keep_corpus
		log=$(grep '^abi_fuzz:' "$out/round.log")
		read -r _ round _ <<<"$log"
		calls=$((calls + round))
		left=$((left - seconds))
		seed=$((seed + 1))
		# It takes half the speed: one round looks for memory that was lost.
		leaks=off
	done
	echo "abi-fuzz: $calls calls, corpus of $(cat "$here"/corpus/* | grep -c '^$') cases, $(wc -l <"$out/round/places") places of the module"
}

main "$@"
