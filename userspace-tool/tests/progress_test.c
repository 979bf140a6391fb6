// SPDX-License-Identifier: MIT
/*
 * progress_test.c - the bar has one line of a terminal, which is resized at any time
 */
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "progress.h"
#include "tap.h"
#include "text.h"
#include "tool.h"

#define SECOND	UINT64_C(1000000000)

static const char wide[] = "\346\227\245\346\234\254\350\252\236\343\201\256\351\225\267\343\201\204"
			   "\345\220\215\345\211\215\343\201\256\343\203\225\343\202\241\343\202\244"
			   "\343\203\253.pdf";
static const char combining[] = "e\314\201a\314\200o\314\202 a\314\210rger re\314\201sume\314\201s "
				"de\314\201ja\314\200 lus pas ici.txt";

static const char *const names[] = {
	"a", "report.pdf", "a-rather-long-name-of-a-file-that-nobody-would-like-to-type.tar.gz",
	wide, combining, "\033[2J\302\233\342\200\256", "",
};

static const char *line_of(const char *name, uint64_t done, uint64_t total, size_t columns,
			   char line[PROGRESS_LINE_MAX])
{
	struct progress progress = { .name = name, .total = total, .done = done };

	return progress_line(&progress, SECOND * 10, columns, line);
}

/* Every width, all names, amounts that have the longest texts. */
static void test_one_line(void)
{
	static const uint64_t amounts[] = {
		0, 1, 1023, 1047552, 128450560, 1072693247, UINT64_C(1098437885952),
		UINT64_C(1) << 60, UINT64_MAX / 2,
	};
	char line[PROGRESS_LINE_MAX];
	size_t columns, name, i;
	bool fits = true, plain = true, named = true;

	for (columns = 0; columns <= 200; columns++) {
		for (name = 0; name < ARRAY_SIZE(names); name++) {
			for (i = 0; i < ARRAY_SIZE(amounts) * 2; i++) {
				line_of(names[name], amounts[i / 2], i % 2 ? PROGRESS_UNKNOWN :
					amounts[i / 2] * 2 / 3 + 1, columns, line);
				fits = fits && (!line[0] || text_columns(line) < columns);
				plain = plain && text_plain(line);
				named = named && (columns < 20 || line[0]);
			}
		}
	}
	ok(fits, "it takes less than all columns, whatever is sent and however wide that is");
	ok(plain, "it has no half characters, and nothing that a terminal obeys");
	ok(named, "from 20 columns on there is something to see");
}

static void shot(size_t columns, const char *wanted)
{
	char line[PROGRESS_LINE_MAX];

	ok(is_text(line_of("report-of-november.pdf", 128450560, 301358284, columns, line), wanted),
	   "in %zu columns", columns);
}

static void test_shots(void)
{
	char line[PROGRESS_LINE_MAX];

	shot(20, "report-of...   42 %");
	shot(40, "report-of-november...   42 %  122.5 MiB");
	shot(80, "report-of-november.pdf  [#########              ]   42 %  122.5 MiB  12.2 MiB/s");
	shot(132, "report-of-november.pdf  [###############                       ]   42 %  "
	     "122.5 MiB  12.2 MiB/s");
	ok(is_text(line_of("mtu", 6, PROGRESS_UNKNOWN, 80, line), "mtu  6 B  0 B/s"),
	   "without a size there is no bar");
}

/**
 * struct terminal - a pseudo terminal that is standard error
 * @master: what it shows can be read here
 * @saved: standard error as it was
 */
struct terminal {
	int master;
	int saved;
};

static void resize(const struct terminal *terminal, unsigned short columns)
{
	const struct winsize size = { .ws_row = 24, .ws_col = columns };

	ioctl(terminal->master, TIOCSWINSZ, &size);
}

static bool terminal_open(struct terminal *terminal)
{
	int slave;

	terminal->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master))
		return false;
	slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY);
	terminal->saved = dup(STDERR_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
	return slave >= 0;
}

static void terminal_close(struct terminal *terminal)
{
	dup2(terminal->saved, STDERR_FILENO);
	close(terminal->saved);
	close(terminal->master);
}

