#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gcov.sh - run a command in a guest and keep what the module has executed
#
# usage: gcov.sh COMMAND...
#
# For a module that was built for a kernel with gcov. The counts, which outlive the
# module, go to the folder of this host in /share, as a tree of .gcda files. The exit
# status is the command's.

"$@"
status=$?
to=/share/${LAB_HOST:-a}
if ! find /sys/kernel/debug/gcov -name '*.gcda' | grep -q /kmod/; then
	echo "not ok - the module has counted"
	exit 1
fi
# Files of debugfs have no size: they must be read to their end.
find /sys/kernel/debug/gcov -name '*.gcda' | while read -r file; do
	name=$to/${file##*/kmod/}
	mkdir -p "${name%/*}"
	cat "$file" >"$name"
done
exit $status
