#!/bin/bash
# SPDX-License-Identifier: MIT
#
# relay_test.sh - connect and listen lose nothing in silence
#
# Where and how it runs is told in flow_test.sh. RDMACHAN_ROUNDS says how often what is a race is
# tried.
set -u

# shellcheck source=userspace-tool/tests/helpers.sh
. "$(dirname "$(readlink -f "$0")")/helpers.sh"
helpers_begin relay
rounds=${RDMACHAN_ROUNDS:-50}
# Numbers that differ between the rounds, and not from one run to the next.
RANDOM=1

# talk LISTEN-IN LISTEN-OUT CONNECT-IN CONNECT-OUT [OPTION...]: begins both
talk()
{
	begin_there listen "$1" "$2" 7201 listen "${@:5}" 7201 &&
	begin connect "$3" "$4" connect "${@:5}" "$host:7201"
}

# both LISTEN CONNECT: they end so
both() { ends connect "$2" && ends listen "$1"; }

# again COMMAND...: as often as a race is worth
again()
{
	local round

	for ((round = 1; round <= rounds; round++)); do
		"$@" && continue
		echo "in round $round"
		return 1
	done
}

# way: the pipe "$tmp/way"
way()
{
	rm -f "$tmp/way"
	mkfifo "$tmp/way"
}

# So many bytes of what is sent that there are always more than a pipe takes
some() { echo $((RANDOM * 32768 % (size - (1 << 20)) + RANDOM % 1000)); }

# The output is the input

# exchange OPTION A B
exchange()
{
	talk "$2" "$tmp/b" "$3" "$tmp/a" "$1" && both 0 0 && silent listen && silent connect &&
	cmp "$2" "$tmp/a" && cmp "$3" "$tmp/b"
}

# Lines that are longer than what is read at once. The last one is given a newline.
odd_lines()
{
	printf 'one\n\n%070000d\nlast' 7 >"$tmp/c"
	talk "$tmp/c" "$tmp/b" /dev/null "$tmp/a" --lines && both 0 0 &&
	cmp "$tmp/a" <(cat "$tmp/c"; echo) && [ ! -s "$tmp/b" ]
}

# An input without a byte is a message as a whole, and else none.
nothing()
{
	talk /dev/null "$tmp/b" /dev/null "$tmp/a" "$1" && both 0 0 && [ ! -s "$tmp/a" ] &&
	[ ! -s "$tmp/b" ]
}

# The data goes through a filter, which answers only at the end of it.
# shellcheck disable=SC2016 # for the inner shell
filter()
{
	way
	start listen /dev/null "$tmp/b" bash -c '"$@" <"$0" | sort -n >"$0"' "$tmp/way" \
		"${there[@]}" "$build/rdmachan" listen 7201 &&
	listening 7201 && begin connect "$tmp/mixed" "$tmp/a" connect "$host:7201" && both 0 0 &&
	cmp "$tmp/a" "$tmp/lines"
}

# The output of one ends long before its input.
output_ends()
{
	way
	hold
	start cat "$tmp/way" "$tmp/b" cat
	talk "$tmp/hold" "$tmp/way" "$tmp/lines" "$tmp/a" && ends cat 0 &&
	cmp "$tmp/b" "$tmp/lines" && is_alive listen && is_alive connect && echo late >&"$hold" &&
	release && both 0 0 && [ "$(cat "$tmp/a")" = late ]
}

# What cannot be written

# full SIZE: so much cannot
full()
{
	head -c "$1" /dev/zero >"$tmp/c"
	talk /dev/null /dev/full "$tmp/c" "$tmp/a" && both 1 3 &&
	says listen 'cannot write standard output: No space left on device' &&
	says connect 'The peer reset the channel'
}

full_connect()
{
	talk "$tmp/random" "$tmp/b" /dev/null /dev/full && both 3 1 &&
	says connect 'cannot write standard output: No space left on device' &&
	says listen 'The peer reset the channel'
}

# Both end, though there may be more input.
full_open()
{
	hold
	hold other
	talk "$tmp/hold" /dev/full "$tmp/other" "$tmp/a" && echo something >&"$other" && both 1 3
}

# The receiver of a stream has it until the disk is full.
disk_full()
{
	talk /dev/null "$tmp/disk/file" "$tmp/large" "$tmp/a" && both 1 3 &&
	says listen 'cannot write standard output: No space left on device' &&
	says connect 'The peer reset the channel'
}

reader_leaves()
{
	way
	start head "$tmp/way" "$tmp/b" head -c "$(some)"
	talk /dev/null "$tmp/way" "$tmp/random" "$tmp/a" && ends head 0 && both 1 3 &&
	says listen 'cannot write standard output: Broken pipe' &&
	says connect 'The peer reset the channel'
}

# What cannot be read, or not be sent

