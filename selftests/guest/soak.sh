#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# soak.sh - life and death under load, 200 times each

export LIFE_ROUNDS=200
exec sh run.sh life_test
