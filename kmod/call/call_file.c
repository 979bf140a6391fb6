// SPDX-License-Identifier: GPL-2.0
/*
 * call_file.c - files of objects, and the memory of messages
 *
 * A file's operations tell what it is, and they lie above: they are the calls of programs. So this
 * layer is given them once, at load, gives them to the files that it makes, and knows by them the
 * files that programs name.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/uio.h>

#include "call/call.h"
#include "channel/chan.h"

/*
 * Written by rch_files_init(), before there is a device and so a program; never again. The table is
 * the module's own, and each file keeps the module, so no lock is needed, nor a reference.
 */
static const struct file_operations *const *rch_file_fops;

/* A context has the file of the device. */
static const char *const rch_file_names[RCH_FILES] = {
	[RCH_FILE_LISTENER] = "[rdmachan-listener]",
	[RCH_FILE_CHAN] = "[rdmachan-channel]",
	[RCH_FILE_QUEUE] = "[rdmachan-queue]",
};

/**
 * rch_files_init - once, at load, before there is a file
 * @fops: of each kind, for as long as the module is loaded
 */
void rch_files_init(const struct file_operations *const fops[RCH_FILES])
{
	rch_file_fops = fops;
}

/** rch_file_is - whether @file is of this kind; then private_data is its object. Any context */
bool rch_file_is(const struct file *file, enum rch_file_kind kind)
{
	return file->f_op == rch_file_fops[kind];
}

/**
 * rch_file_create - a file for an object
 * @kind: of that
 * @object: becomes private_data; released by the file's release from now on
 * @flags: RDMACHAN_FD_F_*
 *
 * Return: the file or an ERR_PTR().
 */
struct file *rch_file_create(enum rch_file_kind kind, void *object, u32 flags)
{
	int mode = O_RDWR | (flags & RDMACHAN_FD_F_NONBLOCK ? O_NONBLOCK : 0);
	struct file *file = anon_inode_getfile(rch_file_names[kind], rch_file_fops[kind], object,
					       mode);

	if (IS_ERR(file))
		return file;
	if (kind == RCH_FILE_CHAN)
		((struct rch_chan *)object)->file = file;
	stream_open(file_inode(file), file);
	/* io_uring shall try, and then poll: not have a thread wait for each request. */
	file->f_mode |= FMODE_NOWAIT;
	return file;
}

/** rch_import - a program's array of struct iovec; kfree(@iov) after use. Return: 0 or an error */
int rch_import(int direction, u64 ptr, u32 count, struct iovec *fast, u32 fast_count,
	       struct iovec **iov, struct iov_iter *iter)
{
	ssize_t ret;

	if (count > UIO_MAXIOV)
		return -EINVAL;
	*iov = fast;
	ret = import_iovec(direction, u64_to_user_ptr(ptr), count, fast_count, iov, iter);
	return ret < 0 ? ret : 0;
}
