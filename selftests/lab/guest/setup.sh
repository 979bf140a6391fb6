# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh - bring up a guest's network and RDMA device, run its command, report
#
# Sourced by process 1, in QEMU and in User Mode Linux. Everything comes from the
# kernel command line:
#
#   lab.side=DEV      terminal for the command's output and for the result
#   lab.host=NAME     host name
#   lab.net=KIND      veth, dummy, none, hosts (hosts.sh), or the name of an existing interface
#   lab.hosts=N       how many hosts, with lab.net=hosts; lab.delay=US between two of them,
#                     lab.cable=WORD,VALUE,... the faults of the cables from the start
#   lab.ip= lab.ip6=  addresses with prefix lengths
#   lab.mac= lab.mtu=
#   lab.provider=P    rxe, siw or none: the RDMA device is called P0
#
# The last line on the side channel is "rdmachan-lab: exit N". N is the
# command's status, or 126 when the guest itself could not be set up. Lines that
# start with "rdmachan-lab: " are the lab's, all others the command's.
#
# A new process costs User Mode Linux 15 to 60 ms, the more libraries the more:
# hence the shell's own means, busybox, and one ip for many commands.

mount() { busybox mount "$@"; }
modprobe() { busybox modprobe "$@"; }

lab_say() { echo "rdmachan-lab: $*"; }

# Each lab.name=value of the kernel command line becomes lab_name.
lab_parameters() {
	lab_host=guest lab_net=veth lab_ip=10.77.0.1/24 lab_ip6=fd77::1/64
	lab_mac='' lab_mtu=4200 lab_provider=rxe lab_side=/dev/console
	# shellcheck disable=SC2034 # those of hosts.sh
	lab_hosts=1 lab_delay=20 lab_cable=''
	# shellcheck disable=SC2034 # uml-init's
	lab_dir='' lab_run='' lab_modules='' lab_share=''
	read -r lab_words </proc/cmdline
	# shellcheck disable=SC2034
	for lab_word in $lab_words; do
		lab_value=${lab_word#*=}
		case $lab_word in
		lab.host=*) lab_host=$lab_value ;;
		lab.net=*) lab_net=$lab_value ;;
		lab.ip=*) lab_ip=$lab_value ;;
		lab.ip6=*) lab_ip6=$lab_value ;;
		lab.mac=*) lab_mac=$lab_value ;;
		lab.mtu=*) lab_mtu=$lab_value ;;
		lab.hosts=*) lab_hosts=$lab_value ;;
		lab.delay=*) lab_delay=$lab_value ;;
		lab.cable=*) lab_cable=$lab_value ;;
		lab.provider=*) lab_provider=$lab_value ;;
		lab.side=*) lab_side=$lab_value ;;
		lab.dir=*) lab_dir=$lab_value ;;
		lab.run=*) lab_run=$lab_value ;;
		lab.modules=*) lab_modules=$lab_value ;;
		lab.share=*) lab_share=$lab_value ;;
		time-travel=*) export LAB_VIRTUAL=1 ;;
		esac
	done
}

# What a system has, /proc excepted.
lab_mounts() {
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev 2>/dev/null
	busybox mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	mount -t tmpfs -o mode=755 tmpfs /run
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	[ -e /dev/fd ] || busybox ln -s /proc/self/fd /dev/fd
	[ -e /dev/stdout ] || busybox ln -s /proc/self/fd/1 /dev/stdout
	[ -e /dev/stderr ] || busybox ln -s /proc/self/fd/2 /dev/stderr
}

# root, plain users with homes of their own, since tests drop root, and the names
# of the two hosts. This is the guest's own copy of these files, never the host's.
lab_users() {
	cat >/etc/passwd <<-'END'
	root:*:0:0:root:/root:/bin/sh
	alice:*:1000:1000::/home/alice:/bin/sh
	bob:*:1001:1001::/home/bob:/bin/sh
	carol:*:1002:1002::/home/carol:/bin/sh
	nobody:*:65534:65534::/:/bin/sh
	END
	cat >/etc/group <<-'END'
	root:*:0:
	tty:*:5:
	alice:*:1000:
	bob:*:1001:
	carol:*:1002:
	nogroup:*:65534:
	END
	cat >/etc/hosts <<-'END'
	127.0.0.1 localhost
	10.77.0.1 a
	10.77.0.2 b
	fd77::1 a6
	fd77::2 b6
	END
	busybox mkdir -p /home/alice /home/bob /home/carol
	busybox chown 1000:1000 /home/alice
	busybox chown 1001:1001 /home/bob
	busybox chown 1002:1002 /home/carol
}

# Print the ip commands that make the interface $1 of the kind lab_net.
lab_link_commands() {
	echo "link set lo up"
	case $lab_net in
	veth)
		echo "link add veth0 mtu $lab_mtu type veth peer name veth1 mtu $lab_mtu"
		echo "link set veth1 up" ;;
	dummy)
		[ -e /sys/class/net/dummy0 ] || echo "link add dummy0 type dummy" ;;
	esac
	[ -z "$lab_mac" ] || echo "link set $1 address $lab_mac"
	echo "link set $1 mtu $lab_mtu up"
	echo "addr add $lab_ip dev $1"
	echo "addr add $lab_ip6 dev $1 nodad"
}

