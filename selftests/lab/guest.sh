#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh - boot one guest in QEMU and run a command in it
#
# usage: guest.sh [option...] --out DIR -- COMMAND [ARG...]
#
# --kernel K      a name that kernel.sh knows, or a directory of its (stock-6.1)
# --payload DIR   what the guest finds at /test, its working directory
# --out DIR       gets console.log (kernel), output.log (command), qemu.log
# --timeout SECS  for all of it (120)
# --smp N, --mem MIB                               (2, 1024)
# --net KIND      veth, dummy, none, or cable:PATH:on|off, a unix socket that
#                 joins two guests: "on" listens and starts first   (veth)
# --host NAME --ip A/LEN --ip6 A/LEN --mac M --mtu N --provider rxe|siw|none
# --icount        count instructions: one CPU, virtual time, reproducible
# --plugin FILE,ARGUMENT...  for the emulator
# --few-gids      rxe with a small table of GIDs, which kernel.sh makes beside dbg-6.12
# --append TEXT   more for the kernel command line
# --prefix TEXT   goes before each line of output on stdout
# --kill-on TEXT  SIGKILL the guest when its output has a line with TEXT
#
# The command runs as root with the network and the RDMA device rxe0 up; it
# finds LAB_DEV, LAB_RDMA, LAB_IP, LAB_IP6 and LAB_HOST in its environment. Its
# output streams to stdout.
#
# Exit status: the command's; 123 if it succeeded but the kernel complained; 124
# on timeout, 125 if the guest ended without a result, 126 if the guest could
# not be set up, 137 after --kill-on.
#
# The emulation is always TCG: a /dev/kvm that exists may still not work, and
# timings stay comparable.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=stock-6.1 PAYLOAD='' OUT='' TIMEOUT=120 SMP=2 MEM=1024 NET=veth
HOST=a IP=10.77.0.1/24 IP6=fd77::1/64 MAC='' MTU=4200 PROVIDER=rxe
ICOUNT=no FEW_GIDS=no PLUGIN='' APPEND='' PREFIX='' KILL_ON=''
COMMAND=()

parse_arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		--icount) ICOUNT=yes; shift; continue ;;
		--few-gids) FEW_GIDS=yes; shift; continue ;;
		--) shift; COMMAND=("$@"); break ;;
		esac
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in
		--kernel) KERNEL=$2 ;;
		--payload) PAYLOAD=$2 ;;
		--out) OUT=$2 ;;
		--timeout) TIMEOUT=$2 ;;
		--smp) SMP=$2 ;;
		--mem) MEM=$2 ;;
		--net) NET=$2 ;;
		--host) HOST=$2 ;;
		--ip) IP=$2 ;;
		--ip6) IP6=$2 ;;
		--mac) MAC=$2 ;;
		--mtu) MTU=$2 ;;
		--provider) PROVIDER=$2 ;;
		--plugin) PLUGIN=$2 ;;
		--append) APPEND=$2 ;;
		--prefix) PREFIX=$2 ;;
		--kill-on) KILL_ON=$2 ;;
		*) die "unknown option $1" ;;
		esac
		shift 2
	done
	[ -n "$OUT" ] || die "--out is missing"
	[ ${#COMMAND[@]} -gt 0 ] || die "no command"
}

# A file in the second archive takes the place of what the first has by that name.
put_few_gids() {
	local modules=$2/usr/lib/modules

	modules+=/$(cut -d' ' -f1 "$1/version")
	mkdir -p "$modules"
	cp "$1/few-gids/rdma_rxe.ko" "$modules/"
}

# The second archive: what differs between runs.
make_initrd() {
	local kernel=$1 stage=$OUT/stage

	rm -rf "$stage"
	mkdir -p "$stage/lab" "$stage/test"
	cp "$LAB/guest/init" "$stage/init"
	cp "$LAB/guest/setup.sh" "$stage/lab/setup.sh"
	sh_quote "${COMMAND[@]}" >"$stage/lab/command"
	[ -z "$PAYLOAD" ] || cp -rL "$PAYLOAD/." "$stage/test/"
	[ "$FEW_GIDS" = no ] || put_few_gids "$kernel" "$stage"
	rm -f "$OUT/initrd"
	"$LAB/initramfs.sh" "$kernel" "$OUT/base"
	(cd "$stage" && find . -mindepth 1 | cpio -o -H newc -R 0:0 --quiet) |
		cat "$OUT/base" - >"$OUT/initrd"
	rm -r "$stage" "$OUT/base"
}

# Set QEMU and CMDLINE.
make_command() {
	local kernel=$1 net=$NET image=$1/vmlinux path server

	[ -f "$image" ] || image=$kernel/vmlinuz
	CMDLINE="console=ttyS0 loglevel=7 panic=-1 oops=panic no_timer_check"
	QEMU=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
	      -cpu max -m "$MEM" -device virtio-rng-pci
	      -serial "file:$OUT/console.log"
	      -chardev "file,id=side,path=$OUT/side.log" -serial chardev:side
	      -kernel "$image" -initrd "$OUT/initrd")
	# shellcheck disable=SC2054 # the commas are the emulator's
	if [ "$ICOUNT" = yes ]; then
		QEMU+=(-accel tcg,thread=single -icount shift=0,sleep=off,align=off
		       -smp 1 -seed 1 -rtc base=2026-01-01T00:00:00,clock=vm)
		CMDLINE+=" nokaslr norandmaps random.trust_cpu=on"
	else
		QEMU+=(-accel tcg,thread=multi -smp "$SMP")
	fi
	case $NET in
	cable:*)
		path=${NET#cable:} server=${path##*:} path=${path%:*}
		net=eth0
		: "${MAC:=$(mac_of "$IP")}"
		QEMU+=(-netdev "stream,id=n0,server=$server,addr.type=unix,addr.path=$path"
		       -device "virtio-net-pci,romfile=,netdev=n0,host_mtu=9000,mac=$MAC") ;;
	esac
	CMDLINE+=" lab.side=/dev/ttyS1 lab.host=$HOST lab.net=$net lab.ip=$IP lab.ip6=$IP6"
	CMDLINE+=" lab.mtu=$MTU lab.provider=$PROVIDER${MAC:+ lab.mac=$MAC} $APPEND"
	[ -z "$PLUGIN" ] || QEMU+=(-plugin "$PLUGIN")
	QEMU+=(-append "$CMDLINE")
}

# A kernel that finds less processors than it was given would prove less than it seems to:
# some options of its command line have that effect.
count_processors() {
	[ "$ICOUNT" = yes ] || [ "$SMP" = 1 ] && return
	grep -q "smp: Brought up .* $SMP CPUs" "$OUT/console.log" && return
	say "$PREFIX""the guest has not had $SMP processors: see $OUT/console.log"
	return 1
}

main() {
	local kernel status=0
	local -a QEMU

	parse_arguments "$@"
	kernel=$(kernel_dir "$KERNEL")
	mkdir -p "$OUT"
	rm -f "$OUT"/{console,output,side,qemu,splats}.log
	make_initrd "$kernel"
	make_command "$kernel"
	run_and_scan "$OUT/qemu.log" "${QEMU[@]}" || status=$?
	rm -f "$OUT/initrd"
	[ $status -ne 0 ] || count_processors || status=123
	exit $status
}

main "$@"
