#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# crossing.sh ME PEER - connect to the peer host at the moment at which it connects to
# this one, ROUNDS times, each time without a link from before

round=0
while [ $((round += 1)) -le "${ROUNDS:-5}" ]; do
	until ./rdmachan list --links --json | grep -q '^\[\]'; do sleep 0.05; done
	lab-signal "$1$round" || exit 1
	lab-await "$2$round" || exit 1
	./rdmachan ping -c 3 -i 0 "$PEER_IP:7002" >/tmp/crossing 2>&1 && continue
	cat /tmp/crossing
	exit 1
done
# The peer may not have done with this host's program.
lab-signal "$1$round" || exit 1
lab-await "$2$round" || exit 1
echo "$((round - 1)) times"
