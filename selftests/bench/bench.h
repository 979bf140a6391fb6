/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - the same measurements over different ways to move messages
 *
 * A measurement has two ends, the client, which measures, and the server. A way says how
 * they connect and how messages move. What cannot go on ends the program.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most trips or connections before those that count. */
#define WARMUP 300
#define PROCESSES_MAX 64
/* Exit status: this machine has no such way. */
#define CANNOT 4
/* As perftest's, memory of messages begins with a page. */
#define PAGE 4096UL
/* Its contents. */
#define FILL 'r'
/* Messages that are handed over at once to rings. */
#define BATCH 256

/* Moments that two processes on hosts of one kernel share, and most such pairs. */
#define STAMPS_MAX 1048576U
#define PAIRS_MAX 8

struct way;
struct times;

/**
 * struct shared - what two processes tell each other whose hosts are of one kernel, with one clock
 * @ready: how often the client has been told to go on
 * @begun: when something began
 * @total: messages of a stream, once that is known
 * @count: how many stamps there are
 * @stamps: moments, in nanoseconds
 */
struct shared {
	unsigned int ready;
	uint64_t begun;
	unsigned int total;
	unsigned int count;
	uint64_t stamps[STAMPS_MAX];
};

/** enum access - what is done to memory that is lent */
enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_ADD };

/**
 * struct job - what is measured, the same at both ends
 * @way: by which way
 * @host: address of the server
 * @port: its port or service; each process takes one, from this on
 * @size: bytes of a message
 * @count: trips, connections, or messages on each channel
 * @channels: of each process
 * @bulk: messages go one way
 * @access: to lent memory, if it is that
 * @raw: print all samples
 * @early: messages are sent before a connection is there, where that can be
 * @shared: with two hosts in one kernel: an array for each pair of processes
 */
struct job {
	const struct way *way;
	const char *host;
	unsigned int port;
	size_t size;
	unsigned int count;
	unsigned int channels;
	bool bulk;
	enum access access;
	bool raw;
	bool early;
	struct shared *shared;
};

/**
 * struct end - one process at one end
 * @job: its work
 * @listener: of the server's, -1 at the client
 * @fds: its channels
 * @data: one message, to be sent or received; begins with a page
 * @times: of a flood's client: with whom it begins
 * @process: its number among these
 */
struct end {
	const struct job *job;
	int listener;
	int *fds;
	char *data;
	struct times *times;
	unsigned int process;
};

/**
 * struct pattern - how messages are moved, once there are channels
 * @trips: send a message and await its answer, @count times, on the first channel;
 *	@samples gets nanoseconds
 * @answer: the other side: answer @count messages
 * @flood: send &job.count messages on each channel, and await the first's answer;
 *	begin_together() comes ahead of the first of them, when all else was made
 * @drain: the other side: receive them, then answer on the first channel
 */
struct pattern {
	void (*trips)(struct end *end, unsigned int count, uint64_t *samples);
	void (*answer)(struct end *end, unsigned int count);
	void (*flood)(struct end *end);
	void (*drain)(struct end *end);
};

/**
 * struct rings - rings of operations: a queue, or io_uring's
 * @open: make them
 * @memory: all messages will lie there; once, ahead of them. NULL: need not be known
 * @send: put in: send a message; quiet: there is a completion only if it fails
 * @recv: put in: receive one; @tag comes back
 * @recv_many: put in: receive all that come, each into one of @count buffers that are made
 *	for the rings, and free again when its completion was taken. NULL: cannot be
 * @enter: hand over @count operations, and wait until @min completions are there
 * @next: take a completion, if there is one
 * @close: end them
 */
struct rings {
	void *(*open)(void);
	void (*memory)(void *ring, char *data, size_t size);
	void (*send)(void *ring, int fd, const void *data, size_t size, bool quiet);
	void (*recv)(void *ring, int fd, void *data, size_t size, uint64_t tag);
	void (*recv_many)(void *ring, int fd, size_t size, unsigned int count, uint64_t tag);
	void (*enter)(void *ring, unsigned int count, unsigned int min);
	bool (*next)(void *ring, int64_t *res, uint64_t *tag);
	void (*close)(void *ring);
};

/**
 * struct reach - a way to get at memory that the peer lends
 * @trips: do &job.access to @grant, as many bytes as &job.size, @count times, each when the
 *	one before is over; @samples gets nanoseconds
 * @flood: the same as fast as can be
 * @lend: the server: lend &end.data for that
 * @take: the client: await what is lent. Return: its number
 * @give_back: the client: it is not needed any more
 * @await_back: the server: wait for that
 */
struct reach {
	void (*trips)(struct end *end, uint32_t grant, unsigned int count, uint64_t *samples);
	void (*flood)(struct end *end, uint32_t grant, unsigned int count);
	void (*lend)(struct end *end);
	uint32_t (*take)(struct end *end);
	void (*give_back)(struct end *end, uint32_t grant);
	void (*await_back)(struct end *end);
};

