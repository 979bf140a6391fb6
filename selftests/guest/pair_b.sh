#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pair_b.sh TEST - host b's part of a test of two hosts, see pair_a.sh

# Nothing was lost, so any packet sent again was so in vain.
few_repeated() {
	for counters in /sys/class/infiniband/*/ports/1/hw_counters; do
		repeated=$(cat "$counters/duplicate_request")
		packets=$(cat "$counters/rcvd_pkts")
		echo "$repeated of $packets packets were repeated"
		[ $((repeated * 10)) -lt "$packets" ] || return 1
	done
}

# serve: an echo service, and one that takes files
serve() {
	./rdmachan listen --echo 7002 &
	echo=$!
	./rdmachan recv --service 7001 /tmp/in 2>/tmp/received &
	receiver=$!
	until [ "$(./rdmachan list --listeners | grep -c open)" = 2 ]; do sleep 0.1; done
}

cd /test || exit 1
insmod ./rdmachan.ko dead_ms="${DEAD_MS:-5000}" idle_ms="${IDLE_MS:-30000}" || exit 1
mkdir -p /tmp/in
owner=
serve
if [ "$1" = grants ]; then
	./rdmachan lend --size "${SIZE:-4194304}" --rights read,write,atomic -s 7003 &
	owner=$!
	until [ "$(./rdmachan list --listeners | grep -c open)" = 3 ]; do sleep 0.1; done
fi
lab-signal listening || exit 1
if [ "$1" = grants-dead ]; then
	lab-await ready
	sleep 1000 | ./rdmachan put - "$PEER_IP:7004" &
	lab-await lent
	sleep 1
	echo "kill-b"
	sleep 1000
fi
if [ "$1" = dead ]; then
	lab-await ready
	echo "kill-b"
	sleep 1000
fi
if [ "$1" = restart ]; then
	for round in 1 2 3; do
		lab-await "go$round" || exit 1
		kill -9 $echo $receiver
		wait $echo $receiver
		rm -f /tmp/in/file
		# Until the last file is closed.
		until rmmod rdmachan 2>/tmp/rmmod; do sleep 0.1; done
		insmod ./rdmachan.ko dead_ms="${DEAD_MS:-5000}" idle_ms="${IDLE_MS:-30000}" || exit 1
		serve
		lab-signal "back$round" || exit 1
	done
fi
if [ "$1" = crossing ]; then
	./crossing.sh b a || exit 1
fi
lab-await finished || exit 1
cat /tmp/received
if [ "$1" = far ]; then
	few_repeated || exit 1
fi
# shellcheck disable=SC2086 # there may be none
kill $echo $receiver $owner
# shellcheck disable=SC2086
wait $echo $receiver $owner
./leak_check 8000 || exit 1
rmmod rdmachan
