# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# pair.sh - what two-guests.sh and uml-pair.sh share
#
# Sourced after lib.sh.

declare -A PAIR_COMMAND=([a]='' [b]='') PAIR_KILL=([a]='' [b]='')
declare -A PAIR_PIDS=() PAIR_STATUS=()
PAIR_OUT='' PAIR_PAYLOAD=''

# Take an option that both scripts have.
pair_argument() {
	case $1 in
	--a) PAIR_COMMAND[a]=$2 ;;
	--b) PAIR_COMMAND[b]=$2 ;;
	--kill-a-on) PAIR_KILL[a]=$2 ;;
	--kill-b-on) PAIR_KILL[b]=$2 ;;
	--out) PAIR_OUT=$2 ;;
	--payload) PAIR_PAYLOAD=$2 ;;
	*) die "unknown option $1" ;;
	esac
}

pair_check() {
	[ -n "$PAIR_OUT" ] || die "--out is missing"
	[ -n "${PAIR_COMMAND[a]}" ] || die "--a is missing"
	[ -n "${PAIR_COMMAND[b]}" ] || die "--b is missing"
	mkdir -p "$PAIR_OUT"
	PAIR_OUT=$(realpath "$PAIR_OUT")
}

# Make each guest's payload: the user's, the command, and what lets the two wait
# for each other.
pair_prepare() {
	local host dir

	for host in a b; do
		dir=$PAIR_OUT/$host/payload.d
		rm -rf "$dir"
		mkdir -p "$dir"
		[ -z "$PAIR_PAYLOAD" ] || cp -rL "$PAIR_PAYLOAD/." "$dir/"
		cp "$LAB"/guest/lab-{signal,await,listen,host,cable} "$dir/"
		echo "${PAIR_COMMAND[$host]}" >"$dir/lab-command"
	done
}

# Set OPTIONS to those of guest $1.
pair_options() {
	local host=$1 number=1

	[ "$host" = a ] || number=2
	# shellcheck disable=SC2034 # for the script that sourced this
	OPTIONS=(--host "$host" --ip "10.77.0.$number/24" --ip6 "fd77::$number/64"
		 --out "$PAIR_OUT/$host" --payload "$PAIR_OUT/$host/payload.d"
		 --prefix "$host: " --kill-on "${PAIR_KILL[$host]}"
		 -- lab-host)
}

pair_stop() {
	[ ${#PAIR_PIDS[@]} -eq 0 ] || kill "${PAIR_PIDS[@]}" 2>/dev/null || true
	wait
}

# Wait for both, then report.
pair_wait() {
	local host

	for host in a b; do
		PAIR_STATUS[$host]=0
		wait "${PAIR_PIDS[$host]}" || PAIR_STATUS[$host]=$?
	done
	PAIR_PIDS=()
	pair_report
}

# Exit with 0 if each guest ended well or was killed as asked.
pair_report() {
	local host verdict=0

	for host in b a; do
		if [ "${PAIR_STATUS[$host]}" -eq 137 ] && [ -n "${PAIR_KILL[$host]}" ]; then
			continue
		fi
		[ "${PAIR_STATUS[$host]}" -eq 0 ] || verdict=${PAIR_STATUS[$host]}
	done
	echo "pair: a=${PAIR_STATUS[a]} b=${PAIR_STATUS[b]}"
	exit "$verdict"
}
