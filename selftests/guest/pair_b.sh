#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pair_b.sh TEST - host b's part of a test of two hosts, see pair_a.sh

# Nothing was lost, so that whatever was sent again was so in vain.
few_repeated() {
	for counters in /sys/class/infiniband/*/ports/1/hw_counters; do
		repeated=$(cat "$counters/duplicate_request")
		packets=$(cat "$counters/rcvd_pkts")
		echo "$repeated of $packets packets were repeated"
		[ $((repeated * 10)) -lt "$packets" ] || return 1
	done
}

cd /test || exit 1
insmod ./rdmachan.ko dead_ms="${DEAD_MS:-5000}" idle_ms="${IDLE_MS:-30000}" || exit 1
mkdir -p /tmp/in
./rdmachan listen --echo 7002 &
echo=$!
./rdmachan recv --service 7001 /tmp/in 2>/tmp/received &
receiver=$!
listeners=2 owner=
if [ "$1" = grants ]; then
	./rdmachan lend --size "${SIZE:-4194304}" --rights read,write,atomic -s 7003 &
	owner=$! listeners=3
fi
until [ "$(./rdmachan list --listeners | grep -c open)" = $listeners ]; do sleep 0.1; done
lab-signal listening || exit 1
if [ "$1" = grants-dead ]; then
	lab-await ready 60
	sleep 1000 | ./rdmachan put - "$PEER_IP:7004" &
	lab-await lent 60
	sleep 1
	echo "kill host b now"
	sleep 1000
fi
if [ "$1" = dead ]; then
	lab-await ready 60
	echo "kill host b now"
	sleep 1000
fi
if [ "$1" = crossing ]; then
	./crossing.sh b a || exit 1
fi
lab-await finished 150 || exit 1
cat /tmp/received
if [ "$1" = far ]; then
	few_repeated || exit 1
fi
# shellcheck disable=SC2086 # there may be none
kill $echo $receiver $owner
# shellcheck disable=SC2086
wait $echo $receiver $owner
sleep 0.2
rmmod rdmachan
