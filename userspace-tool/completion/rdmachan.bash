# SPDX-License-Identifier: MIT
#
# bash completion for rdmachan(8)

_rdmachan_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_rdmachan_hosts()
{
	mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
	# A service follows: leave the cursor behind the name.
	compopt -o nospace 2>/dev/null
}

_rdmachan_causes()
{
	_rdmachan_words "$(rdmachan explain --all 2>/dev/null |
		sed -n 's/^\([a-z-]*\) ([0-9]*).*/\1/p')"
}

# The long options of a command, which its help begins lines with.
_rdmachan_options()
{
	_rdmachan_words "$(rdmachan "$1" --help 2>/dev/null |
		sed -n 's/^  -., \(--[a-z-]*\).*/\1/p') --help"
}

_rdmachan_argument()
{
	case $1 in
	connect | ping | bench | doctor | get | add | cas) _rdmachan_hosts ;;
	send | lend | put) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -A file -A hostname -- "$cur") ;;
	recv) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	explain) _rdmachan_causes ;;
	esac
}

_rdmachan()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands="info list connect listen send recv lend get put add cas ping bench doctor explain"

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		_rdmachan_words "$commands help --help --version"
		return
	fi
	if [[ ${COMP_WORDS[1]} == help ]]; then
		_rdmachan_words "$commands"
		return
	fi
	case $prev in
	--max | --timeout | --port | --traffic-class | --service | --idle | --count | --interval | --size | \
		--wait | --sizes | --window | --server | --cookie | --uses | --expires | \
		--revoke | --offset | --listen | --length)
		return
		;;
	--bind)
		_rdmachan_words "$(ip -o addr show 2>/dev/null |
			sed -n 's,^.* inet6\{0\,1\} \([0-9a-f.:]*\)/.*,\1,p')"
		return
		;;
	--rights)
		_rdmachan_words "read write atomic read,write read,write,atomic"
		return
		;;
	--progress)
		_rdmachan_words "bar plain none"
		return
		;;
	--output)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		_rdmachan_options "${COMP_WORDS[1]}"
	else
		_rdmachan_argument "${COMP_WORDS[1]}"
	fi
}

complete -F _rdmachan rdmachan
