#!/bin/bash
# SPDX-License-Identifier: MIT
#
# transfer_test.sh - files and memory that cannot be had, commands that are stopped, and peers
# that say what they like
#
# Where and how it runs is told in flow_test.sh.
set -u

# nohup has SIGHUP ignored, and a shell cannot take that back for what it begins.
[[ $(trap) != *SIGHUP* ]] || exec env --default-signal=HUP "$0" "$@"

build=${BUILD:?set it to the output directory of make}
host=${RDMACHAN_HOST:-10.0.0.1}
read -ra there <<<"${RDMACHAN_THERE:-}"
tmp=$(mktemp -d)
count=0
failed=0
servers=()
mounts=()
dir=

if [ -z "${RDMACHAN_HOST:-}" ]; then
	export LD_PRELOAD=$build/tests/fake_device.so RDMACHAN_FAKE=transfer-$$
	export ASAN_OPTIONS=verify_asan_link_order=0
fi

# shellcheck disable=SC2317 # the trap calls it
finish()
{
	[ ${#servers[@]} -eq 0 ] || kill -KILL "${servers[@]}" 2>/dev/null
	wait 2>/dev/null
	[ ${#mounts[@]} -eq 0 ] || umount "${mounts[@]}"
	rm -rf "$tmp"
}
trap finish EXIT

tool() { timeout 60 "$build/rdmachan" "$@"; }

tool_there() { timeout 60 "${there[@]}" "$build/rdmachan" "$@"; }

peer() { timeout 60 "$build/tests/filepeer" "$@"; }

# check TEXT COMMAND...
check()
{
	local text=$1

	shift
	count=$((count + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $count - $text"
	else
		failed=1
		echo "not ok $count - $text"
		sed 's/^/# /' "$tmp/log"
		[ ! -e "$tmp/err" ] || sed 's/^/# err: /' "$tmp/err"
		[ ! -e "$tmp/server" ] || tail -n 20 "$tmp/server" | sed 's/^/# server: /'
		kill -KILL "${servers[@]}" 2>/dev/null
		servers=()
	fi
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
		tool_there list --listeners --json | grep -q "\"service\": $1,"
	fi
}

listening() { await is_listening "$1"; }

is_free() { ! is_listening "$1"; }

# An input, "$tmp/hold", that stays open until the descriptor "hold" is closed.
hold()
{
	rm -f "$tmp/hold"
	mkfifo "$tmp/hold"
	exec {hold}<>"$tmp/hold"
}

# ends PID STATUS
ends()
{
	wait "$1"
	set -- "$1" "$2" $?
	echo "it ended with $3, not $2?"
	[ "$3" -eq "$2" ]
}

# fails STATUS COMMAND...: with what it says in "err"
fails()
{
	local wanted=$1

	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	set -- "$wanted" $?
	echo "it ended with $2, not $1?"
	[ "$2" -eq "$1" ]
}

says() { grep -qF -- "$1" "$tmp/err"; }

# receiver SERVICE COMMAND...: the command and its arguments are to run "rdmachan recv"; its output
# is in "server", what it stores in "$dir"
receiver()
{
	local service=$1

	shift
	dir=$tmp/to
	rm -rf "$dir"
	mkdir "$dir"
	receiver_in "$service" "$@"
}

receiver_in()
{
	local service=$1

	shift
	"${there[@]}" "$@" "$build/rdmachan" recv --service "$service" "${options[@]}" "$dir" \
		>"$tmp/stored" 2>"$tmp/server" </dev/null &
	receiver=$!
	servers+=($!)
	listening "$service"
}

options=()

# Nothing is in the directory but these files.
holds()
{
	diff <(LC_ALL=C ls -A "$dir") <([ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort)
}

stop()
{
	kill -"${1:-TERM}" "$receiver"
	ends "$receiver" "${2:-0}"
}

# Files that are not what they seem

send_proc()
{
	receiver 7101 && tool send /proc/version /sys/class/net/lo/mtu "$tmp/empty" "$tmp/sparse" \
		"$host:7101" && stop &&
	cmp /proc/version "$dir/version" && cmp /sys/class/net/lo/mtu "$dir/mtu" &&
	cmp "$tmp/sparse" "$dir/sparse" && holds empty mtu sparse version
}

# unfit FILE WHY
unfit()
{
	fails 1 tool send "$1" "$tmp/small" "$host:7101" && says "cannot send $1: $2" &&
	says '1 of 2 files were not sent:' && says "  $1: $2" && holds small &&
	rm "$dir/small"
}

send_unfit()
{
	mkfifo "$tmp/pipe"
	mkdir "$tmp/folder"
	ln -s folder "$tmp/link"
	ln -s nowhere "$tmp/dangling"
	receiver 7101 && unfit "$tmp/folder" 'it is a directory' &&
	unfit "$tmp/link" 'it is a directory' && unfit /dev/null 'it is a device' &&
	unfit "$tmp/pipe" 'it is a named pipe' &&
	unfit "$tmp/missing" 'it is not there: No such file or directory' &&
	unfit "$tmp/dangling" 'it is not there: No such file or directory' &&
	unfit /proc/self/mem 'it could not be read: Input/output error' && stop &&
	grep -q 'does not send mem: it could not be read: Input/output error' "$tmp/server"
}

# changes WHY COMMAND...: it changes "$tmp/log.txt" when a part of that is sent
changes()
{
	local why=$1 sender reader status

	shift
	head -c 8000000 /dev/zero >"$tmp/log.txt"
	touch -d "@$((EPOCHSECONDS - 3600))" "$tmp/log.txt"
	hold
	timeout 60 "${there[@]}" "$build/tests/filepeer" - 7102 recv verdict=1 recv hold until=5 \
		verdict=12 recv verdict=1 until=3 verdict=0 recv <"$tmp/hold" {hold}>&- >"$tmp/peer" &
	reader=$!
	listening 7102 || return 1
	tool send "$tmp/log.txt" "$tmp/small" "$host:7102" 2>"$tmp/err" {hold}>&- &
	sender=$!
	await grep -q held "$tmp/peer" && "$@" && echo go >&"$hold" && ends "$sender" 1
	status=$?
	exec {hold}>&-
	wait $reader && [ $status -eq 0 ] && cat "$tmp/peer" && says "  $tmp/log.txt: $why" &&
	grep -q "^5 .*: $why" "$tmp/peer"
}

send_growing() { changes 'it grew while it was sent' tee -a "$tmp/log.txt" <<<more; }

send_shrinking() { changes 'it became shorter while it was sent' truncate -s 5000000 "$tmp/log.txt"; }

send_changing()
{
	changes 'it was changed while it was sent' \
		dd of="$tmp/log.txt" bs=1 seek=7999999 count=1 conv=notrunc <<<x
}

send_replaced() { changes 'it became shorter while it was sent' cp /dev/null "$tmp/log.txt"; }

# Room at the receiver's

# no_room WHY NAME: of three files the second one is too large
no_room()
{
	fails 1 tool send "$tmp/small" "$tmp/huge" "$tmp/other" "$host:7103" &&
	says '1 of 3 files were not sent:' && says "  $tmp/huge: the receiver refuses it: $1" &&
	holds other small && grep -qF "refused huge from" "$tmp/server" &&
	grep -qF ": $1" "$tmp/server" && rm "$dir/small" "$dir/other"
}

# shellcheck disable=SC2016 # for the inner shell
file_limit()
{
	receiver 7103 bash -c 'ulimit -f 1000 && exec "$@"' limited &&
	no_room 'it could not be written: File too large' &&
	no_room 'it could not be written: File too large' && stop
}

# mounted: "$dir" is 4 MiB large
mounted()
{
	dir=$tmp/mount
	mkdir -p "$dir"
	mount -t tmpfs -o size=4m none "$dir" 2>"$tmp/err" || return 1
	mounts+=("$dir")
}

no_space()
{
	receiver_in 7103 && no_room 'there is no space left: No space left on device' &&
	no_room 'there is no space left: No space left on device' && stop
}

# Each size, so that the last bytes fail at any point of the conversation.
no_space_anywhere()
{
	local size

	receiver_in 7103 || return 1
	for size in 4000 4090 4096 4100 4200 4400 5000; do
		head -c ${size}k /dev/zero >"$tmp/fill"
		if tool send -q "$tmp/fill" "$host:7103"; then
			holds fill && rm "$dir/fill" || return 1
		fi
		! tool send -q "$tmp/huge" "$tmp/small" "$host:7103" 2>"$tmp/err" &&
			holds small && rm "$dir/small" || return 1
	done
	stop
}

read_only()
{
	local status

	receiver_in 7103 && mount -o remount,ro "$dir" &&
	fails 1 tool send "$tmp/small" "$tmp/other" "$host:7103" && stop &&
	says "$tmp/small: the receiver refuses it: it could not be written: Read-only file system" &&
	says '2 of 2 files were not sent:' &&
	grep -q 'refused other from .*: it could not be written: Read-only file system' "$tmp/server"
	status=$?
	mount -o remount,rw "$dir"
	return $status
}

no_such_directory()
{
	receiver 7103 && rm -r "$dir" && fails 1 tool send "$tmp/small" "$host:7103" &&
	stop && says 'it could not be written: No such file or directory'
}

# Ends

in_midst() { [ "$(stat -c %s "$dir"/.rdmachan-* 2>/dev/null)" = 500 ]; }

# A sender that has sent 500 of 1000 bytes, until "hold" is told to go on
half_a_file()
{
	hold
	peer "$host" "$1" header="${2:-half},1000" recv data=500 hold data=500 trailer=1000 recv \
		shutdown recv <"$tmp/hold" {hold}>&- >"$tmp/peer" 2>&1 &
	sender=$!
	await in_midst
}

# stopped SIGNAL STATUS
stopped()
{
	receiver 7104 && half_a_file 7104 && stop "$1" "$2"
	set -- $?
	exec {hold}>&-
	wait "$sender"
	[ "$1" -eq 0 ] && holds && grep -q 'stopped in the midst of half from' "$tmp/server"
}

# The one that starts next is not deceived by what only looks like it.
killed()
{
	local name=.rdmachan-0123456789abcde

	receiver 7104 && half_a_file 7104 && kill -KILL "$receiver" && ! wait "$receiver" &&
	exec {hold}>&- && ! wait "$sender" && in_midst &&
	touch "$dir/$name" "$dir/${name}fg" "$dir/.rdmachan-0123456789ABCDEF" &&
	mkdir "$dir/${name}0" && ln -s /etc/passwd "$dir/${name}1" && await is_free 7104 &&
	receiver_in 7104 && tool send "$tmp/small" "$host:7104" && stop &&
	grep -q '^rdmachan: removed .rdmachan-.*, left by a receiver that was killed' "$tmp/server" &&
	[ "$(wc -l <"$tmp/server")" -eq 1 ] &&
	holds "$name" "${name}0" "${name}1" .rdmachan-0123456789ABCDEF "${name}fg" small
}

# A file that is told to be in use ends after it has cleaned: it must not have taken what another
# one has.
two_receivers()
{
	local first

	receiver 7104 && first=$receiver && half_a_file 7104 &&
	fails 1 tool_there recv --service 7104 "$dir" && in_midst && receiver_in 7105 && in_midst &&
	tool send "$tmp/small" "$host:7105" && stop && in_midst && echo go >&"$hold" &&
	ends "$sender" 0 && exec {hold}>&- && holds half small && receiver=$first && stop
}

# Fifty times, one that begins beside one that stores
many_receivers()
{
	local i jobs

	receiver 7104 || return 1
	for ((i = 0; i < 50; i++)); do
		cp "$tmp/small" "$tmp/many.$i"
	done
	tool send -q "$tmp"/many.* "$host:7104" 2>"$tmp/err" &
	jobs=$!
	for ((i = 0; i < 50; i++)); do
		tool_there recv --service 7104 "$dir" 2>>"$tmp/beside" && return 1
	done
	wait $jobs && stop && [ "$(find "$dir" -type f | wc -l)" -eq 50 ] && ! grep removed "$tmp/beside"
}

# A sender that never ends: the signal has its turn.
stopped_in_flood()
{
	receiver 7104 || return 1
	peer "$host" 7104 header=flood,0,about recv flood >"$tmp/peer" 2>&1 &
	sender=$!
	await compgen -G "$dir/.rdmachan-*" && stop INT 1 && ! wait "$sender" && holds &&
	grep -q 'stopped in the midst of flood' "$tmp/server"
}

stopped_idle()
{
	receiver 7104 && stop INT && receiver 7104 && stop HUP && options=(--once) &&
	receiver 7104 && stop TERM 1
	set -- $?
	options=()
	return "$1"
}

# Output

# "received" cannot be told, which is no reason not to store.
nobody_listens()
{
	local status

	dir=$tmp/to
	rm -rf "$dir"
	mkdir "$dir"
	rm -f "$tmp/hold"
	mkfifo "$tmp/hold"
	head -c 1 <"$tmp/hold" >"$tmp/out" &
	"${there[@]}" "$build/rdmachan" recv --service 7106 "$dir" >"$tmp/hold" 2>"$tmp/server" &
	receiver=$!
	servers+=($!)
	listening 7106 && tool send "$tmp/small" "$host:7106" && tool send "$tmp/other" "$host:7106" &&
	tool send "$tmp/empty" "$host:7106" && holds empty other small
	status=$?
	stop TERM 1 && [ $status -eq 0 ] &&
	[ "$(grep -c 'cannot write standard output: Broken pipe' "$tmp/server")" -ge 1 ]
}

# full COMMAND...: /dev/full is its output
full()
{
	tool "$@" >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && says 'cannot write standard output: No space left on device'
}

all_full()
{
	"${there[@]}" "$build/rdmachan" lend --service 7107 "$tmp/small" >"$tmp/out" &
	servers+=($!)
	listening 7107 && full list --json && full info && full explain --all && full --help &&
	full get "$host:7107" && full get "$host:7107"
}

# full_example NAME SERVICE ARGUMENT...
full_example()
{
	timeout 60 "$build/examples/$1" "$host" "${@:2}" >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && says 'cannot write: No space left on device'
}

full_examples()
{
	local name service=7120

	for name in kv_server request_server sequencer grant_copy; do
		"${there[@]}" "$build/examples/$name" $service >"$tmp/out" 2>&1 &
		servers+=($!)
		listening $service || return 1
		service=$((service + 1))
	done
	timeout 60 "$build/examples/kv_client" "$host" 7120 set a=b >"$tmp/got" &&
	timeout 60 "$build/examples/request_client" "$host" 7121 set a=b >"$tmp/got" &&
	full_example kv_client 7120 get a && full_example request_client 7121 get a &&
	full_example sequencer 7122 10000 && full_example grant_copy 7123 text
}

# ignores PID SIGNAL...
ignores()
{
	local mask signal

	mask=$((0x$(awk '$1 == "SigIgn:" { print $2 }' "/proc/$1/status")))
	shift
	for signal; do
		[ $((mask >> ($(kill -l "$signal") - 1) & 1)) -eq 1 ] || return 1
	done
}

closed_descriptors()
{
	local fd status

	dir=$tmp/to
	"${there[@]}" "$build/rdmachan" recv --service 7106 "$dir" <&- >&- 2>&- &
	receiver=$!
	servers+=($!)
	listening 7106 || return 1
	ignores $receiver PIPE XFSZ TTOU || return 1
	for fd in 0 1 2; do
		[ "$(readlink /proc/$receiver/fd/$fd)" = /dev/null ] || return 1
	done
	grep -q '^flags:.*1$' /proc/$receiver/fdinfo/0 && grep -q '^flags:.*0$' /proc/$receiver/fdinfo/1
	status=$?
	kill -TERM $receiver
	wait $receiver
	[ $status -eq 0 ] && fails 1 bash -c '"$@" <&- >&-' closed "$build/rdmachan" get "$host:7107" &&
	says 'cannot write standard output: Bad file descriptor' &&
	fails 1 bash -c '"$@" >&-' closed "$build/rdmachan" info &&
	! bash -c '"$@" <&- >&- 2>&-' closed "$build/rdmachan" put - "$host:7107"
}

# Text of others

bad_names()
{
	local name

	receiver 7108 || return 1
	for name in $'a\033[2J' $'b\xc2\x9b2J' $'c\x9b' $'d\xe2\x80\xaefdp.exe' $'e\xe2\x80\x8b'; do
		cp "$tmp/small" "$tmp/$name"
		fails 1 tool send "$tmp/$name" "$tmp/small" "$host:7108" && rm "$dir/small" &&
		says 'no receiver stores a file of that name' || return 1
		LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f-\xff]' "$tmp/err" && return 1
		peer "$host" 7108 header="$name,5" recv shutdown recv >"$tmp/peer" || return 1
		grep -q '^4 2: its name is not allowed' "$tmp/peer" || return 1
	done
	! LC_ALL=C grep $'[\x01-\x08\x0b-\x1f\x7f-\xff]' "$tmp/server" && stop && holds &&
	grep -qF 'refused a\x1b[2J from' "$tmp/server" && grep -qF 'refused b\u009b2J from' "$tmp/server" &&
	grep -qF 'refused c\x9b from' "$tmp/server"
}

# Peers that keep to no rule

# said WORDS... -- LAST: the receiver's last word is this
said()
{
	local words=()

	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	peer "$host" 7109 "${words[@]}" >"$tmp/peer" 2>&1
	echo "${words[*]}:"
	cat "$tmp/peer"
	grep -q "^$2" "$tmp/peer"
}

strange_senders()
{
	local ready=('header=a,10' recv)

	receiver 7109 && said "${ready[@]}" data=10 badsum=10 recv -- '4 6' &&
	said "${ready[@]}" data=11 recv -- '4 7' &&
	said "${ready[@]}" data=9 trailer=9 recv -- '4 10' &&
	said "${ready[@]}" data=9 trailer=10 recv -- '4 6' &&
	said "${ready[@]}" trailer=18446744073709551615 recv -- '4 6' &&
	said "${ready[@]}" raw=3,5 recv -- '4 7' &&
	said "${ready[@]}" raw=9,5 recv -- '4 7' &&
	said "${ready[@]}" header=b,10 recv -- '4 7' &&
	said "${ready[@]}" data=5 abort=9 recv "${ready[@]}" abort=77 recv -- '4 12' &&
	said data=5 recv -- '4 7' && said raw=0,0 recv -- '4 7' && said raw=1,276 recv -- '4 7' &&
	said raw=1,0 recv -- '4 7' && said abort=9 recv -- '4 7' && said verdict=0 recv -- '4 7' &&
	said header=a,-1 recv -- '4 7' && said header=../a,1 recv -- '4 2' && holds &&
	said header=c,5,about recv data=3 data=9 trailer=12 recv shutdown recv -- '4 0' &&
	said header=d,5,about recv trailer=0 recv shutdown recv -- '4 0' && holds c d &&
	tool send "$tmp/small" "$host:7109" && holds c d small && stop
}

# Anything in any order; then the receiver still serves.
noise()
{
	local i j words all=('header=n,10' 'header=m,0' 'header=o,1,about' try data=0 data=5 data=10
		trailer=10 trailer=0 badsum=10 abort=9 verdict=0 verdict=4 'raw=1,30' 'raw=2,7' 'raw=3,40'
		'raw=4,8' 'raw=5,8' 'raw=6,1' shutdown)

	RANDOM=1
	receiver 7109 || return 1
	for ((i = 0; i < ${1:-50}; i++)); do
		words=('header=n,10')
		for ((j = RANDOM % 7; j; j--)); do
			words+=("${all[RANDOM % ${#all[@]}]}")
		done
		peer "$host" 7109 "${words[@]}" >"$tmp/peer" 2>&1
		rm -f "$dir"/[mno]
	done
	tool send "$tmp/small" "$host:7109" && stop && holds small
}

# strange STATUS WHY WORDS...: a receiver that says this
strange()
{
	local status=$1 why=$2 reader

	shift 2
	timeout 60 "${there[@]}" "$build/tests/filepeer" - 7110 "$@" >"$tmp/peer" 2>&1 &
	reader=$!
	listening 7110 && fails "$status" tool send "$tmp/half" "$tmp/small" "$host:7110" &&
	says "  $tmp/half: $why" && says '2 of 2 files were not sent'
	set -- $?
	wait $reader
	return "$1"
}

strange_receivers()
{
	head -c 3000000 /dev/zero >"$tmp/half"
	strange 1 'the receiver refuses it: the two sides do not' recv verdict=0 &&
	strange 1 'the receiver refuses it: the two sides do not' recv verdict=99 &&
	strange 1 'the receiver refuses it: the two sides do not' recv raw=4,4 &&
	strange 1 'the receiver refuses it: the two sides do not' recv raw=2,8 &&
	strange 1 'the receiver refuses it: the two sides do not' recv verdict=1 verdict=0 until=5 \
		verdict=2 &&
	strange 3 'the connection was lost' recv &&
	strange 3 'the connection was lost' recv verdict=1 &&
	strange 1 'the receiver refuses it: there is no space left' recv verdict=1 recv verdict=4 \
		until=5 recv verdict=4
}

# Memory

lend_made_up()
{
	tool_there lend --once -s 7111 /proc/version >"$tmp/out" &
	listening 7111 && tool get "$host:7111" >"$tmp/got" && wait $! && cmp /proc/version "$tmp/got" &&
	fails 1 tool lend "$tmp/folder" && says 'it is a directory' &&
	fails 1 tool lend "$tmp/empty" && says 'there is nothing in it' &&
	fails 1 tool lend /proc/self/mem && says 'Input/output error' &&
	fails 1 tool lend --size 7 --rights atomic && says 'on 8 bytes'
}

not_aligned()
{
	"${there[@]}" "$build/rdmachan" lend -s 7112 --size 64 --rights atomic,read >"$tmp/out" &
	servers+=($!)
	listening 7112 && fails 1 tool add -O 4 1 "$host:7112" && says 'multiple of 8' &&
	fails 1 tool add -O 7 1 "$host:7112" && says 'at offset 7 do not' &&
	fails 1 tool cas -O 1 0 1 "$host:7112" && says 'multiple of 8' &&
	fails 1 tool add -O 64 1 "$host:7112" && says 'not within the 64 bytes' &&
	tool add -O 56 1 "$host:7112"
}

# "${limited[@]}" COMMAND...: may lock 64 KiB
# shellcheck disable=SC2016 # for the inner shell
limited=(bash -c 'ulimit -l 64 && exec "$@"' limited)
[ "$(id -u)" -ne 0 ] ||
	limited=(setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "${limited[@]}")

locked()
{
	fails 1 timeout 60 "${limited[@]}" "$build/rdmachan" lend --size 1m -s 7113 &&
	says RLIMIT_MEMLOCK && says 'Registering a region failed' && ! says 'the peer' &&
	says '65536 bytes'
}

# The holder has nothing locked.
locked_holder()
{
	"${there[@]}" "$build/rdmachan" lend --size 1m --rights read,write -s 7113 >"$tmp/out" 2>&1 &
	servers+=($!)
	listening 7113 && head -c 1m /dev/urandom >"$tmp/random" &&
	timeout 60 "${limited[@]}" "$build/rdmachan" put "$tmp/random" "$host:7113" &&
	timeout 60 "${limited[@]}" "$build/rdmachan" get "$host:7113" | cmp - "$tmp/random"
}

# lend_stopped STATUS SAYS OPTION...
lend_stopped()
{
	local status=$1 text=$2 pid

	shift 2
	"${there[@]}" "$build/rdmachan" lend -s 7114 --size 64 "$@" >"$tmp/out" 2>"$tmp/server" &
	pid=$!
	listening 7114 && kill -TERM $pid && ends $pid "$status" &&
	{ [ -z "$text" ] || grep -q "$text" "$tmp/server"; }
}

lend_unsaved()
{
	local pid

	"${there[@]}" "$build/rdmachan" lend -s 7114 --size 64 -o "$1" >"$tmp/out" 2>"$tmp/server" &
	pid=$!
	listening 7114 && tool get "$host:7114" >"$tmp/got" && await grep -q 'is ours' "$tmp/out" &&
	await grep -q "$2" "$tmp/server" && kill -INT $pid && ends $pid 1
}

# The holder has it when the owner is stopped.
lend_stopped_held()
{
	local pid holder status

	hold
	"${there[@]}" "$build/rdmachan" lend --once -s 7114 --size 64 --rights write >"$tmp/out" \
		2>"$tmp/server" {hold}>&- &
	pid=$!
	listening 7114 || return 1
	tool put - "$host:7114" <"$tmp/hold" 2>"$tmp/err" {hold}>&- &
	holder=$!
	await grep -q 'lent to' "$tmp/out" && kill -INT $pid && ends $pid 1
	status=$?
	echo late >&"$hold"
	exec {hold}>&-
	! wait $holder && [ $status -eq 0 ] && grep -q 'has given the memory back' "$tmp/server"
}

# Ping

ping_stopped()
{
	local wanted=$1 pid lines=$2

	shift 2
	tool_bare ping "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	await lines_of "$lines" "$tmp/out" && sleep 0.2 && kill -INT $pid && ends $pid "$wanted" &&
	grep -q ' answered' "$tmp/out"
}

tool_bare() { exec "$build/rdmachan" "$@"; }

lines_of() { [ "$(wc -l <"$2")" -ge "$1" ]; }

pings_stopped()
{
	"${there[@]}" "$build/rdmachan" listen --keep 7115 >"$tmp/got" 2>&1 </dev/null &
	servers+=($!)
	"${there[@]}" "$build/rdmachan" listen --echo 7116 >"$tmp/got" 2>&1 </dev/null &
	servers+=($!)
	listening 7115 && listening 7116 && ping_stopped 1 0 -W 20 "$host:7115" &&
	grep -q '1 sent, 0 answered' "$tmp/out" &&
	ping_stopped 0 2 -i .1 -c 1000000 "$host:7116" && return 1
	ping_stopped 1 2 -i .1 -c 1000000 "$host:7116" && ping_stopped 0 1 -i 30. "$host:7116" &&
	fails 2 tool ping -i . "$host:7116" && fails 2 tool ping -i nan "$host:7116"
}

ping_nobody()
{
	fails 3 tool ping -c 1 -p 7999 -t 5 "$host" && says "no answer to \"ping $host\"" &&
	! says 'service' && fails 2 tool doctor -p 7999 -t 5 "$host" &&
	! grep -q 4294967294 "$tmp/out"
}

test_mounted()
{
	if ! mounted; then
		[ -z "${RDMACHAN_HOST:-}" ] || check "a file system is mounted" false
		skip "no file system can be mounted here"
		return
	fi
	check "a receiver without space goes on" no_space
	check "at whatever byte the space ends" no_space_anywhere
	check "a receiver on a read-only file system says so" read_only
}

: >"$tmp/empty"
echo hello >"$tmp/small"
seq 1000 >"$tmp/other"
head -c 8000000 /dev/zero >"$tmp/huge"
truncate -s 100000 "$tmp/sparse"

check "files of /proc and /sys are sent whole" send_proc
check "what is no file is refused, and the next one sent" send_unfit
check "a file that grows is not stored" send_growing
check "nor one that shrinks" send_shrinking
check "nor one that is emptied" send_replaced
check "nor one that is written to" send_changing
check "a receiver with a limit of file sizes goes on" file_limit
check "a receiver without its directory says so" no_such_directory
test_mounted
check "SIGINT in the midst of a file leaves nothing" stopped INT 1
check "nor does SIGTERM" stopped TERM 1
check "nor SIGHUP" stopped HUP 1
check "what SIGKILL leaves the next receiver removes" killed
check "but not what another one is writing" two_receivers
check "in a directory of many" many_receivers
check "a signal is heeded while data comes and comes" stopped_in_flood
check "a receiver that is stopped without a sender" stopped_idle
check "a receiver whose output nobody reads stores on" nobody_listens
check "output that cannot be written is a failure" all_full
check "nor do the examples hide it" full_examples
check "closed descriptors are not filled with ours" closed_descriptors
check "names with control characters are refused and shown escaped" bad_names
check "senders that keep to no rule" strange_senders
check "and those that say anything" noise
check "receivers that keep to no rule" strange_receivers
check "a file without a size is lent" lend_made_up
check "atomic operations tell of their alignment" not_aligned
check "lend is stopped" lend_stopped 0 ''
check "lend that cannot save is stopped" lend_unsaved /dev/full 'No space left on device'
check "nor in such a place" lend_unsaved "$tmp/none/x" 'No such file or directory'
check "lend --once is stopped" lend_stopped 1 'before anybody came' --once
check "lend --once is stopped while it lends" lend_stopped_held
check "pings are stopped" pings_stopped
# The setpriv of a guest that has busybox takes no capability away.
if [ -z "${RDMACHAN_FAKE:-}" ] && timeout 60 "${limited[@]}" true; then
	check "a limit of locked memory is named" locked
	check "memory is used with a limit of locked memory" locked_holder
fi
if [ -z "${RDMACHAN_FAKE:-}" ]; then
	check "ping of a host without an answer names no service" ping_nobody
fi
echo "1..$count"
[ $failed -eq 0 ]
