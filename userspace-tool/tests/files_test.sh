#!/bin/bash
# SPDX-License-Identifier: MIT
#
# files_test.sh - what is installed besides the programs: symbols, headers, man pages,
# completion
set -u

here=$(dirname "$(readlink -f "$0")")/..
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
count=0

# check TEXT COMMAND...
check()
{
	local text=$1

	shift
	count=$((count + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $count - $text"
	else
		echo "not ok $count - $text"
		sed 's/^/# /' "$tmp/log"
	fi
}

skip()
{
	count=$((count + 1))
	echo "ok $count # SKIP $1"
}

# Exactly the functions of the version script, of the header and of the man page.
symbols()
{
	nm -D --defined-only "$BUILD/librdmachan.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >"$tmp/so"
	sed -n 's/^\trdmachan_\(.*\);$/rdmachan_\1/p' "$here/lib/librdmachan.map" | sort >"$tmp/map"
	sed -n 's/^[a-z].*[ *]\(rdmachan_[a-z_0-9]*\)(.*/\1/p' "$here/lib/librdmachan.h" | sort >"$tmp/h"
	sed -n 's/^\.Fn \(rdmachan_[a-z_0-9]*\) .*/\1/p' "$here/man/librdmachan.3" | sort -u >"$tmp/man"
	[ -s "$tmp/so" ] && diff "$tmp/so" "$tmp/map" && diff "$tmp/map" "$tmp/h" &&
	diff "$tmp/h" "$tmp/man"
}

# The noun of a name is that of the first argument, or what the call is about. No structure has the
# name of a function: in C++ it could not be named.
names()
{
	tr '\n' ' ' <"$here/lib/librdmachan.h" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' |
		grep -o 'rdmachan_[a-z_0-9]*([^)]*' >"$tmp/calls"
	[ "$(wc -l <"$tmp/calls")" -ge "$(wc -l <"$tmp/map")" ] || return 1
	! grep -E '\((const )?struct rdmachan_(queue|pool|cqe|sqe) \*' "$tmp/calls" |
		grep -vE '^rdmachan_(queue|pool|cqe)_[a-z_0-9]*\((const )?struct rdmachan_\1 \*' |
		grep -vE '^rdmachan_(queue_prep|sqe)_[a-z_0-9]*\((const )?struct rdmachan_sqe \*' |
		grep -v '^rdmachan_pool_open(struct rdmachan_queue \*' || return 1
	! grep -E ', uint32_t (grant|region)\>' "$tmp/calls" | grep -v 'struct rdmachan_sqe \*' |
		grep -vE '^rdmachan_(grant|region)_[a-z_0-9]*\(int [a-z]*, uint32_t \1\>' || return 1
	sed -n 's/^.*\(struct\|enum\|union\) \(rdmachan_[a-z_0-9]*\) {$/\2/p' "$here/lib/librdmachan.h" \
		"$BUILD/include/linux/rdmachan.h" | sort >"$tmp/tags"
	[ -s "$tmp/tags" ] && ! comm -12 "$tmp/tags" "$tmp/map" | grep .
}

# The version of the header is that of the files, of the tool, and of the module.
version()
{
	local version

	version=$("$BUILD/rdmachan" --version | cut -d' ' -f2)
	echo "$version"
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] && [ -e "$BUILD/librdmachan.so.$version" ] &&
	[ -L "$BUILD/librdmachan.so.${version%%.*}" ] || return 1
	[ ! -e "$here/../kmod" ] || grep -qF "#define RCH_VERSION \"$version\"" "$here/../kmod/base/rch.h"
}

soname()
{
	readelf -d "$BUILD/librdmachan.so" | grep -q 'SONAME.*\[librdmachan.so.0\]'
}

# header LANGUAGE COMPILER STANDARD...: each of the two headers stands alone, and what a program makes
# with its macros, without a warning
header()
{
	local language=$1 compiler=$2 standard name flags=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

	[ "$language" = c++ ] || flags+=(-Wstrict-prototypes -Wmissing-prototypes)
	shift 2
	{
		echo 'struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;'
		echo 'struct rdmachan_transfer transfer = RDMACHAN_TRANSFER_INIT;'
		echo '#if !RDMACHAN_VERSION_AT_LEAST(0, 1) || RDMACHAN_VERSION_AT_LEAST(999, 0)'
		echo '#error the version'
		echo '#endif'
		# A structure is named by its name alone, as no function has it.
		[ "$language" != c++ ] || sed -n 's/^struct \(rdmachan_[a-z_]*\) {$/extern \1 one_\1;/p' \
			"$here/lib/librdmachan.h" "$BUILD/include/linux/rdmachan.h"
	} >"$tmp/made"
	for standard; do
		for name in linux/rdmachan.h librdmachan.h; do
			echo "#include <$name>" >"$tmp/t.c"
			[ "$name" = linux/rdmachan.h ] || cat "$tmp/made" >>"$tmp/t.c"
			"$compiler" -x "$language" "-std=$standard" "${flags[@]}" -fsyntax-only \
				-I"$BUILD/include" -I"$here/lib" "$tmp/t.c" ||
				{ echo "$compiler -std=$standard: $name"; return 1; }
		done
	done
}

# Of each function that takes a queue or a pool, and touches its rings, it is tested what it does in
# a forked child.
forked()
{
	tr '\n' ' ' <"$here/lib/librdmachan.h" |
		grep -o 'rdmachan_[a-z_0-9]*(\(const \)\?struct rdmachan_\(queue\|pool\) \*[^)]*)' |
		sed 's/(.*//; /_close$/d; /_fd$/d' | sort >"$tmp/rings"
	sed -n 's/^	{ "\([a-z_]*\)", .*/rdmachan_\1/p' "$here/tests/fork_calls.h" | sort >"$tmp/forks"
	[ -s "$tmp/rings" ] && diff "$tmp/rings" "$tmp/forks"
}

# A program that is built with what "make install" leaves behind.
# shellcheck disable=SC2086 # flags are words
installed()
{
	make -s -C "$here" BUILD="$BUILD" DESTDIR="$tmp/root" PREFIX=/usr install &&
	"${CC:-cc}" ${CFLAGS:-} "$here/examples/echo_server.c" -o "$tmp/echo" \
		-I"$tmp/root/usr/include" -L"$tmp/root/usr/lib" -lrdmachan &&
	"${CC:-cc}" ${CFLAGS:-} -fsyntax-only "$tmp"/root/usr/share/doc/rdmachan/examples/*.c \
		-I"$tmp/root/usr/include" &&
	grep -q '^libdir=/usr/lib$' "$tmp/root/usr/lib/pkgconfig/librdmachan.pc" &&
	diff <(cd "$BUILD/man" && ls ./*.3) \
		<(cd "$tmp/root/usr/share/man/man3" && ls ./rdmachan_*.3) &&
	LD_LIBRARY_PATH=$tmp/root/usr/lib "$tmp/echo" 2>&1 | grep -q '^Usage'
}

# pieces PAGE: each piece of C on it becomes a file of its own; those that need a header which
# this machine has not are left out
pieces()
{
	local piece

	rm -rf "$tmp/pieces" && mkdir "$tmp/pieces" &&
	awk -v to="$tmp/pieces/" '
		/^```c$/ || /^\.\. code-block:: c$/ { n++; in_c = 1; next }
		/^```/ || (/^[^ ]/ && FILENAME ~ /rst$/) { in_c = 0 }
		in_c { print > (to n ".c") }' "$1" || return 1
	for piece in "$tmp"/pieces/*.c; do
		[ -e "$piece" ] || return 0
		! grep -q '<rdma/' "$piece" || [ -e /usr/include/rdma/rdma_cma.h ] || rm "$piece"
	done
}

# built PIECE: compiled without a warning, and linked with what it names
# shellcheck disable=SC2086 # flags are words
built()
{
	local libraries=

	! grep -q '<rdma/' "$1" || libraries="-lrdmacm -libverbs"
	"${CC:-cc}" ${CFLAGS:-} -std=gnu11 -Wall -Wextra -Wshadow -Werror -fPIC -shared -Wl,-z,defs \
		-I"$BUILD/include" -I"$here/lib" "$1" -o "$tmp/piece.so" \
		-L"$BUILD" -lrdmachan $libraries
}

# The C of README.md and of the pages for people who write programs.
documented_c()
{
	local page piece count=0

	for page in "$here/../README.md" "$here"/../Documentation/{tutorial,howto/*}.rst; do
		pieces "$page" || return 1
		for piece in "$tmp"/pieces/*.c; do
			[ -e "$piece" ] || continue
			built "$piece" || { echo "$page: ${piece##*/}"; return 1; }
			count=$((count + 1))
		done
	done
	echo "$count pieces"
	[ "$count" -gt 10 ]
}

