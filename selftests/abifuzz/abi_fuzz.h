/* SPDX-License-Identifier: GPL-2.0 */
/*
 * abi_fuzz.h - a hostile program: cases of calls, and their runner
 *
 * A case is a list of calls of some threads on a table of file descriptors. It consists
 * of small numbers only, each an index into a table of values of which the first is the
 * plain one; whatever the numbers are, it is a case. It runs the same way each time, as
 * far as threads do.
 */
#ifndef RDMACHAN_ABI_FUZZ_H
#define RDMACHAN_ABI_FUZZ_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>

#define CALLS_MAX 40
#define THREADS_MAX 4
#define PROCS_MAX 16
#define SLOTS 8
#define VALUES 8
#define IOVS_MAX 1025
#define OPCODES 16
/* An operation is known by its user_data from this bit on; below is what CANCEL looks for. */
#define OPCODE_SHIFT 8

/* Where the kinds of files are, if nothing moves them. */
enum slot {
	SLOT_CTX,
	SLOT_LISTENER,
	SLOT_CHAN,
	SLOT_PEER,
	SLOT_OTHER,
	SLOT_QUEUE,
};

/**
 * struct call - one call
 * @op: index into ops[]
 * @thread: the thread that makes it
 * @slot: on which file
 * @to: where a new file goes
 * @times: index of how often
 * @value: what ops[] says
 */
struct call {
	uint8_t op;
	uint8_t thread;
	uint8_t slot;
	uint8_t to;
	uint8_t times;
	uint8_t value[VALUES];
};

/*
 * Thread 0 leads: a call of another waits until those of thread 0 that are listed before
 * it were made, but for the last of them, which has begun.
 */
struct abi_case {
	uint32_t count;
	struct call calls[CALLS_MAX];
};

/**
 * struct actor - a thread that makes calls
 * @index: its number
 * @tid: for signals
 * @turn: number of the last case that it has a part in
 * @busy: it has calls of the current case left
 * @made: calls that it made
 * @seen: @made when somebody looked last
 * @guarded: a fault is expected, and @guard knows where to go on
 * @guard: see @guarded
 * @iov: for calls that take vectors
 * @cover: what the kernel writes executed code to, or NULL
 * @cover_fd: its file
 */
struct actor {
	int index;
	pid_t tid;
	atomic_uint turn;
	atomic_bool busy;
	atomic_uint made;
	unsigned int seen;
	atomic_bool guarded;
	sigjmp_buf guard;
	struct iovec iov[IOVS_MAX];
	unsigned long *cover;
	int cover_fd;
};

/* What a partner does. */
enum partner_deed {
	PARTNER_ACCEPT,
	PARTNER_CONNECT,
	PARTNER_SEND,
	PARTNER_RECEIVE,
	PARTNER_GIVE,
	PARTNER_REVOKE,
	PARTNER_ACCESS,
	PARTNER_RELEASE,
	PARTNER_SHUTDOWN,
	PARTNER_FINISH,
	PARTNER_DEEDS,
};

enum errno_class {
	E_GENERAL = 1 << 0,
	E_BLOCKS = 1 << 1,
	E_CONNECTION = 1 << 2,
	E_NEW_FD = 1 << 3,
	E_ANY = 1 << 4,
};

/**
 * struct op - a kind of call
 * @name: in texts
 * @run: makes the call. Return: what it returned, with errno
 * @home: slot where the kind of file is that it is meant for
 * @to: slot where a new file of it goes
 * @weight: how often it is chosen
 * @errors: the errors that are documented
 * @more: and these, up to 0
 */
struct op {
	const char *name;
	long (*run)(struct actor *actor, const struct call *call);
	uint8_t home;
	uint8_t to;
	uint8_t weight;
	uint8_t errors;
	uint8_t more[8];
};

/* ops.c */
extern const struct op ops[];
extern const unsigned int ops_count;
unsigned int times_of(const struct call *call);
bool errno_expected(const struct op *op, int error);

/* text.c */
bool case_read(FILE *file, struct abi_case *c, bool *bad);
void case_write(FILE *file, const struct abi_case *c);

