#!/bin/bash
# SPDX-License-Identifier: MIT
#
# contract_test.sh - each row of the table "When one of the ends ends" in rdmachan(8)
#
# Where and how it runs is told in flow_test.sh. The rows are read from the manual page: a command,
# what the other end does, the exit status, and what the command says; "-" is nothing. The words
# of the first two columns are the name of the function that tries it.
#
# usage: contract_test.sh [PATTERN]     the rows that it matches; unless given all
set -u

only=${1:-}
# shellcheck source=userspace-tool/tests/helpers.sh
. "$(dirname "$(readlink -f "$0")")/helpers.sh"
helpers_begin contract

here=$(dirname "$(readlink -f "$0")")
page=$here/../man/rdmachan.8
[ -f "$page" ] || page=$here/rdmachan.8

# it NAME STATUS TEXT: ends and says so
it()
{
	ends "$1" "$2" || return
	if [ "$3" = - ]; then
		silent "$1"
	else
		says "$1" "$3"
	fi
}

is_stopped() { grep -q '^State:.T' "/proc/${pids[$1]}/status"; }

stop() { send_signal STOP "$1" && await is_stopped "$1"; }

# connect and listen. The one that is looked at is $end, the other one $other_end.

# pair INPUT OUTPUT OTHER-INPUT OTHER-OUTPUT
pair()
{
	if [ "$end" = connect ]; then
		begin_there listen "$3" "$4" $port listen $port &&
		begin connect "$1" "$2" connect "$host:$port"
	else
		begin_there listen "$1" "$2" $port listen $port &&
		begin connect "$3" "$4" connect "$host:$port"
	fi
}

relay_receives_all()
{
	pair "$tmp/random" "$tmp/a" /dev/null "$tmp/b" && it "$end" "$@" && ends "$other_end" 0 &&
	cmp "$tmp/random" "$tmp/b"
}

# One that receives one message of three, and closes the channel
relay_ends_early()
{
	hold
	printf 'one\ntwo\nthree\n' >"$tmp/c"
	if [ "$end" = connect ]; then
		peer_there peer $port ended hold recv &&
		begin connect "$tmp/c" "$tmp/a" connect -l "$host:$port" || return
	else
		begin_there listen "$tmp/c" "$tmp/a" $port listen -l $port &&
		start peer "$tmp/hold" "$tmp/peer.out" "$build/tests/filepeer" "$host" $port ended hold recv ||
			return
	fi
	await grep -q held "$tmp/peer.out" && echo go >&"$hold" && ends peer 0 && it "$end" "$@"
}

relay_is_killed()
{
	hold
	hold other
	pair "$tmp/hold" "$tmp/a" "$tmp/other" "$tmp/b" && echo something >&"$hold" &&
	await test -s "$tmp/b" && send_signal KILL "$other_end" && it "$end" "$@"
}

relay_cannot_write()
{
	pair "$tmp/random" "$tmp/a" /dev/null /dev/full && it "$end" "$@" && ends "$other_end" 1
}

relay_is_there_and_this_end_cannot_write()
{
	pair /dev/null /dev/full "$tmp/random" "$tmp/b" && it "$end" "$@" && ends "$other_end" 3
}

# shellcheck disable=SC2119 # release has an argument of its own
relay_is_stopped_and_continued()
{
	hold
	pair "$tmp/hold" "$tmp/a" /dev/null "$tmp/b" && echo something >&"$hold" &&
	await test -s "$tmp/b" && stop "$other_end" && echo more >&"$hold" &&
	send_signal CONT "$other_end" && cat "$tmp/random" >&"$hold" && release &&
	it "$end" "$@" && ends "$other_end" 0
}

relay_is_stopped_and_SIGINT_comes()
{
	hold
	pair "$tmp/hold" "$tmp/a" /dev/null "$tmp/b" && echo something >&"$hold" &&
	await test -s "$tmp/b" && stop "$other_end" && send_signal INT "$end" && it "$end" "$@"
}

# send and recv

# files [OPTION...]: recv and send; the directory is $into
files()
{
	begin_there recv /dev/null "$tmp/log1" $port recv --service $port "$@" "$into"
}

send_it() { begin send /dev/null "$tmp/log2" send "$tmp/large" "$host:$port"; }

fresh() { into=$tmp/into; rm -rf "$into"; mkdir "$into"; }

send_stores_all() { fresh; files --once && send_it && it send "$@" && cmp "$tmp/large" "$into/large"; }

