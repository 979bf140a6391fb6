// SPDX-License-Identifier: MIT
/*
 * main.c - the table of commands
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "near.h"
#include "tool.h"

static const struct command *const commands[] = {
	&cmd_info,
	&cmd_list,
	&cmd_connect,
	&cmd_listen,
	&cmd_send,
	&cmd_recv,
	&cmd_lend,
	&cmd_get,
	&cmd_put,
	&cmd_add,
	&cmd_cas,
	&cmd_ping,
	&cmd_bench,
	&cmd_doctor,
	&cmd_explain,
};

static const char introduction[] =
	"Usage: rdmachan COMMAND [OPTION]... [ARGUMENT]...\n"
	"       rdmachan COMMAND --help\n"
	"       rdmachan --version\n"
	"\n"
	"Message channels between programs, carried by RDMA.\n"
	"\n"
	"Commands:\n";

static const char examples[] =
	"\n"
	"Begin with:\n"
	"  rdmachan doctor                   is this machine ready?\n"
	"  rdmachan listen 5000              on one host, and on the other:\n"
	"  rdmachan connect HOST:5000        what is typed here appears there\n"
	"\n"
	"Exit codes: 0 success, 1 failure, 2 wrong usage, 3 no connection or lost\n"
	"connection, 4 data did not verify. \"doctor\": 0 well, 1 warnings, 2 failures.\n";

static void help(FILE *out)
{
	size_t i;

	fputs(introduction, out);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs(examples, out);
}

static const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static int no_command(const char *name)
{
	struct near near;
	size_t i;

	near_begin(&near, name, strlen(name));
	near_try(&near, "help", 4);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		near_try(&near, commands[i]->name, strlen(commands[i]->name));
	if (near.best)
		return fail_usage(NULL, "there is no command \"%s\"; is \"%s\" meant?", name,
				  near.best);
	return fail_usage(NULL, "there is no command \"%s\"", name);
}

static bool wants_help(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	}
	return false;
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return status ? status : fail_errno("cannot write standard output");
	return status;
}

/*
 * Descriptors 0 to 2 that the caller has closed would become the device or a channel, and output
 * would go there. These are opened the other way round: a read or write of them gets EBADF, as if
 * they were closed still.
 */
static bool fill_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	}
	return true;
}

/* Where there is an errno instead, the signal would only hide what has failed. */
static void ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (!fill_descriptors())
		return TOOL_FAILED;
	ignore_signals();
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("rdmachan %s (interface version %u)\n", TOOL_VERSION,
		       RDMACHAN_ABI_VERSION);
		return finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		command = argc > 2 ? command_find(argv[2]) : NULL;
		if (command)
			fputs(command->help, stdout);
		else
			help(stdout);
		return finish(TOOL_OK);
	}
	command = command_find(argv[1]);
	if (!command)
		return no_command(argv[1]);
	if (wants_help(argc - 1, argv + 1)) {
		fputs(command->help, stdout);
		return finish(TOOL_OK);
	}
	tool_words = argv + 1;
	opterr = 0;
	return finish(command->run(argc - 1, argv + 1));
}
