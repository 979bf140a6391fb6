#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench_guest.sh - measure rdmachan beside verbs, rsockets and TCP in one guest
#
# Prints lines "row NAME CONTENDER UNIT VALUE". For a guest that counts instructions:
# there one microsecond is a thousand instructions. Nothing polls.

cd /test || exit 1
insmod ./rdmachan.ko || exit 1
ip=$LAB_IP
port=18600

fresh() { port=$((port + 1)); }

row() { echo "row $*"; }

# verbs COMMAND ARGUMENT...: a perftest program against itself; its last line
verbs() {
	fresh
	"$@" -R -e -F -p $port >/dev/null 2>&1 &
	for _ in 1 2 3 4 5; do
		sleep 1
		if "$@" -R -e -F -p $port "$ip" >/tmp/verbs 2>&1; then
			wait
			grep -E '^ *[0-9]+ ' /tmp/verbs | tail -n 1
			return
		fi
	done
}

# stream ARGUMENT...: rstream against itself; its line with the figures
stream() {
	fresh
	rstream -p $port "$@" >/dev/null 2>&1 &
	sleep 1
	rstream -p $port -s "$ip" "$@" 2>/dev/null | tail -n 1
	wait
}

value() { grep -o "\"$1\": *[0-9.]*" | head -n 1 | grep -o '[0-9.]*$'; }

./rdmachan bench --server 7002 &
server=$!
sleep 1
for size in 64 4096 65536; do
	n=3000
	[ $size = 65536 ] && n=300
	./rdmachan bench --json --latency -s $size -n $n "$ip:7002" >/tmp/r
	row latency_$size rdmachan kinstr "$(value latency_us </tmp/r)"
	row latency_$size verbs kinstr \
		"$(verbs ib_send_lat -t 16 -s $size -n $n | awk '{ print $5 }')"
done
./rdmachan bench --json --one-way -s 1m -n 128 "$ip:7002" >/tmp/r
row throughput_1m rdmachan MB/s "$(value mb_per_s </tmp/r)"
row throughput_1m verbs MB/s \
	"$(verbs ib_send_bw -s 1048576 -n 128 | awk '{ print $4 * 1.048576 }')"
./rdmachan bench --json --connect -n 300 "$ip:7002" >/tmp/r
cat /tmp/r
row connect_rtt_close rdmachan kinstr "$(value typical_us </tmp/r)"
kill $server
wait $server
./queue_bench
for size in 64 4096 65536; do
	row latency_$size rsockets kinstr \
		"$(stream -T b -S $size -C 1000 | awk '{ print $NF }')"
	row latency_$size tcp kinstr \
		"$(stream -T s -T b -S $size -C 1000 | awk '{ print $NF }')"
done
rmmod rdmachan
