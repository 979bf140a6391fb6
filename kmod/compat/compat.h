/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - makes older kernels look like the newest one
 *
 * Force-included before every file of the module. Each shim is chosen by a probe
 * (an #ifndef, or a define that kmod/Kbuild sets after looking into the headers),
 * never by a version number, as stable kernels take changes back.
 */
#ifndef _RCH_COMPAT_H
#define _RCH_COMPAT_H

#include <linux/fs.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

/* Gone in 6.12: such files have no position anyway. */
#ifdef RCH_HAVE_NO_LLSEEK
#define RCH_NO_LLSEEK .llseek = no_llseek,
#else
#define RCH_NO_LLSEEK
#endif

/* Came in 6.3. */
#ifndef RCH_HAVE_VM_FLAGS_SET
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#endif

/* Came in 6.4. */
#ifndef RCH_HAVE_ITER_IOV_ADDR
#define iter_iov_addr(iter) (iov_iter_iovec(iter).iov_base)
#define iter_iov_len(iter) (iov_iter_iovec(iter).iov_len)
#endif

/* Came in 6.13. */
#ifndef RCH_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, callback, clock, mode)	\
	do {						\
		hrtimer_init(timer, clock, mode);	\
		(timer)->function = (callback);		\
	} while (0)
#endif

#endif /* _RCH_COMPAT_H */