/* mutate.c */
void case_make(struct abi_case *c, uint64_t *seed);
void case_mutate(struct abi_case *c, const struct abi_case *other, uint64_t *seed);
void case_drop_call(struct abi_case *c, unsigned int index);

/* memory.c */
enum memory {
	MEMORY_SINK,
	MEMORY_SOURCE,
	MEMORY_DANGER,
	MEMORY_FILE,
	MEMORY_READ_ONLY,
	MEMORY_EDGE,
	MEMORY_NULL,
	MEMORY_KERNEL,
	MEMORY_ODD,
	MEMORY_KINDS,
};

void memory_init(void);
void memory_reset(void);
char *memory_of(unsigned int kind);
char *memory_args(const struct actor *actor, unsigned int place, size_t size);
char *memory_writable(char *place);
bool memory_copy(struct actor *actor, void *to, const void *from, size_t size);
long memory_unmap(unsigned int page, unsigned int pages);
long memory_map(unsigned int page, unsigned int pages);
long memory_protect(unsigned int page, unsigned int pages, unsigned int how);
long memory_forget(unsigned int page, unsigned int pages);
long memory_beyond(unsigned int page, unsigned int pages);

/* engine.c */
/**
 * struct engine_stats - figures
 * @calls: calls that were made
 * @cases: cases that were run
 * @cut: those of them that were ended after their time
 * @complaints: what was found
 * @outcomes: of each kind of call, how often each errno; 0 is success
 * @completed: of each operation of queues, likewise
 * @partner: of each deed of partners, how often it was tried, and how often it succeeded
 */
struct engine_stats {
	atomic_ulong calls;
	atomic_ulong cases;
	atomic_ulong cut;
	atomic_ulong complaints;
	atomic_ulong outcomes[64][160];
	atomic_ulong completed[OPCODES][160];
	atomic_ulong partner[PARTNER_DEEDS][2];
};

/**
 * struct engine_options - how cases are run
 * @threads: how many
 * @proc: number of this process: its own services go by that
 * @seed: what its partners do goes by that
 * @tick_ms: a call that lasts longer than this is interrupted, though not at once
 * @limit_ms: after this long the case is ended
 * @exchange: sockets through which files travel between processes
 * @stats: what came of it; shared by all processes
 * @cover: have the kernel tell what is executed
 * @complain: called with a case that found something, and what
 */
struct engine_options {
	int threads;
	int proc;
	uint64_t seed;
	unsigned int tick_ms;
	unsigned int limit_ms;
	int exchange[2];
	struct engine_stats *stats;
	bool cover;
	void (*complain)(const struct abi_case *c, const char *what);
};

void engine_start(const struct engine_options *options);
bool engine_run(const struct abi_case *c);
struct actor *engine_actor(int index);
const struct engine_options *engine_options(void);
int fd_of(unsigned int slot);
int fd_there(unsigned int slot);
long fd_put(unsigned int slot, long fd);
long fd_open(unsigned int slot, const char *path, int flags);
long fd_close(unsigned int slot);
int fd_high(int fd);
long engine_fork(struct actor *actor, const struct call *call, unsigned int calls, bool kill);
void engine_complain(const char *what);
void engine_poke(unsigned int actor, int sig);

/* partner.c */
void partner_start(void);

/* raw.c */
void raw_prepare(void);
void raw_start(void);
void raw_report(void);

/* reach.c */
void reach_completed(uint64_t user_data, int64_t res);
int reach_report(const struct engine_stats *stats);

/* cover.c */
#define COVER_STEPS 65536UL

bool cover_find_module(void);
bool cover_there(void);
size_t cover_size(void);
void cover_open(struct actor *actor);
void cover_begin(struct actor *actor);
void cover_collect(const struct actor *actor, uint64_t *bitmap, uint64_t *steps);

