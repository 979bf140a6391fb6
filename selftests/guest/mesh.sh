#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# mesh.sh [NEIGHBOURS] - each host has an echo service, and pings those of the NEIGHBOURS hosts
# that follow it, or of all others; TAP
#
# For a guest of vt.sh, whose hosts are namespaces of one kernel.

hosts=${LAB_HOSTS:?}
neighbours=${1:-$((hosts - 1))}
names=$(awk '$1 ~ /^10\.77\.0\./ { print $2 }' /etc/hosts)
failed=0

# Each pair has a link of each side's, and each link two ends in this kernel.
insmod ./rdmachan.ko all_links=$((4 * hosts * neighbours)) || exit 1

for name in $names; do
	lab-on "$name" ./rdmachan listen --echo 5000 &
	echo $! >>/tmp/servers
done
# Until all listen.
for name in $names; do
	until lab-on "$name" ./rdmachan list --listeners | grep -q open; do sleep 0.1; done
done

# All pairs, those of a host one after the other.
echo "$names" | awk -v neighbours="$neighbours" '
	{ name[NR - 1] = $1 }
	END {
		for (i = 0; i < NR; i++)
			for (n = 1; n <= neighbours; n++)
				print name[i], name[(i + n) % NR]
	}' >/tmp/pairs

echo "1..$hosts"
number=0
answered=0
asked=0
while read -r name peer; do
	asked=$((asked + 1))
	if lab-on "$name" ./rdmachan ping -c 1 "$peer:5000" >/tmp/ping 2>&1 </dev/null; then
		answered=$((answered + 1))
	else
		cat /tmp/ping
	fi
	[ $asked = "$neighbours" ] || continue
	number=$((number + 1))
	if [ $answered = "$neighbours" ]; then
		echo "ok $number - host $name has an answer of each of $neighbours"
	else
		echo "not ok $number - host $name has $answered answers of $neighbours"
		failed=1
	fi
	answered=0 asked=0
done </tmp/pairs
# shellcheck disable=SC2046 # numbers
kill $(cat /tmp/servers)
wait
[ "$number" = "$hosts" ] && rmmod rdmachan || failed=1
exit $failed
