// SPDX-License-Identifier: GPL-2.0
/*
 * cable - join two programs by an Ethernet cable that can be made bad
 *
 * usage: cable [option...] COMMAND_A COMMAND_B
 *
 * Runs the two commands by "sh -c", each with one end of a datagram socket in
 * the descriptor $CABLE_FD, where one datagram is one Ethernet frame. Frames
 * pass between the two until both commands have ended. "cable -h" lists what may
 * happen to them on the way; lines written to the control FIFO change it while
 * it runs.
 *
 * A direction is a queue ordered by the time at which each frame is due. Without
 * any option a frame is due when it comes, nothing is ever dropped, and a
 * receiver that does not read stops its sender: the cable takes no more than
 * QUEUE_MAX frames of a direction.
 *
 * Each direction has its own random numbers, made from the seed: the fate of its
 * n-th frame does not depend on the other direction nor on time.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC	1000000000ull
#define NSEC_PER_MSEC	1000000ull

enum {
	QUEUE_MAX	= 4096,		/* frames under way in one direction */
	FRAME_MAX	= 65536 + 64,
	SOCKET_BUFFER	= 4 << 20,
	READ_BATCH	= 64,		/* frames taken before others get a turn */
	CHILD_FD	= 100,		/* above what shells use themselves */
	ETH_HEADER	= 14,		/* never corrupted: the frame should arrive */
};

/* How long --reorder holds a frame back, so that later ones overtake it. */
#define REORDER_HOLD	(2 * NSEC_PER_MSEC)

enum quality_name {
	LOSS, DUPLICATE, REORDER, CORRUPT, DELAY, JITTER, RATE, FLAP, NR_QUALITIES
};

/**
 * struct quality - what a direction does to frames
 * @value: One number for each name, see qualities[]
 * @cut: Everything is dropped
 * @flaps_since: When it was told to flap; it is cut first
 */
struct quality {
	double value[NR_QUALITIES];
	bool cut;
	uint64_t flaps_since;
};

static const struct {
	const char *name, *help;
} qualities[NR_QUALITIES] = {
	[LOSS]		= { "loss", "percent of the frames that get lost" },
	[DUPLICATE]	= { "duplicate", "percent that arrive twice" },
	[REORDER]	= { "reorder", "percent held back 2 ms, others overtake them" },
	[CORRUPT]	= { "corrupt", "percent with one bit flipped" },
	[DELAY]		= { "delay", "ms that each frame takes" },
	[JITTER]	= { "jitter", "ms at most on top of that, at random; reorders" },
	[RATE]		= { "rate", "Mbit/s, 0 for no limit" },
	[FLAP]		= { "flap", "ms cut, as long mended, and so on; 0 no more" },
};

struct frame {
	uint64_t due;		/* CLOCK_MONOTONIC, ns */
	uint64_t order;		/* among frames due at the same time */
	size_t len;
	uint8_t data[];
};

struct stats {
	uint64_t received, sent, bytes;
	uint64_t lost, duplicated, reordered, corrupted, cut, unsent;
};

/**
 * struct direction - frames from one end to the other
 * @from: The cable's socket towards the sender
 * @to: The cable's socket towards the receiver
 * @heap: Binary heap, the frame that is due first on top
 * @line_free: When a frame of limited rate may start
 * @blocked: The receiver's socket is full: wait for EPOLLOUT
 */
struct direction {
	const char *name;
	int from, to;
	struct quality quality;
	struct frame *heap[QUEUE_MAX];
	size_t queued;
	uint64_t next_order;
	uint64_t line_free;
	uint64_t seed, random;
	bool blocked;
	struct stats stats;
};

/**
 * struct end - one of the two programs
 * @socket: Our side of its socket; @events is what epoll watches of it
 * @status: Exit status, once @pid is 0
 */
struct end {
	char name;
	int socket;
	uint32_t events;
	pid_t pid;
	int status;
};

static struct direction directions[2] = { { .name = "ab" }, { .name = "ba" } };
static struct end ends[2] = { { .name = 'a' }, { .name = 'b' } };
static int epoll_fd, timer_fd, signal_fd, control_fd = -1;
static bool quit;

