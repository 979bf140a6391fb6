#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flow.sh - the tool's commands and the examples with the real module, in a guest
#
# usage: flow.sh [TEST...]     without arguments all
#
# Servers run on host b, if there is one.

cp -r /test /tmp/flow && cd /tmp/flow || exit 1
export LD_LIBRARY_PATH=/tmp/flow BUILD=/tmp/flow
export RDMACHAN_HOST=${LAB_PEER_IP:-$LAB_IP} RDMACHAN_HOST6=${LAB_PEER_IP6:-${LAB_IP6%/*}}
export RDMACHAN_THERE=${LAB_PEER_IP:+lab-on b}
# A race is tried less often here than on a host.
export RDMACHAN_ROUNDS=${RDMACHAN_ROUNDS:-5}
# Each look at whether something is done begins programs. Where time is virtual none of it passes
# meanwhile, and a pause costs nothing.
[ -z "${LAB_VIRTUAL:-}" ] || export RDMACHAN_NAP=0.2
[ $# -gt 0 ] || set -- flow_test.sh transfer_test.sh relay_test.sh contract_test.sh
exec sh run.sh "$@"