# Set LAB_DEV to the interface that carries RDMA, and bring it up. Addresses
# are usable at once: no duplicate address detection.
lab_network() {
	busybox hostname "$lab_host"
	if [ "$lab_net" = none ]; then
		ip link set lo up
		return
	fi
	echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	case $lab_net in
	veth)
		LAB_DEV=veth0
		modprobe -q veth ;;
	hosts)
		lab_hosts_network
		return ;;
	dummy)
		LAB_DEV=dummy0
		: "${lab_mac:=02:77:00:00:00:01}"
		modprobe -q dummy numdummies=0 ;;
	*)
		LAB_DEV=$lab_net
		modprobe -q virtio_pci
		modprobe -q virtio_net
		lab_wait 100 [ -e "/sys/class/net/$LAB_DEV" ] || return ;;
	esac
	lab_link_commands "$LAB_DEV" >/run/ip-commands
	ip -batch /run/ip-commands
}

# lab_wait N COMMAND: until the command succeeds, at most N tenths of a second.
lab_wait() {
	lab_left=$1
	shift
	until "$@"; do
		lab_left=$((lab_left - 1))
		[ "$lab_left" -gt 0 ] || return 1
		busybox sleep 0.1
	done
}

# Set lab_gid to the GID that belongs to an IPv4 address.
lab_gid_of_ip4() {
	lab_gid=$(
		IFS=.
		# shellcheck disable=SC2086 # splits at the dots
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' $1)
}

# Set lab_gid to 32 hexadecimal digits, with the colons of a GID.
lab_gid_of_digits() {
	lab_gid=''
	lab_rest=$1
	while [ -n "$lab_rest" ]; do
		lab_tail=${lab_rest#????}
		lab_gid=$lab_gid${lab_gid:+:}${lab_rest%"$lab_tail"}
		lab_rest=$lab_tail
	done
}

# Set lab_table to the start of the device's GID table, which has a thousand entries.
lab_gid_table() {
	lab_table=''
	for lab_i in 0 1 2 3 4 5 6 7; do
		read -r lab_entry <"$lab_port/gids/$lab_i" || lab_entry=''
		lab_table="$lab_table $lab_entry"
	done
}

# Does the device's GID table hold every address of the interface? Programs that
# come before it does fail to find a route.
lab_gids_complete() {
	lab_gid_table
	case $lab_table in
	*"$lab_gid4"*) ;;
	*) return 1 ;;
	esac
	while read -r lab_digits _ _ _ _ lab_name; do
		[ "$lab_name" = "$LAB_DEV" ] || continue
		lab_gid_of_digits "$lab_digits"
		case $lab_table in
		*"$lab_gid"*) ;;
		*) return 1 ;;
		esac
	done </proc/net/if_inet6
}

# An iWARP device has one GID, from its hardware address.
lab_port_ready() {
	read -r lab_state <"$lab_port/state"
	case $lab_state in
	*ACTIVE*) [ "$lab_provider" = siw ] || lab_gids_complete ;;
	*) return 1 ;;
	esac
}

lab_rdma() {
	[ "$lab_provider" != none ] || return 0
	# rxe takes the fastest that is there when its device is made.
	modprobe -q crc32_generic
	modprobe -q crc32-pclmul
	modprobe rdma_ucm || return
	modprobe -q ib_umad
	case $lab_provider in
	rxe) modprobe rdma_rxe || return ;;
	siw)
		modprobe siw || return
		# Its connects to a host that is silent end when TCP gives up, and not
		# before: the removal of the device waits for that.
		echo 2 >/proc/sys/net/ipv4/tcp_syn_retries
		;;
	esac
	case $lab_net in
	none) return 0 ;;
	hosts)
		lab_hosts_rdma
		return ;;
	esac
	LAB_RDMA=${lab_provider}0
	lab_port=/sys/class/infiniband/$LAB_RDMA/ports/1
	lab_gid_of_ip4 "${lab_ip%/*}"
	lab_gid4=$lab_gid
	rdma link add "$LAB_RDMA" type "$lab_provider" netdev "$LAB_DEV" || return
	lab_wait 100 lab_port_ready
}

# A kernel that looks for leaks is asked for them; the log is read afterwards. Lost is
# what two scans find in the same state. Right after the command the first may still see
# it, as the stacks of programs that have just ended are scanned too: hence a third.
lab_leaks() {
	lab_kmemleak=/sys/kernel/debug/kmemleak
	[ -w $lab_kmemleak ] || return 0
	echo scan 2>/dev/null >$lab_kmemleak || return 0
	busybox sleep 5
	echo scan >$lab_kmemleak
	echo scan >$lab_kmemleak
	# One line is one record of the log.
	while IFS= read -r lab_line; do
		echo "$lab_line" >/dev/kmsg
	done <$lab_kmemleak
}

# The command's output goes to the side channel, never to the kernel log.
lab_main() {
	lab_mounts
	busybox stty -F "$lab_side" raw -echo
	exec </dev/null >"$lab_side" 2>&1
	lab_users
	lab_status=126
	if ! lab_network; then
		lab_say "cannot set up the network '$lab_net'"
	elif ! lab_rdma; then
		lab_say "cannot set up RDMA by '$lab_provider'"
	else
		export LAB_DEV LAB_RDMA LAB_HOST="$lab_host" LAB_SIDE="$lab_side"
		export LAB_IP="${lab_ip%/*}" LAB_IP6="${lab_ip6%/*}"
		lab_say ready
		cd /test || :
		sh /lab/command
		lab_status=$?
		lab_leaks
	fi
	# A command may have left its last line unfinished.
	echo
	read -r lab_clock _ </proc/uptime
	lab_say "clock $lab_clock"
	lab_say "exit $lab_status"
}