unreadable()
{
	hold
	talk "$tmp/hold" "$tmp/b" "$tmp" "$tmp/a" && both 3 1 &&
	says connect 'cannot read standard input: Is a directory' &&
	says listen 'The peer reset the channel'
}

too_large()
{
	begin_there listen /dev/null "$tmp/b" 7201 listen --max 64k 7201 &&
	begin connect "$tmp/random" "$tmp/a" connect --whole "$host:7201" && both 3 1 &&
	says connect 'Its limit is 65536 bytes' && says listen 'The peer reset the channel'
}

# Peers that are killed, or stopped

# A pipe that is opened when its last writer has gone is never opened.
reads_way() { [ "$(readlink "/proc/${pids[$1]}/fd/0")" = "$tmp/way" ]; }

# killed ONE OTHER: in the midst, when some has come out; the one fails
killed()
{
	local status

	way
	hold other
	exec {hold}<>"$tmp/way"
	talk "$tmp/other" "$tmp/way" "$tmp/random" "$tmp/a" &&
	head -c "$(some)" <&"$hold" >"$tmp/b" && send_signal KILL "$1" && ends "$1" 137 &&
	start cat "$tmp/way" /dev/null cat && await reads_way cat && ends "$2" 3 &&
	says "$2" 'The program at the peer was killed'
	status=$?
	release
	release other
	ends cat 0 && return $status
}

# A relay that waits for input notices as well.
killed_idle()
{
	hold
	hold other
	talk "$tmp/hold" "$tmp/b" "$tmp/other" "$tmp/a" && echo something >&"$other" &&
	await test -s "$tmp/b" && send_signal KILL "$1" && ends "$1" 137 && ends "$2" 3 &&
	says "$2" 'The program at the peer was killed'
}

# midst: listen has written some lines out, and nobody takes the rest before "hold" is written to
# shellcheck disable=SC2016 # for the inner shell
midst()
{
	way
	hold
	start gate "$tmp/way" "$tmp/b" bash -c 'read -r line && echo "$line" && read -r <"$0" && cat' \
		"$tmp/hold"
	talk /dev/null "$tmp/way" "$tmp/lines" "$tmp/a" && await test -s "$tmp/b"
}

# stopped NAME: and continued
stopped()
{
	midst && send_signal STOP "$1" && await is_stopped "$1" && echo go >&"$hold" &&
	send_signal CONT "$1" && both 0 0 && ends gate 0 && cmp "$tmp/b" "$tmp/lines"
}

is_stopped() { grep -q '^State:.T' "/proc/${pids[$1]}/status"; }

# interrupted SIGNAL: a user gives up waiting for a peer that is stopped
interrupted()
{
	midst && send_signal STOP listen && await is_stopped listen && send_signal "$1" connect &&
	ends connect $((128 + $(kill -l "$1")))
}

# Peers that do not receive

# unread WORD...: of three messages the peer receives some, then it ends; the first word is the text
unread()
{
	hold
	printf 'one\ntwo\nthree\n' >"$tmp/c"
	peer_there peer 7202 ended hold "${@:2}" && begin connect "$tmp/c" "$tmp/a" connect -l "$host:7202" &&
	await grep -q held "$tmp/peer.out" && echo go >&"$hold" && ends peer 0 && ends connect 3 &&
	says connect "the peer's program has ended: $1"
}

# More than is sent while nobody receives
unsent()
{
	hold
	peer_there peer 7202 recv hold && begin connect "$tmp/large" "$tmp/a" connect "$host:7202" &&
	await grep -q held "$tmp/peer.out" && echo go >&"$hold" && ends peer 0 && ends connect 3 &&
	says connect "the peer's program has ended: " && says connect 'rest of the input was not sent'
}

# The input has ended, and it waits until the peer's program comes to receive it.
waits()
{
	hold
	peer_there peer 7202 hold recv recv &&
	begin connect <(echo hello) "$tmp/a" connect "$host:7202" &&
	await grep -q held "$tmp/peer.out" && sleep 0.5 && is_alive connect && echo go >&"$hold" &&
	ends connect 0 && ends peer 0 && silent connect
}

# The peer has received all there was, and ends. Nobody waits for more input then; the rest of it is
# lost.
leaves()
{
	hold
	hold other
	peer_there peer 7202 recv hold &&
	begin connect "$tmp/other" "$tmp/a" connect --lines "$host:7202" && echo one >&"$other" &&
	await grep -q held "$tmp/peer.out" && printf '%s' "$1" >&"$other" && "${@:2}" &&
	echo go >&"$hold" && ends peer 0
}

leaves_all() { leaves '' && ends connect 0 && silent connect; }

# The first half of a line is read, which is not seen from outside.
leaves_half()
{
	leaves half await is_read other && ends connect 3 &&
	says connect "the peer's program has ended: the rest of the input was not sent"
}

# One way

