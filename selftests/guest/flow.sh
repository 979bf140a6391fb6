#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flow.sh - the tool's commands and the examples with the real module, in a guest
#
# Servers run on host b, if there is one.

cp -r /test /tmp/flow && cd /tmp/flow || exit 1
export LD_LIBRARY_PATH=/tmp/flow BUILD=/tmp/flow
export RDMACHAN_HOST=${LAB_PEER_IP:-$LAB_IP} RDMACHAN_HOST6=${LAB_PEER_IP6:-${LAB_IP6%/*}}
export RDMACHAN_THERE=${LAB_PEER_IP:+lab-on b}
exec sh run.sh flow_test.sh transfer_test.sh
