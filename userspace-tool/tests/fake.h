/* SPDX-License-Identifier: MIT */
/*
 * fake.h - what the parts of the fake device share
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <sys/uio.h>

#include <librdmachan.h>

/**
 * struct fake_header - goes before each message
 * @length: bytes of the message
 * @msg_flags: its flags
 * @events: events of grants (struct fake_event) that go before the message, 0 to 16
 */
struct fake_header {
	uint32_t length;
	uint32_t msg_flags;
	uint32_t events;
};

/* fake_device.c: all of it; 0 or -1 */
int fake_move(int fd, struct iovec *iov, int count, bool out);
int fake_send(int fd, struct rdmachan_send_args *send);

/* fake_queue.c: file descriptor, or -1 */
int fake_queue_create(struct rdmachan_queue_create_args *create);
int fake_queue_ioctl(int fd, unsigned long request, void *argument);

/* fake_grant.c */
int fake_recv_events(int fd, const struct fake_header *header, struct rdmachan_recv_args *recv);
int fake_region_ioctl(unsigned long request, void *argument);
int fake_grant_ioctl(int fd, unsigned long request, void *argument);

#endif /* FAKE_H */