help_fits()
{
	"$BUILD/rdmachan" "$1" --help >"$tmp/help" &&
	grep -q '^Usage: rdmachan '"$1" "$tmp/help" &&
	grep -q '^Examples:' "$tmp/help" &&
	! awk 'length > 88' "$tmp/help" | grep .
}

# Each long option of a command's help is in the man page and completed.
documented()
{
	local option

	"$BUILD/rdmachan" "$1" --help | grep -o -- '^  -., --[a-z-]*' | sed 's/.*--//' >"$tmp/options"
	while read -r option; do
		grep -q -- "Fl -$option" "$here/man/rdmachan.8" || { echo "--$option"; return 1; }
	done <"$tmp/options"
}

usage()
{
	"$BUILD/rdmachan" "$@" </dev/null
	[ $? -eq 2 ]
}

# A wrong option is told of, and shown with its escapes.
wrong_option()
{
	usage send "$1" && grep -qF "rdmachan: \"$2\" is no option here" "$tmp/log" &&
	! LC_ALL=C grep $'[\x01-\x08\x0b-\x1f\x7f-\xff]' "$tmp/log"
}

wrong_options()
{
	wrong_option --nothing --nothing && wrong_option $'--\033[2J' '--\x1b[2J' &&
	wrong_option -Z -Z && wrong_option $'-q\033' '-\x1b' && wrong_option $'-\302\233' '-\xc2'
}

