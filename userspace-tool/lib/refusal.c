// SPDX-License-Identifier: MIT
/*
 * refusal.c - refusals: what an errno means that has no cause
 *
 * Such a call has wanted something that could not be now, or not so. The channel, if there was one,
 * is as it was. What an errno means depends on what was tried: the first row that fits tells, and
 * RDMACHAN_OP_NONE fits all.
 */
#include <errno.h>

#include "internal.h"

#define ANY	RDMACHAN_OP_NONE
#define CONNECT	RDMACHAN_OP_CONNECT
#define SEND	RDMACHAN_OP_SEND
#define RECV	RDMACHAN_OP_RECV
#define LISTEN	RDMACHAN_OP_LISTEN
#define REGISTER RDMACHAN_OP_REGISTER
#define GRANT	RDMACHAN_OP_GRANT
#define ACCESS	RDMACHAN_OP_ACCESS
#define DEVICE	RDMACHAN_OP_DEVICE
#define ASK	RDMACHAN_OP_ASK
#define TAKE	RDMACHAN_OP_ACCEPT
#define QUEUE	RDMACHAN_OP_QUEUE

static const struct {
	uint32_t error;
	uint32_t op;
	struct lib_refusal refusal;
} rows[] = {
	{ EAGAIN, SEND, {
		"The send buffer has no room now, or another thread is sending, and the call may not wait. Nothing of the message was sent.",
		"Wait for POLLOUT by poll(), then send the message again; or send it by a call that waits.",
	} },
	{ EAGAIN, RECV, {
		"No complete message is there now, or another thread is receiving, and the call may not wait.",
		"Wait for POLLIN by poll(), then receive again; or receive by a call that waits.",
	} },
	{ EAGAIN, GRANT, {
		"The send buffer has no room now for the message that tells of the grants, and the call may not wait. Nothing was lent.",
		"Wait for POLLOUT by poll(), then try again; or use a call that waits.",
	} },
	{ EAGAIN, TAKE, {
		"No channel waits to be accepted now, and the call may not wait.",
		"Wait for POLLIN by poll(), then accept again; or accept by a call that waits.",
	} },
	{ EAGAIN, ANY, {
		"The call would have to wait, and may not. Nothing was done.",
		"Wait by poll(), then try again; or use a call that waits (neither O_NONBLOCK nor DONTWAIT).",
	} },
	{ EMSGSIZE, SEND, {
		"The message is larger than the receiver takes, or the call may not wait and the message is larger than the send buffer. Nothing of it was sent.",
		"See peer_message_max and send_buffer of rdmachan_query(): send smaller messages, let the receiver take larger ones (message_max of its tuning), or use a call that waits.",
	} },
	{ EMSGSIZE, RECV, {
		"The next message is larger than the buffer. It stays: nothing was lost.",
		"Receive it into a buffer of as many bytes as the call has told (length), or use rdmachan_recv_grow().",
	} },
	{ EMSGSIZE, GRANT, {
		"The events, the keys and the message do not fit one frame. Nothing was lent.",
		"Lend fewer or shorter ranges at a time, or send the message by itself.",
	} },
	{ EMSGSIZE, ACCESS, {
		"The bytes were written. The message that was to go with them is larger than the receiver takes, and was not sent.",
		"Send a smaller message by rdmachan_send(), or let the receiver take larger ones.",
	} },
	{ EMSGSIZE, ANY, {
		"The message is larger than the buffer, or than may be sent. Nothing was sent or lost.",
		"Receive into a buffer of as many bytes as was told, or see peer_message_max and send_buffer of rdmachan_query().",
	} },
	{ ENOMSG, ANY, {
		"The next message begins with events of grants: the peer lends memory, or memory that was lent to the peer is back, as after rdmachan_grant_revoke() too. The message stays.",
		"Receive it by rdmachan_recv_events(), or with RDMACHAN_IO_F_GRANTS or RDMACHAN_RECV_F_GRANTS.",
	} },
	{ ENOENT, DEVICE, {
		"The module rdmachan is not loaded on this host, or this container has not got the device.",
		"Load it as root: modprobe rdmachan. A container gets the device of its host (--device /dev/rdmachan). \"rdmachan doctor\" tells what else is missing.",
	} },
	{ ENODEV, DEVICE, {
		"The module rdmachan is not loaded on this host: the device is left from before.",
		"Load it as root: modprobe rdmachan.",
	} },
	{ ENXIO, DEVICE, {
		"The module rdmachan is not loaded on this host: the device is left from before.",
		"Load it as root: modprobe rdmachan.",
	} },
	{ ENOENT, GRANT, {
		"There is no such region in that context, or no such grant was ever given on this channel.",
		"Look at the number: grants that are given are numbered apart from those that are held, on each channel.",
	} },
	{ ENOENT, ACCESS, {
		"No such grant was ever held on this channel.",
		"Take the number from the event that came with the grant; grants that are held are numbered apart from those that are given, on each channel.",
	} },
	{ ENOENT, ANY, {
		"There is nothing of that name or number.",
		"Look at the number; if it is the device, load the module (modprobe rdmachan).",
	} },
	{ EKEYREVOKED, ANY, {
		"The grant has ended: it was released or is used up here, or the owner has revoked it, or it has expired.",
		"Have the owner lend the memory anew. What was written before that has arrived.",
	} },
	{ ERANGE, GRANT, {
		"A range does not lie within its region. Nothing was lent.",
		"Offset and length together may be no more than the bytes of the region.",
	} },
	{ ERANGE, ACCESS, {
		"The bytes do not lie within the grant. Nothing was read or written.",
		"Offsets begin with 0 at the beginning of the grant, and its event tells its length.",
	} },
	{ ERANGE, ANY, {
		"What was named does not lie within the region or the grant.",
		"Offset and length together may be no more than its bytes.",
	} },
	{ EACCES, DEVICE, {
		"The user of the program may not use the device, which belongs to root and the group rdmachan.",
		"Be root, or join the group and log in again: usermod -aG rdmachan USER. Where there is no such group, \"systemd-sysusers\" makes it, and \"udevadm trigger /dev/rdmachan\" gives it the device.",
	} },
	{ EACCES, LISTEN, {
		"Services below 1024 may be listened for with CAP_NET_BIND_SERVICE only.",
		"Use a service from 1024 on, or give the program the capability.",
	} },
	{ EACCES, GRANT, {
		"The region is read-only, and the rights are to write to it. Nothing was lent.",
		"Lend it for reading, or register memory that may be written to without RDMACHAN_REGION_F_READ_ONLY.",
	} },
	{ EACCES, ACCESS, {
		"The grant has not this right. Nothing was read or written.",
		"The event of the grant tells its rights; have the owner lend the memory with others.",
	} },
	{ EACCES, ANY, {
		"The user of the program may not do this.",
		"If it is the device, put the user into the group rdmachan; if it is a region, it is read-only.",
	} },
	{ EPERM, DEVICE, {
		"The program may not use the device, as a container or a sandbox that keeps it from devices.",
		"Allow the device there (--device /dev/rdmachan, DeviceAllow= of a systemd unit).",
	} },
	{ EPERM, ASK, {
		"What all users have is shown to root (CAP_NET_ADMIN) only.",
		"List without RDMACHAN_LIST_F_ALL, or give the program the capability.",
	} },
	{ EPERM, ANY, {
		"A queue, its pools and a region serve only the program that has made them, and not a child that was forked. To list what all users have needs CAP_NET_ADMIN.",
		"Let each program make its own, after fork(); or give the program the capability.",
	} },
	{ ENOTCONN, ANY, {
		"The channel is not open: it is still being connected and the call may not wait, or it has never been.",
		"Wait for POLLOUT by poll(), and ask rdmachan_connected() how the connect has ended.",
	} },
	{ ETIMEDOUT, SEND, {
		"There was no room within the time that the call has allowed, as the peer reads too slowly or not at all. Nothing was sent, and the channel is as it was. But rdmachan_deliver() that has told a number has sent the message, and the peer's program had not received it.",
		"Send the message again if it is not sent, allow more time, or see why the peer's program does not read.",
	} },
	{ ETIMEDOUT, RECV, {
		"No complete message came within the time that the call has allowed. The channel is as it was.",
		"Receive again, or allow more time.",
	} },
	{ ETIMEDOUT, GRANT, {
		"The time that the call has allowed was over. If it was to lend memory there was no room for its message, and nothing was lent. If it was to take memory back the revocation goes on, and an event tells its end.",
		"Lend again, or wait for the event; until it comes the peer may use the memory.",
	} },
	{ ETIMEDOUT, ACCESS, {
		"The bytes were written. There was no room for the message that was to go with them within the time that the call has allowed.",
		"Send the message by rdmachan_send().",
	} },
	{ ETIMEDOUT, TAKE, {
		"No channel came to be accepted within the time that the call has allowed.",
		"Accept again, or allow more time.",
	} },
	{ ETIMEDOUT, QUEUE, {
		"There were not as many completions within the time that the call has allowed. Entries may have been taken all the same.",
		"Wait again: nothing is to be submitted anew.",
	} },
	{ ETIMEDOUT, ANY, {
		"What was waited for did not come within the time that the call has allowed. Nothing was lost, and the connection is as it was.",
		"Try again, or allow more time.",
	} },
	{ EINTR, CONNECT, {
		"A signal came before the channel was open, and the connect was given up.",
		"Connect again.",
	} },
	{ EINTR, GRANT, {
		"A signal came first. If it was to lend memory, nothing was lent; if it was to take memory back, the revocation goes on.",
		"Lend again, or wait for the event that tells its end.",
	} },
	{ EINTR, ACCESS, {
		"A signal came first: some bytes may have been moved. If a message was to go with the bytes these were written, and the message was not sent.",
		"Do it again, or send the message by rdmachan_send().",
	} },
	{ EINTR, ANY, {
		"A signal came first. Nothing was sent or received.",
		"Make the same call again.",
	} },
	{ EPIPE, SEND, {
		"This end was shut down for sending, or the peer has closed the channel or reads no more.",
		"What the peer has sent can still be read. To send, open another channel.",
	} },
	{ EPIPE, ACCESS, {
		"The bytes were written. The message that was to go with them was not sent: this end was shut down for sending, or the peer reads no more.",
		"What the peer has sent can still be read.",
	} },
	{ EPIPE, ANY, {
		"The channel was shut down for sending, or the peer has closed it or reads no more.",
		"What the peer has sent can still be read.",
	} },
	{ EFAULT, REGISTER, {
		"There is no memory at that address, or a device's, or it may not be written to and the region is not read-only.",
		"Look at address and length, or register it with RDMACHAN_REGION_F_READ_ONLY.",
	} },
	{ EFAULT, RECV, {
		"The address of the buffer, or of another argument, is not valid. The message stays.",
		"This is an error of the program: look at the addresses and lengths that it gives.",
	} },
	{ EFAULT, ACCESS, {
		"The address of own memory, or of another argument, is not valid. Some of the bytes may have been moved.",
		"This is an error of the program: look at the addresses and lengths that it gives.",
	} },
	{ EFAULT, ANY, {
		"An address is not valid. Nothing was sent, received or made.",
		"This is an error of the program: look at the addresses and lengths that it gives.",
	} },
	{ EINVAL, SEND, {
		"A value is out of its range: more than 1024 pieces, message flags of more than 16 bits, or a structure without its size.",
		"This is an error of the program. Structures are to be made with their _INIT macros.",
	} },
	{ EINVAL, RECV, {
		"A value is out of its range: more than 1024 pieces, a buffer for events that is not at a multiple of 8, or a structure without its size.",
		"This is an error of the program. Structures are to be made with their _INIT macros.",
	} },
	{ EINVAL, LISTEN, {
		"A value is out of its range: the service (1 to 4294967294), the backlog (to 65535), or a member of the tuning.",
		"This is an error of the program. Zeros in the tuning are the defaults.",
	} },
	{ EINVAL, CONNECT, {
		"A value is out of its range: the address or its length, the service (1 to 4294967294), the port, the time-out (to an hour), or a member of the tuning.",
		"This is an error of the program. Zeros in the tuning are the defaults.",
	} },
	{ EINVAL, REGISTER, {
		"Address and length are no range of memory, or the length is 0.",
		"This is an error of the program.",
	} },
	{ EINVAL, GRANT, {
		"A value is out of its range: no rights or unknown ones, a length of 0, or no or more than 16 ranges.",
		"This is an error of the program.",
	} },
	{ EINVAL, ACCESS, {
		"A value is out of its range: more than 1 GiB at a time, or an atomic operation at an offset that is no multiple of 8 in the owner's memory.",
		"This is an error of the program.",
	} },
	{ EINVAL, QUEUE, {
		"A value is out of its range: the number of entries is no power of two or too large, the idle time too long, or more completions are waited for than the ring has.",
		"This is an error of the program.",
	} },
	{ EINVAL, ANY, {
		"A value is out of its range, or a structure has not its size.",
		"This is an error of the program: the description of the call tells the ranges.",
	} },
	{ E2BIG, ANY, {
		"The program was compiled for a newer interface, and uses what is new in it.",
		"Load the module, and install the library, that the program was made for.",
	} },
	{ EOPNOTSUPP, GRANT, {
		"The adapter cannot lend memory, or a flag is unknown.",
		"\"rdmachan doctor\" tells what the adapters can.",
	} },
	{ EOPNOTSUPP, ANY, {
		"The module does not know a flag, or cannot do this here.",
		"Load a newer module: \"rdmachan info\" tells the version.",
	} },
	{ ENOTTY, ANY, {
		"The file descriptor is of another kind than the call is for, or the module does not know the call.",
		"Look which descriptor it is: contexts, listeners, channels and queues have calls of their own.",
	} },
	{ EBADF, ANY, {
		"The file descriptor is not open, or the pool's queue was closed.",
		"This is an error of the program.",
	} },
	{ EAFNOSUPPORT, ANY, {
		"The address is neither of IPv4 nor of IPv6.",
		"Give one of these: rdmachan needs no other.",
	} },
	{ EADDRINUSE, ANY, {
		"Somebody on this host listens for the service already, or another program has the module's port.",
		"\"rdmachan list --listeners --all\" shows who listens; use another service, or end that program.",
	} },
	{ EADDRNOTAVAIL, ANY, {
		"The address is none of this host's, or the module's port cannot be had.",
		"See \"ip address\", and the kernel's log.",
	} },
	{ EMFILE, ANY, {
		"The program has no file descriptor left.",
		"Close what is not needed, or raise the limit (\"ulimit -n\", LimitNOFILE= of a systemd unit).",
	} },
	{ ENFILE, ANY, {
		"The system has no file descriptor left.",
		"See /proc/sys/fs/file-nr, and raise fs.file-max.",
	} },
	{ EDQUOT, ANY, {
		"The user has as many objects of this kind as one user may have.",
		"Close what is not needed; \"rdmachan info\" tells use and limits, which root may raise.",
	} },
	{ ENOSPC, ANY, {
		"All users together have as much as may be, or the queue has as many pools as it can.",
		"Close what is not needed; \"rdmachan info\" tells use and limits, which root may raise.",
	} },
	{ ENOBUFS, RECV, {
		"A message is there, and the pool has no buffer for it. The message stays.",
		"Give buffers away by rdmachan_pool_add(), then receive again.",
	} },
	{ ENOBUFS, ANY, {
		"There is no room: a ring or a pool is full, or a pool is empty.",
		"Submit what is in the ring and look for completions; or give buffers away, and receive again.",
	} },
	{ ENOMEM, ANY, {
		"The kernel has no memory for this now. Nothing was lost.",
		"Try again later, or see what uses the memory (\"free\", limits of the control group).",
	} },
	{ EBUSY, ANY, {
		"Operations that use it have not completed, or it is lent.",
		"Wait for the completions, or cancel them; take back what is lent (rdmachan_region_take_back()).",
	} },
	{ EINPROGRESS, ANY, {
		"The channel is still being connected.",
		"Wait for POLLOUT by poll(), then ask again.",
	} },
	{ EALREADY, ANY, {
		"What was to be cancelled is being done, and completes by itself soon.",
		"Wait for its completion.",
	} },
	{ ECANCELED, ANY, {
		"The operation was cancelled, or one before it in its chain has failed. Nothing was sent, received or accepted.",
		"Look at the completions before it; submit it again if it is still wanted.",
	} },
	{ EREMOTEIO, ANY, {
		"It is not known whether the atomic operation was done: it was done once, or not at all.",
		"Look what the memory has.",
	} },
	{ EPROTO, ANY, {
		"What lies in the buffer is not what was received, or the peer does not keep to the protocol.",
		"Give the buffer that was received into.",
	} },
	{ EHOSTUNREACH, ANY, {
		"The name of the host has no address, or no way leads there.",
		"Check the spelling, and that \"ping\" reaches it.",
	} },
	{ EHOSTDOWN, ANY, {
		"The peer's host does not answer, or not any more.",
		"rdmachan_query() has the record that tells why. Connect again when the host is back.",
	} },
	{ ENODEV, ANY, {
		"No RDMA device is there for this.",
		"\"rdmachan doctor\" lists what there is.",
	} },
	{ ECONNRESET, ANY, {
		"The connection has ended.",
		"rdmachan_query() has the record that tells why. Connect again.",
	} },
	{ ECONNREFUSED, ANY, {
		"The connection was refused.",
		"rdmachan_query() has the record that tells why.",
	} },
};

static const struct lib_refusal other = {
	"This number is not one that the calls of rdmachan describe.",
	"See errno(3), and the manual page of the call that has given it.",
};

const struct lib_refusal *lib_refusal(uint32_t error, uint32_t op)
{
	size_t i;

	if (op == RDMACHAN_OP_RESOLVE || op == RDMACHAN_OP_OPEN)
		op = CONNECT;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].error == error && (rows[i].op == op || rows[i].op == ANY))
			return &rows[i].refusal;
	}
	return &other;
}