# The peer's input goes on, which is of no interest.
one_way()
{
	hold
	begin_there listen "$tmp/hold" "$tmp/b" 7201 listen 7201 &&
	begin connect "$tmp/random" "$tmp/a" connect --one-way "$host:7201" && both 0 0 &&
	silent listen && silent connect && cmp "$tmp/b" "$tmp/random"
}

one_way_listen()
{
	hold
	begin_there listen "$tmp/random" "$tmp/b" 7201 listen --one-way 7201 &&
	begin connect "$tmp/hold" "$tmp/a" connect "$host:7201" && both 0 0 && silent listen &&
	silent connect && cmp "$tmp/a" "$tmp/random"
}

# It closes its output, and does not hide what is not received.
one_way_full()
{
	way
	start cat "$tmp/way" "$tmp/a" cat
	begin_there listen /dev/null /dev/full 7201 listen 7201 &&
	begin connect "$tmp/random" "$tmp/way" connect --one-way "$host:7201" && both 1 3 &&
	ends cat 0 && says connect 'The peer reset the channel'
}

# A peer that sends something to it is told, and gets all that comes.
one_way_both()
{
	hold
	begin_there listen "$tmp/hold" "$tmp/b" 7201 listen --one-way 7201 &&
	begin connect "$tmp/large" "$tmp/a" connect "$host:7201" && cat "$tmp/random" >&"$hold" &&
	release && both 0 3 && says connect "the peer's program receives no more" &&
	silent listen && cmp "$tmp/a" "$tmp/random"
}

one_way_usage()
{
	begin listen /dev/null "$tmp/b" listen --one-way --keep 7201 && ends listen 2 &&
	begin listen /dev/null "$tmp/b" listen --one-way --echo 7201 && ends listen 2
}

# Keep

keep()
{
	hold
	begin_there listen /dev/null "$tmp/b" 7201 listen --keep 7201 &&
	begin connect "$tmp/hold" "$tmp/a" connect "$host:7201" && echo one >&"$hold" &&
	await grep -q one "$tmp/b" && send_signal KILL connect && ends connect 137 &&
	begin connect <(echo two) "$tmp/a" connect "$host:7201" && ends connect 0 &&
	is_alive listen && says listen 'The program at the peer was killed' &&
	[ "$(cat "$tmp/b")" = 'one
two' ]
}

keep_full()
{
	begin_there listen /dev/null /dev/full 7201 listen --keep 7201 &&
	begin connect "$tmp/lines" "$tmp/a" connect "$host:7201" && both 1 3
}

size=4194304
head -c $size /dev/urandom >"$tmp/random"
head -c 3000001 /dev/urandom >"$tmp/random2"
# More than all buffers take
head -c 24000000 /dev/zero >"$tmp/large"
seq 100000 >"$tmp/lines"
tac "$tmp/lines" >"$tmp/mixed"
seq 3000 >"$tmp/few"
seq 90000 91000 >"$tmp/few2"

check "bytes both ways at once" exchange --stream "$tmp/random" "$tmp/random2"
check "lines both ways at once" exchange --lines "$tmp/few" "$tmp/few2"
check "one message each way" exchange --whole "$tmp/random" "$tmp/random2"
check "lines of any length" odd_lines
for option in --stream --lines --whole; do
	check "no input at all, $option" nothing $option
done
check "what comes goes through a filter" filter
check "the end of what comes ends the output" output_ends
check "a byte that cannot be written" again full 1
check "much that cannot be written" full 20000000
check "connect cannot write" again full_connect
check "nobody can write, and the inputs are open" full_open
if mounted disk; then
	check "a disk that becomes full" disk_full
elif [ -n "${RDMACHAN_HOST:-}" ]; then
	check "a file system is mounted" false
else
	skip "no file system can be mounted here"
fi
check "the reader of the output leaves" again reader_leaves
check "an input that cannot be read" unreadable
[ -n "${RDMACHAN_FAKE:-}" ] || check "a message that is too large for the peer" too_large
check "listen is killed" again killed listen connect
check "connect is killed" again killed connect listen
check "listen is killed while nothing happens" killed_idle listen connect
check "connect is killed while nothing happens" killed_idle connect listen
check "listen is stopped and continued" stopped listen
check "connect is stopped and continued" stopped connect
check "connect is interrupted" interrupted INT
check "connect is terminated" interrupted TERM
check "a peer ends and has received nothing" unread '3 messages were not received by it'
check "a peer ends and has received some" unread '1 message was not received by it' recv recv
check "a peer ends and there is more to send" unsent
check "the end of input is not the end" waits
check "a peer ends before the input" leaves_all
check "a peer ends within a line" leaves_half
check "one way, to listen" one_way
check "one way, to connect" one_way_listen
check "one way, which cannot be written" one_way_full
check "one way, and the peer sends" one_way_both
check "one way, with options that do not go together" one_way_usage
check "listen --keep goes on" keep
check "listen --keep cannot write" keep_full
helpers_end