# A receiver that has begun to take the file
send_is_killed()
{
	hold
	peer_there peer $port recv verdict=1 recv hold && send_it && await grep -q held "$tmp/peer.out" &&
	send_signal KILL peer && it send "$@"
}

# One that takes the beginning of a file, and closes the channel
send_ends_early()
{
	hold
	peer_there peer $port recv verdict=1 recv hold && send_it && await grep -q held "$tmp/peer.out" &&
	echo go >&"$hold" && ends peer 0 && it send "$@"
}

send_cannot_write()
{
	into=$tmp/disk
	rm -rf "$tmp/disk/"*
	files && send_it && it send "$@"
}

send_is_stopped_and_continued()
{
	fresh
	files --once && stop recv && send_it && await is_alive send && send_signal CONT recv &&
	it send "$@" && cmp "$tmp/large" "$into/large"
}

send_is_stopped_and_SIGINT_comes()
{
	fresh
	files && stop recv && send_it && await waits_in_call send && send_signal INT send &&
	it send "$@"
}

recv_sends_all() { fresh; files --once && send_it && it recv "$@" && ends send 0; }

# A sender that has begun, and does not go on
half_a_file()
{
	hold
	fresh
	files --once &&
	start send "$tmp/hold" "$tmp/peer.out" "$build/tests/filepeer" "$host" $port \
		header=half,1000000 recv data=4096 hold && await grep -qs held "$tmp/peer.out"
}

recv_ends_early() { half_a_file && echo go >&"$hold" && ends send 0 && it recv "$@"; }

recv_is_killed() { half_a_file && send_signal KILL send && it recv "$@"; }

recv_is_there_and_this_end_cannot_write()
{
	into=$tmp/disk
	rm -rf "$tmp/disk/"*
	files --once && send_it && it recv "$@" && ends send 1
}

recv_is_stopped_and_SIGINT_comes() { half_a_file && stop send && send_signal INT recv && it recv "$@"; }

# get and put

lend() { begin_there lend /dev/null "$tmp/log1" $port lend --service $port "$@"; }

waits_in_call() { ! has_ended "$1" && grep -q '^State:.S' "/proc/${pids[$1]}/status"; }

get_it() { begin get /dev/null "$tmp/a" get "$host:$port"; }

get_lends() { lend "$tmp/random" && get_it && it get "$@" && cmp "$tmp/a" "$tmp/random"; }

get_is_killed() { lend "$tmp/random" && stop lend && get_it && send_signal KILL lend && it get "$@"; }

get_is_stopped_and_continued()
{
	lend "$tmp/random" && stop lend && get_it && await waits_in_call get && send_signal CONT lend &&
	it get "$@" && cmp "$tmp/a" "$tmp/random"
}

get_is_stopped_and_SIGINT_comes()
{
	lend "$tmp/random" && stop lend && get_it && await waits_in_call get && send_signal INT get &&
	it get "$@"
}

get_lends_and_this_end_cannot_write()
{
	lend "$tmp/random" && begin get /dev/null /dev/full get "$host:$port" && it get "$@"
}

put_it() { begin put /dev/null "$tmp/a" put "$tmp/random" "$host:$port"; }

lend_size() { lend --size 4m --rights write --output "$tmp/b" "$@"; }

put_lends() { lend_size --once && put_it && it put "$@" && ends lend 0 && cmp "$tmp/b" "$tmp/random"; }

# The data to be written comes later than the memory is back.
put_ends_early()
{
	hold
	lend_size && begin put "$tmp/hold" "$tmp/a" put - "$host:$port" && await grep -q lent "$tmp/log1" &&
	send_signal INT lend && ends lend 0 && echo late >&"$hold" && release hold && it put "$@"
}

put_cannot_write()
{
	lend --size 4m --rights write --output /dev/full --once && put_it && it put "$@" && ends lend 1
}

put_is_killed() { lend_size && stop lend && put_it && send_signal KILL lend && it put "$@"; }

put_is_stopped_and_continued()
{
	lend_size --once && stop lend && put_it && await waits_in_call put && send_signal CONT lend &&
	it put "$@" && ends lend 0 && cmp "$tmp/b" "$tmp/random"
}

put_is_stopped_and_SIGINT_comes()
{
	lend_size && stop lend && put_it && await waits_in_call put && send_signal INT put && it put "$@"
}

