#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# uml-pair.sh - boot two User Mode Linux guests joined by the cable program and
# run a command in each
#
# usage: uml-pair.sh [option...] --out DIR --a COMMAND --b COMMAND
#
# --cable-args TEXT   options of the cable: --loss, --delay, ...   (see cable.c)
# --kernel K          a name that kernel.sh knows           (uml-6.12)
# --provider rxe|siw  --payload --timeout --mem --mtu --append --share   as in uml.sh
# --a --b --kill-a-on --kill-b-on   as in two-guests.sh, and so are lab-signal,
#                     lab-await, the output, the folders and the exit status
#
# "lab-cable COMMAND" in a guest, or a line in DIR/control on the host, changes
# the cable while it runs. DIR/cable.log gets its statistics.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/lab/pair.sh
. "$LAB/pair.sh"

CABLE_ARGS='' KERNEL=uml-6.12
# Frames of the size that stock guests use do not pass the vector driver.
COMMON=(--mtu 1500)

parse_arguments() {
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in
		--cable-args) CABLE_ARGS=$2 ;;
		--kernel) KERNEL=$2 ;;
		--timeout | --mem | --mtu | --provider | --append | --share)
			COMMON+=("$1" "$2") ;;
		*) pair_argument "$1" "$2" ;;
		esac
		shift 2
	done
	pair_check
}

# Compile the cable program into the cache; set CABLE to it.
build_cable() {
	CABLE=$CACHE/bin/cable-$(hash_of "$LAB/cable.c")
	[ -x "$CABLE" ] && return
	mkdir -p "$CACHE/bin"
	gcc -O2 -Wall -Wextra -Werror -o "$CABLE.$$" "$LAB/cable.c"
	mv "$CABLE.$$" "$CABLE"
}

# Print the shell command that runs guest $1 and keeps its status.
guest_command() {
	local host=$1

	pair_options "$host"
	echo "$(sh_quote "$LAB/uml.sh" --kernel "$KERNEL" "${COMMON[@]}" --control "$PAIR_OUT/control")" \
		"--net fd:\$CABLE_FD $(sh_quote "${OPTIONS[@]}");" \
		"echo \$? >$(sh_quote "$PAIR_OUT/$host/status")"
}

main() {
	local host cable

	parse_arguments "$@"
	build_cable
	KERNEL=$(kernel_dir "$KERNEL")
	pair_prepare
	rm -f "$PAIR_OUT"/{control,cable.log} "$PAIR_OUT"/{a,b}/status
	# shellcheck disable=SC2086 # words
	"$CABLE" --control "$PAIR_OUT/control" $CABLE_ARGS \
		"$(guest_command a)" "$(guest_command b)" 2>"$PAIR_OUT/cable.log" &
	cable=$!
	# shellcheck disable=SC2064 # the value of now
	trap "kill $cable 2>/dev/null || true; wait || true" EXIT
	trap 'exit 143' TERM INT
	wait "$cable" || true
	for host in a b; do
		PAIR_STATUS[$host]=$(cat "$PAIR_OUT/$host/status" 2>/dev/null || echo 125)
	done
	cat "$PAIR_OUT/cable.log" >&2
	pair_report
}

main "$@"
