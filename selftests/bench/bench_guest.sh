#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench_guest.sh - measure rdmachan and its peers in a guest, for bench.sh
#
# In the environment:
#
#   ROWS        rows to measure, as patterns of names (*)
#   CONTENDERS  by which ways (all)
#   REPEATS     how often all of it is measured (1)
#   DIVIDE      divide the numbers of messages by that (1)
#   POLLING     1: there are processors enough for programs that poll (0)
#
# Prints "row NAME CONTENDER UNIT VALUE", or "failed NAME CONTENDER" with what is known.
# Where instructions are counted a microsecond is a thousand of them. Rows:
#
#   latS      one way of a message of S bytes, half a round trip
#   readS     READ of S bytes that the peer lends; writeS, addS: WRITE, FETCH_ADD
#   getS      READs of S bytes one after the other; putS: WRITEs
#   giveS     lending S bytes, until the peer has given them back
#   tputS     messages of S bytes in one direction
#   rateN     messages of 64 bytes on N channels, of 8 processes if there are so many
#   connect   connect, a byte there and back, close, while another connection is open
#
# Nothing polls, unless it cannot do otherwise. In one of two joined guests, "a" is the
# server and "b" measures; both run this with the same environment.

cd /test || exit 1

SIZES="1 8 64 512 4k 16k 64k 256k 1m 4m 16m 64m"
CHANNELS="1 4 16 64"
LENT_SIZES="8 64 4k 64k"
GIVE_SIZES="4k 1m"
WAYS="write_read queue queue_poller queue_regions io_uring rsockets tcp udp unix"
# Those by which lent memory may be got at.
REACH="ioctl queue"
VERBS="ib_send ib_read ib_write"
# What perftest and the floor are able to send.
VERBS_MAX=8388608
FLOOR_MAX=1048576
# Seconds that a measurement may take; a program that does not end when told so is killed.
LIMIT=120
LIMITED=(timeout -k 5 "$LIMIT")
# Where perftest waits for events it takes 16 completions for each, and no more: those of
# more queue pairs, which come together, leave it waiting for ever.
VERBS_QPS_MAX=16

role=both
# Of the measurement, one for each process; another has others.
port=20000
ways=''

# Set bytes to what a size stands for.
bytes_of() {
	case $1 in
	*k) bytes=$((${1%k} << 10)) ;;
	*m) bytes=$((${1%m} << 20)) ;;
	*) bytes=$1 ;;
	esac
}

# between LEAST NUMBER MOST
between() {
	local n=$2

	[ "$n" -le "$3" ] || n=$3
	[ "$n" -ge "$1" ] || n=$1
	echo "$n"
}

# The most where there are aims. Figures depend a little on the number: it stays the same.
trips_of() {
	case $1 in
	8 | 64 | 4096) echo $((3000 / DIVIDE)) ;;
	65536) echo $((1000 / DIVIDE)) ;;
	*) between 1 $(((16 << 20) / $1 / DIVIDE)) $((1000 / DIVIDE)) ;;
	esac
}

messages_of() {
	case $1 in
	1048576) echo $((64 / DIVIDE)) ;;
	*) between 2 $(((16 << 20) / $1 / DIVIDE)) $((4000 / DIVIDE)) ;;
	esac
}

# chosen WORD PATTERNS
chosen() {
	local pattern

	for pattern in $2; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

# Wait until somebody listens on the port, if it is one of RDMA.
await_listener() {
	local tries=100

	until rdma resource show cm_id | grep -q ":$port " || [ $((tries -= 1)) -eq 0 ]; do
		sleep 0.1
	done
}

# The server's command, until it ends or the other guest gives up.
serve() {
	"${LIMITED[@]}" "$@" >/dev/null &
	[ "$1" = ./bench ] || await_listener
	lab-signal "p$port"
	wait $!
}

# way TEST WAY SIZE COUNT [PROCESSES CHANNELS]: print the figure
way() {
	case $role in
	both) "${LIMITED[@]}" ./bench --port $port "$@" ;;
	server) serve ./bench --serve --port $port "$@" ;;
	client)
		lab-await "p$port" $LIMIT &&
			"${LIMITED[@]}" ./bench --peer "$PEER_IP" --port $port "$@" ;;
	esac
}

# Print the last line of what perftest has said, if there are figures in it: it takes the
# rate of the clock by measuring, and finds none when the host has been busy.
perftest_line() { grep -E '^ *[0-9]+ ' /tmp/verbs | grep -v -E 'inf|0\.000000 *$' | tail -n 1; }

# perftest_here COMMAND...: both ends. Status: 124 when it came to a stop
perftest_here() {
	local server status=0 meek=()

	# Servers of these have nothing to do, but look all the time whether it is over: they
	# would take half of the only processor.
	[[ $1 != ib_read_bw && $1 != ib_write_bw ]] || meek=(nice -n 19)
	"${LIMITED[@]}" "${meek[@]}" "$@" >/dev/null 2>&1 &
	server=$!
	await_listener
	"${LIMITED[@]}" "$@" "$LAB_IP" >/tmp/verbs 2>&1 || status=$?
	[ $status -eq 0 ] || kill $server 2>/dev/null
	wait $server
	[ $status -ne 0 ] || perftest_line
	return $status
}

