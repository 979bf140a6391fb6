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

#define FAKE_FDS	1024

/* fake_device.c: all of it; 0 or -1 */
int fake_move(int fd, struct iovec *iov, int count, bool out);
int fake_send(int fd, struct rdmachan_send_args *send);
/* Fills the record in, with errno, if there is one. */
void fake_record(uint64_t error_ptr, uint32_t op, uint32_t cause, uint32_t service);

/* fake_channel.c: 0 or -1 */
int fake_channel_connected(int fd);
int fake_channel_accepted(int fd);
void fake_channel_closed(int fd);
/* @messages: 1, or -1 when it was not sent after all */
void fake_channel_sent(int fd, int messages);
void fake_channel_received(int fd);
/* Says why not. */
int fake_channel_send_failed(int fd, uint64_t error_ptr);
/* Whether what has arrived can be received still. */
int fake_channel_reset(int fd, uint64_t error_ptr);
/* Nothing more comes: whether that is the end, or a failure. */
int fake_channel_end(int fd, uint64_t error_ptr);
/* In the midst of a message: says why. */
int fake_channel_cut(int fd, uint64_t error_ptr);
int fake_channel_shutdown(int fd, uint32_t how);
int fake_channel_finish(int fd, const struct rdmachan_finish_args *finish);

/* fake_queue.c: file descriptor, or -1 */
int fake_queue_create(struct rdmachan_queue_create_args *create);
int fake_queue_ioctl(int fd, unsigned long request, void *argument);

/* fake_grant.c */
int fake_recv_events(int fd, const struct fake_header *header, struct rdmachan_recv_args *recv);
int fake_region_ioctl(unsigned long request, void *argument);
int fake_grant_ioctl(int fd, unsigned long request, void *argument);

#endif /* FAKE_H */