static void die(const char *what)
{
	fprintf(stderr, "cable: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/*
 * Random numbers: a counter with a step of the golden ratio, mixed. Each frame
 * starts at a place of its own.
 */

#define RANDOM_STEP	0x9e3779b97f4a7c15ull
#define DRAWS_PER_FRAME	64

static void random_start(struct direction *dir)
{
	dir->random = dir->seed + dir->stats.received * DRAWS_PER_FRAME * RANDOM_STEP;
}

static uint64_t random_next(struct direction *dir)
{
	uint64_t x = dir->random += RANDOM_STEP;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* In [0, 1) */
static double random_unit(struct direction *dir)
{
	return (double)(random_next(dir) >> 11) / (double)(1ull << 53);
}

/* Draws even at 0 percent: a change of one quality leaves the others' luck. */
static bool strikes(struct direction *dir, enum quality_name name)
{
	return random_unit(dir) * 100 < dir->quality.value[name];
}

/*
 * The queue of a direction
 */

static bool before(const struct frame *a, const struct frame *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void swap_frames(struct frame **a, struct frame **b)
{
	struct frame *tmp = *a;

	*a = *b;
	*b = tmp;
}

static void queue_push(struct direction *dir, struct frame *frame)
{
	size_t i = dir->queued++;

	frame->order = dir->next_order++;
	dir->heap[i] = frame;
	for (; i && before(dir->heap[i], dir->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_frames(&dir->heap[i], &dir->heap[(i - 1) / 2]);
}

static struct frame *queue_pop(struct direction *dir)
{
	struct frame *top = dir->heap[0];
	size_t i = 0, child;

	dir->heap[0] = dir->heap[--dir->queued];
	while ((child = 2 * i + 1) < dir->queued) {
		if (child + 1 < dir->queued &&
		    before(dir->heap[child + 1], dir->heap[child]))
			child++;
		if (!before(dir->heap[child], dir->heap[i]))
			break;
		swap_frames(&dir->heap[i], &dir->heap[child]);
		i = child;
	}
	return top;
}

/* Room for a frame and for its duplicate. */
static bool queue_has_room(const struct direction *dir)
{
	return dir->queued + 2 <= QUEUE_MAX;
}

/*
 * What happens to a frame
 */

/* When does a frame that came now arrive? */
static uint64_t due_time(struct direction *dir, uint64_t now, size_t len)
{
	const double *value = dir->quality.value;
	uint64_t due = now;

	if (value[RATE] > 0) {
		due = dir->line_free > now ? dir->line_free : now;
		due += (uint64_t)(len * 8 * 1000 / value[RATE]);
		dir->line_free = due;
	}
	due += (uint64_t)(value[DELAY] * NSEC_PER_MSEC);
	due += (uint64_t)(value[JITTER] * NSEC_PER_MSEC * random_unit(dir));
	if (strikes(dir, REORDER)) {
		dir->stats.reordered++;
		due += REORDER_HOLD;
	}
	return due;
}

static void enqueue(struct direction *dir, const uint8_t *data, size_t len,
		    uint64_t now)
{
	struct frame *frame = malloc(sizeof(*frame) + len);

	if (!frame)
		die("malloc");
	memcpy(frame->data, data, len);
	frame->len = len;
	frame->due = due_time(dir, now, len);
	queue_push(dir, frame);
}

static void corrupt(struct direction *dir, uint8_t *data, size_t len)
{
	uint64_t bit = random_next(dir);

	if (len <= ETH_HEADER)
		return;
	bit %= (len - ETH_HEADER) * 8;
	data[ETH_HEADER + bit / 8] ^= 1 << (bit % 8);
	dir->stats.corrupted++;
}

static bool is_cut(const struct direction *dir, uint64_t now)
{
	const uint64_t flap = dir->quality.value[FLAP] * NSEC_PER_MSEC;

	if (flap && (now - dir->quality.flaps_since) / flap % 2 == 0)
		return true;
	return dir->quality.cut;
}

static void take_frame(struct direction *dir, uint8_t *data, size_t len,
		       uint64_t now)
{
	bool lost, corrupted, duplicated;

	random_start(dir);
	dir->stats.received++;
	lost = strikes(dir, LOSS);
	corrupted = strikes(dir, CORRUPT);
	duplicated = strikes(dir, DUPLICATE);
	if (is_cut(dir, now)) {
		dir->stats.cut++;
		return;
	}
	if (lost) {
		dir->stats.lost++;
		return;
	}
	if (corrupted)
		corrupt(dir, data, len);
	enqueue(dir, data, len, now);
	if (duplicated) {
		dir->stats.duplicated++;
		enqueue(dir, data, len, now);
	}
}

/* Read what the sender has, as far as there is room. */
static void direction_receive(struct direction *dir)
{
	static uint8_t data[FRAME_MAX];
	uint64_t now = now_ns();
	ssize_t len;
	int i;

	for (i = 0; i < READ_BATCH && queue_has_room(dir); i++) {
		len = recv(dir->from, data, sizeof(data), MSG_DONTWAIT);
		if (len < 0)
			break;
		take_frame(dir, data, len, now);
	}
}

/*
 * Send what is due. Frames to a program that has ended are dropped; a full
 * socket keeps its frames queued.
 */
static void direction_send(struct direction *dir)
{
	uint64_t now = now_ns();
	struct frame *frame;
	ssize_t ret;

	dir->blocked = false;
	while (dir->queued && dir->heap[0]->due <= now) {
		frame = dir->heap[0];
		ret = send(dir->to, frame->data, frame->len,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (ret < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
			dir->blocked = true;
			return;
		}
		if (ret < 0) {
			dir->stats.unsent++;
		} else {
			dir->stats.sent++;
			dir->stats.bytes += frame->len;
		}
		free(queue_pop(dir));
	}
}

/*
 * Control
 */

static void print_stats(void)
{
	struct direction *dir;
	struct stats *s;

	for (dir = directions; dir < directions + 2; dir++) {
		s = &dir->stats;
		fprintf(stderr,
			"cable: %s received %llu sent %llu bytes %llu lost %llu duplicated %llu reordered %llu corrupted %llu cut %llu unsent %llu queued %zu\n",
			dir->name, (unsigned long long)s->received,
			(unsigned long long)s->sent, (unsigned long long)s->bytes,
			(unsigned long long)s->lost,
			(unsigned long long)s->duplicated,
			(unsigned long long)s->reordered,
			(unsigned long long)s->corrupted,
			(unsigned long long)s->cut, (unsigned long long)s->unsent,
			dir->queued);
	}
}

/* Apply one word to one direction. Returns false if there is no such word. */
static bool set_quality(struct direction *dir, const char *word, double value)
{
	size_t i;

	if (!strcmp(word, "cut") || !strcmp(word, "mend")) {
		dir->quality.cut = word[0] == 'c';
		return true;
	}
	for (i = 0; i < NR_QUALITIES; i++) {
		if (!strcmp(word, qualities[i].name)) {
			dir->quality.value[i] = value;
			if (i == FLAP)
				dir->quality.flaps_since = now_ns();
			return true;
		}
	}
	return false;
}

/* One line: "cut", "mend", "loss 1", each maybe with "ab" or "ba"; "stats", "quit" */
static void control_line(char *line)
{
	char *word = strtok(line, " \t"), *rest, *side = NULL;
	bool known = true;
	double value = 0;
	int i;

	if (!word)
		return;
	while ((rest = strtok(NULL, " \t"))) {
		if (!strcmp(rest, "ab") || !strcmp(rest, "ba"))
			side = rest;
		else
			value = strtod(rest, NULL);
	}
	if (!strcmp(word, "stats")) {
		print_stats();
	} else if (!strcmp(word, "quit")) {
		quit = true;
	} else {
		for (i = 0; i < 2; i++)
			if (!side || !strcmp(side, directions[i].name))
				known &= set_quality(&directions[i], word, value);
	}
	if (!known)
		fprintf(stderr, "cable: unknown command '%s'\n", word);
}

static void control_read(void)
{
	char buffer[4096], *line, *next;
	ssize_t len = read(control_fd, buffer, sizeof(buffer) - 1);

	if (len <= 0)
		return;
	buffer[len] = '\0';
	for (line = buffer; line && !quit; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		control_line(line);
	}
}

/* Opened for both ways, it never comes to its end when a writer closes it. */
static void control_open(const char *path)
{
	if (mkfifo(path, 0600) && errno != EEXIST)
		die(path);
	control_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (control_fd < 0)
		die(path);
}

/*
 * The two programs
 */

static void run_child(int fd, const char *command, const sigset_t *unblock)
{
	char number[16];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_UNBLOCK, unblock, NULL);
	/* The copy, unlike the original, stays open over the exec. */
	fd = fcntl(fd, F_DUPFD, CHILD_FD);
	if (fd < 0)
		die("F_DUPFD");
	snprintf(number, sizeof(number), "%d", fd);
	setenv("CABLE_FD", number, 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	die("/bin/sh");
}

static void start(struct end *end, const char *command, const sigset_t *unblock)
{
	int size = SOCKET_BUFFER, pair[2], i;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		die("socketpair");
	for (i = 0; i < 2; i++) {
		/* Needs root; the other one is limited by the system's maximum. */
		if (setsockopt(pair[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
			setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		if (setsockopt(pair[i], SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
			setsockopt(pair[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	}
	end->socket = pair[0];
	end->pid = fork();
	if (end->pid < 0)
		die("fork");
	if (!end->pid)
		run_child(pair[1], command, unblock);
	close(pair[1]);
}

static void reap(void)
{
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < 2; i++) {
			if (ends[i].pid != pid)
				continue;
			ends[i].pid = 0;
			ends[i].status = WIFEXITED(status) ?
				WEXITSTATUS(status) : 128 + WTERMSIG(status);
			fprintf(stderr, "cable: %c ended with status %d\n",
				ends[i].name, ends[i].status);
		}
	}
}

static void signal_read(void)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap();
		else
			quit = true;
	}
}

static void stop_children(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (ends[i].pid > 0)
			kill(ends[i].pid, SIGTERM);
}

/*
 * The loop
 */

static void watch(int fd, uint32_t events, int op)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(epoll_fd, op, fd, &event))
		die("epoll_ctl");
}

/* Wait for what each end can do: send while there is room, take when blocked. */
static void watch_ends(void)
{
	uint32_t events;
	int i;

	for (i = 0; i < 2; i++) {
		events = queue_has_room(&directions[i]) ? EPOLLIN : 0;
		if (directions[!i].blocked)
			events |= EPOLLOUT;
		if (events == ends[i].events)
			continue;
		ends[i].events = events;
		watch(ends[i].socket, events, EPOLL_CTL_MOD);
	}
}

/* Arm the timer for the frame that is due first and not held up by its receiver. */
static void arm_timer(void)
{
	struct itimerspec spec = { 0 };
	uint64_t first = UINT64_MAX;
	int i;

	for (i = 0; i < 2; i++)
		if (directions[i].queued && !directions[i].blocked &&
		    directions[i].heap[0]->due < first)
			first = directions[i].heap[0]->due;
	if (first != UINT64_MAX) {
		spec.it_value.tv_sec = first / NSEC_PER_SEC;
		spec.it_value.tv_nsec = first % NSEC_PER_SEC;
	}
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void handle(int fd)
{
	uint64_t expirations;

	if (fd == signal_fd)
		signal_read();
	else if (fd == control_fd)
		control_read();
	else if (fd == timer_fd && read(timer_fd, &expirations, sizeof(expirations)) < 0)
		return;
}

static void run(void)
{
	struct epoll_event events[8];
	int n, i;

	while (!quit && (ends[0].pid || ends[1].pid)) {
		n = epoll_wait(epoll_fd, events, ARRAY_SIZE(events), -1);
		if (n < 0 && errno != EINTR)
			die("epoll_wait");
		for (i = 0; i < n; i++)
			handle(events[i].data.fd);
		for (i = 0; i < 2; i++) {
			direction_receive(&directions[i]);
			direction_send(&directions[i]);
		}
		watch_ends();
		arm_timer();
	}
}

static void setup(char *const *commands, uint64_t seed)
{
	sigset_t signals;
	int i;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (signal_fd < 0 || timer_fd < 0 || epoll_fd < 0)
		die("cannot set up");
	watch(signal_fd, EPOLLIN, EPOLL_CTL_ADD);
	watch(timer_fd, EPOLLIN, EPOLL_CTL_ADD);
	if (control_fd >= 0)
		watch(control_fd, EPOLLIN, EPOLL_CTL_ADD);
	for (i = 0; i < 2; i++) {
		start(&ends[i], commands[i], &signals);
		ends[i].events = EPOLLIN;
		watch(ends[i].socket, EPOLLIN, EPOLL_CTL_ADD);
		directions[i].seed = (seed * 2 + i) << 32;
	}
	for (i = 0; i < 2; i++) {
		directions[i].from = ends[i].socket;
		directions[i].to = ends[!i].socket;
	}
}

static void usage(FILE *out)
{
	size_t i;

	fputs("usage: cable [option...] COMMAND_A COMMAND_B\n\n", out);
	for (i = 0; i < NR_QUALITIES; i++)
		fprintf(out, "  --%-10s %s\n", qualities[i].name, qualities[i].help);
	fputs("  --seed       number that the random choices come from (1)\n"
	      "  --control    FIFO, made if missing, that takes lines such as:\n"
	      "                 loss 1 | delay 10 ab | cut | mend ba | stats | quit\n"
	      "               (ab, ba: one direction only)\n", out);
}

int main(int argc, char **argv)
{
	struct option options[NR_QUALITIES + 4] = { 0 };
	uint64_t seed = 1;
	int i, opt;

	for (i = 0; i < NR_QUALITIES; i++)
		options[i] = (struct option){ qualities[i].name, required_argument, NULL, i };
	options[i++] = (struct option){ "seed", required_argument, NULL, 's' };
	options[i++] = (struct option){ "control", required_argument, NULL, 'c' };
	options[i++] = (struct option){ "help", no_argument, NULL, 'h' };

	while ((opt = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		if (opt < NR_QUALITIES) {
			set_quality(&directions[0], qualities[opt].name, strtod(optarg, NULL));
			set_quality(&directions[1], qualities[opt].name, strtod(optarg, NULL));
		} else if (opt == 's') {
			seed = strtoull(optarg, NULL, 0);
		} else if (opt == 'c') {
			control_open(optarg);
		} else {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	if (argc - optind != 2) {
		usage(stderr);
		return 2;
	}
	setup(argv + optind, seed);
	run();
	stop_children();
	print_stats();
	return ends[0].status ? ends[0].status : ends[1].status;
}