# wrongly SAYS WORD...: usage is wrong, and so it is told.
wrongly()
{
	local says=$1

	shift
	usage "$@" && grep -qF -- "rdmachan: $says" "$tmp/log" || return 1
	: >"$tmp/log"
}

wrong_words()
{
	wrongly '-t (--timeout) needs a value' send -t && wrongly '--timeout needs a value' send --timeout &&
	wrongly '--quiet takes no value: "--quiet=3"' send --quiet=3 &&
	wrongly '"--tiemout" is no option here; is --timeout meant?' ping --tiemout 3 &&
	wrongly '"--count2=1" is no option here; is --count meant?' ping --count2=1 db1 &&
	wrongly '"--hlep" is no option here; is --help meant?' explain --hlep &&
	wrongly '"--p" is the beginning of several options' send --p &&
	wrongly 'there is no command "pnig"; is "ping" meant?' pnig &&
	wrongly 'there is no command "zzz"' zzz && wrongly 'there is no command ""' ""
}

# A wrong value is named with its option, and what the help tells of that.
wrong_value()
{
	usage "$1" "$2" "$3" && grep -qF -- "rdmachan: \"$3\" is not valid for $2:" "$tmp/log" &&
	grep -q -- "^  -., $2 " "$tmp/log" || return 1
	: >"$tmp/log"
}

wrong_values()
{
	wrong_value ping --count x && wrong_value ping --interval 1x && wrong_value send --port 70000 &&
	wrong_value bench --sizes 1,x && wrong_value get --length -1 && wrong_value lend --rights w &&
	wrong_value listen --max 9z && wrong_value add --offset x && wrong_value cas --listen x &&
	wrong_value put --timeout 0 && wrong_value doctor --port x && wrong_value recv --service 0 &&
	wrong_value connect --traffic-class 256
}

