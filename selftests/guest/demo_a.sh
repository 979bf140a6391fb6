#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# demo_a.sh - the demo's first host: it sends

cd /test || exit 1
insmod ./rdmachan.ko || exit 1
lab-await listening || exit 1

say() { echo; echo "==> $*"; }

say "ping: is host b's module there?"
./rdmachan ping -c 3 -i 0.2 "$PEER_IP" || exit 1

file=/test/demo-file
say "send a file of $(($(stat -c %s $file) >> 20)) MiB to host b"
# Not on a terminal, so that the log has a summary and no progress bar.
./rdmachan send $file "$PEER_IP:7001" 2>/tmp/sent || { cat /tmp/sent; exit 1; }
cat /tmp/sent
lab-await verified || exit 1

say "ping an echo service on host b, by IPv6 too"
./rdmachan ping -c 3 -i 0.2 "$PEER_IP:7002" || exit 1
./rdmachan ping -c 3 -i 0.2 "[$PEER_IP6]:7002" || exit 1

say "info"
./rdmachan info
say "list"
./rdmachan list

say "send again, and host b kills its receiving program in the middle"
./rdmachan send $file "$PEER_IP:7003" 2>/tmp/explained
status=$?
cat /tmp/explained
[ $status -ne 0 ] || { echo "demo: the sender noticed nothing"; exit 1; }
grep -qi killed /tmp/explained || { echo "demo: the cause is not explained"; exit 1; }
lab-signal finished
sleep 1
rmmod rdmachan || exit 1
echo "demo: host a is satisfied"
