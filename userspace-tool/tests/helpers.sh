# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# helpers.sh - what tests of two ends that talk have in common; to be sourced
#
# Where and how such a test runs is told in flow_test.sh. After helpers_begin NAME there is $tmp, a
# directory, and at the end of the script helpers_end is called.

build=${BUILD:?set it to the output directory of make}
# shellcheck disable=SC2034 # for those that source this
host=${RDMACHAN_HOST:-10.0.0.1}
read -ra there <<<"${RDMACHAN_THERE:-}"
count=0
failed=0
# The text of the check that runs
checking=
mounts=()
declare -A pids=()

# shellcheck disable=SC2317,SC2329 # the trap calls it
clean_up()
{
	# Not a job that a signal ends before it has become its command: bash has it run the trap, too.
	[ "$BASHPID" = $$ ] || return
	if [ -n "$checking" ]; then
		echo "not ok $count - $checking: the script ended within it"
		tell_log
	fi
	kill_all
	[ ${#mounts[@]} -eq 0 ] || umount "${mounts[@]}"
	rm -rf "$tmp"
}

helpers_begin()
{
	tmp=$(mktemp -d)
	trap clean_up EXIT
	if [ -z "${RDMACHAN_HOST:-}" ]; then
		export LD_PRELOAD=$build/tests/fake_device.so RDMACHAN_FAKE=$1-$$
		# With sanitizers: they want to be preloaded first, but need not.
		export ASAN_OPTIONS=verify_asan_link_order=0
	fi
}

helpers_end()
{
	echo "1..$count"
	[ $failed -eq 0 ]
}

# tell_log: what a check that failed has printed, and the programs it ran
tell_log()
{
	local file

	sed 's/^/# /' "$tmp/log"
	for file in "$tmp"/*.err; do
		[ ! -f "$file" ] || tail -n 20 "$file" | sed "s|^|# ${file##*/}: |"
	done
}

# check TEXT COMMAND...
check()
{
	local text=$1

	shift
	count=$((count + 1))
	checking=$text
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $count - $text"
	else
		failed=1
		echo "not ok $count - $text"
		tell_log
	fi
	checking=
	kill_all
	rm -f "$tmp"/*.err
}

skip()
{
	count=$((count + 1))
	echo "ok $count # SKIP $1"
}

# await COMMAND...: try it until it succeeds, for half a minute at least
await()
{
	local i

	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep "${RDMACHAN_NAP:-0.05}"
	done
	echo "in vain: $*"
	return 1
}

# Of a socket that is bound and does not listen yet, the flags are 0.
is_listening()
{
	if [ -n "${RDMACHAN_FAKE:-}" ]; then
		grep -q " 00010000 .*@rdmachan-$RDMACHAN_FAKE-$1\(@\|\$\)" /proc/net/unix
	else
		"${there[@]}" "$build/rdmachan" list --listeners --json | grep -q "\"service\": $1,"
	fi
}

listening() { await is_listening "$1"; }

# An input, "$tmp/hold", that stays open until it is released; data written to the descriptor
# "hold" comes there. A second one is called "other".
hold()
{
	local name=${1:-hold}

	rm -f "$tmp/$name"
	mkfifo "$tmp/$name"
	eval "exec {$name}<>\"\$tmp/$name\""
}

release()
{
	local name=${1:-hold}

	eval "exec {$name}>&-"
	unset "$name"
}

# is_read [NAME]: all that was written to it was read
is_read()
{
	local name=${1:-hold}

	! read -r -t 0 -u "${!name}"
}

# start NAME INPUT OUTPUT COMMAND...: its output is in "NAME.err", its number in pids[NAME].
# Signals are for the command itself; it may be interrupted, which a shell denies its jobs, and the
# parent that began this shell as a job. Its children end with it.
start()
{
	local name=$1 input=$2 output=$3

	shift 3
	(
		[ -z "${hold:-}" ] || exec {hold}>&-
		[ -z "${other:-}" ] || exec {other}>&-
		exec env --default-signal=INT,QUIT,HUP,TERM setsid "$@" <"$input" >"$output" 2>"$tmp/$name.err"
	) &
	pids[$name]=$!
}

# begin NAME INPUT OUTPUT WORD...: the tool, on this host
begin() { start "$1" "$2" "$3" "$build/rdmachan" "${@:4}"; }

# begin_there NAME INPUT OUTPUT SERVICE WORD...: on the other host, where it listens then
begin_there()
{
	start "$1" "$2" "$3" "${there[@]}" "$build/rdmachan" "${@:5}"
	listening "$4"
}

# peer_there NAME SERVICE WORD...: the program filepeer there, which is told to go on by "hold"
peer_there()
{
	start "$1" "$tmp/hold" "$tmp/$1.out" "${there[@]}" "$build/tests/filepeer" - "${@:2}"
	listening "$2"
}

kill_all()
{
	local pid

	# A program that has not come to its setsid yet has no group of its own.
	for pid in "${pids[@]}"; do
		kill -KILL -- -"$pid" "$pid"
		wait "$pid"
	done 2>/dev/null
	pids=()
}

# send_signal SIGNAL NAME
send_signal() { kill -"$1" "${pids[$2]}"; }

is_alive() { kill -0 "${pids[$1]}" 2>/dev/null; }

has_ended()
{
	local state

	state=$(sed 's/.*) \(.\).*/\1/' "/proc/${pids[$1]}/stat" 2>/dev/null)
	[ -z "$state" ] || [ "$state" = Z ]
}

# ends NAME STATUS: it ends so. RDMACHAN_PATIENCE says how often it is looked at.
ends()
{
	local pid=${pids[$1]:-} left status

	if [ -z "$pid" ]; then
		echo "$1 was not started"
		return 1
	fi
	for ((left = ${RDMACHAN_PATIENCE:-1200}; left; left--)); do
		has_ended "$1" && break
		sleep "${RDMACHAN_NAP:-0.05}"
	done
	if [ "$left" -eq 0 ]; then
		echo "$1 does not end"
		return 1
	fi
	wait "$pid"
	status=$?
	unset "pids[$1]"
	[ $status -eq "$2" ] && return
	echo "$1 ended with $status, not $2"
	return 1
}

# says NAME TEXT
says()
{
	grep -qF -- "$2" "$tmp/$1.err" && return
	echo "$1 does not say: $2"
	return 1
}

silent()
{
	[ ! -s "$tmp/$1.err" ] && return
	echo "$1 says something"
	return 1
}

# mounted NAME: "$tmp/NAME" is 4 MiB large; fails where nothing can be mounted
mounted()
{
	mkdir -p "$tmp/$1" && mount -t tmpfs -o size=4m none "$tmp/$1" 2>"$tmp/mount.err" &&
	mounts+=("$tmp/$1")
}
