#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# splat-scan.sh - look for complaints of the kernel in a console log
#
# usage: splat-scan.sh FILE...
#
# Prints each offending line with what follows it and exits 1 if there is one.

set -euo pipefail

# What the kernel says when something is wrong with it, or with us.
SPLATS='BUG: |WARNING: |Oops|[Gg]eneral protection|Kernel panic|kernel BUG at
|KASAN|UBSAN|KMSAN|KCSAN|unreferenced object|new suspected memory leaks
|possible (circular|recursive|irq|deadlock)|inconsistent lock state|suspicious RCU usage
|bad unlock balance|held lock freed|lock held when returning|still has locks held
|INFO: task .* blocked|INFO: rcu|rcu_.*detected stalls|self-detected stall|soft lockup
|hard LOCKUP|workqueue lockup|scheduling while atomic|sleeping function called
|refcount_t: |Call Trace:|(list_add|list_del).*corruption|Bad page|Bad rss
|ODEBUG: |DMA-API: .*(leak|error|not freed|without)|page allocation failure
|unregister_netdevice: waiting|Out of memory|stack-protector|usercopy: |double free
|slab.*(overflow|corrupt)|cache.*still has objects|objects remaining in'

# Harmless, each for a reason.
#
# Debian's kernels and the CPU model of the emulator: "no MDS mitigation" and its
# like are written as "... WARNING:" or "... BUG:" at boot on emulated CPUs.
# Spectre V2/unprivileged eBPF: the same message again, for eBPF.
# "loading out-of-tree module taints kernel" has none of the words, it is here
# for people who grep by other means.
HARMLESS='Spectre V2 : WARNING: Unprivileged eBPF
|(MDS|TAA|MMIO Stale Data|Spectre|RETBleed|SRBDS|GDS|ITS|TSA).*(WARNING|BUG)
|KASAN init done|kasan: KernelAddressSanitizer initialized|use CONFIG_KCSAN_STRICT
|x86/cpu: |loading out-of-tree module taints kernel'

# A test that has allocations fail tells the log when, as "memory fails on purpose from
# here" and "to here". The kernel shows the stack of who gets no virtual memory or no cache then,
# such as an adapter's driver that makes a queue pair: that is no complaint.
#
# The core frees the queue pair of its management datagrams before the completion queue, and posts
# receives meanwhile when a device goes just as a datagram came: rxe warns once of that. It is
# no complaint either if the stack says so, and has nothing of the module.
scan() {
	local file=$1 splats harmless

	splats=$(tr -d '\n' <<<"$SPLATS")
	harmless=$(tr -d '\n' <<<"$HARMLESS")
	# One pass: a line that matches opens a window of 40 lines.
	awk -v splats="$splats" -v harmless="$harmless" -v file="$file" '
		{ sub(/\r$/, "") }
		/memory fails on purpose/ { wanted = /from here/; lack = 0 }
		wanted && /vmalloc error: |__kmem_cache_create_args\(.*\) failed with error -12/ { lack = 1 }
		lack && /Call Trace:/ && left == 0 { lack = 0; next }
		/WARNING: .* rxe_post_recv\+/ && left == 0 { held = NR; whose = 0; text = "" }
		held {
			text = text $0 "\n"
			whose += /\+0x.* \[ib_core\]/ && / ib_mad_post_receive_mads\+/
			other = NR > held && $0 ~ splats && $0 !~ /Call Trace:/
			if (!other && !/\[rdmachan\]/ && NR < held + 60 && !/end trace/)
				next
			if (whose && !other && /end trace/) {
				held = 0
				next
			}
			print "-- " file ":" held ":"
			printf "%s", text
			held = 0
			found = 1
			left = 40
			next
		}
		$0 ~ splats && $0 !~ harmless {
			if (left == 0)
				print "-- " file ":" FNR ":"
			left = 40
			found = 1
		}
		left > 0 { print; left-- }
		END {
			if (held)
				printf "-- %s:%d:\n%s", file, held, text
			exit found || held
		}' "$file"
}

main() {
	local file status=0

	[ $# -gt 0 ] || { echo "usage: splat-scan.sh FILE..." >&2; exit 2; }
	for file in "$@"; do
		[ -f "$file" ] || { echo "splat-scan.sh: no file $file" >&2; exit 2; }
		scan "$file" || status=1
	done
	exit $status
}

main "$@"