/* The output on the terminal since the last time. */
static const char *screen(const struct terminal *terminal, char *text, size_t size)
{
	struct pollfd one = { .fd = terminal->master, .events = POLLIN };
	ssize_t count;
	size_t used = 0;

	while (poll(&one, 1, 0) > 0) {
		count = read(terminal->master, text + used, size - 1 - used);
		if (count <= 0)
			break;
		used += count;
	}
	text[used] = '\0';
	return text;
}

/* One line that is drawn over the last one: "\r", at most so many columns, "\033[K". */
static bool is_drawn(const char *text, size_t columns)
{
	char line[PROGRESS_LINE_MAX];
	size_t length = strlen(text);

	if (length < 4 || text[0] != '\r' || strcmp(text + length - 3, "\033[K"))
		return false;
	memcpy(line, text + 1, length - 4);
	line[length - 4] = '\0';
	printf("# %zu columns of %zu: %s\n", text_columns(line), columns, line);
	return line[0] && text_plain(line) && text_columns(line) < columns;
}

static void draw_resized(const struct terminal *terminal, struct progress *progress,
			 unsigned short columns, size_t wanted)
{
	char text[PROGRESS_LINE_MAX];

	resize(terminal, columns);
	/* As if the last drawing were long ago. */
	progress->shown = 0;
	progress_add(progress, 1000);
	ok(is_drawn(screen(terminal, text, sizeof(text)), wanted), "drawn in %zu columns", wanted);
}

static void test_terminal(void)
{
	char text[PROGRESS_LINE_MAX];
	struct progress progress;
	struct terminal terminal;
	size_t i;

	if (!ok(terminal_open(&terminal), "there is a terminal"))
		return;
	resize(&terminal, 80);
	for (i = 0; i < 5; i++) {
		progress_begin(&progress, names[i], 5000, PROGRESS_BAR);
		ok(is_drawn(screen(&terminal, text, sizeof(text)), 80), "drawn at the beginning");
		draw_resized(&terminal, &progress, 40, 40);
		draw_resized(&terminal, &progress, 132, 132);
		draw_resized(&terminal, &progress, 20, 20);
		setenv("COLUMNS", "50", 1);
		draw_resized(&terminal, &progress, 80, 80);
		draw_resized(&terminal, &progress, 0, 50);
		setenv("COLUMNS", "many", 1);
		draw_resized(&terminal, &progress, 0, 80);
		progress_clear(&progress);
		ok(is_text(screen(&terminal, text, sizeof(text)), "\r\033[K"), "and taken away");
	}
	progress_begin(&progress, "a", 5000, PROGRESS_PLAIN);
	progress_add(&progress, 1000);
	ok(is_text(screen(&terminal, text, sizeof(text)), ""), "no line before its time");
	progress.shown -= 10 * SECOND;
	progress_add(&progress, 1000);
	screen(&terminal, text, sizeof(text));
	ok(!strncmp(text, "rdmachan: a:  40 %  2 KiB", 20) && strchr(text, '\n'),
	   "a line every ten seconds");
	progress_add(&progress, 1000);
	ok(is_text(screen(&terminal, text, sizeof(text)), ""), "and only then");
	progress_begin(&progress, "a", 5000, PROGRESS_NONE);
	progress.shown -= 10 * SECOND;
	progress_add(&progress, 1000);
	ok(is_text(screen(&terminal, text, sizeof(text)), ""), "nothing when nothing is wanted");
	setenv("TERM", "dumb", 1);
	progress_begin(&progress, "a", 5000, PROGRESS_BAR);
	ok(is_text(screen(&terminal, text, sizeof(text)), ""), "no bar on a dumb terminal");
	terminal_close(&terminal);
}

static void test_no_terminal(void)
{
	struct progress progress;
	char text[64];
	int saved, ends[2];

	if (pipe(ends) < 0)
		return;
	saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	progress_begin(&progress, "a", 5000, PROGRESS_BAR);
	progress.shown -= 10 * SECOND;
	progress_add(&progress, 1000);
	progress_clear(&progress);
	dup2(saved, STDERR_FILENO);
	close(saved);
	ok(!read(ends[0], text, sizeof(text)), "no bar where there is no terminal");
	close(ends[0]);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TERM", "xterm", 1);
	unsetenv("COLUMNS");
	test_one_line();
	test_shots();
	test_terminal();
	test_no_terminal();
	return tap_end();
}
