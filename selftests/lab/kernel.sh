#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel.sh - get a kernel into the cache and print its directory
#
# usage: kernel.sh [--update] [--quiet] KERNEL...
#
# stock-6.1, stock-6.12  Debian's own image, modules and headers, unpacked
# uml-6.12               User Mode Linux built from Debian's source (4 minutes)
# uml-6.12-san           the same with the sanitizers and lockdep
# uml-6.12-cov           the same with gcov for modules, and fault injection
# uml-6.12-kcov          as uml-6.12-san, and each thread learns what it executes in modules
# dbg-6.12               for QEMU, with the sanitizers and lockdep (10 to 15 minutes)
# kcsan-6.12             for QEMU, finds data races of modules (10 minutes)
# src-7.2                a source tree prepared for compiling modules only
# clang-6.12             the same, to compile with clang
# checkpatch             scripts/checkpatch.pl of the newest 6.12 source, and coccinelle
#
# Any other series that the archive holds works in the place of these numbers.
# Nothing is installed. A source that is there already is used as it is; --update asks
# the archive for a newer one of the series.
#
# Each directory holds, as far as it makes sense for its kind:
#   version    the kernel release and the package version
#   make.args  arguments that compile a module: make $(cat make.args) M=... modules
#   vmlinuz and vmlinux, or linux; lib/modules/RELEASE; build
#   few-gids/rdma_rxe.ko, of dbg-6.12: rxe with a table of 16 GIDs, for guest.sh --few-gids
#
# Progress goes to stderr, the directories, one a line, to stdout. With --quiet
# the versions are not said.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

JOBS=$(nproc)
UPDATE=no QUIET=no
CC=gcc
# More arguments for make while a kernel is built, not for modules later.
KERNEL_ARGS=()

# The suites that carry a series in a form that this machine can run. 6.1 is
# Debian 12's. 6.12 was backported to it; elsewhere Debian 13's own is taken.
# Anything newer is only compiled from source, so its origin does not matter.
suites_for() {
	local codename

	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	case $1 in
	6.1) echo bookworm bookworm-security ;;
	6.12)
		if [ "$codename" = bookworm ]; then
			echo bookworm bookworm-security bookworm-backports
		else
			echo trixie trixie-security
		fi ;;
	*) echo trixie-backports sid ;;
	esac
}

open_archive_for() {
	# shellcheck disable=SC2046 # a list of words
	archive_open $(suites_for "$1")
}

#
# Stock kernels
#

# The headers package includes its other half by the path it would be installed
# under; make that relative, so that the cache may lie anywhere.
relocate_headers() {
	local dir=$1 kver=$2 headers common

	headers=$dir/usr/src/linux-headers-$kver
	common=linux-headers-${kver%-amd64}-common
	[ -d "$dir/usr/src/$common" ] || die "no $common in the headers packages"
	sed -i "s|/usr/src/$common|\$(abspath \$(dir \$(lastword \$(MAKEFILE_LIST)))../$common)|" \
		"$headers/Makefile"
	! grep -q '/usr/src' "$headers/Makefile" ||
		die "$headers/Makefile still names /usr/src"
	ln -sfn "usr/src/linux-headers-$kver" "$dir/build"
	ln -sfn "usr/src/$common" "$dir/source"
	ln -srfn "$dir/build" "$dir/lib/modules/$kver/build"
	ln -srfn "$dir/source" "$dir/lib/modules/$kver/source"
}

# The headers ask for the compiler that built the kernel. Where it is not
# installed the default one does; Kbuild only warns that they differ.
pick_compiler() {
	local vars=$1/build/.kernelvariables cc

	cc=$(sed -n 's/^CC = .*\(gcc-[0-9]*\).*/\1/p' "$vars" 2>/dev/null || true)
	if [ -n "$cc" ] && ! command -v "$cc" >/dev/null; then
		say "the kernel was built by $cc, which is not installed: using gcc"
		sed -i "s/$cc/gcc/" "$vars"
	fi
}

