# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# hosts.sh - several hosts in one kernel: network namespaces a, b, c, ...
#
# Sourced by setup.sh for lab.net=hosts. Each host has an interface eth0 with the addresses
# 10.77.0.N and fd77::N, and an RDMA device rxe0 (host a), rxe1 (host b) and so on. Host a is
# the first namespace of the kernel; the command runs there. Two hosts are the ends of a veth
# pair. More than two hang on a bridge in a namespace of its own, "switch". The cables are netem
# queues: see lab-cable.
#
# siw serves one host only: its sockets are all in the first namespace. Its wire is lo.

# shellcheck disable=SC2154,SC2034 # setup.sh has them

# Set lab_name to the name of host number $1, which is also the name of its namespace.
lab_host_name() {
	lab_name=h$1
	lab_i=0
	for lab_letter in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
		[ $((lab_i += 1)) -lt "$1" ] || { lab_name=$lab_letter; break; }
	done
}

# The names of all hosts, for people and programs.
lab_hosts_file() {
	echo "127.0.0.1 localhost"
	lab_n=0
	while [ $((lab_n += 1)) -le "$lab_hosts" ]; do
		lab_host_name $lab_n
		echo "10.77.0.$lab_n $lab_name"
		printf 'fd77::%x %s6\n' "$lab_n" "$lab_name"
	done
}

# The ip commands for all interfaces, of the first namespace. No two have the same number: rdma_cm
# tells connections that a neighbour has moved by the number of the interface and the address, and
# forgets the namespace.
lab_hosts_links() {
	echo "link set lo up"
	if [ "$lab_hosts" = 2 ]; then
		echo "netns add b"
		echo "link add eth0 index 101 mtu $lab_mtu type veth" \
			"peer name eth0 index 102 mtu $lab_mtu netns b"
		return
	fi
	echo "netns add switch"
	lab_n=1
	while [ $((lab_n += 1)) -le "$lab_hosts" ]; do
		lab_host_name $lab_n
		echo "netns add $lab_name"
	done
}

# The ip commands of the namespace "switch".
lab_hosts_switch() {
	echo "link add br0 mtu $lab_mtu type bridge mcast_snooping 0"
	lab_n=0
	while [ $((lab_n += 1)) -le "$lab_hosts" ]; do
		lab_host_name $lab_n
		echo "link add to-$lab_name index $((200 + lab_n)) mtu $lab_mtu type veth" \
			"peer name eth0 index $((100 + lab_n)) mtu $lab_mtu netns $lab_name"
		echo "link set to-$lab_name master br0 up"
	done
	echo "link set br0 up"
}

# The ip commands of host number $1.
lab_hosts_host() {
	echo "link set lo up"
	printf 'link set eth0 address 02:77:00:00:%02x:%02x mtu %d up\n' \
		$(($1 >> 8)) $(($1 & 255)) "$lab_mtu"
	echo "addr add 10.77.0.$1/24 dev eth0"
	printf 'addr add fd77::%x/64 dev eth0 nodad\n' "$1"
}

# Bring up the interfaces of all hosts.
lab_hosts_network() {
	lab_hosts_file >/etc/hosts
	# Namespaces begin with the settings of the first one.
	echo 1 >/proc/sys/net/core/devconf_inherit_init_net
	# One table has the neighbours of all hosts.
	for lab_n in 1 2 3; do
		echo 65536 >/proc/sys/net/ipv4/neigh/default/gc_thresh$lab_n
		echo 65536 >/proc/sys/net/ipv6/neigh/default/gc_thresh$lab_n
	done
	busybox mkdir -p /run/netns /run/cable
	ip netns attach a 1 || return
	modprobe -q veth
	lab_hosts_links >/run/ip-commands
	ip -batch /run/ip-commands || return
	if [ "$lab_hosts" != 2 ]; then
		lab_hosts_switch >/run/ip-commands
		ip -n switch -batch /run/ip-commands || return
	fi
	lab_n=0
	while [ $((lab_n += 1)) -le "$lab_hosts" ]; do
		lab_host_name $lab_n
		lab_hosts_host $lab_n >/run/ip-commands
		ip -n "$lab_name" -batch /run/ip-commands || return
	done
	echo "$lab_hosts" >/run/cable/hosts
	echo "$lab_delay" >/run/cable/delay
	LAB_DEV=eth0
}

# Whether the GIDs of the addresses of host number $1 are in its device's table.
lab_hosts_gids() {
	lab_gid_table
	lab_gid_of_ip4 "10.77.0.$1"
	case $lab_table in
	*"$lab_gid"*) ;;
	*) return 1 ;;
	esac
	lab_gid_of_digits "$(printf 'fd77%028x' "$1")"
	case $lab_table in
	*"$lab_gid"*) ;;
	*) return 1 ;;
	esac
}

# Give each host its RDMA device.
lab_hosts_rdma() {
	lab_n=0
	while [ $((lab_n += 1)) -le "$lab_hosts" ]; do
		lab_host_name $lab_n
		nsenter --net="/run/netns/$lab_name" \
			rdma link add "$lab_provider$((lab_n - 1))" type "$lab_provider" \
			netdev eth0 || return
		lab_port=/sys/class/infiniband/$lab_provider$((lab_n - 1))/ports/1
		[ "$lab_provider" = siw ] || lab_wait 100 lab_hosts_gids $lab_n || return
	done
	# A limit that begins within the kernel's first two ticks ends a tick late.
	busybox sleep 0.1
	# Only then there is a wire with a length.
	/lab/lab-cable mend || return
	for lab_word in $(echo "$lab_cable" | busybox tr : ' '); do
		# shellcheck disable=SC2046 # a word and its value
		/lab/lab-cable $(echo "$lab_word" | busybox tr , ' ') || return
	done
	LAB_RDMA=${lab_provider}0
	[ "$lab_hosts" -gt 1 ] || return 0
	LAB_PEER_RDMA=rxe1 LAB_PEER_IP=10.77.0.2 LAB_PEER_IP6=fd77::2 LAB_PEER_NETNS=/run/netns/b
	export LAB_PEER_RDMA LAB_PEER_IP LAB_PEER_IP6 LAB_PEER_NETNS LAB_HOSTS="$lab_hosts"
}
