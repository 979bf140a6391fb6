#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# locks.sh - the lab's locks: once for each process, and one process at a time
#
# A process that waited for a lock of its own would never get a second kernel out of the
# same archive.

set -uo pipefail

lab=$(cd "$(dirname "$0")/../lab" && pwd)
RDMACHAN_CACHE=$(mktemp -d)
export RDMACHAN_CACHE
trap 'rm -rf "$RDMACHAN_CACHE"' EXIT
failed=0

# with_locks COMMAND: in a process of its own, that has the script's functions
with_locks() {
	timeout 20 bash -c "set -euo pipefail; . '$lab/lib.sh'; $1" 2>/dev/null
}

# verdict STATUS NAME
verdict() {
	[ "$1" = 0 ] || { failed=1; echo -n "not "; }
	echo "ok - $2"
}

with_locks 'lab_lock one; lab_lock two; lab_lock one'
verdict $? "a lock that one has can be taken again"
# shellcheck disable=SC2016 # for the inner shell
with_locks 'lab_lock one; ! flock -n "$CACHE/locks/one" true'
verdict $? "nobody else gets it meanwhile"
exit $failed
