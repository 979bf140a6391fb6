#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# uml.sh - boot one User Mode Linux kernel and run a command in it
#
# usage: uml.sh [option...] --out DIR -- COMMAND [ARG...]
#
# --kernel K      a name that kernel.sh knows, or a directory of its (uml-6.12)
# --provider P    rxe, siw or none                  (rxe)
# --net KIND      veth, dummy, none, hosts, several in this kernel (see vt.sh), or fd:N, an
#                 inherited datagram socket that carries Ethernet frames (see uml-pair.sh)   (veth)
# --preload FILE  a library for the kernel's own process
# --control FIFO  the cable's, for lab-cable in the guest
# --share DIR     the folder of the host that the guest may write, at /share (OUT/share)
# --payload --out --timeout --mem --host --ip --ip6 --mac --mtu --append
# --prefix --kill-on   as in guest.sh, and so are the exit status, the files in
#                 the --out folder and the command's environment
#
# The guest sees this machine's programs and files through a writable layer in
# memory. It boots in a fraction of a second and runs at native speed on one
# CPU. Event mode always: a busy poll costs a whole time slice.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=uml-6.12 PAYLOAD='' OUT='' TIMEOUT=60 MEM=1024 NET=veth SHARE='' CONTROL=''
HOST=a IP=10.77.0.1/24 IP6=fd77::1/64 MAC='' MTU=4200 PROVIDER=rxe
APPEND='' PREFIX='' KILL_ON='' PRELOAD=''
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
		--kernel) KERNEL=$2 ;;
		--payload) PAYLOAD=$(realpath "$2") ;;
		--out) OUT=$2 ;;
		--timeout) TIMEOUT=$2 ;;
		--mem) MEM=$2 ;;
		--net) NET=$2 ;;
		--control) CONTROL=$2 ;;
		--share) SHARE=$(realpath "$2") ;;
		--host) HOST=$2 ;;
		--ip) IP=$2 ;;
		--ip6) IP6=$2 ;;
		--mac) MAC=$2 ;;
		--mtu) MTU=$2 ;;
		--provider) PROVIDER=$2 ;;
		--append) APPEND=$2 ;;
		--preload) PRELOAD=$2 ;;
		--prefix) PREFIX=$2 ;;
		--kill-on) KILL_ON=$2 ;;
		*) die "unknown option $1" ;;
		esac
		shift 2
	done
	[ -n "$OUT" ] || die "--out is missing"
	[ ${#COMMAND[@]} -gt 0 ] || die "no command"
	[[ "$LAB$OUT$PAYLOAD$CACHE$SHARE" != *[[:space:]]* ]] ||
		die "the kernel command line cannot carry paths with spaces"
}

# Set UML to the kernel with its command line. Descriptor 3 is its first virtual
# terminal, the side channel.
make_command() {
	local kernel=$1 net=$NET

	# shellcheck disable=SC2054 # the commas are the kernel's
	UML=("$kernel/linux" "mem=${MEM}M" root=none rootfstype=hostfs rootflags=/ ro
	     "init=$LAB/guest/uml-init" con=null con0=null,fd:1 con1=null,fd:3
	     "uml_dir=$OUT/" umid=uml loglevel=7 panic=-1 oops=panic)
	case $NET in
	fd:*)
		net=vec0
		: "${MAC:=$(mac_of "$IP")}"
		# vec=0 would leave the driver without the queues whose locks it
		# takes, which only a kernel with lockdep notices; a depth over 64
		# earns a complaint.
		UML+=("vec0:transport=fd,fd=${NET#fd:},vec=1,depth=64,mtu=$((MTU + 100))") ;;
	esac
	UML+=("lab.dir=$LAB" "lab.run=$OUT" "lab.modules=$kernel/lib/modules"
	      lab.side=/dev/tty1 "lab.host=$HOST" "lab.net=$net" "lab.ip=$IP"
	      "lab.ip6=$IP6" "lab.mtu=$MTU" "lab.provider=$PROVIDER")
	[ -z "$MAC" ] || UML+=("lab.mac=$MAC")
	UML+=("lab.share=$SHARE")
	# shellcheck disable=SC2206 # words
	UML+=($APPEND)
}

main() {
	local kernel
	local -a UML

	parse_arguments "$@"
	kernel=$(kernel_dir "$KERNEL")
	mkdir -p "$OUT"
	OUT=$(realpath "$OUT")
	if [ -z "$SHARE" ]; then
		SHARE=$OUT/share
		mkdir -p "$SHARE"
	fi
	rm -rf "$OUT"/{console,output,side,uml,splats}.log "$OUT/uml"
	sh_quote "${COMMAND[@]}" >"$OUT/command"
	rm -f "$OUT/payload"
	[ -z "$PAYLOAD" ] || ln -s "$PAYLOAD" "$OUT/payload"
	make_command "$kernel"
	# The kernel's log is its standard output.
	# shellcheck disable=SC2016 # for the inner shell
	run_and_scan "$OUT/uml.log" sh -c \
		'side=$1 console=$2; shift 2; exec "$@" 3>>"$side" >"$console" 2>&1' \
		uml "$OUT/side.log" "$OUT/console.log" \
		env ${PRELOAD:+"LD_PRELOAD=$PRELOAD"} "${UML[@]}"
}

main "$@"