/**
 * struct way - a way to move messages
 * @name: its name
 * @pattern: how
 * @rings: by what, where that goes by rings
 * @reach: how lent memory is got at; NULL: it is not
 * @size_max: largest message, 0: any
 * @window: rounds of messages after which the receiver answers, since what it does not
 *	take in time is lost; 0: nothing is lost
 * @listen: make what clients connect to
 * @accept: take the next client
 * @connect: to the server; -1 with errno
 * @send: as send() does
 * @recv: as recv() does
 * @flush: send what was held back; NULL: nothing is
 * @close: end a channel or listener
 */
struct way {
	const char *name;
	const struct pattern *pattern;
	const struct rings *rings;
	const struct reach *reach;
	size_t size_max;
	unsigned int window;
	int (*listen)(const struct job *job);
	int (*accept)(int listener);
	int (*connect)(const struct job *job);
	ssize_t (*send)(int fd, const void *data, size_t size);
	ssize_t (*recv)(int fd, void *data, size_t size);
	void (*flush)(int fd);
	int (*close)(int fd);
};

/* main.c */
void die(const char *what) __attribute__((noreturn));
void check(bool ok, const char *what);
uint64_t now_ns(void);
/* This machine cannot: exits with CANNOT. */
void skip(const char *why) __attribute__((noreturn));

/* ends.c */
char *page_memory(size_t size);
void end_begin(struct end *end, const struct job *job);
void end_connect(struct end *end, const struct job *job);
void end_accept(struct end *end, const struct job *job);
void end_close(struct end *end);
pid_t child(void);
void await_child(pid_t pid);

/* trips.c */
uint64_t *make_samples(unsigned int count);
unsigned int warm_up(const struct job *job);
double median_us(uint64_t *samples, unsigned int count);
void print_result(const struct job *job, uint64_t *samples, unsigned int first, double divisor);
void print_samples(const uint64_t *samples, unsigned int count);
void lat_client(struct job *job, unsigned int processes);
void lat_server(struct job *job, unsigned int processes);
void connect_client(struct job *job, unsigned int processes);
void connect_server(struct job *job, unsigned int processes);

/* flood.c */
void begin_together(struct end *end);
void rate_client(struct job *job, unsigned int processes);
void tput_client(struct job *job, unsigned int processes);
void flood_server(struct job *job, unsigned int processes);

/* lent.c */
void reach_client(struct job *job, unsigned int processes);
void reach_bulk_client(struct job *job, unsigned int processes);
void reach_server(struct job *job, unsigned int processes);
void give_client(struct job *job, unsigned int processes);
void give_server(struct job *job, unsigned int processes);

/* apart.c */
struct shared *make_shared(void);
void tell_ready(struct shared *shared);
void await_ready(const struct shared *shared, unsigned int count);

/* opening.c */
void open_client(struct job *job, unsigned int processes);
void closed_client(struct job *job, unsigned int processes);
void ask_client(struct job *job, unsigned int processes);
void ask_server(struct job *job, unsigned int processes);
void open_server(struct job *job, unsigned int processes);

/* stream.c */
void send_for(struct end *end, unsigned int ms);
void take_all(struct end *end);
void stream_client(struct job *job, unsigned int processes);
void stream_server(struct job *job, unsigned int processes);

/* touch.c */
void touch_client(struct job *job, unsigned int processes);
void touch_server(struct job *job, unsigned int processes);
void revoke_client(struct job *job, unsigned int processes);
void revoke_server(struct job *job, unsigned int processes);

/* beside.c */
void beside_client(struct job *job, unsigned int processes);
void beside_server(struct job *job, unsigned int processes);

/* plain.c: by calls that block. */
extern const struct pattern plain;
void put(struct end *end, int fd, size_t size);
void get(struct end *end, int fd, size_t size);

/* batch.c: by rings, many at once. */
extern const struct pattern by_rings;
/* reach.c: by calls, one at a time. */
extern const struct reach by_calls;
/* reach_queue.c: by a queue, from and to a region; or from and to plain memory. */
extern const struct reach by_queue, by_queue_memory;
/* queue.c, uring.c */
extern const struct rings queue_rings, poller_rings, region_rings, uring_rings;

/* lent.c: as grants of channels. */
int64_t make_region(char *data, size_t size);
uint32_t give_grant(struct end *end, uint32_t region, uint32_t rights);
void lend_grant(struct end *end);
uint32_t take_grant(struct end *end);
void give_back_grant(struct end *end, uint32_t grant);
void await_back_grant(struct end *end);

/* sockets.c */
extern const struct way way_tcp, way_udp, way_unix, way_rsockets;
/* channels.c */
int the_context(void);
extern const struct way way_verbs;
extern const struct way way_ioctl, way_channel, way_queue, way_memory, way_poller, way_regions,
			way_uring;

#endif /* _BENCH_H */
