#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# initramfs.sh - build the base initramfs of a kernel's guests
#
# usage: initramfs.sh KERNELDIR OUT
#
# KERNELDIR is a directory that kernel.sh printed. The image holds busybox, dash
# as /bin/sh, bash, iproute2, the RDMA example programs with their libraries,
# and the kernel's modules that the lab uses. It holds no /init: guest.sh
# appends a second archive with that, the payload and the command. The image is
# cached and OUT becomes a hard link or a copy of it.

set -euo pipefail
# shellcheck source=selftests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

MODULES="rdma_rxe siw ib_uverbs rdma_ucm rdma_cm ib_core ib_umad
	crc32_generic crc32-pclmul crc32c_generic crc32c-intel
	virtio_pci virtio_net veth dummy 8021q
	brd minix
	sch_netem sch_tbf sch_ingress cls_u32 act_gact"
PROGRAMS="bash nice ip tc rdma setpriv mkfs.minix
	rping udaddy ucmatose rstream riostream cmtime mckey rdma_client rdma_server
	ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong
	ib_send_lat ib_send_bw ib_read_lat ib_read_bw ib_write_lat ib_write_bw
	ib_atomic_lat"
# The packages that the programs come from: a new version makes a new image.
PACKAGES="busybox-static dash bash iproute2 rdma-core ibverbs-providers ibverbs-utils
	rdmacm-utils perftest libc6 util-linux coreutils"

make_tree() {
	local root=$1 dir

	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,run,tmp,etc,root,test,lab,mnt,home}
	mkdir -p "$root/var"
	chmod 755 "$root"
	chmod 1777 "$root/tmp"
	for dir in bin sbin lib lib64; do
		ln -s "usr/$dir" "$root/$dir"
	done
	ln -s ../run "$root/var/run"
	ln -s ../proc/mounts "$root/etc/mtab"
	: >"$root/etc/passwd"
	: >"$root/etc/group"
}

# Copy a file and the libraries it wants, each to the path that it has here.
# /bin and so on are links into /usr in the image, as they are here.
add_file() {
	local root=$1 file=$2 lib

	for lib in "$file" $(ldd "$file" 2>/dev/null | grep -o '/[^ ]*'); do
		[ -e "$root$lib" ] && continue
		mkdir -p "$root$(dirname "$lib")"
		cp -L "$lib" "$root$lib"
	done
}

add_programs() {
	local root=$1 program path applet

	for program in $PROGRAMS; do
		if path=$(command -v "$program" || command -v "/sbin/$program"); then
			add_file "$root" "$path"
		else
			say "this machine has no $program, so the guest has none"
		fi
	done
	add_file "$root" /usr/bin/dash
	# libc opens this one by name when a thread exits.
	add_file "$root" /usr/lib/x86_64-linux-gnu/libgcc_s.so.1
	ln -s dash "$root/usr/bin/sh"
	# A program that is there already wins: busybox's ip is not iproute2's.
	cp /bin/busybox "$root/usr/bin/busybox"
	for applet in $(busybox --list); do
		[ -e "$root/usr/bin/$applet" ] || [ -e "$root/usr/sbin/$applet" ] ||
			ln -s busybox "$root/usr/bin/$applet"
	done
	# The kernel calls this path by name.
	ln -s ../bin/busybox "$root/usr/sbin/modprobe"
}

# The providers of the two software adapters; libibverbs finds them by these.
add_providers() {
	local root=$1 file

	mkdir -p "$root/etc/libibverbs.d"
	cp /etc/libibverbs.d/{rxe,siw}.driver "$root/etc/libibverbs.d/"
	for file in /usr/lib/x86_64-linux-gnu/libibverbs/lib{rxe,siw}-rdmav*.so; do
		add_file "$root" "$file"
	done
}

# The modules, those they depend on, and fresh dependency tables.
add_modules() {
	local root=$1 kernel=$2 kver=$3 module file
	local to=$root/usr/lib/modules/$kver

	mkdir -p "$to"
	for module in $MODULES; do
		modprobe -d "$kernel" -S "$kver" --show-depends "$module" 2>/dev/null || true
	done | awk '$1 == "insmod" { print $2 }' | sort -u >"$to/list"
	while read -r file; do
		file=$(realpath -s "$file")
		cp "$file" "$to/"
	done <"$to/list"
	rm "$to/list"
	find "$to" -name '*.xz' -exec xz -d {} +
	find "$to" -name '*.zst' -exec zstd -q -d --rm {} +
	cp "$kernel/lib/modules/$kver"/modules.builtin{,.modinfo} "$to/"
	cp "$kernel/lib/modules/$kver/modules.order" "$to/"
	depmod -b "$root" "$kver"
	[ -f "$to/rdma_rxe.ko" ] || die "no rdma_rxe among the modules of $kernel"
}

# Padded, so that the archive which is appended to it starts aligned.
pack() {
	local root=$1 out=$2

	(cd "$root" && find . -print0 | LC_ALL=C sort -z |
		cpio -0 -o -H newc -R 0:0 --quiet) >"$out.tmp"
	truncate -s %512 "$out.tmp"
	mv "$out.tmp" "$out"
}

main() {
	local kernel out kver key base root

	[ $# -eq 2 ] || die "usage: initramfs.sh KERNELDIR OUT"
	kernel=$1 out=$2
	kver=$(cut -d' ' -f1 "$kernel/version")
	# shellcheck disable=SC2086 # a list of words
	key=$({ cat "$0" "$kernel/version"; dpkg-query -W $PACKAGES 2>/dev/null || true; } |
		sha256sum | cut -c1-16)
	base=$CACHE/initramfs/$kver-$key.cpio
	if [ ! -f "$base" ]; then
		lab_lock "initramfs-$kver"
	fi
	if [ ! -f "$base" ]; then
		mkdir -p "$CACHE/initramfs"
		rm -f "$CACHE/initramfs/$kver"-*.cpio
		root=$(mktemp -d "$CACHE/initramfs/root.XXXXXX")
		make_tree "$root"
		add_programs "$root"
		add_providers "$root"
		add_modules "$root" "$kernel" "$kver"
		pack "$root" "$base"
		rm -r "$root"
	fi
	ln -f "$base" "$out" 2>/dev/null || cp "$base" "$out"
}

main "$@"
