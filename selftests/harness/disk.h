/* SPDX-License-Identifier: GPL-2.0 */
/*
 * disk.h - a file that is written back to somewhere
 */
#ifndef RDMACHAN_TEST_DISK_H
#define RDMACHAN_TEST_DISK_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK "/tmp/rdmachan-disk"

/* A disk in memory, which goes with its last file. Return: 0, if there is one */
static inline int mount_disk(void)
{
	int ret;

	if (system("modprobe -q brd rd_nr=1 rd_size=1024 && mkfs.minix /dev/ram0 >/dev/null"))
		return -1;
	mkdir(DISK, 0700);
	ret = mount("/dev/ram0", DISK, "minix", 0, NULL);
	if (ret)
		printf("# no disk: %s\n", strerror(errno));
	return ret;
}

/* A file that is written back to somewhere: on User Mode Linux's host, or on such a disk. */
static inline int disk_file(void)
{
	struct stat root, share;
	const char *name;
	bool mounted;
	int fd;

	mounted = stat("/", &root) || stat("/share", &share) || root.st_dev == share.st_dev;
	if (mounted && mount_disk())
		return -1;
	name = mounted ? DISK "/file" : "/share/rdmachan-region-file";
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unlink(name);
	if (mounted)
		umount2(DISK, MNT_DETACH);
	return fd;
}

#endif /* RDMACHAN_TEST_DISK_H */
