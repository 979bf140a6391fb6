#!/bin/bash
# SPDX-License-Identifier: MIT
#
# flow_test.sh - what the commands and examples do with channels
#
# By default the channels are those of fake_device.so, and HOST is any. To try the
# real module: RDMACHAN_HOST=ADDRESS flow_test.sh, where ADDRESS is this machine's on
# an RDMA device; RDMACHAN_HOST6 is another one, of IPv6.
#
# The addresses may be another host's, if it is a network namespace of this machine. Then
# RDMACHAN_THERE is a command that becomes its arguments in that namespace, such as "ip netns exec
# b". All servers run there.
set -u

build=${BUILD:?set it to the output directory of make}
host=${RDMACHAN_HOST:-10.0.0.1}
read -ra there <<<"${RDMACHAN_THERE:-}"
tmp=$(mktemp -d)
count=0
failed=0
servers=()

if [ -z "${RDMACHAN_HOST:-}" ]; then
	export LD_PRELOAD=$build/tests/fake_device.so RDMACHAN_FAKE=$$
	# With sanitizers: they want to be preloaded first, but need not.
	export ASAN_OPTIONS=verify_asan_link_order=0
fi

finish()
{
	[ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT

tool() { timeout 60 "$build/rdmachan" "$@"; }

tool_there() { timeout 60 "${there[@]}" "$build/rdmachan" "$@"; }

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
	fi
}

# await COMMAND...: try it until it succeeds, for half a minute at least
await()
{
	local i

	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep "${RDMACHAN_NAP:-0.05}"
	done
	return 1
}

# Milliseconds of the clock
now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# took MS BEGUN LATE: so long at least. Where time is virtual, at most LATE ms longer.
took()
{
	local took=$(($(now) - $2))

	echo "it took $took ms" >&2
	[ $took -ge "$1" ] && { [ -z "${LAB_VIRTUAL:-}" ] || [ $took -le $(($1 + $3)) ]; }
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

# Wait until somebody listens for a service; listeners have no other sign of life.
listening()
{
	await is_listening "$1" && return
	echo "nobody listens for $1"
	return 1
}

# An input, "$tmp/hold", that stays open until the descriptor "hold" is closed.
hold()
{
	rm -f "$tmp/hold"
	mkfifo "$tmp/hold"
	exec {hold}<>"$tmp/hold"
}

# server SERVICE COMMAND...: runs there until the end of the test
server()
{
	local service=$1

	shift
	"${there[@]}" "$@" >"$tmp/server.$service" 2>&1 </dev/null &
	servers+=($!)
	listening "$service"
}

# Input of both ends, and the expected output of each in the end.
relay()
{
	local option=$1 a=$tmp/a b=$tmp/b status

	# A message each: a few thousand show the same, and take seconds.
	if [ "$option" = --lines ]; then
		a=$tmp/a.lines b=$tmp/b.lines
		head -n 4000 "$tmp/a" >"$a"
		head -n 12000 "$tmp/b" >"$b"
	fi
	tool_there listen "$option" 5000 <"$a" >"$tmp/a.got" 2>"$tmp/err" &
	listening 5000 && tool connect "$option" "$host:5000" <"$b" >"$tmp/b.got"
	status=$?
	wait $! && [ $status -eq 0 ] && cmp "$a" "$tmp/b.got" && cmp "$b" "$tmp/a.got"
}

# The one end goes on for long after the other has ended its input.
half_close()
{
	(sleep 1; echo late) | tool_there listen 5000 >"$tmp/a.got" &
	listening 5000 && echo early | tool connect "$host:5000" >"$tmp/b.got"
	wait $! && grep -qx late "$tmp/b.got" && grep -qx early "$tmp/a.got"
}

# A peer that has closed is not waited for, though the input is open. (The bench
# server closes when it is sent what it does not understand.)
peer_closes()
{
	mkfifo "$tmp/input"
	exec 9<>"$tmp/input"
	echo nonsense >&9
	tool connect "$host:7002" <&9
}

# The fake device has 600 objects, the library asks for 256 at once.
list_all()
{
	[ "$(tool list --json | grep -c '"kind"')" -eq 600 ]
}

info_refused()
{
	tool info --json >"$tmp/json" && tool info >"$tmp/text" || return
	tr -d '\n ' <"$tmp/json" >"$tmp/line"
	grep -q '"contexts":{"user":1,[^}]*"refused":3}' "$tmp/line" &&
		grep -q '"refused":{"handshake":0,"version":0,"port":7,' "$tmp/line" &&
		grep -q '"broken_rules":5,' "$tmp/line" &&
		grep -q '^contexts .* 3$' "$tmp/text" && grep -Eq '^port +7 ' "$tmp/text" &&
		grep -q ' links ended for a broken rule 5$' "$tmp/text"
}

refused()
{
	tool connect "$host:5999" </dev/null 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q '^What to do: ' "$tmp/err"
}

ping_fields()
{
	tool ping -c 3 -i 0.01 -s "$1" --json "$host:5001" >"$tmp/json" &&
	grep -q '"answered": 3,' "$tmp/json"
}

ping_not_echo()
{
	tool ping -c 1 -W 0.5 "$host:5002"
	[ $? -eq 1 ]
}

many_pings()
{
	local i pids=()

	for ((i = 0; i < 20; i++)); do
		tool ping -c 20 -i 0 -s $((i * 5000)) "$host:5001" >"$tmp/ping.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || return 1
	done
}

stored()
{
	local name

	for name; do
		cmp "$tmp/from/$name" "$tmp/to/$name" || return 1
	done
	! find "$tmp/to" -name '.rdmachan-*' | grep .
}

send_files()
{
	tool send "$tmp/from/empty" "$tmp/from/small" "$tmp/from/big" "$tmp/from/a b" "$host:7001" &&
	stored empty small big "a b" &&
	[ "$(stat -c %a "$tmp/to/small")" = "$(stat -c %a "$tmp/from/small")" ]
}

# A refused file does not keep the others from being sent.
send_existing()
{
	rm "$tmp/to/small"
	tool send "$tmp/from/big" "$tmp/from/small" "$host:7001" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'exists' "$tmp/err" && stored small
}

send_missing()
{
	tool send "$tmp/no-such-file" "$host:7001"
	[ $? -eq 1 ]
}

recv_once()
{
	mkdir "$tmp/once"
	echo old >"$tmp/once/small"
	tool_there recv --once --force --service 7003 "$tmp/once" &
	listening 7003 && tool send "$tmp/from/small" "$host:7003" && wait $! &&
	cmp "$tmp/from/small" "$tmp/once/small"
}

# Something that speaks, but not our protocol.
recv_nonsense()
{
	tool_there recv --once --service 7003 "$tmp/once" 2>"$tmp/err" &
	listening 7003 && echo nonsense | tool connect "$host:7003" >"$tmp/answer"
	wait $!
	[ $? -eq 1 ] && grep -q 'do not understand' "$tmp/err"
}

bench_json()
{
	tool bench "$@" --json "$host:7002" >"$tmp/json" && grep -q "$wanted" "$tmp/json"
}

request()
{
	"$build/examples/request_client" "$host" 5011 set colour=red &&
	[ "$("$build/examples/request_client" "$host" 5011 get colour)" = red ] &&
	! "$build/examples/request_client" "$host" 5011 get size
}

capitals()
{
	[ "$(echo hello | tool connect "$host:5012")" = HELLO ]
}

# Three clients at once, one of which is silent.
capitals_of_many()
{
	sleep 2 | tool connect "$host:5012" >"$tmp/silent" &
	capitals && capitals
}

# said SERVICE TEXT: wait until the server of a service has said so
said()
{
	await grep -q "$2" "$tmp/server.$1" && return
	cat "$tmp/server.$1"
	return 1
}

# "${few_files[@]}" COMMAND...: has file descriptors for two channels only
few_files=(bash -c 'ulimit -n 8 && exec "$@"' few_files)

two_served() { [ "$(cat "$tmp"/got.? | grep -c HELLO)" -ge 2 ]; }

# More clients than a server can have: the others are served when these leave. Until then it
# waits, and tries again once a second.
three_clients()
{
	local service=$1 begun=$SECONDS tries least=1 most i hold jobs=()

	hold
	rm -f "$tmp"/got.?
	for i in 1 2 3; do
		(echo HELLO; exec cat) {hold}>&- <"$tmp/hold" |
			tool connect --lines "$host:$service" >"$tmp/got.$i" {hold}>&- &
		jobs+=($!)
	done
	said "$service" 'cannot accept' && await two_served && sleep 2.5
	cat "$tmp"/got.? >"$tmp/got"
	tries=$(grep -c 'cannot accept' "$tmp/server.$service")
	most=$((SECONDS - begun + 2))
	[ -z "${LAB_VIRTUAL:-}" ] || least=3 most=3
	exec {hold}>&-
	for i in 1 2 3; do
		wait "${jobs[i - 1]}" && [ "$(cat "$tmp/got.$i")" = HELLO ] || return 1
	done
	echo "$(grep -c HELLO "$tmp/got") were served at once, accepting failed $tries times"
	[ "$(grep -c HELLO "$tmp/got")" -eq 2 ] && [ "$tries" -ge $least ] && [ "$tries" -le $most ]
}

# Numbers in the byte order of this host, as the owner has them.
words()
{
	od -An -td8 -v -w8 "$1" | tr -s ' \n' ' '
}

lend_to_all()
{
	server 7003 "$build/rdmachan" lend --rights read,write,atomic --cookie 77 "$tmp/from/big"
}

get_all()
{
	tool get -v "$host" >"$tmp/got" 2>"$tmp/err" && cmp "$tmp/from/big" "$tmp/got" &&
	grep -q 'rights read,write,atomic.* cookie 77' "$tmp/err" && return
	cat "$tmp/err" "$tmp/server.7003"
	return 1
}

get_part()
{
	tool get -O 4k -n 1001 "$host" >"$tmp/got" &&
	cmp "$tmp/got" <(tail -c +4097 "$tmp/from/big" | head -c 1001)
}

# Bytes, a number, and the number when it was added to and swapped.
put_and_update()
{
	head -c 999999 /dev/zero | tool put -O 1 - "$host" &&
	[ "$(tool add -O 8 5 "$host")" -eq 0 ] && [ "$(tool add -O 8 -- -2 "$host")" -eq 5 ] &&
	[ "$(tool cas -O 8 3 99 "$host")" -eq 3 ] && tool get -O 8 -n 16 "$host" >"$tmp/got" &&
	[ "$(words "$tmp/got")" = " 99 0 " ] || return 1
	tool cas -O 8 3 7 "$host" >"$tmp/got"
	[ $? -eq 4 ] && grep -qx 99 "$tmp/got"
}

get_beyond()
{
	tool get -O 5000000 -n 2 "$host" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'not within the 5000001 bytes' "$tmp/err"
}

# The owner connects; the rights are those of the default, and it saves what it gets back.
lend_read_only()
{
	local status

	tool_there get --listen 7004 >"$tmp/got" &
	listening 7004 && tool lend -o "$tmp/back" "$tmp/from/small" "$host:7004" >"$tmp/log.lend" &&
	wait $! && cmp "$tmp/from/small" "$tmp/got" && cmp "$tmp/from/small" "$tmp/back" &&
	grep -q 'given it back' "$tmp/log.lend" || return 1
	tool_there put --listen 7004 "$tmp/from/small" 2>"$tmp/err" &
	listening 7004 && tool lend "$tmp/from/small" "$host:7004"
	wait $!
	status=$?
	[ $status -eq 1 ] && grep -q 'but: read' "$tmp/err"
}

lend_uses()
{
	tool_there lend --once --uses 1 -s 7005 --size 16 >"$tmp/log.lend" &
	listening 7005 && tool get "$host:7005" >"$tmp/got" && wait $! &&
	[ "$(stat -c %s "$tmp/got")" -eq 16 ] && grep -q 'used it up' "$tmp/log.lend"
}

# lend_ends SERVICE LATE OPTION...: after half a second, LATE ms later at most, and the holder that
# has kept the memory cannot write there any more
lend_ends()
{
	local service=$1 late=$2 owner begun hold status

	hold
	tool_there lend --once -s "$service" --size 4k --rights write "${@:3}" >"$tmp/log.lend" &
	owner=$!
	listening "$service" || return 1
	begun=$(now)
	tool put - "$host:$service" <"$tmp/hold" {hold}>&- 2>"$tmp/err" &
	wait $owner && took 500 "$begun" "$late"
	status=$?
	echo late >&"$hold"
	exec {hold}>&-
	! wait $! && return $status
}

# To connect takes less than 1 ms.
lend_revokes()
{
	lend_ends 7006 1 --revoke 0.5 && grep -q 'is ours again' "$tmp/log.lend"
}

lend_interrupted()
{
	local pid

	"${there[@]}" "$build/rdmachan" lend -s 7007 --size 4k >"$tmp/log.lend" &
	pid=$!
	listening 7007 && kill -INT $pid && wait $pid
}

# The lowest descriptor that process $1 has not.
lowest_free()
{
	local fd=0

	while [ -e "/proc/$1/fd/$fd" ]; do
		((fd += 1))
	done
	echo $fd
}

# It has no descriptor left for the channel that it accepts: it says so once, and ends.
lend_has_no_descriptor()
{
	local limit status

	"${there[@]}" "$build/rdmachan" lend -s 7009 --size 4k >"$tmp/log.lend" &
	listening 7009 && limit=$(lowest_free $!) && kill -INT $! && wait $! || return
	# shellcheck disable=SC2016 # expanded by the other host's shell
	"${there[@]}" sh -c 'ulimit -n "$1" && exec "$2" lend -s 7010 --size 4k' sh \
		"$limit" "$build/rdmachan" >"$tmp/log.lend" 2>"$tmp/err" &
	listening 7010 || return
	! tool get "$host:7010" >"$tmp/got" 2>"$tmp/err.get" || return
	wait $!
	status=$?
	[ $status -eq 1 ] && [ "$(grep -c 'cannot accept' "$tmp/err")" -eq 1 ]
}

# Each prints the text of the other.
exchange()
{
	"${there[@]}" "$build/examples/grant_exchange" "$1" 5020 >"$tmp/passive" &
	listening 5020 && "$build/examples/grant_exchange" "$1" "$host" 5020 >"$tmp/active" &&
	wait $! && grep -q '^message from the active side' "$tmp/passive" &&
	grep -q '^message from the passive side' "$tmp/active"
}

copy()
{
	local text

	text=$(seq 1000 | tr '\n' ' ')
	"${there[@]}" "$build/examples/grant_copy" 5021 >"$tmp/server" &
	listening 5021 && "$build/examples/grant_copy" "$host" 5021 "$text" >"$tmp/client" &&
	wait $! && grep -qx "the same: $text" "$tmp/server" && cmp "$tmp/server" "$tmp/client"
}

key_value() { "$build/examples/kv_client" "$host" 5022 "$@"; }

# Two clients look for a word that a third one changes.
key_values()
{
	local i pids=()

	key_value set colour=red && [ "$(key_value get colour)" = red ] || return 1
	key_value set word=old >"$tmp/log.set" && : >"$tmp/got" || return 1
	for _ in 1 2; do
		for ((i = 0; i < 20; i++)); do
			key_value get word
		done >>"$tmp/got" &
		pids+=($!)
	done
	for ((i = 0; i < 20; i++)); do
		key_value set "word=new$((i % 2))" || return 1
	done >"$tmp/log.set"
	wait "${pids[@]}"
	[ "$(grep -cxE 'old|new[01]' "$tmp/got")" -eq 40 ] && [ "$(key_value get word)" = new1 ] &&
	! key_value get size
}

# Four clients take 200 numbers each, every one once.
sequence()
{
	local i pids=()

	for i in 1 2 3 4; do
		"$build/examples/sequencer" "$host" 5023 200 >"$tmp/numbers.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || return 1
	done
	cmp <(cat "$tmp"/numbers.? | sort -n) <(seq 0 799)
}

# Time of the processor that a program has had, in hundredths of a second
ticks()
{
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

files_of()
{
	find "/proc/$1/fd" -type l | wc -l
}

has_files() { [ "$(files_of "$1")" -ge "$2" ]; }

# More clients than the 64 that a server has places for. While nothing happens it takes no
# processor: it would take all of one if it looked at the client that has to wait.
crowd()
{
	local service=$1 pid=${servers[-1]} i hold files spent jobs=()

	hold
	files=$(($(files_of "$pid") + 64))
	for ((i = 0; i < 66; i++)); do
		tool put - "$host:$service" <"$tmp/hold" {hold}>&- 2>"$tmp/err" &
		jobs+=($!)
	done
	await has_files "$pid" $files
	spent=$(ticks "$pid")
	sleep 2
	spent=$(($(ticks "$pid") - spent))
	files=$((files - $(files_of "$pid")))
	exec {hold}>&-
	# They may not write there, and say so.
	wait "${jobs[@]}"
	echo "$files places are free, $spent ticks"
	[ $files -eq 0 ] && [ $spent -le 20 ]
}

doctor_peer()
{
	tool doctor "$host" >"$tmp/doctor"
	grep -q '^ok *peer ' "$tmp/doctor"
}

# What only the real module shows.

# listed TOOL KIND PATTERN: a line of the list of this kind
listed()
{
	"$1" list "$2" >"$tmp/list" && grep -q "$3" "$tmp/list"
}

# Both ends of a channel, each on its host
lists()
{
	local hold status

	listed tool_there --listeners ' 5001 ' || return 1
	hold
	tool connect "$host:5002" <"$tmp/hold" {hold}>&- &
	await listed tool --channels " 5002 .*connected *$host" &&
	listed tool_there --channels ' 5002 .*accepted ' &&
	listed tool --links " open .* $host "
	status=$?
	cat "$tmp/list"
	exec {hold}>&-
	wait $! && return $status
}

lists_grants()
{
	local owner hold status

	tool_there lend --once -s 7008 --size 4k --cookie 4711 >"$tmp/log.lend" &
	owner=$!
	hold
	listening 7008 || return 1
	tool put - "$host:7008" <"$tmp/hold" {hold}>&- &
	await listed tool_there --grants ' 7008 .* 4 KiB *read *4711$'
	status=$?
	cat "$tmp/list"
	exec {hold}>&-
	wait $! $owner && return $status
}

# The kernel's timers end with a tick of 10 ms, and not with the one that is just going on.
lend_expires()
{
	lend_ends 7009 21 --expires 0.5 && grep -q 'or has expired' "$tmp/log.lend"
}

taken()
{
	tool_there listen 5001 2>"$tmp/err"
	[ $? -eq 1 ] && grep -qi 'in use' "$tmp/err"
}

too_large()
{
	local status

	server 5004 "$build/rdmachan" listen --max 64k --keep 5004 &&
	tool connect --whole "$host:5004" <"$tmp/b" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status -eq 1 ] && grep -q 'Its limit is 65536 bytes' "$tmp/err"
}

killed()
{
	local pid status hold

	hold
	"${there[@]}" "$build/rdmachan" listen 5005 >"$tmp/got" 2>&1 <"$tmp/hold" {hold}>&- &
	pid=$!
	listening 5005 || return 1
	tool connect "$host:5005" <"$tmp/hold" {hold}>&- 2>"$tmp/err" &
	await listed tool_there --channels ' 5005 .*accepted '
	kill -9 $pid
	wait $!
	status=$?
	exec {hold}>&-
	cat "$tmp/err"
	[ $status -eq 3 ] && grep -q 'SIGKILL' "$tmp/err"
}

# Adapters find out at different steps that none serves the loopback interface.
no_device()
{
	local address

	for address in 127.0.0.1 127.1.2.3 '[::1]' '[::ffff:127.0.0.1]'; do
		tool connect -t 5 "$address:5001" </dev/null 2>"$tmp/err"
		[ $? -eq 3 ] || return 1
		cat "$tmp/err"
		grep -q '^The loopback interface has no RDMA device' "$tmp/err" &&
			grep -q "^What to do: Use the host's own address" "$tmp/err" || return 1
	done
}

no_host()
{
	local address

	for address in 255.255.255.255 224.0.0.1 '[ff02::1]' 0.0.0.0; do
		tool connect "$address:5001" </dev/null 2>"$tmp/err"
		[ $? -eq 3 ] || return 1
		grep -q '^No host can have that address' "$tmp/err" || return 1
	done
}

files()
{
	timeout 60 "$build/examples/file_client" "$host" "$service" "$@"
}

fetch_files()
{
	files big empty small "a b" big >"$tmp/got" &&
	(cd "$tmp/from" && cat big empty small "a b" big) | cmp - "$tmp/got"
}

# More requests than the server has buffers, of several clients.
fetch_many()
{
	local i jobs=() names

	mapfile -t names < <(yes small | head -n 64)
	for i in 1 2 3 4; do
		files "${names[@]}" >"$tmp/got.$i" &
		jobs+=($!)
	done
	for i in 1 2 3 4; do
		wait "${jobs[i - 1]}" && yes hello | head -n 64 | cmp - "$tmp/got.$i" || return 1
	done
}

fetch_none()
{
	local status

	files small missing ../a small >"$tmp/got" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status -eq 1 ] && grep -q '^missing: No such file' "$tmp/err" &&
	grep -q "^\.\./a: .* without '/'" "$tmp/err" && [ "$(cat "$tmp/got")" = "hello
hello" ]
}

# What the server tells of how many messages it has sent, and how.
fetch_uncopied()
{
	files big >"$tmp/got" && cmp "$tmp/from/big" "$tmp/got" &&
	said "$service" ": $1 without a copy"
}

# "${limited[@]}" KIB COMMAND...: may lock so much memory
# shellcheck disable=SC2016 # for the inner shell
limited=(bash -c 'ulimit -l "$1" && exec "${@:2}"' limited)
[ "$(id -u)" -ne 0 ] ||
	limited=(setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "${limited[@]}")

fetch_limited()
{
	local i jobs=()

	for i in 1 2 3 4; do
		files big big >"$tmp/got.$i" &
		jobs+=($!)
	done
	for i in 1 2 3 4; do
		wait "${jobs[i - 1]}" && cat "$tmp/from/big" "$tmp/from/big" | cmp - "$tmp/got.$i" ||
			return 1
	done
}

# One that is in the middle of it, and gone.
fetch_killed()
{
	local full client

	mkfifo "$tmp/full"
	exec {full}<>"$tmp/full"
	"$build/examples/file_client" "$host" 5014 big{,,}{,,,}{,,} >&"$full" &
	client=$!
	head -c 1 <&"$full" >"$tmp/got"
	kill -KILL $client
	wait $client
	exec {full}>&-
	said 5014 SIGKILL && fetch_files
}

# One that asks and asks, and takes nothing. It cannot have more than its share.
fetch_flood()
{
	local status full

	exec {full}<>"$tmp/full"
	yes big | head -n 100 |
		timeout 60 "$build/rdmachan" connect --lines "$host:5014" >"$tmp/full" {full}>&- &
	said 5014 'it asks for too much' && fetch_files
	status=$?
	exec {full}>&-
	wait $!
	return $status
}

test_real()
{
	check "list shows listeners, channels and links" lists
	check "list shows grants" lists_grants
	check "a grant expires" lend_expires
	check "a service that is taken" taken
	check "a message that is too large is explained" too_large
	check "a peer that is killed is explained" killed
	check "loopback is explained" no_device
	check "an address that no host has is explained" no_host
	check "the example queue_server" server 5013 "$build/examples/queue_server" 5013
	check "and its answers" tool ping -c 5 -i 0 -s 10k "$host:5013"
	check "the same with few files" server 5015 "${few_files[@]}" "$build/examples/queue_server" 5015
	check "and more clients than it can have" three_clients 5015
	local service=5014 server=$build/examples/file_server
	check "the example file_server" server 5014 "$server" 5014 "$tmp/from"
	check "and a file, which is not copied" fetch_uncopied "4 messages, 3 from regions, [1-3]"
	check "and many files" fetch_files
	check "when many are asked for" fetch_many
	check "when there is none" fetch_none
	check "when a client is killed" fetch_killed
	check "when a client takes nothing" fetch_flood
	service=5016
	check "the same, which may lock 1 MiB" \
		server 5016 "${limited[@]}" 1024 "$server" 5016 "$tmp/from"
	# Which of the others are copied depends on which of them somebody waits for.
	check "and a file, most of it not from regions" fetch_uncopied "63 messages, 1 from regions, [0-9]*"
	service=5017
	check "the same, which may lock 3 MiB" \
		server 5017 "${limited[@]}" 3072 "$server" 5017 "$tmp/from"
	check "and a file for each of four" fetch_limited
	[ -z "${RDMACHAN_HOST6:-}" ] ||
		check "IPv6" tool ping -c 2 -i 0 "[$RDMACHAN_HOST6]:5001"
}

seq 20000 >"$tmp/a"
seq 30000 90000 >"$tmp/b"
mkdir "$tmp/from" "$tmp/to"
: >"$tmp/from/empty"
echo hello >"$tmp/from/small"
chmod 750 "$tmp/from/small"
cp "$tmp/from/small" "$tmp/from/a b"
head -c 5000001 /dev/urandom >"$tmp/from/big"

check "info" tool info
[ -z "${RDMACHAN_FAKE:-}" ] || check "info, with what was refused" info_refused
check "list" tool list
[ -z "${RDMACHAN_FAKE:-}" ] || check "list, in several calls" list_all
for option in --stream --lines --whole; do
	check "connect and listen, $option" relay $option
done
check "half-close" half_close
check "a connection that is refused is explained" refused
check "an echo server" server 5001 "$build/rdmachan" listen --echo 5001
for size in 0 1 56 64k 1m 8m; do
	check "ping with $size bytes" ping_fields $size
done
check "twenty channels to the echo server" many_pings
check "ping of the module alone" tool ping -c 2 -i 0 "$host"
check "a silent server" server 5002 "$build/rdmachan" listen --keep 5002
check "ping gives up" ping_not_echo
check "a receiver of files" server 7001 "$build/rdmachan" recv "$tmp/to"
check "files are sent" send_files
check "a file that exists is refused" send_existing
check "a file that is not there" send_missing
check "recv --once --force" recv_once
check "recv refuses what is not its protocol" recv_nonsense
check "a bench server" server 7002 "$build/rdmachan" bench --server 7002
check "a peer that closes is not waited for" peer_closes
wanted='"latency_us": [0-9.]*,'
check "bench, latency" bench_json --latency -n 50 -s 1,4k
wanted='"messages_per_s": [0-9.]*'
check "bench, one way" bench_json --one-way -n 100 -s 64,64k
check "bench, one way with a window" bench_json --one-way -n 101 -s 64,64k --window 7
check "bench, a window of 1" bench_json --one-way -n 10 -s 64 --window 1
wanted='"connects": 20,'
check "bench, connects" bench_json --connect -n 20
check "the example echo_server" server 5010 "$build/examples/echo_server" 5010
check "and its answers" tool ping -c 2 -i 0 -s 100k "$host:5010"
check "the example request_server" server 5011 "$build/examples/request_server" 5011
check "and request_client" request
check "the example epoll_server" server 5012 "$build/examples/epoll_server" 5012
check "and its answers" capitals
check "to many at once" capitals_of_many
check "the same with few files" server 5018 "${few_files[@]}" "$build/examples/epoll_server" 5018
check "and more clients than it can have" three_clients 5018
check "memory is lent" lend_to_all
check "and read" get_all
check "in part" get_part
check "written to, and updated" put_and_update
check "but not beyond" get_beyond
check "memory is lent to who listens, to be read only" lend_read_only
check "memory is lent for one use" lend_uses
check "memory is taken back" lend_revokes
check "lend is interrupted" lend_interrupted
check "lend ends when it cannot accept" lend_has_no_descriptor
check "the example grant_exchange: reading" exchange read
check "and writing" exchange write
check "the example grant_copy" copy
check "the example kv_server" server 5022 "$build/examples/kv_server" 5022
[ -z "${RDMACHAN_FAKE:-}" ] || check "and more clients than it has places for" crowd 5022
check "and kv_client" key_values
check "the example sequencer" server 5023 "$build/examples/sequencer" 5023
[ -z "${RDMACHAN_FAKE:-}" ] || check "and more clients than it has places for" crowd 5023
check "and its numbers" sequence
check "doctor reaches the peer" doctor_peer
[ -n "${RDMACHAN_FAKE:-}" ] || test_real
echo "1..$count"
[ $failed -eq 0 ]
