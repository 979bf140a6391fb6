#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# firsthour.sh - what a new user does first, on a Debian that has nothing; TAP
#
# usage: firsthour.sh [SUITE...]     bookworm and trixie unless given
#
# README's own commands are pasted into a fresh root (debootstrap, kept in the cache for a month),
# which has no module: so far as that goes, and with each thing missing in turn. The package
# mirror is the machine's. Each command runs in name spaces of its own for mounts and processes,
# which end with it: nothing stays mounted, whatever happens. It needs root. The last line is
# "N passed, N failed".

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
. selftests/lab/lib.sh

out=$(realpath -m "${RDMACHAN_BUILD:-build}")/firsthour
kept=$CACHE/firsthour
number=0 failed=0
# Where the tree is in the root, and the words of the last command.
tree=/root/rdmachan
said=$out/said

# inside COMMAND: by a shell in the root, as a user at a terminal has it
inside() {
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc="$root/proc" \
		chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		bash -c "$1" </dev/null >"$said" 2>&1
}

# test_that NAME COMMAND...: one test; what the last command has said is shown when it fails
test_that() {
	local name=$1

	shift
	number=$((number + 1))
	if ! "$@"; then
		tail -n 20 "$said" | sed 's/^/# /'
		echo -n "not "
		failed=$((failed + 1))
	fi
	echo "ok $number - $suite: $name"
}

# gives STATUS COMMAND WORDS...: the command ends so, and says all of these
gives() {
	local status=$1 got=0 words

	inside "$2" || got=$?
	shift 2
	[ "$got" = "$status" ] || { echo "# exit status $got"; return 1; }
	for words; do
		grep -qF -- "$words" "$said" || { echo "# it does not say: $words"; return 1; }
	done
}

# never WORDS: the last command has not said this
never() { ! grep -qF -- "$1" "$said"; }

# readme WORDS: the one command of README.md that has them, without its comment
readme() {
	local line

	line=$(grep -F -- "$1" README.md | sed -n 's/^    //p')
	[ "$(grep -c . <<<"$line")" = 1 ] || die "README.md has not one command \"$1\": $line"
	sed 's/ \{2,\}#.*//; s/^sudo //' <<<"$line"
}

