#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pair_a.sh TEST - host a's part of a test of two hosts; pair_b.sh has host b's
#
#   transfer      a file, its digest, an echo
#   loss          the same over a cable that loses 1 % of the frames
#   mix           ROUNDS files over a cable on which packets are lost, repeated and out of order
#   far           the same over a cable so long that answers take 200 ms
#   busy          a transfer beside small messages, while the receiver's frames get lost
#   cut           a transfer during which the cable is cut for two seconds
#   grants        host b lends memory: written, read, and counted in
#   grants-dead   host b has borrowed, and dies: the memory comes back
#   crossing      both connect to each other at once, ROUNDS times
#   dead          the peer host dies: found out, and explained
#   restart       the peer's module goes and comes back, three times
#
# How long something takes is measured where time is virtual, not here.

cd /test || exit 1
insmod ./rdmachan.ko dead_ms="${DEAD_MS:-5000}" idle_ms="${IDLE_MS:-30000}" || exit 1
size=${SIZE:-4194304}
head -c "$size" /dev/urandom >/tmp/file
lab-await listening || exit 1

# transfer [FILE]
transfer() {
	timeout 100 ./rdmachan send "${1:-/tmp/file}" "$PEER_IP:7001" 2>/tmp/log
	status=$?
	cat /tmp/log
	return $status
}

# Add one to a number that is $1. rxe may lose what it was, and must not tell another.
count() {
	before=$(./rdmachan add -O 8 1 "$lent" 2>/tmp/log)
	status=$?
	if [ $status = 0 ]; then
		[ "$before" = "$1" ] && return
		echo "it was $1, and is said to have been $before"
		return 1
	fi
	cat /tmp/log
	grep -q 'lost its result' /tmp/log &&
		[ "$(./rdmachan get -O 8 -n 8 "$lent" | od -An -td8 | tr -d ' ')" = $(($1 + 1)) ]
}

case $1 in
transfer | loss | far)
	transfer || exit 1
	./rdmachan ping -c 10 -i 0 -s 64 "$PEER_IP:7002" || exit 1
	./rdmachan ping -c 2 -i 0 -s 1m "$PEER_IP:7002" || exit 1
	;;
mix)
	# An adapter may get stuck, which is said then; most files arrive all the same.
	rounds=${ROUNDS:-10} arrived=0
	for round in $(seq "$rounds"); do
		cp /tmp/file "/tmp/file-$round"
		if transfer "/tmp/file-$round"; then
			arrived=$((arrived + 1))
			continue
		fi
		echo "round $round did not arrive"
		grep -qE 'has taken nothing|could not carry out|took the connection down' /tmp/log ||
			exit 1
	done
	echo "$arrived of $rounds files arrived"
	[ $((arrived * 2)) -ge "$rounds" ] || exit 1
	;;
busy)
	# What the receiver sends: answers, and where it wants the file.
	lab-cable "loss 3 ba"
	./rdmachan ping -c 1000000 -i 0 -s 64 "$PEER_IP:7002" >/tmp/ping &
	ping=$!
	transfer || exit 1
	kill -INT $ping
	# It fails, as less were sent than it was to. Only the last may be without an answer.
	wait $ping
	tail -n 3 /tmp/ping
	awk '/ sent, .* answered/ { told = 1; lost = $1 - $3 } END { exit !told || lost > 1 }' \
		/tmp/ping || exit 1
	;;
cut)
	(sleep 1; lab-cable cut && sleep 2 && lab-cable mend) &
	cutter=$!
	transfer || exit 1
	wait $cutter || exit 1
	;;
grants)
	lent=$PEER_IP:7003
	./rdmachan put /tmp/file "$lent" || exit 1
	./rdmachan get -n "$size" "$lent" >/tmp/back || exit 1
	cmp /tmp/file /tmp/back || exit 1
	head -c 8 /dev/zero | ./rdmachan put -O 8 - "$lent" || exit 1
	for i in $(seq 0 99); do
		count "$i" || exit 1
	done
	;;
grants-dead)
	./rdmachan lend --once --size 64k --rights read,write -s 7004 >/tmp/log 2>&1 &
	owner=$!
	until ./rdmachan list --listeners | grep -q open; do sleep 0.1; done
	lab-signal ready || exit 1
	until ./rdmachan list --grants | grep -q open; do sleep 0.1; done
	lab-signal lent || exit 1
	wait $owner
	cat /tmp/log
	grep -q "is back: Nothing was heard" /tmp/log || exit 1
	grep -q "ours again" /tmp/log || exit 1
	rmmod rdmachan || exit 1
	exit 0
	;;
crossing)
	./rdmachan listen --echo 7002 &
	until ./rdmachan list --listeners | grep -q open; do sleep 0.1; done
	./crossing.sh a b || exit 1
	kill $!
	;;
restart)
	# A channel that is open when the module goes is told so; the next one is of the new module.
	for round in 1 2 3; do
		mkfifo "/tmp/quiet$round"
		sleep 1000 >"/tmp/quiet$round" &
		sleeper=$!
		./rdmachan connect "$PEER_IP:7002" <"/tmp/quiet$round" >/dev/null 2>/tmp/log &
		reader=$!
		until ./rdmachan list --channels | grep -q connected; do sleep 0.1; done
		./rdmachan ping -c 3 -i 0 "$PEER_IP:7002" || exit 1
		lab-signal "go$round" || exit 1
		wait $reader && exit 1
		cat /tmp/log
		kill $sleeper
		grep -qiE 'killed|module took the connection down|reset' /tmp/log || exit 1
		lab-await "back$round" || exit 1
		./rdmachan ping -c 3 -i 0 "$PEER_IP:7002" || exit 1
		transfer || exit 1
	done
	;;
dead)
	# A channel that is open and quiet, with a reader that waits on it.
	mkfifo /tmp/quiet
	sleep 1000 >/tmp/quiet &
	./rdmachan connect "$PEER_IP:7002" </tmp/quiet >/dev/null 2>/tmp/log &
	reader=$!
	sleep 1
	lab-signal ready || exit 1
	wait $reader
	cat /tmp/log
	grep -qi 'nothing was heard' /tmp/log || exit 1
	# Connecting anew must end in time, and be explained.
	./rdmachan connect --timeout 3 "$PEER_IP:7002" </dev/null 2>/tmp/log && exit 1
	cat /tmp/log
	grep -q '^What to do: ' /tmp/log || exit 1
	rmmod rdmachan || exit 1
	exit 0
	;;
esac
lab-signal finished || exit 1
./leak_check 8000 || exit 1
rmmod rdmachan
