# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh - what the lab's scripts share: the cache, messages, locks, and the
# private package archive
#
# Sourced, not run. The caller has "set -euo pipefail".

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LAB
# Everything downloaded or built outside the tree. Safe to delete.
CACHE=$(realpath -m "${RDMACHAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdmachan}")
export CACHE

say() { echo "${0##*/}: $*" >&2; }
die() { say "$*"; exit 2; }

# The locks that this process has, by name.
declare -gA LAB_LOCKS=()

# Take the lock $1 (a name) until the process ends. Builds of the same thing by
# two people wait for each other and the second finds it done. The holder may
# take it again: several kernels come from one archive.
lab_lock() {
	local fd

	[ -z "${LAB_LOCKS[$1]:-}" ] || return 0
	LAB_LOCKS[$1]=1
	mkdir -p "$CACHE/locks"
	exec {fd}>"$CACHE/locks/$1"
	if ! flock -n "$fd"; then
		say "waiting for another run that holds the lock '$1'"
		flock "$fd"
	fi
}

# The hash that names a build's configuration.
hash_of() { cat -- "$@" | sha256sum | cut -c1-16; }

#
# The private package archive: apt with its own sources, lists and cache, so
# that the machine's configuration stays as it is. Only Debian's own keyring is
# trusted. The mirror is the one that the machine uses already.
#

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Print the machine's mirror for the label $1 (Debian, Debian-Security).
machine_mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk -v label="$1" '$1 == label { print $2; exit }'
}

# archive_open SUITE...: set the array APT to the options that select exactly
# these suites, and fetch their package lists once a day.
archive_open() {
	local state main security suite uri

	state=$CACHE/apt/$(echo "$*" | tr ' ' '_')
	lab_lock "apt-$(basename "$state")"
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	main=$(machine_mirror Debian)
	security=$(machine_mirror Debian-Security)
	for suite in "$@"; do
		case $suite in
		*-security) uri=${security:-http://deb.debian.org/debian-security} ;;
		*) uri=${main:-http://deb.debian.org/debian} ;;
		esac
		echo "deb [arch=amd64 signed-by=$KEYRING] $uri $suite main"
	done >"$state/sources.list"

	APT=(-q
	     -o "Dir::Etc::sourcelist=$state/sources.list"
	     -o Dir::Etc::sourceparts=/dev/null
	     -o Dir::Etc::preferences=/dev/null
	     -o Dir::Etc::preferencesparts=/dev/null
	     -o "Dir::State::lists=$state/lists"
	     -o "Dir::Cache=$state"
	     -o "Dir::Cache::archives=$state/archives"
	     -o Acquire::Languages=none
	     -o Acquire::Retries=3
	     -o APT::Architecture=amd64 -o APT::Architectures=amd64
	     -o APT::Sandbox::User=root
	     -o APT::Update::Post-Invoke-Success::= -o APT::Update::Error-Mode=any)
	if [ -z "$(find "$state/updated" -mmin -1440 2>/dev/null)" ]; then
		say "reading the package lists of: $*"
		apt-get "${APT[@]}" update >"$state/update.log" 2>&1 ||
			{ cat "$state/update.log" >&2; die "cannot read the package lists"; }
		touch "$state/updated"
	fi
}

# archive_newest PREFIX REGEX: the newest package by that name, "sort -V" order.
archive_newest() {
	apt-cache "${APT[@]}" pkgnames "$1" | { grep -E "$2" || true; } | sort -V | tail -n 1
}

# archive_first PACKAGE...: print the first that can be fetched. One that others only name cannot.
archive_first() {
	local package

	for package in "$@"; do
		if [ -n "$(archive_version "$package" 2>/dev/null)" ]; then
			echo "$package"
			return
		fi
	done
}

# Print the version that archive_unpack would fetch.
archive_version() {
	apt-cache "${APT[@]}" show --no-all-versions "$1" | sed -n 's/^Version: //p' | head -n 1
}

# Print those direct dependencies of package $1 that match the pattern $2.
archive_depends() {
	apt-cache "${APT[@]}" show --no-all-versions "$1" | sed -n 's/^Depends: //p' |
		tr ',' '\n' | awk '{ print $1 }' | { grep -E "$2" || true; }
}

# archive_unpack DIR PACKAGE...: fetch and unpack without installing.
archive_unpack() {
	local dir=$1 debs deb
	shift

	mkdir -p "$dir"
	debs=$(mktemp -d "$CACHE/debs.XXXXXX")
	say "fetching $*"
	(cd "$debs" && apt-get "${APT[@]}" download "$@" >"$debs/log" 2>&1) ||
		{ cat "$debs/log" >&2; rm -r "$debs"; die "cannot fetch $*"; }
	for deb in "$debs"/*.deb; do
		dpkg -x "$deb" "$dir"
	done
	rm -r "$debs"
}

#
# Guests
#

# Quote words for any POSIX shell.
sh_quote() {
	local word

	for word in "$@"; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
	echo
}

# A directory that holds a kernel, from that or from a name.
kernel_dir() {
	if [ -d "$1" ]; then
		realpath "$1"
	else
		"$LAB/kernel.sh" --quiet "$1"
	fi
}

# The MAC address that belongs to an IPv4 address of the lab.
mac_of() {
	local a b c d

	IFS=./ read -r a b c d _ <<<"$1"
	printf '02:77:%02x:%02x:%02x:%02x' "$a" "$b" "$c" "$d"
}

# complained STATUS: with what a run ends whose kernel complained; 137 is that of a guest which was
# killed on purpose
complained() {
	case $1 in
	0 | 137) echo 123 ;;
	*) echo "$1" ;;
	esac
}

# run_and_scan LOG COMMAND...: run the guest under watch.py by the options in
# OUT, TIMEOUT, PREFIX, KILL_ON and CONTROL, then read its console log. LOG gets what the
# emulator itself says.
run_and_scan() {
	local log=$1 status=0 watcher
	local -a options=()
	shift

	[ -z "$KILL_ON" ] || options+=(--kill-on "$KILL_ON")
	[ -z "${CONTROL:-}" ] || options+=(--control "$CONTROL")
	"$LAB/watch.py" --side "$OUT/side.log" --output "$OUT/output.log" \
		--timeout "$TIMEOUT" --prefix "$PREFIX" "${options[@]}" -- "$@" \
		2>"$log" &
	watcher=$!
	# Whoever stops the script stops the guest.
	# shellcheck disable=SC2064 # the value of now
	trap "kill $watcher; wait $watcher; exit 143" TERM INT
	wait "$watcher" || status=$?
	trap - TERM INT
	case $status in
	124) say "$PREFIX""the guest was killed after $TIMEOUT s" ;;
	125) say "$PREFIX""the guest ended without a result: see $OUT/console.log, $log" ;;
	esac
	[ ! -s "$log" ] || cat "$log" >&2
	if ! grep -qs 'Linux version' "$OUT/console.log"; then
		say "$PREFIX""the kernel has not said a word in $OUT/console.log"
		status=$(complained "$status")
	elif ! "$LAB/splat-scan.sh" "$OUT/console.log" >"$OUT/splats.log"; then
		say "$PREFIX""the kernel complained:"
		cat "$OUT/splats.log" >&2
		status=$(complained "$status")
	fi
	return "$status"
}