# perftest COMMAND...: print its line of figures
perftest() {
	set -- "$@" -R -F -p "$port"
	case $role in
	# It does not wait for a server, and does not always end well without. One that has
	# come to a stop would do so again.
	both)
		for _ in 1 2 3 4 5 6 7 8; do
			perftest_here "$@" >/tmp/figures
			case $? in
			124 | 137) break ;;
			esac
			! grep . /tmp/figures || return 0
		done
		tail -n 1 /tmp/verbs >&2
		return 1 ;;
	server) serve "$@" ;;
	client)
		lab-await "p$port" $LIMIT || return
		for _ in 1 2 3; do
			! "${LIMITED[@]}" "$@" "$PEER_IP" >/tmp/verbs 2>&1 || break
			sleep 1
		done
		perftest_line ;;
	esac
}

# verbs TEST CONTENDER SIZE COUNT [QPS]: print the figure
verbs() {
	# shellcheck disable=SC2016 # awk's
	local n=$4 megabytes='{ printf "%.3f\n", $5 * $1 }'

	[ "$n" -ge 5 ] || n=5
	case $1-$2 in
	# A CQ for one completion overflows on 6.12.
	lat-ib_send) perftest ib_send_lat -e -t 16 -s "$3" -n "$n" | awk '{ print $5 }' ;;
	lat-ib_read) perftest ib_read_lat -e -s "$3" -n "$n" | awk '{ print $5 }' ;;
	# There are no events to wait for: it looks at its memory, and at its queue.
	lat-ib_write) perftest ib_write_lat -s "$3" -n "$n" | awk '{ print $5 }' ;;
	read-ib_read) perftest ib_read_lat -e -s "$3" -n "$n" | awk '{ print $5 }' ;;
	add-ib_atomic) perftest ib_atomic_lat -e -n "$n" | awk '{ print $5 }' ;;
	# One at a time, and there are no events: it looks at its queue.
	write-ib_write) perftest ib_write_bw -t 1 -s "$3" -n "$n" |
		awk '$5 { printf "%.3f\n", 1 / $5 }' ;;
	tput-ib_write) perftest ib_write_bw -s "$3" -n "$n" | awk "$megabytes" ;;
	tput-*) perftest "$2_bw" -e -s "$3" -n "$n" | awk "$megabytes" ;;
	rate-*) perftest "$2_bw" -e -s "$3" -n "$n" -q "$5" |
		awk '{ printf "%.0f\n", $5 * 1e6 }' ;;
	esac
}

# floor CONTENDER SIZE COUNT: print the figure
floor() {
	local reply=0 ns

	[ "$1" = floor ] || reply=1
	insmod ./rdmachan_floor.ko addr="$LAB_IP" port=$port size="$2" count="$3" reply=$reply ||
		return
	read -r ns </sys/module/rdmachan_floor/parameters/typical_ns
	rmmod rdmachan_floor
	awk -v ns="$ns" 'BEGIN { printf "%.3f\n", ns / 1000 }'
}

# figure ROW CONTENDER UNIT COMMAND...: print the row with what the command prints
figure() {
	local value status=0

	chosen "$2" "$CONTENDERS" || return 0
	# Not in the subshell: the next one has to know.
	port=$((port + 10))
	value=$("${@:4}" 2>/tmp/why) || status=$?
	# This guest has no such way.
	[ $status -ne 4 ] || return 0
	if [ $status -eq 0 ] && [[ $value =~ ^[0-9.]+$ ]]; then
		echo "row $1 $2 $3 $value"
	elif [ $role != server ] || [ $status -ne 0 ]; then
		echo "failed $1 $2: status $status, $(tail -n 3 /tmp/why | tr '\n' ' ')"
	fi
}

latencies() {
	local row=lat$1 bytes=$2 count contender

	count=$(trips_of "$bytes")
	for contender in $ways; do
		figure "$row" "$contender" "$TIME" way lat "$contender" "$bytes" "$count"
	done
	for contender in $VERBS; do
		[ "$bytes" -le $VERBS_MAX ] || continue
		[ "$contender" != ib_write ] || [ "$POLLING" = 1 ] || continue
		figure "$row" "$contender" "$TIME" verbs lat "$contender" "$bytes" "$count"
	done
	for contender in floor floor_reply; do
		[ "$bytes" -le $FLOOR_MAX ] || continue
		[ $role = both ] || continue
		figure "$row" "$contender" "$TIME" floor "$contender" "$bytes" "$count"
	done
}

