// SPDX-License-Identifier: GPL-2.0
/*
 * sockets.c - sockets: TCP, UDP, AF_UNIX, and rsockets over RDMA
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"

#define BACKLOG 128
/* What a datagram over IPv4 can carry. */
#define UDP_MAX 65507
/* Two windows of the largest datagrams, with what the kernel charges for them. */
#define UDP_WINDOW 32
#define UDP_BUFFER (16 << 20)

static struct sockaddr_in inet_address(const struct job *job)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(job->port) };

	check(inet_pton(AF_INET, job->host, &sin.sin_addr) == 1, job->host);
	return sin;
}

/* TCP */

static void no_delay(int fd)
{
	int on = 1;

	check(!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
}

static int tcp_listen(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	check(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
	check(!bind(fd, (struct sockaddr *)&sin, sizeof(sin)), "bind");
	check(!listen(fd, BACKLOG), "listen");
	return fd;
}

static int socket_accept(int listener)
{
	return accept(listener, NULL, NULL);
}

/* Where messages go one way, this end answers once. */
static int tcp_accept(int listener)
{
	int fd = socket_accept(listener);

	if (fd >= 0)
		no_delay(fd);
	return fd;
}

/* A socket that is not connected is of no use: closes it. */
static int connected(int fd, const void *addr, socklen_t len)
{
	int error;

	if (!connect(fd, addr, len))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int tcp_connect(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* There it gathers small messages, as it likes best. */
	if (!job->bulk)
		no_delay(fd);
	return connected(fd, &sin, sizeof(sin));
}

static ssize_t socket_send(int fd, const void *data, size_t size)
{
	return send(fd, data, size, MSG_NOSIGNAL);
}

static ssize_t socket_recv(int fd, void *data, size_t size)
{
	return recv(fd, data, size, MSG_WAITALL);
}

const struct way way_tcp = {
	.name = "tcp",
	.pattern = &plain,
	.listen = tcp_listen,
	.accept = tcp_accept,
	.connect = tcp_connect,
	.send = socket_send,
	.recv = socket_recv,
	.flush = no_delay,
	.close = close,
};

/* UDP: the first datagram, a byte that is answered, connects. */

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = UDP_BUFFER;

	check(!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), "buffer");
	check(!setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)), "buffer");
	return fd;
}

static int udp_listen(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = udp_socket();

	check(!bind(fd, (struct sockaddr *)&sin, sizeof(sin)), "bind");
	return fd;
}

static int udp_accept(int listener)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	int fd = dup(listener);
	char byte;

	check(recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&sin, &len) == 1, "first datagram");
	check(!connect(fd, (struct sockaddr *)&sin, len), "connect");
	check(send(fd, &byte, 1, 0) == 1, "first answer");
	return fd;
}

static int udp_connect(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = udp_socket();
	char byte = 0;

	if (connected(fd, &sin, sizeof(sin)) < 0)
		return -1;
	/* Refused where nobody listens. */
	if (send(fd, &byte, 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1)
		return fd;
	close(fd);
	errno = ECONNREFUSED;
	return -1;
}

const struct way way_udp = {
	.name = "udp",
	.pattern = &plain,
	.size_max = UDP_MAX,
	.window = UDP_WINDOW,
	.listen = udp_listen,
	.accept = udp_accept,
	.connect = udp_connect,
	.send = socket_send,
	.recv = socket_recv,
	.close = close,
};

/* AF_UNIX */

static socklen_t unix_address(struct sockaddr_un *sun, const struct job *job)
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	/* The first byte stays 0: a name that is not in the file system. */
	return offsetof(struct sockaddr_un, sun_path) + 1 +
	       sprintf(sun->sun_path + 1, "bench-%u", job->port);
}

static int unix_listen(const struct job *job)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un sun;
	socklen_t len = unix_address(&sun, job);

	check(!bind(fd, (struct sockaddr *)&sun, len), "bind");
	check(!listen(fd, BACKLOG), "listen");
	return fd;
}

static int unix_connect(const struct job *job)
{
	struct sockaddr_un sun;
	socklen_t len = unix_address(&sun, job);

	return connected(socket(AF_UNIX, SOCK_STREAM, 0), &sun, len);
}

const struct way way_unix = {
	.name = "unix",
	.pattern = &plain,
	.listen = unix_listen,
	.accept = socket_accept,
	.connect = unix_connect,
	.send = socket_send,
	.recv = socket_recv,
	.close = close,
};

/* rsockets */

static int rsockets_listen(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), on = 1;

	check(fd >= 0, "rsocket");
	check(!rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
	check(!rbind(fd, (struct sockaddr *)&sin, sizeof(sin)), "bind");
	check(!rlisten(fd, BACKLOG), "listen");
	return fd;
}

static int rsockets_accept(int listener)
{
	return raccept(listener, NULL, NULL);
}

static int rsockets_connect(const struct job *job)
{
	struct sockaddr_in sin = inet_address(job);
	int fd = rsocket(AF_INET, SOCK_STREAM, 0), error;

	check(fd >= 0, "rsocket");
	if (!rconnect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		return fd;
	error = errno;
	rclose(fd);
	errno = error;
	return -1;
}

static ssize_t rsockets_send(int fd, const void *data, size_t size)
{
	return rsend(fd, data, size, 0);
}

static ssize_t rsockets_recv(int fd, void *data, size_t size)
{
	return rrecv(fd, data, size, MSG_WAITALL);
}

const struct way way_rsockets = {
	.name = "rsockets",
	.pattern = &plain,
	.listen = rsockets_listen,
	.accept = rsockets_accept,
	.connect = rsockets_connect,
	.send = rsockets_send,
	.recv = rsockets_recv,
	.close = rclose,
};
