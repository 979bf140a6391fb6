# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# runs.sh - runs that go on side by side, their output, and the sum of it
#
# Sourced by check.sh, which sets "out" to a folder for their logs.

# shellcheck disable=SC2034,SC2154 # what is used there, and set there

passed=0 failed=0 skipped=0
# What failed, told again at the end.
failures=()
# Of each run that goes on: its name, how it is judged, its weight, and when it began.
declare -A name_of judge_of weight_of since_of
# On two processors there is room for two guests that compute.
room=$(($(nproc) * 3))
of_guest=3
begun=$SECONDS

# How long the run took that is being judged.
took=0

stage() { echo; echo "== $* ($((SECONDS - begun)) s)"; }

pass() { passed=$((passed + 1)); echo "ok - $*"; }
fail() { failed=$((failed + 1)); failures+=("$*"); echo "not ok - $*"; }

# show LOG: the end of it, or what the kernel has complained of
show() {
	if grep -q 'the kernel complained:' "$1"; then
		sed -n '/the kernel complained:/,$p' "$1" | head -n 60 | sed 's/^/# /'
	else
		tail -n 40 "$1" | sed 's/^/# /'
	fi
}

# one_test NAME STATUS: the run was one test, whose output is shown when it failed
one_test() {
	local name=$1 status=$2 log=$out/$1.log

	if [ "$status" = 0 ]; then
		pass "$name (took $took s)"
	else
		show "$log"
		fail "$name (log: $log)"
	fi
}

# not_ok LOG: the tests of it that failed, each with the last lines that it has said before that
# and the first that follow. Programs in C explain a failure before they tell of it, scripts after.
not_ok() {
	sed 's/^ *//; s/\r$//' "$1" | awk '
		/^(not )?ok / { follow = 0 }
		/^#/ && follow > 0 { print "    " $0; follow-- }
		/^#/ { said[count++ % 8] = $0 }
		/^not ok [0-9-]/ {
			print
			for (i = count > 8 ? count - 8 : 0; i < count; i++)
				print "    " said[i % 8]
			follow = 12
		}
		/^(not )?ok / { count = 0 }'
}

# unkept_plan LOG: whether less or more numbered tests than announced have told how they ended. A
# nested result, as the kernel's own is, does not announce all.
unkept_plan() {
	tr -d '\r' <"$1" | awk '
		/^ *# Subtest: / { nested = 1 }
		/^1\.\.[0-9]+/ { sub(/^1\.\./, ""); announced += $1; plans++ }
		/^(not )?ok [0-9]/ { told++ }
		END {
			if (plans && !nested && announced != told)
				printf "%d tests announced, %d told", announced, told
		}'
}

# tap_tests NAME STATUS: the run has printed TAP; each of its tests counts
tap_tests() {
	local name=$1 status=$2 log=$out/$1.log good bad skip plan

	skip=$(grep -ciE '^ *ok [0-9-].*# skip' "$log")
	good=$(($(grep -cE '^ *ok [0-9-]' "$log") - skip))
	bad=$(grep -cE '^ *not ok [0-9-]' "$log")
	plan=$(unkept_plan "$log")
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	echo "$name: $good passed, $bad failed, $skip skipped (took $took s, at $((SECONDS - begun)) s)"
	if [ "$bad" -gt 0 ]; then
		mapfile -t -O ${#failures[@]} failures < <(not_ok "$log" | sed "s|^not|$name: not|")
	elif [ "$status" != 0 ] || [ "$good" -eq 0 ]; then
		show "$log"
		fail "$name: exit status $status (log: $log)"
	fi
	[ -z "$plan" ] || fail "$name: $plan (log: $log)"
}

# reap: wait until one of the runs ends, and judge it
reap() {
	local pid status=0

	wait -n -p pid "${!name_of[@]}" || status=$?
	room=$((room + weight_of[$pid])) took=$((SECONDS - since_of[$pid]))
	"${judge_of[$pid]}" "${name_of[$pid]}" "$status"
	unset "name_of[$pid]"
}

# all_ended: wait for all of them
all_ended() {
	while [ ${#name_of[@]} -gt 0 ]; do
		reap
	done
}

# ended NAME: wait for this one
ended() {
	while [[ " ${name_of[*]} " == *" $1 "* ]]; do
		reap
	done
}

# begin JUDGE WEIGHT NAME COMMAND...: begin a run, whose output goes to a file, as soon as
# there is room for its weight, or nothing else runs. It goes on beside what follows.
begin() {
	local judge=$1 weight=$2 name=$3 log=$out/$3.log

	shift 3
	while [ "$weight" -gt "$room" ] && [ ${#name_of[@]} -gt 0 ]; do
		reap
	done
	mkdir -p "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null &
	name_of[$!]=$name judge_of[$!]=$judge weight_of[$!]=$weight since_of[$!]=$SECONDS
	room=$((room - weight))
}

# beside NAME COMMAND...: one test that computes in what time the guests leave
beside() { begin one_test 0 "$1" nice -n 19 "${@:2}"; }

# sum_up: the last line; the status is 0 when something ran, and nothing failed
sum_up() {
	echo
	[ $failed -eq 0 ] || printf '%s\n' "${failures[@]}" | head -n 100 | sed '/^ /!s/^/failed: /'
	[ $((passed + failed)) -gt 0 ] || fail "nothing ran"
	[ $skipped -eq 0 ] && echo "$passed passed, $failed failed" ||
		echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
}