/* calls_command.c */
long call_info(struct actor *actor, const struct call *call);
long call_listen(struct actor *actor, const struct call *call);
long call_accept(struct actor *actor, const struct call *call);
long call_connect(struct actor *actor, const struct call *call);
long call_send(struct actor *actor, const struct call *call);
long call_recv(struct actor *actor, const struct call *call);
long call_shutdown(struct actor *actor, const struct call *call);
long call_tune(struct actor *actor, const struct call *call);
long call_finish(struct actor *actor, const struct call *call);
long call_busy(struct actor *actor, const struct call *call);
long call_query(struct actor *actor, const struct call *call);
long call_list(struct actor *actor, const struct call *call);
long call_unknown(struct actor *actor, const struct call *call);
int make_vector(struct actor *actor, unsigned int value, unsigned int length);
uint64_t vector_at(struct actor *actor, unsigned int value, unsigned int count);
unsigned int length_of(unsigned int value);
uint32_t region_of(unsigned int value);
uint32_t grant_of(unsigned int value);
unsigned int timeout_of(unsigned int value);
uint32_t services_of(int proc);

long call_queue(struct actor *actor, const struct call *call);
long call_pool(struct actor *actor, const struct call *call);
long call_enter(struct actor *actor, const struct call *call);
long call_register(struct actor *actor, const struct call *call);
long call_unregister(struct actor *actor, const struct call *call);

long call_grant(struct actor *actor, const struct call *call);
long call_release(struct actor *actor, const struct call *call);
long call_revoke(struct actor *actor, const struct call *call);
long call_get(struct actor *actor, const struct call *call);
long call_put(struct actor *actor, const struct call *call);
long call_atomic(struct actor *actor, const struct call *call);

/* calls_queue.c */
struct rdmachan_ring;

enum ring {
	RING_SQ,
	RING_CQ,
	RING_POOL,
	RINGS,
};

void queue_reset(void);
void queue_map(int fd, unsigned int ring, const struct rdmachan_ring *where);
long call_entry(struct actor *actor, const struct call *call);
long call_buffer(struct actor *actor, const struct call *call);
long call_reap(struct actor *actor, const struct call *call);
long call_scribble(struct actor *actor, const struct call *call);

/* calls_file.c */
long call_open(struct actor *actor, const struct call *call);
long call_close(struct actor *actor, const struct call *call);
long call_dup(struct actor *actor, const struct call *call);
long call_other(struct actor *actor, const struct call *call);
long call_read(struct actor *actor, const struct call *call);
long call_write(struct actor *actor, const struct call *call);
long call_readv(struct actor *actor, const struct call *call);
long call_writev(struct actor *actor, const struct call *call);
long call_poll(struct actor *actor, const struct call *call);
long call_epoll(struct actor *actor, const struct call *call);
long call_fionread(struct actor *actor, const struct call *call);
long call_nonblock(struct actor *actor, const struct call *call);
long call_misc(struct actor *actor, const struct call *call);

/* calls_around.c */
long call_pass(struct actor *actor, const struct call *call);
long call_take(struct actor *actor, const struct call *call);
long call_unmap(struct actor *actor, const struct call *call);
long call_map(struct actor *actor, const struct call *call);
long call_protect(struct actor *actor, const struct call *call);
long call_forget(struct actor *actor, const struct call *call);
long call_beyond(struct actor *actor, const struct call *call);
long call_fork(struct actor *actor, const struct call *call);
long call_signal(struct actor *actor, const struct call *call);
long call_timer(struct actor *actor, const struct call *call);
long call_sleep(struct actor *actor, const struct call *call);
long call_user(struct actor *actor, const struct call *call);
long call_limit(struct actor *actor, const struct call *call);

/* campaign.c */
struct campaign {
	unsigned int seconds;
	int threads;
	int procs;
	uint64_t seed;
	const char *corpus;
	const char *out;
};

int campaign_run(const struct campaign *campaign);

/* replay.c */
int replay(const char *dir, const char *word);
typedef bool (*case_visitor)(const struct abi_case *c, void *data);
bool corpus_visit(const char *path, case_visitor visit, void *data);
int corpus_list(const char *dir, char ***names);

#endif /* RDMACHAN_ABI_FUZZ_H */