# Unpack the kernel proper out of vmlinuz: the emulator starts it as it is, which
# saves the two to four seconds that unpacking takes under emulation. The boot
# header says where the payload lies; its last four bytes are not part of it.
extract_vmlinux() {
	local image=$1 out=$2 setup offset length unpack

	setup=$(od -An -tu1 -j 497 -N 1 "$image")
	offset=$(od -An -tu4 -j 584 -N 4 "$image")
	length=$(od -An -tu4 -j 588 -N 4 "$image")
	offset=$(((setup + 1) * 512 + offset))
	for unpack in "xz -dc" "zstd -dc" "gzip -dc"; do
		if dd if="$image" bs=1M iflag=skip_bytes,count_bytes status=none \
		      skip="$offset" count=$((length - 4)) |
		   $unpack >"$out" 2>/dev/null; then
			return
		fi
	done
	say "cannot unpack $image: guests will boot slower"
	rm -f "$out"
}

stock_kernel() {
	local series=$1 dir=$2 tmp=$2.new headers kver image
	local -a packages

	open_archive_for "$series"
	headers=$(archive_newest "linux-headers-$series" \
		"^linux-headers-${series//./\\.}[.][0-9][^-]*(-[0-9]+)?-amd64$")
	[ -n "$headers" ] || die "the archive has no linux-headers-$series*-amd64"
	kver=${headers#linux-headers-}
	mapfile -t packages < <(archive_depends "$headers" '^linux-(headers|kbuild)-')
	if [ "$(cat "$dir/version" 2>/dev/null)" = "$kver $(archive_version "$headers")" ]; then
		return
	fi

	# Debian signs an image some hours after it publishes the headers. Until then the archive
	# has the same image unsigned, under another name.
	image=$(archive_first "linux-image-$kver" "linux-image-$kver-unsigned")
	[ -n "$image" ] || die "the archive has no image of $kver"

	rm -rf "$tmp"
	archive_unpack "$tmp" "$headers" "${packages[@]}" "$image"
	# Debian 13's packages hold /usr/lib/modules.
	[ -d "$tmp/lib" ] || ln -s usr/lib "$tmp/lib"
	relocate_headers "$tmp" "$kver"
	pick_compiler "$tmp"
	ln -s "boot/vmlinuz-$kver" "$tmp/vmlinuz"
	extract_vmlinux "$tmp/vmlinuz" "$tmp/vmlinux"
	depmod -b "$tmp" "$kver"
	echo "-C $dir/build" >"$tmp/make.args"
	echo "$kver $(archive_version "$headers")" >"$tmp/version"
	rm -rf "$dir"
	mv "$tmp" "$dir"
}

#
# Kernels from source
#

# What the lab changes of a kernel's source; MENDED is another when that is.
MENDED=mended-7

# User Mode Linux's vector device takes the locks of its queues both in softirqs
# and, when it is opened or asked for statistics, with softirqs enabled. It does
# no harm on one CPU, but lockdep stops at its first finding and would never see
# ours.
mend_vector_locks() {
	local driver=$1/arch/um/drivers/vector_kern.c

	sed -i -E '/^static void vector_(reset_stats|get_ethtool_stats)\(/,/^}/ {
		s/\bspin_(un)?lock\(/spin_\1lock_bh(/
	}' "$driver"
}

# User Mode Linux 6.12 has room for 2696 bytes of a processor's registers, and the
# machine takes all it has or none: 11008 with AMX. No process would start. (Newer
# ones ask the machine.)
mend_register_room() {
	sed -i -E 's/(HOST_FP_SIZE, )2696\)/\112288)/' "$1/arch/x86/um/user-offsets.c"
}

# Where time is virtual it passes only while all sleep, so that a thread that looks again and again
# until somebody else has done something looks for ever. It is so in two places of rxe, and says
# cond_resched() between two looks; here it sleeps for a microsecond. Others say cpu_relax(), which
# is a nanosecond in User Mode Linux when time is virtual: a thousand times as much, so that a
# thread that polls for seconds does it for a second at most.
mend_waits_by_looking() {
	local task=$1/drivers/infiniband/sw/rxe/rxe_task.c
	local processor=$1/arch/x86/um/asm/processor.h

	grep -q '<linux/delay.h>' "$task" ||
		sed -i 's,^#include "rxe.h",#include <linux/delay.h>\n&,' "$task"
	sed -i '/while (!is_done(task))/{ n; s/cond_resched()/usleep_range(1, 1)/ }' "$task"
	[ "$(grep -c 'usleep_range(1, 1)' "$task")" -eq "$(grep -c 'while (!is_done(task))' "$task")" ] ||
		die "rxe waits in another way than mend_waits_by_looking() knows"
	sed -i 's/time_travel_ndelay(1);/time_travel_ndelay(1000);/' "$processor"
}

# Sanitizers keep the stack of each allocation. To find it, User Mode Linux takes each word on the
# stack and asks whether a module has code at that address, and lockdep checks each of these calls.
# That is two thirds of the time. Here only words are asked for that point into the kernel's text or
# into memory of vmalloc(), where modules are.
mend_stack_walk() {
	local walk=$1/arch/um/kernel/stacktrace.c

	grep -q '<asm/sections.h>' "$walk" ||
		sed -i 's,^#include <asm/stacktrace.h>,#include <linux/mm.h>\n#include <asm/sections.h>\n&,' "$walk"
	sed -i 's/if (__kernel_text_address(addr)) {/if ((is_kernel_text(addr) || is_kernel_inittext(addr) ||\n\t\t     is_vmalloc_addr((void *)addr)) \&\& __kernel_text_address(addr)) {/' "$walk"
	grep -q 'is_vmalloc_addr' "$walk" ||
		die "stacks are walked in another way than mend_stack_walk() knows"
}

# User Mode Linux learns by an interrupt that a process of its machine has ended. When that interrupt
# comes depends on how busy the machine is, and each one changes the kernel's random numbers: what
# netem loses would be another packet each time.
mend_random_numbers() {
	local handle=$1/kernel/irq/handle.c

	sed -i '/^\tadd_interrupt_randomness(desc->irq_data.irq);$/d' "$handle"
	! grep -q add_interrupt_randomness "$handle" ||
		die "interrupts change random numbers in another way than mend_random_numbers() knows"
}

# The end of a ring of io_uring cancels its requests again and again until none is left, and says
# cond_resched() between two tries. Where time is virtual nothing gives a worker the processor that
# is ready and has to end its request first: the kernel stands still. Here it sleeps for a
# microsecond. Older kernels run with virtual time nowhere.
mend_ring_end() {
	local ring=$1/io_uring/io_uring.c cancel=$1/io_uring/cancel.c
	local file

	grep -qs '^__cold void io_uring_cancel_generic' "$cancel" || return 0
	for file in "$ring" "$cancel"; do
		grep -q '<linux/delay.h>' "$file" ||
			sed -i '0,/^#include <linux\/kernel.h>/s,,#include <linux/delay.h>\n&,' "$file"
	done
	sed -i '/^static __cold void io_ring_exit_work(/,/^}/ s/\bcond_resched()/usleep_range(1, 1)/' "$ring"
	sed -i '/^__cold void io_uring_cancel_generic(/,/^}/ s/\bcond_resched()/usleep_range(1, 1)/' "$cancel"
	[ "$(grep -l 'usleep_range(1, 1)' "$ring" "$cancel" | wc -l)" = 2 ] ||
		die "a ring ends in another way than mend_ring_end() knows"
}

# rxe has a checksum of each packet, which newer kernels compute byte by byte where the machine has
# no instruction that they know: a third of the time of a guest of User Mode Linux. Here it is eight
# bytes at a time, by tables that are made of the kernel's own.
mend_checksum() {
	local main=$1/lib/crc/crc32-main.c

	[ -f "$main" ] || return 0
	cp "$LAB/crc32-eight.h" "$1/lib/crc/"
	grep -q crc32-eight "$main" || sed -i \
		-e 's/^#include "crc32table.h"$/&\n#include "crc32-eight.h"/' \
		-e '/^crc32_le_base(/,/^}/ s/^{$/{\n\tsize_t taken = crc32_eight_take(\&crc, p, len);\n\n\tp += taken;\n\tlen -= taken;/' \
		"$main"
	[ "$(grep -c 'crc32_eight_take\|crc32-eight' "$main")" = 2 ] ||
		die "checksums are computed in another way than mend_checksum() knows"
}

mend_source() {
	mend_vector_locks "$1"
	mend_register_room "$1"
	mend_waits_by_looking "$1"
	mend_stack_walk "$1"
	mend_random_numbers "$1"
	mend_ring_end "$1"
	mend_checksum "$1"
	echo $MENDED >"$1/.mended"
}

# Unpack the series' newest source once and set SRC to it.
fetch_source() {
	local series=$1 version name tmp

	SRC=$(cat "$CACHE/src/$series" 2>/dev/null || true)
	if [ "$(cat "$SRC/.mended" 2>/dev/null)" = $MENDED ] && [ "$UPDATE" = no ]; then
		return
	fi
	lab_lock "src-$series"
	open_archive_for "$series"
	name=$(archive_newest linux-source- "^linux-source-${series//./\\.}$")
	if [ -z "$name" ]; then
		name=$(archive_newest linux-source- "^linux-source-${series%%.*}[.][0-9]+$")
		[ -n "$name" ] || die "the archive has no source of $series"
		say "the archive has no linux-source-$series any more: taking $name"
	fi
	version=$(archive_version "$name")
	SRC=$CACHE/src/linux-$version
	if [ ! -d "$SRC" ]; then
		tmp=$CACHE/src/tmp-$series
		rm -rf "$tmp"
		archive_unpack "$tmp" "$name"
		say "unpacking $name $version"
		XZ_DEFAULTS=-T0 tar -C "$tmp" -xJf "$tmp/usr/src/$name.tar.xz"
		mv "$tmp/$name" "$SRC"
		rm -rf "$tmp"
	fi
	mend_source "$SRC"
	echo "$SRC" >"$CACHE/src/$series"
}

# configure BUILD ARCH FRAGMENT...: allnoconfig plus the fragments.
configure() {
	local build=$1 arch=$2
	shift 2

	mkdir -p "$build"
	cat "$@" >"$build/fragments"
	make -s -C "$SRC" O="$build" ARCH="$arch" CC="$CC" allnoconfig \
		KCONFIG_ALLCONFIG="$build/fragments" >"$build/configure.log" 2>&1 ||
		{ tail "$build/configure.log" >&2; die "cannot configure $build"; }
	report_lost_options "$build"
}

# Give up when the configuration does not have a line of the fragments: a renamed option, or one
# whose dependencies are missing, and tests would find less than they look for. Later fragments
# win.
report_lost_options() {
	local lost

	awk '
	function option(line) { sub(/^# /, "", line); sub(/[= ].*/, "", line); return line }
	function value(line) {
		if (line ~ / is not set$/) return "n"
		sub(/^[^=]*=/, "", line); return line
	}
	!/^(# )?CONFIG_[A-Z0-9_]+(=| is not set$)/ { next }
	FNR == NR { want[option($0)] = value($0); next }
	{ have[option($0)] = value($0) }
	END {
		for (o in want) {
			h = (o in have) ? have[o] : "n"
			if (h != want[o])
				print "  " o "=" want[o] " became " h
		}
	}' "$1/fragments" "$1/.config" | sort >"$1/lost-options"
	lost=$(awk '
		FNR == NR { may[$1] = 1; next }
		{ sub(/=.*/, "", $1); if (!($1 in may)) print $1 }' \
		"$LAB/config/may-lack" "$1/lost-options" | tr '\n' ' ')
	[ -z "$lost" ] || die "the kernel has no $lost(see $1/lost-options)"
}

build() {
	local build=$1 arch=$2
	shift 2

	nice -n 5 make -C "$SRC" O="$build" ARCH="$arch" CC="$CC" -j"$JOBS" \
		"${KERNEL_ARGS[@]}" "$@" >"$build/make.log" 2>&1 ||
		{ grep -E 'error|Error|\*\*\*' "$build/make.log" | tail -n 20 >&2
		  die "the build failed: see $build/make.log"; }
}

# Is the kernel in $1 already the one that SRC and the fragments give?
source_is_current() {
	local dir=$1
	shift

	KEY="$(basename "$SRC") $MENDED $(hash_of "$@") $("$CC" -dumpfullversion 2>/dev/null || "$CC" -dumpversion)"
	[ "$(cat "$dir/key" 2>/dev/null)" = "$KEY" ]
}

uml_kernel() {
	local series=$1 variant=$2 dir=$3
	local -a fragments=("$LAB/config/common.config" "$LAB/config/uml-$series.config")

	[ -f "$LAB/config/uml-$series.config" ] || die "no fragment for User Mode Linux $series"
	case $variant in
	san) fragments+=("$LAB"/config/{,uml-}sanitizers.config) ;;
	cov) fragments+=("$LAB/config/coverage.config") ;;
	kcov) fragments+=("$LAB"/config/{,uml-}sanitizers.config "$LAB/config/kcov.config") ;;
	esac
	fetch_source "$series"
	if source_is_current "$dir" "${fragments[@]}"; then
		return
	fi
	build_kernel "$dir" um "${fragments[@]}"
	cp -f "$dir/build/linux" "$dir/linux"
	# Modules that are built for it count what they execute, inline functions by
	# themselves.
	[ "$variant" != cov ] ||
		sed -i 's/$/ GCOV_PROFILE=y KCFLAGS=-fno-early-inlining/' "$dir/make.args"
	[ "$variant" != kcov ] || sed -i 's/$/ KCOV_INSTRUMENT=y/' "$dir/make.args"
	echo "$KEY" >"$dir/key"
}

# qemu_kernel SERIES VARIANT DIR
qemu_kernel() {
	local series=$1 variant=$2 dir=$3
	local -a fragments=("$LAB"/config/{common,qemu-x86_64}.config)
	local -a KERNEL_ARGS=()

	case $variant in
	dbg) fragments+=("$LAB"/config/sanitizers.config) ;;
	kcsan)
		# The kernel itself is not watched: it is faster so, and all that is
		# reported is of a module.
		fragments+=("$LAB"/config/kcsan.config)
		KERNEL_ARGS+=(KCSAN_SANITIZE=n) ;;
	esac
	fragments+=("$LAB"/config/debug-x86_64.config)
	fetch_source "$series"
	if source_is_current "$dir" "${fragments[@]}"; then
		return
	fi
	build_kernel "$dir" x86_64 "${fragments[@]}"
	cp -f "$dir/build/vmlinux" "$dir/vmlinux"
	echo "$KEY" >"$dir/key"
}

# few_gids DIR: beside the kernel, an rxe with a small table of GIDs
#
# rxe's has 1024, with three files in sysfs for each. A kernel with sanitizers makes and
# unmakes them in many seconds, again whenever a test takes the device away. Nothing but
# the number differs, and only who asks for this module gets it.
few_gids() {
	local dir=$1/few-gids
	local param=$dir/src/rxe_param.h

	if [ "$(cat "$dir/key" 2>/dev/null)" = "$KEY" ]; then
		return
	fi
	say "building rxe with few GIDs for $(basename "$1")"
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -r "$SRC/drivers/infiniband/sw/rxe" "$dir/src"
	sed -i -E 's/(RXE_PORT_GID_TBL_LEN[[:space:]]*=) 1024,/\1 16,/' "$param"
	grep -q 'RXE_PORT_GID_TBL_LEN.* 16,' "$param" || die "rxe's table of GIDs is not where it was"
	nice -n 5 make -C "$SRC" O="$1/build" ARCH=x86_64 CC="$CC" -j"$JOBS" M="$dir/src" \
		modules >"$dir/make.log" 2>&1 || die "the build failed: see $dir/make.log"
	mv "$dir/src/rdma_rxe.ko" "$dir/"
	rm -r "$dir/src"
	echo "$KEY" >"$dir/key"
}

# build_kernel DIR ARCH FRAGMENT...: kernel, modules, make.args and version
build_kernel() {
	local dir=$1 arch=$2
	shift 2

	say "building $(basename "$dir") from $(basename "$SRC"), some minutes"
	rm -f "$dir/key"
	configure "$dir/build" "$arch" "$@"
	build "$dir/build" "$arch"
	rm -rf "${dir:?}/lib"
	build "$dir/build" "$arch" modules_install INSTALL_MOD_PATH="$dir"
	echo "-C $SRC O=$dir/build ARCH=$arch" >"$dir/make.args"
	echo "$(cat "$dir/build/include/config/kernel.release")" \
		"$(basename "$SRC" | sed 's/^linux-//')" >"$dir/version"
}

# compile_only_kernel SERIES DIR [COMPILER]
#
# Enough of a tree to compile modules: no vmlinux, therefore no Module.symvers,
# therefore modpost may only warn of symbols that it does not know.
compile_only_kernel() {
	local series=$1 dir=$2 CC=${3:-$CC}
	local -a fragments=("$LAB/config/common.config" "$LAB/config/qemu-x86_64.config")

	fetch_source "$series"
	if source_is_current "$dir" "${fragments[@]}"; then
		return
	fi
	say "preparing $(basename "$SRC") for compiling modules"
	rm -f "$dir/key"
	configure "$dir/build" x86_64 "${fragments[@]}"
	build "$dir/build" x86_64 modules_prepare
	echo "-C $SRC O=$dir/build ARCH=x86_64 CC=$CC KBUILD_MODPOST_WARN=1" >"$dir/make.args"
	echo "$(cat "$dir/build/include/config/kernel.release")" \
		"$(basename "$SRC" | sed 's/^linux-//')" >"$dir/version"
	echo "$KEY" >"$dir/key"
}

# checkpatch.pl and the semantic patches come in the source package only.
checkpatch() {
	local dir=$1

	fetch_source 6.12
	mkdir -p "$dir"
	rm -rf "$dir/coccinelle"
	cp -r "$SRC"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch,coccinelle} \
		"$dir/"
	basename "$SRC" >"$dir/version"
}

