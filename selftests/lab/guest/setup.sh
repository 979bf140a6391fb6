# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh - bring up a guest's network and RDMA device, run its command, report
#
# Sourced by process 1, in QEMU and in User Mode Linux, once the usual file
# systems are mounted. Everything comes from the kernel command line:
#
#   lab.side=DEV      terminal for the command's output and for the result
#   lab.host=NAME     host name
#   lab.net=KIND      veth, dummy, none, or the name of an existing interface
#   lab.ip= lab.ip6=  addresses with prefix lengths
#   lab.mac= lab.mtu=
#   lab.provider=P    rxe, siw or none: the RDMA device is called P0
#
# The last line on the side channel is "rdmachan-lab: exit N". N is the
# command's status, or 126 when the guest itself could not be set up. Lines that
# start with "rdmachan-lab: " are the lab's, all others the command's.

lab_say() { echo "rdmachan-lab: $*"; }

# Each lab.name=value of the kernel command line becomes lab_name.
lab_parameters() {
	lab_host=guest lab_net=veth lab_ip=10.77.0.1/24 lab_ip6=fd77::1/64
	lab_mac='' lab_mtu=4200 lab_provider=rxe lab_side=/dev/console
	# shellcheck disable=SC2013 # words, not lines
	for word in $(cat /proc/cmdline); do
		case $word in
		lab.host=*) lab_host=${word#*=} ;;
		lab.net=*) lab_net=${word#*=} ;;
		lab.ip=*) lab_ip=${word#*=} ;;
		lab.ip6=*) lab_ip6=${word#*=} ;;
		lab.mac=*) lab_mac=${word#*=} ;;
		lab.mtu=*) lab_mtu=${word#*=} ;;
		lab.provider=*) lab_provider=${word#*=} ;;
		lab.side=*) lab_side=${word#*=} ;;
		esac
	done
}

# Set LAB_DEV to the interface that carries RDMA, and bring it up. Addresses
# are usable at once: no duplicate address detection.
lab_network() {
	hostname "$lab_host"
	ip link set lo up
	[ "$lab_net" != none ] || return 0
	echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	case $lab_net in
	veth)
		LAB_DEV=veth0
		modprobe -q veth
		ip link add veth0 mtu "$lab_mtu" type veth peer name veth1 mtu "$lab_mtu" || return
		ip link set veth1 up || return ;;
	dummy)
		LAB_DEV=dummy0
		modprobe -q dummy numdummies=0
		ip link add dummy0 address 02:77:00:00:00:01 type dummy || return ;;
	*)
		LAB_DEV=$lab_net
		modprobe -q virtio_pci
		modprobe -q virtio_net
		lab_wait 100 test -e "/sys/class/net/$LAB_DEV" || return ;;
	esac
	[ -z "$lab_mac" ] || ip link set "$LAB_DEV" address "$lab_mac" || return
	ip link set "$LAB_DEV" mtu "$lab_mtu" up || return
	ip addr add "$lab_ip" dev "$LAB_DEV" || return
	ip addr add "$lab_ip6" dev "$LAB_DEV" nodad || return
}

# lab_wait TENTHS COMMAND: until the command succeeds.
lab_wait() {
	lab_left=$1
	shift
	until "$@"; do
		lab_left=$((lab_left - 1))
		[ "$lab_left" -gt 0 ] || return 1
		sleep 0.1
	done
}

# Does the device's GID table hold every address of the interface? Programs that
# come before it does fail to find a route.
lab_gids_complete() {
	lab_gids=$(cat "$lab_port"/gids/* 2>/dev/null | tr -d :)
	lab_want=$(awk -v dev="$LAB_DEV" '$6 == dev { print $1 }' /proc/net/if_inet6)
	lab_want="$lab_want 00000000000000000000ffff$(echo "${lab_ip%/*}" |
		awk -F. '{ printf "%02x%02x%02x%02x", $1, $2, $3, $4 }')"
	for lab_gid in $lab_want; do
		case $lab_gids in
		*"$lab_gid"*) ;;
		*) return 1 ;;
		esac
	done
}

lab_port_ready() {
	grep -q ACTIVE "$lab_port/state" &&
		{ [ "$lab_provider" = siw ] || lab_gids_complete; }
}

lab_rdma() {
	[ "$lab_provider" != none ] || return 0
	modprobe -q crc32_generic
	modprobe rdma_ucm || return
	modprobe -q ib_umad
	case $lab_provider in
	rxe) modprobe rdma_rxe || return ;;
	siw) modprobe siw || return ;;
	esac
	[ "$lab_net" != none ] || return 0
	LAB_RDMA=${lab_provider}0
	lab_port=/sys/class/infiniband/$LAB_RDMA/ports/1
	rdma link add "$LAB_RDMA" type "$lab_provider" netdev "$LAB_DEV" || return
	lab_wait 100 lab_port_ready
}

# A kernel that looks for leaks is asked for them; the log is read afterwards.
# The second scan drops what was only in flight during the first.
lab_leaks() {
	lab_kmemleak=/sys/kernel/debug/kmemleak
	[ -w $lab_kmemleak ] || return 0
	echo scan >$lab_kmemleak 2>/dev/null || return 0
	sleep 5
	echo scan >$lab_kmemleak
	cat $lab_kmemleak >/dev/kmsg 2>/dev/null
}

# The command's output goes to the side channel, never to the kernel log.
lab_main() {
	lab_parameters
	[ ! -c "$lab_side" ] || stty -F "$lab_side" raw -echo
	exec </dev/null >"$lab_side" 2>&1
	lab_status=126
	if ! lab_network; then
		lab_say "cannot set up the network '$lab_net'"
	elif ! lab_rdma; then
		lab_say "cannot set up RDMA by '$lab_provider'"
	else
		export LAB_DEV LAB_RDMA LAB_HOST="$lab_host"
		export LAB_IP="${lab_ip%/*}" LAB_IP6="${lab_ip6%/*}"
		lab_say ready
		cd /test || :
		sh /lab/command
		lab_status=$?
		lab_leaks
	fi
	# A command may have left its last line unfinished.
	echo
	lab_say "exit $lab_status"
}
