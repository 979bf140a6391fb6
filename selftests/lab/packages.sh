#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# packages.sh - install the host packages the lab needs
#
# usage: packages.sh [demo|check|fuzz|docs]
#
# demo   what building the module and booting one guest needs
# check  that, plus the checkers, the UML build, the test programs and the next (default)
# fuzz   the compiler of the fuzzers, with its libraries
# docs   what makes HTML of the documents
#
# Every name exists on Debian 12 and on Debian 13. Nothing is done, and no
# privilege is asked for, when all of them are installed.

set -euo pipefail

# The compiler and what an out-of-tree module build calls.
BUILD="build-essential libmd-dev bc libelf-dev kmod pkg-config xz-utils zstd cpio rsync ca-certificates"
# The guest: emulator, its user space, and the RDMA programs copied into it.
GUEST="qemu-system-x86 busybox-static dash iproute2 python3 rdma-core
       ibverbs-providers ibverbs-utils rdmacm-utils"
# A kernel built from source, and the checkers of "make check".
CHECK="flex bison libssl-dev perftest libibverbs-dev librdmacm-dev liburing-dev
       sparse coccinelle shellcheck gcovr netcat-openbsd python3-docutils debootstrap"
# Debian's default version of each, of any number.
FUZZ="clang libclang-rt-dev llvm python3"
DOCS="python3-sphinx"

# Say which of the named packages are not installed.
missing() {
	local pkg

	for pkg in "$@"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$pkg" 2>/dev/null |
			grep -qx installed || echo "$pkg"
	done
}

# The output of apt, some hundred lines, is shown when it fails.
as_root() {
	local said status=0

	said=$(mktemp)
	privileged "$@" >"$said" 2>&1 || status=$?
	[ "$status" -eq 0 ] || cat "$said" >&2
	rm "$said"
	return "$status"
}

privileged() {
	if [ "$(id -u)" -eq 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	elif command -v sudo >/dev/null; then
		sudo DEBIAN_FRONTEND=noninteractive "$@"
	else
		echo "packages.sh: not root and no sudo; please run: $*" >&2
		return 1
	fi
}

main() {
	local profile=${1:-check} want need

	case $profile in
	demo) want="$BUILD $GUEST" ;;
	check) want="$BUILD $GUEST $CHECK $FUZZ $DOCS" ;;
	fuzz) want=$FUZZ ;;
	docs) want=$DOCS ;;
	*) echo "usage: packages.sh [demo|check|fuzz|docs]" >&2; return 2 ;;
	esac

	# shellcheck disable=SC2086 # lists of words
	need=$(missing $want | tr '\n' ' ')
	if [ -z "$need" ]; then
		return 0
	fi

	echo "packages.sh: installing by apt what the '$profile' profile needs, a minute or two: $need"
	as_root apt-get -q -o DPkg::Lock::Timeout=600 update
	# shellcheck disable=SC2086
	as_root apt-get -q -y -o DPkg::Lock::Timeout=600 \
		install --no-install-recommends $need
}

main "$@"
