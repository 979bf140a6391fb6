/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - what the tests share: the raw commands with fewer words
 *
 * All functions return what the system call does, with errno.
 */
#ifndef RDMACHAN_TEST_COMMON_H
#define RDMACHAN_TEST_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/rdmachan.h>

#define DEVICE "/dev/rdmachan"
#define SERVICE 5000U

/* Options of a call; zeros are the defaults. */
struct opts {
	uint32_t flags;
	uint32_t timeout_ms;
	uint32_t backlog;
	struct rdmachan_tuning tuning;
	struct rdmachan_error *error;
};

#define DONTWAIT (&(struct opts){ .flags = RDMACHAN_IO_F_DONTWAIT })
#define TIMEOUT(ms) (&(struct opts){ .timeout_ms = (ms) })

/*
 * A call that waits, and is interrupted by a signal after @ms. Where the machine is busy that may
 * come before the call: then the next one does it.
 */
#define EXPECT_EINTR(ms, restart, call)				\
	do {							\
		alarms_each(ms, restart);			\
		EXPECT_ERR(call, EINTR);			\
		on_alarm(0, false);				\
	} while (0)

/* A child that runs @todo, after a while. Its status is 0 when nothing in it has failed. */
#define LATER(ms, todo)						\
	({							\
		pid_t later_;					\
								\
		fflush(stdout);					\
		later_ = fork();				\
		if (!later_) {					\
			harness_failures = 0;			\
			sleep_ms(ms);				\
			todo;					\
			fflush(stdout);				\
			_exit(harness_failures ? 1 : 0);	\
		}						\
		later_;						\
	})

/*
 * @ms have passed since @begun, which is of tick_ms(). Where time is virtual no more than @late ms
 * on top: the timer is known to be so late, as by a tick of the link. It is never a guess.
 * Elsewhere any time may have passed on top.
 */
#define EXPECT_TOOK(begun, ms, late)					\
	do {								\
		int64_t took_ = now_ms() - (begun);			\
									\
		EXPECT_GE(took_, (ms));					\
		if (time_is_virtual())					\
			EXPECT_LE(took_, (ms) + (late));		\
	} while (0)

/*
 * Of @all that were tried, @count ended in one way. Others ended in another, where moments are
 * exact and enough were tried.
 */
#define EXPECT_BOTH(count, all)						\
	do {								\
		if (time_is_virtual() && turns(2) == 2) {		\
			EXPECT_GT(count, 0);				\
			EXPECT_LT(count, all);				\
		}							\
	} while (0)

/* The clock of a kernel whose time is virtual ticks so often, in ms: timers end with a tick. */
#define KERNEL_TICK_MS 10

int timer_late(unsigned int ms);
/* A call with a time limit ends so late at most: the module counts a tick on top. */
#define LIMIT_LATE(ms) (timer_late(ms) + KERNEL_TICK_MS)
void cable(const char *words);
long long hw_counter(const char *word);

int open_ctx(void);
bool has_peer(void);
int enter_peer(void);
void leave_peer(int here);
int open_peer(void);
struct rdmachan_addr own_address(void);
struct rdmachan_addr own_address6(void);
struct rdmachan_addr peer_address(void);
struct rdmachan_addr peer_address6(void);
bool host_address(int family, struct rdmachan_addr *addr);
struct rdmachan_addr address_of(const char *text);

void fill_listen(struct rdmachan_listen_args *listen, uint32_t service, const struct opts *o);
void fill_connect(struct rdmachan_connect_args *connect, uint32_t service, const struct opts *o);
int do_listen(int ctx, uint32_t service, const struct opts *o);
int do_accept(int listener, const struct opts *o);
int do_connect(int ctx, uint32_t service, const struct opts *o);
int do_connect_to(int ctx, const struct rdmachan_addr *addr, uint32_t service,
		  const struct opts *o);
int do_send(int chan, const void *data, size_t len, uint32_t msg_flags, const struct opts *o);
int do_recv(int chan, void *data, size_t len, struct rdmachan_recv_args *recv,
	    const struct opts *o);
int do_shutdown(int chan, uint32_t how);
int do_finish(int chan, const struct opts *o);
int get_info(int ctx, struct rdmachan_info *info);
int get_object(int fd, struct rdmachan_object *object);
int get_error(int fd, struct rdmachan_error *error);

void pair_up(int ctx, int fds[2], const struct opts *o);
bool await_channels(int ctx, uint64_t count);
int fill_up(int chan, size_t len);
bool wait_readable(int fd, int timeout_ms);
int poll_mask(int fd, short events, int timeout_ms);
bool wait_state(int fd, uint32_t state, int timeout_ms);

bool device_may_go(void);
int add_device(void);
int remove_device(void);
int connect_again(int ctx);
void pair_up_again(int ctx, int fds[2]);

void set_parameter(const char *name, unsigned int value);
uint64_t placed_messages(int chan, bool tx);
void await_no_links(int ctx);

int turns(int full);
struct rdmachan_object links_sent(int ctx);
uint64_t frames_sent(int ctx);
uint64_t frames_received(int ctx);
struct rdmachan_object pair_sent(int ctx, int peer);
uint64_t pair_frames(int ctx, int peer);
int module_count(const char *what);
bool time_is_virtual(void);
bool over_siw(void);
unsigned int shim_parameter(const char *name);
void let_time_pass(void);
int64_t clock_ns(void);
int64_t now_ms(void);
bool linux_before(unsigned long major, unsigned long minor);
int64_t tick_ms(void);
void pause_ns(int64_t ns);
void sleep_ms(unsigned int ms);
void on_alarm_us(unsigned int us, bool restart);
void on_alarm(unsigned int ms, bool restart);
void alarms_each(unsigned int ms, bool restart);
int child_status(pid_t child);
void await_sleep(const pid_t *tid);

uint64_t next_random(uint64_t *seed);
void fill_random(void *data, size_t len, uint64_t seed);
bool is_random(const void *data, size_t len, uint64_t seed);

#endif /* RDMACHAN_TEST_COMMON_H */