# explains TEXT WORD...: "explain" says so, and nothing fails.
explains()
{
	local text=$1

	shift
	"$BUILD/rdmachan" explain "$@" >"$tmp/said" && grep -qF -- "$text" "$tmp/said"
}

# By number, by name as it is written anywhere, and by errno: all causes that come with it.
explanations()
{
	local word

	for word in 6 no-service NO_SERVICE RDMACHAN_CAUSE_NO_SERVICE; do
		explains 'no-service (6), ECONNREFUSED' "$word" || return 1
	done
	explains 'no-service (6), ECONNREFUSED' ECONNREFUSED && grep -q '^backlog (7)' "$tmp/said" &&
	grep -q '^ECONNREFUSED (111): Connection refused' "$tmp/said" &&
	explains 'What to do: ' EAGAIN && grep -q '^EAGAIN (11): ' "$tmp/said" &&
	explains '"error": "ECONNREFUSED"' --json 6 && explains '"error": "EAGAIN"' --json EAGAIN &&
	! "$BUILD/rdmachan" explain no-servce 2>"$tmp/said" >&2 && grep -qF 'is "no-service" meant?' "$tmp/said" &&
	! "$BUILD/rdmachan" explain ENOTHING 2>"$tmp/said" >&2 && grep -qF 'there is no cause or errno' "$tmp/said"
}

# Each cause has the errno that the module gives.
cause_errors()
{
	sed -n 's/^\t\[RDMACHAN_CAUSE_\(.*\)\] = \(E[A-Z]*\),$/\1 \2/p' "$here/../kmod/base/error.c" |
		tr _ - | tr '[:upper:]' '[:lower:]' | sort >"$tmp/module"
	"$BUILD/rdmachan" explain --all | sed -n 's/^\([a-z-]*\) ([0-9]*), \(E[A-Z]*\)$/\1 \2/p' |
		tr '[:upper:]' '[:lower:]' | sort >"$tmp/tool"
	[ -s "$tmp/module" ] && diff "$tmp/module" "$tmp/tool"
}

completes()
{
	PATH=$BUILD:$PATH bash -c '
		. "$1"; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		compopt() { :; }
		_rdmachan; printf "%s\n" "${COMPREPLY[@]}"' - "$here/completion/rdmachan.bash" "$@" >"$tmp/words"
}

completion()
{
	completes rdmachan b && grep -qx bench "$tmp/words" &&
	completes rdmachan ping --c && grep -qx -- --count "$tmp/words" &&
	completes rdmachan lend --rights rea && grep -qx read,write "$tmp/words" &&
	completes rdmachan explain no-s && grep -qx no-service "$tmp/words"
}

# A page for each function that the library exports, the same ones each time.
pages()
{
	diff <(sed -n 's/^\t\(rdmachan_.*\);$/\1.3/p' "$here/lib/librdmachan.map" | sort) \
		<(cd "$BUILD/man" && printf '%s\n' *.3 | sort) &&
	"$here/man/pages.py" "$here/lib/librdmachan.h" "$here/man/librdmachan.3" "$tmp/pages" &&
	diff -r -x .made "$BUILD/man" "$tmp/pages"
}

# refuses SED WHAT: a header so changed is refused by name.
refuses()
{
	sed "$1" "$here/lib/librdmachan.h" >"$tmp/changed.h"
	! cmp -s "$tmp/changed.h" "$here/lib/librdmachan.h" || return 1
	! "$here/man/pages.py" "$tmp/changed.h" "$here/man/librdmachan.3" "$tmp/refused" \
		2>"$tmp/refusal" || return 1
	cat "$tmp/refusal"
	grep -qF "$2" "$tmp/refusal" && [ ! -e "$tmp/refused" ]
}