# Of 64 bytes a run has one of two or three values, by what the kernel's allocator has at hand,
# and aims are between these: the median of five.
measure_lat() {
	local bytes pass passes=1

	bytes_of "$1"
	[ "$TIME" != kinstr ] || [ "$bytes" != 64 ] || passes=5
	for ((pass = 0; pass < passes; pass++)); do
		latencies "$1" "$bytes"
	done
}

measure_tput() {
	local row=tput$1 bytes count contender

	bytes_of "$1"
	count=$(messages_of "$bytes")
	for contender in $ways; do
		figure "$row" "$contender" MB/s way tput "$contender" "$bytes" "$count"
	done
	for contender in $VERBS; do
		[ "$bytes" -le $VERBS_MAX ] || continue
		figure "$row" "$contender" MB/s verbs tput "$contender" "$bytes" "$count"
	done
}

measure_rate() {
	local row=rate$1 processes count contender

	processes=$(between 1 "$1" 8)
	for contender in $ways; do
		case $contender in
		# It has no connections to accept.
		udp) [ "$1" = 1 ] || continue ;;
		# They came to a stop with so many; why is not known.
		rsockets) [ "$1" -lt 64 ] || continue ;;
		esac
		# Enough to fill whatever takes many at once.
		count=$((64000 / DIVIDE))
		[[ $contender = queue* ]] || count=$((8000 / DIVIDE))
		figure "$row" "$contender" msg/s way rate "$contender" 64 $count \
			"$processes" $(($1 / processes))
	done
	[ "$1" -le $VERBS_QPS_MAX ] || return 0
	# It signals each hundredth.
	count=$((8000 / DIVIDE / $1 / 100 * 100))
	figure "$row" ib_send msg/s verbs rate ib_send 64 $((count ? count : 100)) "$1"
}

# measure_one TEST SIZE VERB: an access to lent memory
measure_one() {
	local row=$1$2 bytes count contender

	bytes_of "$2"
	count=$(trips_of "$bytes")
	for contender in $REACH; do
		figure "$row" "$contender" "$TIME" way "$1" "$contender" "$bytes" "$count"
	done
	figure "$row" "$3" "$TIME" verbs "$1" "$3" "$bytes" "$count"
}

measure_read() { measure_one read "$1" ib_read; }
measure_write() { measure_one write "$1" ib_write; }
measure_add() { measure_one add "$1" ib_atomic; }

# measure_many TEST SIZE VERB: many of them
measure_many() {
	local row=$1$2 bytes count contender

	bytes_of "$2"
	count=$(messages_of "$bytes")
	for contender in $REACH; do
		figure "$row" "$contender" MB/s way "$1" "$contender" "$bytes" "$count"
	done
	figure "$row" "$3" MB/s verbs tput "$3" "$bytes" "$count"
}

measure_get() { measure_many get "$1" ib_read; }
measure_put() { measure_many put "$1" ib_write; }

# Two round trips of 64 bytes.
two_trips() { way lat write_read 64 "$(trips_of 64)" | awk '{ print 4 * $1 }'; }

measure_give() {
	local row=give$1 bytes

	bytes_of "$1"
	figure "$row" ioctl "$TIME" way give ioctl "$bytes" $((1000 / DIVIDE))
	figure "$row" write_read "$TIME" two_trips
}

measure_connect() {
	local contender count=$((300 / DIVIDE))

	for contender in write_read tcp unix; do
		chosen $contender "$ways" || continue
		figure connect $contender "$TIME" way connect $contender 1 $count
	done
	figure connect rsockets "$TIME" way connect rsockets 1 $((count / 3))
}

# measure KIND WORD...: the rows of a kind that are chosen
measure() {
	local kind=$1 word

	shift
	for word in "$@"; do
		! chosen "$kind$word" "$ROWS" || "measure_$kind" "$word"
	done
}

main() {
	local pass

	: "${ROWS:=*}" "${CONTENDERS:=*}" "${REPEATS:=1}" "${DIVIDE:=1}" "${POLLING:=0}"
	: "${TIME:=us}"
	# In a list of words, not of files here.
	set -f
	ways=$WAYS
	# A thread that polls would take the only processor from those it works for.
	[ "$POLLING" = 1 ] || ways=${ways/queue_poller /}
	# The way to another host is not one of AF_UNIX.
	[ -z "${PEER_IP:-}" ] || ways=${ways% unix}
	case ${PEER_IP:+$LAB_HOST} in
	a) role=server ;;
	b) role=client ;;
	esac
	insmod ./rdmachan.ko || exit 1
	echo "kernel $(uname -r)"
	# shellcheck disable=SC2086 # lists of words
	for ((pass = 0; pass < REPEATS; pass++)); do
		measure lat $SIZES
		measure tput $SIZES
		measure rate $CHANNELS
		measure connect ''
		measure read $LENT_SIZES
		measure write $LENT_SIZES
		measure add 8
		measure get 1m
		measure put 1m
		measure give $GIVE_SIZES
	done
	rmmod rdmachan
}

main
