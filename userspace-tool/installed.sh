#!/bin/sh
# SPDX-License-Identifier: MIT
#
# installed.sh - after "make install" on the machine itself: what the files do not do alone
#
# usage: installed.sh LIBDIR
#
# Tells the loader of the library, and makes the group of the device. What cannot be done here is
# said, with the command that does it; that is no failure.

libdir=$1
has() { command -v "$1" >/dev/null 2>&1; }

if [ "$(id -u)" -ne 0 ]; then
	echo "Not root: run ldconfig and systemd-sysusers as root, if these files are for all users."
	exit 0
fi
has ldconfig && ldconfig
if ! { has ldconfig && ldconfig -p; } | grep -qF "$libdir/librdmachan.so."; then
	echo "The loader does not look into $libdir. Programs find the library with"
	echo "LD_LIBRARY_PATH=$libdir, or after: echo $libdir >/etc/ld.so.conf.d/rdmachan.conf && ldconfig"
fi
if has systemd-sysusers; then
	systemd-sysusers || echo "systemd-sysusers has failed: is there a group rdmachan?"
fi
if ! getent group rdmachan >/dev/null; then
	echo "There is no group rdmachan, whose members may use the device: groupadd --system rdmachan"
fi
# A module that is loaded already has its device, of root alone.
if has udevadm && [ -e /run/udev/control ]; then
	udevadm control --reload
	[ ! -e /dev/rdmachan ] || udevadm trigger /dev/rdmachan
fi
exit 0
