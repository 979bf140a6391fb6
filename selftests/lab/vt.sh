#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vt.sh - boot some hosts in one kernel whose time is virtual, and run a command on the first
#
# usage: vt.sh [option...] --out DIR -- COMMAND [ARG...]
#
# --hosts N       a, b, c, ...; 64 at most      (2; with siw 1)
# --delay US      that each cable has at least, in one direction     (20)
# --cable TEXT    what is wrong with the cables: "loss 1", "delay 10 ab, rate 1000"
# --seed N        where all random choices come from, those of the kernel and of its cables included
#                 (1): the same run again, to the last packet. 0: another run each time. any: a
#                 seed that is picked now; the last line tells it
# --kernel K      a name that kernel.sh knows, or a directory of its (uml-7.2)
# --provider P    rxe, siw or none              (rxe)
# --payload --out --timeout --mem --mtu --append --share --prefix --kill-on   as in uml.sh,
#                 and so are the exit status, the files in the --out folder, and what the command
#                 finds in its environment. --timeout is the wall's.
#
# Computing takes no time in this bed, and when all sleep the clock jumps to the next timer: a
# sleep costs nothing, and how busy this machine is decides nothing. What only computes, and
# waits for somebody else by looking, never ends.
#
# Hosts are network namespaces of one User Mode Linux kernel, rxe in each, on cables that
# "lab-cable" makes worse or better at any time (its comment has the words). "lab-on HOST COMMAND"
# runs a command on another host; names like b and b6 are its addresses. With siw there are no
# namespaces: there is one host then, which talks to itself over a wire of the same length.
#
# The last line tells how long it took on both clocks.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=uml-7.2 HOSTS='' DELAY=20 CABLE='' SEED=1 PROVIDER=rxe OUT='' APPEND=''
COMMON=()
COMMAND=()

parse_arguments() {
	while [ $# -gt 0 ]; do
		if [ "$1" = -- ]; then
			shift
			COMMAND=("$@")
			break
		fi
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in
		--hosts) HOSTS=$2 ;;
		--delay) DELAY=$2 ;;
		--cable) CABLE=$2 ;;
		--seed) SEED=$2 ;;
		--kernel) KERNEL=$2 ;;
		--provider) PROVIDER=$2 ;;
		--out) OUT=$2 ;;
		--append) APPEND=$2 ;;
		--payload | --timeout | --mem | --mtu | --share | --prefix | --kill-on)
			COMMON+=("$1" "$2") ;;
		*) die "unknown option $1" ;;
		esac
		shift 2
	done
	[ -n "$OUT" ] || die "--out is missing"
	[ ${#COMMAND[@]} -gt 0 ] || die "no command"
	case $PROVIDER in rxe | siw | none) ;; *) die "--provider: rxe, siw or none" ;; esac
	[ "$PROVIDER" != siw ] || : "${HOSTS:=1}"
	: "${HOSTS:=2}"
	[[ $HOSTS =~ ^([1-9]|[1-5][0-9]|6[0-4])$ ]] || die "--hosts: 1 to 64"
	[ "$PROVIDER" != siw ] || [ "$HOSTS" = 1 ] || die "siw serves one host only"
	[[ $DELAY =~ ^[0-9]+$ ]] || die "--delay: microseconds"
	[ "$SEED" != any ] || SEED=$((2 + RANDOM))
	[[ $SEED =~ ^[0-9]+$ ]] || die "--seed: a number, or any"
}

# A library that answers the kernel's question for random bytes; set PRELOAD to it.
build_seeded() {
	PRELOAD=$CACHE/bin/seeded-$(hash_of "$LAB/seeded.c").so
	[ -e "$PRELOAD" ] && return
	mkdir -p "$CACHE/bin"
	gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$PRELOAD.$$" "$LAB/seeded.c" ||
		die "cannot compile seeded.c"
	mv "$PRELOAD.$$" "$PRELOAD"
}

main() {
	local status=0 begun kernel guest wall append
	local -a options=()

	parse_arguments "$@"
	kernel=$(kernel_dir "$KERNEL")
	grep -qs '^CONFIG_UML_TIME_TRAVEL_SUPPORT=y' "$kernel/build/.config" ||
		die "$KERNEL has no virtual time: it lacks CONFIG_UML_TIME_TRAVEL_SUPPORT"
	# Without a pause between grace periods the thread that makes them may go on for ever:
	# waiting callbacks run when it sleeps, or when time passes.
	append="time-travel=inf-cpu seccomp=on rcutree.gp_init_delay=1 lab.hosts=$HOSTS lab.delay=$DELAY"
	[ -z "$CABLE" ] || append+=" lab.cable=$(cable_words)"
	if [ "$SEED" != 0 ]; then
		build_seeded
		export RDMACHAN_LAB_SEED=$SEED
		options+=(--preload "$PRELOAD")
		append+=" norandmaps time-travel-start=1767225600000000000"
	fi
	begun=$(date +%s%N)
	"$LAB/uml.sh" --kernel "$kernel" --provider "$PROVIDER" --net hosts --out "$OUT" \
		--append "$append $APPEND" "${options[@]}" "${COMMON[@]}" -- "${COMMAND[@]}" ||
		status=$?
	wall=$((($(date +%s%N) - begun) / 1000000))
	guest=$(sed -n 's/^rdmachan-lab: clock \([0-9.]*\)\r*$/\1/p' "$OUT/side.log" | tail -n 1)
	echo "vt: $HOSTS hosts, seed $SEED, ${guest:-unknown} s on their clock, $((wall / 1000)).$(printf '%03d' $((wall % 1000))) s on the wall"
	exit $status
}

# The kernel's command line has words only: "loss 1, delay 10 ab" is loss,1:delay,10,ab
cable_words() {
	echo "$CABLE" | sed -E 's/^ +| +$//g; s/ *, */:/g; s/ +/,/g'
}

main "$@"
