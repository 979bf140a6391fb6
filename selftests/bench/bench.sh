#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh - figures of rdmachan beside those of its peers
#
# usage: [BEDS=...] [ROWS=...] [CONTENDERS=...] [REPEATS=N] bench.sh
#
# All contenders of a bed are measured in one boot. Beds:
#
#   icount       Debian's 6.1, one CPU, time counts executed instructions: figures
#                repeat to about one in a hundred whatever else this machine does
#   icount-6.12  the same with Debian's 6.12
#   smp          Debian's 6.1 on two CPUs, time as it passes: only ratios mean anything
#   uml          User Mode Linux, the same
#   wire         two guests and a cable, the same
#   trips        two hosts in virtual time and a long cable: round trips, exactly; ROWS are its
#                parts, CONTENDERS its ways, as trips.py has them
#
# Without BEDS all of them; without ROWS (patterns of names, see bench_guest.sh) every row
# with icount and the most telling with the others. Where time passes as it does, each
# figure is the median of three passes, or of REPEATS; of 64 bytes one way it is that of five
# runs where it does not. Results go to
# build/bench/results.json and to plots there; with ROWS or CONTENDERS to build/bench/part.
# Exit status: 0 when everything was measured, whether or not aims are reached.

set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
lab=$top/selftests/lab
export RDMACHAN_BUILD=${RDMACHAN_BUILD:-$top/build}
out=$RDMACHAN_BUILD/bench
beds=${BEDS:-icount icount-6.12 smp uml wire trips}
telling="lat64 lat4k lat64k rate1 rate64 tput64k tput1m connect"
results=() status=0

# payload KERNEL: what guests with it need; made once
payload() {
	[ ! -e "$out/payload-$1.made" ] || return 0
	"$lab/payload.sh" "$1" "$out/payload-$1" >/dev/null || return
	touch "$out/payload-$1.made"
}

# guest KERNEL REPEATS DIVIDE POLLING TIME SCRIPT OPTION...: boot by a script of the lab
guest() {
	local kernel=$1 command

	payload "$kernel" || return
	command=(env "ROWS=${ROWS:-$rows}" "CONTENDERS=${CONTENDERS:-*}" "REPEATS=${REPEATS:-$2}"
		"DIVIDE=$3" "POLLING=$4" "TIME=$5" bash bench_guest.sh)
	"$lab/$6" --kernel "$kernel" --payload "$out/payload-$kernel" --out "$dir/run" \
		--timeout 2400 "${@:7}" -- "${command[@]}"
}

# The server's guest has nothing to say but its errors.
wire() {
	local command

	payload stock-6.1 || return
	command="ROWS='${ROWS:-$rows}' CONTENDERS='${CONTENDERS:-*}' REPEATS=${REPEATS:-3} DIVIDE=4"
	command+=" TIME=us bash bench_guest.sh"
	"$lab/two-guests.sh" --kernel stock-6.1 --payload "$out/payload-stock-6.1" \
		--out "$dir/run" --timeout 2400 --smp 1 --mem 2048 --mtu 4200 \
		--a "$command" --b "$command"
}

# It has tables of its own.
trips() {
	echo "== trips"
	payload uml-7.2 || return
	mkdir -p "$out/trips"
	"$top/selftests/bench/trips.py" "$out/payload-uml-7.2" "$out/trips"
}

bed() {
	local rows=$telling dir=$out/$1
	local log=$dir/run/output.log

	mkdir -p "$dir"
	echo "== $1"
	case $1 in
	icount)
		rows='*'
		guest stock-6.1 1 1 0 kinstr guest.sh --icount --smp 1 --mem 2048 ;;
	icount-6.12) guest stock-6.12 1 1 0 kinstr guest.sh --icount --smp 1 --mem 2048 ;;
	smp) guest stock-6.1 3 6 1 us guest.sh --smp 2 --mem 2048 ;;
	uml) guest uml-6.12 3 2 0 us uml.sh --mem 2048 ;;
	wire)
		log=$dir/run/b/output.log
		wire ;;
	*) echo "bench.sh: no bed $1" >&2; return 2 ;;
	esac || status=1
	grep -E '^(kernel|row|failed) ' "$log" >"$dir/rows" || :
}

main() {
	local name
	local -a counted=()

	"$lab/packages.sh" check
	if [ -n "${ROWS:-}${CONTENDERS:-}" ]; then
		out=$out/part
		results=(--part)
	fi
	mkdir -p "$out"
	rm -f "$out"/payload-*.made
	for name in $beds; do
		case $name in
		trips) trips || status=1 ;;
		*)
			bed "$name"
			counted+=("$name") ;;
		esac
	done
	[ ${#counted[@]} = 0 ] ||
		"$top/selftests/bench/results.py" "${results[@]}" "$out" "${counted[@]}" || status=1
	exit $status
}

main
