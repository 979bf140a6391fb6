#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# demo_b.sh - the demo's second host: it receives

cd /test || exit 1
insmod ./rdmachan.ko || exit 1
mkdir -p /tmp/in /tmp/in2
./rdmachan listen --echo 7002 &
echo=$!
./rdmachan recv --service 7003 /tmp/in2 2>/tmp/victim &
victim=$!
./rdmachan recv --once --service 7001 /tmp/in 2>/tmp/received &
receiver=$!
# Until all three listen.
until [ "$(./rdmachan list --listeners | grep -c open)" = 3 ]; do sleep 0.1; done
lab-signal listening || exit 1

wait $receiver || { cat /tmp/received; exit 1; }
cat /tmp/received
want=$(cut -d' ' -f1 /test/demo-file.sha256)
have=$(sha256sum /tmp/in/demo-file | cut -d' ' -f1)
echo "SHA-256 sent     $want"
echo "SHA-256 received $have"
[ "$want" = "$have" ] || exit 1
rm -f /tmp/in/demo-file
lab-signal verified || exit 1

# Kill the receiver of the second transfer when some of the file is there.
until [ "$(du -sk /tmp/in2 | cut -f1)" -gt 2048 ]; do sleep 0.05; done
kill -9 $victim
lab-await finished || exit 1
kill $echo
wait $echo
echo "demo: host b is satisfied"