# The Debian that has nothing. What apt fetches is kept.
make_root() {
	local mirror security state=$kept/$suite

	mirror=$(machine_mirror Debian)
	security=$(machine_mirror Debian-Security)
	mirror=${mirror:-http://deb.debian.org/debian}
	lab_lock "firsthour-$suite"
	mkdir -p "$state/archives" "$out"
	root=$out/$suite
	rm -rf --one-file-system "$root"
	if [ -z "$(find "$state/base.tar" -mtime -30 2>/dev/null)" ]; then
		say "making a root of $suite: some minutes"
		debootstrap --variant=minbase --keyring="$KEYRING" "$suite" "$root" "$mirror" \
			>"$state/debootstrap.log" 2>&1 ||
			{ tail "$state/debootstrap.log" >&2; die "debootstrap of $suite has failed"; }
		rm -f "$root"/var/cache/apt/archives/*.deb
		tar -C "$root" -cf "$state/base.tar.new" . || die "the root of $suite cannot be kept"
		mv "$state/base.tar.new" "$state/base.tar"
	else
		mkdir "$root"
		tar -C "$root" -xf "$state/base.tar" || die "the root of $suite cannot be unpacked"
	fi
	printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates" \
		"${security:-http://deb.debian.org/debian-security}" "$suite-security" \
		>"$root/etc/apt/sources.list"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	cp -l "$state"/archives/*.deb "$root/var/cache/apt/archives/" 2>/dev/null
	echo 'Binary::apt::APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/99keep"
	mkdir "$root$tree"
	git ls-files -z -co --exclude-standard | tar --null --ignore-failed-read -T - -cf - |
		tar -C "$root$tree" -xf -
}

keep_packages() {
	cp -n "$root"/var/cache/apt/archives/*.deb "$kept/$suite/archives/" 2>/dev/null
}

packages() {
	gives 0 "apt-get -q update && $(readme 'apt install build-essential' | sed 's/^apt /apt-get -q -y /')"
}

build() {
	test_that "without libmd make says which package to install" \
		gives 2 "mv /usr/include/md5.h /usr/include/md5 && cd $tree && make" \
		'libmd is missing' 'apt install libmd-dev'
	inside 'mv /usr/include/md5 /usr/include/md5.h'
	test_that "without the kernel's headers make says how to get them" \
		gives 0 "cd $tree && $(readme 'make                 ')" \
		'The module is not built' 'apt install linux-headers-'
	test_that "and builds the tool, which runs where it is" \
		gives 0 "$tree/build/tool/rdmachan --version" 'rdmachan 0.'
	test_that "without python3 it says so" \
		gives 2 "cd $tree && rm -rf build/tool/man && make PYTHON=python-missing" \
		'python-missing is missing' 'apt install python3'
	test_that "make help names the targets" gives 0 "cd $tree && make help" 'sudo make install'
}

install() {
	test_that "make install says that there is no module to install" \
		gives 0 "cd $tree && $(readme 'make install ')" 'The module is not installed'
	test_that "and how the group is made, where systemd does not do it" \
		grep -qF 'groupadd --system rdmachan' "$said"
	test_that "the loader finds the library" gives 0 'ldconfig -p' 'librdmachan.so.0'
	test_that "the tool is found" gives 0 'rdmachan --help' 'rdmachan doctor'
	test_that "a library that the loader does not find is told of" \
		gives 0 "cd $tree && make install PREFIX=/opt/rdmachan" \
		'The loader does not look into /opt/rdmachan/lib' 'LD_LIBRARY_PATH'
}

program() {
	awk '/^```c$/ { c = 1; next } /^```/ { c = 0 } c' README.md >"$root/root/hello.c"
	test_that "README's program is compiled by README's command" gives 0 "cd && $(readme 'cc hello.c')"
	test_that "it says that the module is not loaded, and how to load it" \
		gives 1 '/root/hello' 'Opening the device /dev/rdmachan failed' 'is not loaded' \
		'modprobe rdmachan' 'rdmachan doctor'
	test_that "and nothing of a connection, or that nothing has failed" \
		eval 'never connection && never "Nothing has failed"'
	# shellcheck disable=SC2016 # expanded in the root
	test_that "a device that its user may not use is told of" \
		gives 1 'touch /dev/rdmachan && chmod 0 /dev/rdmachan &&
			cp /root/hello /usr/local/bin/ &&
			setpriv --reuid 65534 --clear-groups /usr/local/bin/hello; status=$?
			rm /dev/rdmachan; exit $status' \
		'usermod -aG rdmachan USER' 'systemd-sysusers'
	test_that "an example is compiled by the command at its beginning" \
		gives 0 "cd /usr/local/share/doc/rdmachan/examples &&
			$(sed -n 's/^ \*\t\(cc echo_server.c .*\)/\1/p' userspace-tool/examples/echo_server.c)"
	test_that "it says the same as README's program" \
		gives 1 '/usr/local/share/doc/rdmachan/examples/echo_server 5000' 'modprobe rdmachan'
}

tool() {
	local command

	test_that "doctor says what is missing, and nothing that cannot work" \
		gives 2 'rdmachan doctor' 'not installed for kernel' 'build and install the module'
	test_that "as that modprobe would help" never 'modprobe rdmachan'
	for command in list info 'listen 5000' 'connect db1:5000' 'ping db1' 'recv /tmp'; do
		test_that "$command says that the module is not loaded" \
			gives 1 "rdmachan $command" '/dev/rdmachan' 'The module is not loaded'
	done
	test_that "a wrong command: the one that is meant" \
		gives 2 'rdmachan pnig db1' 'no command "pnig"' 'is "ping" meant?'
	test_that "a wrong option: the one that is meant" \
		gives 2 'rdmachan ping --tiemout 1 db1' '"--tiemout"' 'is --timeout meant?'
	test_that "a wrong value: its option, and what that takes" \
		gives 2 'rdmachan ping --count many db1' '"many" is not valid for --count' '-c, --count N'
	test_that "no value" gives 2 'rdmachan ping db1 --count' '--count needs a value'
	test_that "times may have a unit" gives 1 'rdmachan ping -i 1s -W 500ms db1' 'not loaded'
	for command in ECONNREFUSED no-service 6 RDMACHAN_CAUSE_NO_SERVICE; do
		test_that "explain $command" gives 0 "rdmachan explain $command" \
			'no-service (6), ECONNREFUSED' 'What to do: Start the program at the peer'
	done
	test_that "explain what is near" gives 1 'rdmachan explain no-servise' 'is "no-service" meant?'
}

first_hour() {
	suite=$1
	make_root
	test_that "packages are installed by README's command" packages
	keep_packages
	build
	install
	program
	tool
	rm -rf --one-file-system "$root"
}

[ "$(id -u)" = 0 ] || die "it needs root: chroot, and a Debian of its own"
selftests/lab/packages.sh check >&2 || die "packages are missing"
mkdir -p "$out"
for suite in "${@:-bookworm trixie}"; do
	for one in $suite; do
		first_hour "$one"
	done
done
echo "1..$number"
echo "$((number - failed)) passed, $failed failed"
[ "$failed" = 0 ]