# A cached kernel is used without asking anyone, unless its fragments changed.
get_kernel() {
	local kernel=$1 dir=$CACHE/kernels/$1 series

	series=${kernel#*-}
	lab_lock "kernel-$kernel"
	mkdir -p "$CACHE/kernels"
	case $kernel in
	stock-*)
		if [ "$UPDATE" = yes ] || [ ! -f "$dir/version" ]; then
			stock_kernel "$series" "$dir"
		fi ;;
	uml-*-san) uml_kernel "${series%-san}" san "$dir" ;;
	uml-*-cov) uml_kernel "${series%-cov}" cov "$dir" ;;
	uml-*-kcov) uml_kernel "${series%-kcov}" kcov "$dir" ;;
	uml-*) uml_kernel "$series" plain "$dir" ;;
	dbg-*)
		qemu_kernel "$series" dbg "$dir"
		few_gids "$dir" ;;
	kcsan-*) qemu_kernel "$series" kcsan "$dir" ;;
	src-*) compile_only_kernel "$series" "$dir" ;;
	clang-*) compile_only_kernel "$series" "$dir" clang ;;
	checkpatch)
		dir=$CACHE/checkpatch
		if [ "$UPDATE" = yes ] || [ ! -d "$dir/coccinelle" ]; then
			checkpatch "$dir"
		fi ;;
	*) die "unknown kernel '$kernel'" ;;
	esac
	[ "$QUIET" = yes ] || say "$kernel is $(cat "$dir/version")"
	echo "$dir"
}

main() {
	while [[ "${1:-}" = --* ]]; do
		case $1 in
		--update) UPDATE=yes ;;
		--quiet) QUIET=yes ;;
		*) die "unknown option $1" ;;
		esac
		shift
	done
	[ $# -gt 0 ] || { sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
	while [ $# -gt 0 ]; do
		# In a process of its own, which ends with the locks of this kernel: two runs that ask
		# for the same kernels in another order would wait for each other for ever.
		(get_kernel "$1")
		shift
	done
}

main "$@"; exit