# lend; the other end of it that is stopped is a put, as a get has nothing to wait for

lend_once() { lend_size --once; }

put_that_waits()
{
	hold
	begin put "$tmp/hold" "$tmp/a" put - "$host:$port" && await grep -q lent "$tmp/log1"
}

lend_gives_it_back() { lend_once && put_it && it lend "$@" && ends put 0 && cmp "$tmp/b" "$tmp/random"; }

lend_is_killed() { lend_once && put_that_waits && send_signal KILL put && it lend "$@"; }

lend_cannot_write()
{
	lend --once "$tmp/random" && begin get /dev/null /dev/full get "$host:$port" && it lend "$@" &&
	ends get 1
}

lend_gives_it_back_and_this_end_cannot_write()
{
	lend --once --size 4m --rights write --output /dev/full && put_it && it lend "$@" && ends put 3
}

lend_is_stopped_and_continued()
{
	lend_once && put_that_waits && stop put && echo late >&"$hold" && release hold &&
	send_signal CONT put && it lend "$@" && ends put 0
}

lend_is_stopped_and_SIGINT_comes()
{
	lend_once && put_that_waits && stop put && send_signal INT lend && it lend "$@"
}

# ping

echoes() { begin_there echo /dev/null "$tmp/log1" $port listen --echo $port; }

ping_it() { begin ping /dev/null "$tmp/a" ping -i .1 "$@" "$host:$port"; }

answered() { grep -q 'seq=2' "$tmp/a"; }

ping_answers() { echoes && ping_it -c 3 && it ping "$@"; }

# One that takes a message, and closes the channel
ping_ends_early()
{
	hold
	peer_there peer $port recv hold && ping_it && await grep -q held "$tmp/peer.out" &&
	echo go >&"$hold" && ends peer 0 && it ping "$@"
}

ping_is_killed() { echoes && ping_it && await answered && send_signal KILL echo && it ping "$@"; }

ping_is_stopped_and_continued()
{
	echoes && ping_it -c 40 && await answered && stop echo && send_signal CONT echo && it ping "$@"
}

# It waits for an answer that does not come.
ping_is_stopped_and_SIGINT_comes()
{
	hold
	peer_there peer $port recv hold && ping_it -W 60 && await grep -q held "$tmp/peer.out" &&
	stop peer && send_signal INT ping && it ping "$@"
}

# row COMMAND EVENT STATUS TEXT
row()
{
	local name=${2//,/}

	# Another one for each: what the row before has begun there may just be ending.
	port=$((port + 1))
	rm -f "$tmp/a" "$tmp/b" "$tmp/peer.out"
	end=$1
	other_end=listen
	[ "$1" = connect ] || other_end=connect
	name=$1_${name// /_}
	name=${name/#connect_/relay_}
	name=${name/#listen_/relay_}
	if ! declare -F "$name" >/dev/null; then
		check "$1: the other end $2" eval "echo 'there is no function $name'; false"
		return
	fi
	tried[$name]=1
	[[ $2 != *"cannot write"* || $1 != @(send|recv) ]] || mounted disk || {
		skip "no file system can be mounted here"
		return
	}
	check "$1: the other end $2" "$name" "$3" "$4"
}

# Each function of a row is in the table.
all_tried()
{
	local name

	for name in $(declare -F | sed -n 's/^declare -f \(\(relay\|send\|recv\|get\|put\|lend\|ping\)_[a-zI_A-HJ-Z]*\)$/\1/p'); do
		[[ $name != @(send_it|get_it|put_it|put_that_waits|ping_it|send_signal|lend_size|lend_once) ]] || continue
		[ -n "${tried[$name]:-}" ] || { echo "$name is not in the manual page"; return 1; }
	done
	[ ${#tried[@]} -gt 20 ]
}

declare -A tried=()
port=7300
head -c 4194304 /dev/urandom >"$tmp/random"
head -c 8000000 /dev/urandom >"$tmp/large"
while IFS='|' read -r command event status text; do
	[[ -z $only || "$command $event" =~ $only ]] || continue
	row "$command" "$event" "$status" "$text" </dev/null
done < <(sed -n '/^\.It Cm [a-z]* Ns No : /{N;s/^\.It Cm \([a-z]*\) Ns No : \(.*\)\n\([0-9]*\): /\1|\2|\3|/p}' "$page")
[ -n "$only" ] || check "the table has a row for each test" all_tried
helpers_end