# shellcheck disable=SC2016 # what is quoted is no command
refused()
{
	refuses '/^ \* @usecs:/d' 'rdmachan_busy_poll: first come its parameters: fd, usecs' &&
	refuses 's/^\( \* Calls that wait on \)@fd/\1@fish/' \
		'rdmachan_busy_poll: there is no parameter fish' &&
	refuses 's/^\( \* Calls that wait on\) @fd/ *  \1/' \
		'rdmachan_busy_poll: neither code nor items nor text' &&
	refuses 's/^\( \* Calls that wait on \)@fd/\1`fd`/' \
		'rdmachan_busy_poll: cannot be shown: Calls that wait on `fd`' &&
	refuses 's/^\( \* Calls that wait on \)@fd/\1rdmachan_fish()/' \
		'rdmachan_busy_poll: there is no function rdmachan_fish()' &&
	refuses 's/^ \* Return: 0 or -1. EINVAL: @usecs/ * It is 0 or -1. EINVAL: @usecs/' \
		'rdmachan_busy_poll: last comes what it returns' &&
	refuses '/^ \* rdmachan_busy_poll() -/,/^ \*\//s/Threads: any/Any/' \
		'rdmachan_busy_poll: before that comes "Threads: ... Fork: ..."' &&
	refuses 's/rdmachan_busy_poll() -/rdmachan_busy() -/' \
		'rdmachan_busy: there is no such function' &&
	refuses '/^ \* rdmachan_busy_poll() -/d' 'rdmachan_busy_poll: has no comment'
}

# warned COMMAND...: its output for any page.
warned()
{
	local page said=0

	for page in "$here"/man/*.[0-9] "$BUILD"/man/*.3; do
		"$@" "$page" >"$tmp/said" 2>&1
		[ -s "$tmp/said" ] || continue
		sed "s|^|${page##*/}: |" "$tmp/said"
		said=1
	done
	[ "$said" -eq 1 ]
}

shown()
{
	! warned groff -mandoc -ww -z -Tutf8
}

# Each example is named in the man page, and is there.
examples()
{
	diff <(cd "$here/examples" && printf '%s\n' *.c | sort) \
		<(sed -n 's/.*Pa \([a-z_]*\.c\).*/\1/p' "$here/man/librdmachan.3" | sort)
}

check "the library exports what is declared and documented" symbols
check "each name has its noun, and is no structure's" names
check "its version is told in one way" version
check "its name is librdmachan.so.0" soname
for compiler in gcc clang; do
	if command -v "$compiler" >/dev/null; then
		check "the headers stand alone in C, $compiler" header c "$compiler" c99 c11 c17 gnu17 c2x
	else
		skip "no $compiler"
	fi
done
for compiler in g++ clang++; do
	if command -v "$compiler" >/dev/null; then
		check "and in C++, $compiler" header c++ "$compiler" c++11 c++14 c++17 c++20
	else
		skip "no $compiler"
	fi
done
check "each function of a ring is tried in a forked child" forked
check "what is installed can be built with" installed
if [ -e "$here/../Documentation/howto" ]; then
	check "C in the documents can be built" documented_c
else
	skip "no documents here"
fi
for command in info list connect listen send recv lend get put add cas ping bench doctor explain; do
	check "help of $command" help_fits "$command"
	check "options of $command are in the man page" documented "$command"
	check "$command refuses an unknown option" usage "$command" --no-such-option
done
check "what is no option is told of" wrong_options
check "a wrong word is told of, with the one that is meant" wrong_words
check "a wrong value is told of, with its option" wrong_values
check "explain by number, name and errno" explanations
if [ -e "$here/../kmod" ]; then
	check "causes have the errno of the module" cause_errors
else
	skip "no module here"
fi
check "no command" usage
check "an unknown command" usage no-such-command
check "a service that is no number" usage connect db1:http
check "no service" usage connect db1
check "a service out of range" usage listen 4294967295
check "completion" completion
check "there is a man page for each function" pages
check "the man page names the examples" examples
check "what cannot be a man page is refused" refused
if command -v groff >/dev/null; then
	check "man pages are shown without a warning" shown
else
	skip "no groff"
fi
if command -v mandoc >/dev/null; then
	check "man pages" mandoc -Tlint -Wwarning "$here"/man/*.[0-9] "$BUILD"/man/*.3
else
	skip "no mandoc"
fi
echo "1..$count"
