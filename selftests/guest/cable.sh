#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cable.sh - host a sends to host b, borrows from it and connects to it, over cables that are bad;
# TAP
#
# For a guest of vt.sh with two hosts. Time is virtual: the same cable has the same effect each
# time, however busy the machine is.

# shellcheck disable=SC2317 # attempt calls the tests

number=0
failed=0
peer=$LAB_PEER_IP

# verdict STATUS NAME
verdict() {
	number=$((number + 1))
	[ "$1" = 0 ] || { echo -n "not "; failed=1; }
	echo "ok $number - $2"
}

# attempt NAME COMMAND...: a test, which begins with good cables and no link
attempt() {
	local name=$1 status word log=/tmp/log-$1

	shift
	until ./rdmachan list --links --json | grep -q '^\[\]' &&
		lab-on b ./rdmachan list --links --json | grep -q '^\[\]'; do sleep 1; done
	("$@") >"$log" 2>&1
	status=$?
	lab-cable flap 0
	for word in loss duplicate reorder corrupt delay jitter rate; do
		lab-cable "$word" 0
	done
	lab-cable mend
	# The next one begins after the last packet of this one.
	sleep 2
	[ $status = 0 ] || sed 's/^/# /' "$log"
	verdict $status "$name"
}

cables() {
	local words

	for words; do
		# shellcheck disable=SC2086 # words
		lab-cable $words || return
	done
}

# transfer BYTES CABLE...: a file goes to host b, and comes back by messages
transfer() {
	local size=$1

	shift
	cables "$@" || return
	head -c "$size" /dev/urandom >/tmp/file
	rm -rf /tmp/in/*
	./rdmachan send /tmp/file "$peer:7001" || return
	cmp /tmp/file /tmp/in/file || return
	./rdmachan ping -c 10 -i 0 -s 64 "$peer:7002" || return
	./rdmachan ping -c 2 -i 0 -s 1m "$peer:7002"
}

packets() { cat "/sys/class/infiniband/$LAB_PEER_RDMA/ports/1/hw_counters/$1"; }

# Nothing is lost, so any packet sent again is so in vain.
far() {
	local before

	before=$(packets duplicate_request)
	transfer 1048576 "delay 100" || return
	echo "$(($(packets duplicate_request) - before)) packets were sent again"
	[ "$(packets duplicate_request)" = "$before" ]
}

# What the receiver sends gets lost: answers, and where it wants the file.
busy() {
	local ping

	cables "loss 3 ba" || return
	./rdmachan ping -c 1000000 -i 0 -s 64 "$peer:7002" >/tmp/ping &
	ping=$!
	transfer "$1" || return
	kill -INT "$ping"
	# It fails, as less were sent than it was to. Only the last may be without an answer.
	wait "$ping"
	tail -n 3 /tmp/ping
	awk '/ sent, .* answered/ { told = 1; lost = $1 - $3 } END { exit !told || lost > 1 }' /tmp/ping
}

# cut_for SECONDS SIDE: during a transfer, which takes longer than until the cut
cut_for() {
	local cutter

	cables "rate 100" || return
	(sleep 0.2; lab-cable cut ${2:+"$2"} && sleep "$1" && lab-cable mend ${2:+"$2"}) &
	cutter=$!
	transfer 8388608 || return
	wait "$cutter"
}

# The hosts are connected before: a request to connect is sent again after seconds only, and every
# other one meets a cut cable.
flapping() {
	transfer 1 || return
	cables "rate 100" "flap 100" || return
	transfer 2097152 || return
	lab-cable flap 0
}

# count NUMBER: add one to what is NUMBER. rxe may lose what it was, and must not tell another.
count() {
	local before

	if before=$(./rdmachan add -O 8 1 "$peer:7003" 2>/tmp/said); then
		[ "$before" = "$1" ] && return
		echo "it was $1, and is said to have been $before"
		return 1
	fi
	cat /tmp/said
	grep -q 'lost its result' /tmp/said &&
		[ "$(./rdmachan get -O 8 -n 8 "$peer:7003" | od -An -td8 | tr -d ' ')" = $(($1 + 1)) ]
}

# grants CABLE...: what host b lends is written, read, and counted in
grants() {
	local i

	cables "$@" || return
	head -c 1048576 /dev/urandom >/tmp/file
	./rdmachan put /tmp/file "$peer:7003" || return
	./rdmachan get -n 1048576 "$peer:7003" >/tmp/back || return
	cmp /tmp/file /tmp/back || return
	head -c 8 /dev/zero | ./rdmachan put -O 8 - "$peer:7003" || return
	for i in $(seq 0 39); do
		count "$i" || return
	done
}

# Both hosts connect to each other at the same moment, without a link from before.
crossing() {
	local round other

	cables "delay 20" || return
	echo 100 >/sys/module/rdmachan/parameters/idle_ms
	for round in $(seq 20); do
		until ./rdmachan list --links --json | grep -q '^\[\]' &&
			lab-on b ./rdmachan list --links --json | grep -q '^\[\]'; do sleep 0.5; done
		lab-on b ./rdmachan ping -c 3 -i 0 "$LAB_IP:7004" >/tmp/other 2>&1 &
		other=$!
		./rdmachan ping -c 3 -i 0 "$peer:7002" || return
		wait "$other" || { echo "round $round"; cat /tmp/other; return 1; }
	done
}

cp -r /test /tmp/test && cd /tmp/test || exit 1
# One more rule of the lab: no link from the test before.
insmod ./rdmachan.ko idle_ms=1000 || exit 1
mkdir -p /tmp/in
lab-on b ./rdmachan listen --echo 7002 &
servers=$!
lab-on b ./rdmachan recv --service 7001 /tmp/in 2>/tmp/received &
servers="$servers $!"
lab-on b ./rdmachan lend --size 1m --rights read,write,atomic -s 7003 >/tmp/lend 2>&1 &
servers="$servers $!"
./rdmachan listen --echo 7004 &
servers="$servers $!"
until [ "$(lab-on b ./rdmachan list --listeners | grep -c open)" = 3 ] &&
	[ "$(./rdmachan list --listeners | grep -c open)" = 1 ]; do sleep 1; done

echo "1..18"
attempt good_cable transfer 4194304
attempt loss transfer 4194304 "loss 1"
attempt duplicates transfer 4194304 "duplicate 1"
attempt reordering transfer 4194304 "delay 1" "reorder 1"
attempt all_of_it transfer 1048576 "delay 1" "duplicate 1" "reorder 0.1"
attempt corruption transfer 4194304 "corrupt 1"
attempt slow transfer 4194304 "rate 10"
attempt far far
attempt busy busy 16777216
attempt cut cut_for 2
attempt cut_there cut_for 2 ab
attempt cut_back cut_for 2 ba
attempt flapping flapping
attempt grants grants
attempt grants_over_loss grants "loss 1"
attempt crossing crossing
# shellcheck disable=SC2086 # numbers
kill $servers
wait
./leak_check 8000
verdict $? "left nothing behind"
rmmod rdmachan
verdict $? "the module is unloaded"
exit $failed
