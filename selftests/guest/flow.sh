#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# flow.sh - the tool's commands and the examples with the real module, in a guest

cp -r /test /tmp/flow && cd /tmp/flow || exit 1
insmod ./rdmachan.ko || exit 1
export LD_LIBRARY_PATH=/tmp/flow BUILD=/tmp/flow
export RDMACHAN_HOST=$LAB_IP RDMACHAN_HOST6=${LAB_IP6%/*}
bash ./flow_test.sh || exit 1
