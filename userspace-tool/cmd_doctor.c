// SPDX-License-Identifier: MIT
/*
 * cmd_doctor.c - "rdmachan doctor": is this machine ready, and if not, why?
 */
#include <err.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "json.h"
#include "text.h"

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_WARN] = "warn",
	[DOCTOR_FAIL] = "fail",
};

void doctor_note(struct doctor *doctor, enum doctor_verdict verdict, const char *check,
		 const char *format, ...)
{
	struct doctor_result *result;
	va_list args;

	doctor->results = reallocarray(doctor->results, doctor->count + 1, sizeof(*result));
	if (!doctor->results)
		err(DOCTOR_FAIL, NULL);
	result = &doctor->results[doctor->count++];
	result->verdict = verdict;
	result->check = check;
	result->fix = NULL;
	va_start(args, format);
	if (vasprintf(&result->found, format, args) < 0)
		err(DOCTOR_FAIL, NULL);
	va_end(args);
}

void doctor_fix(struct doctor *doctor, const char *format, ...)
{
	struct doctor_result *result = &doctor->results[doctor->count - 1];
	va_list args;

	va_start(args, format);
	if (vasprintf(&result->fix, format, args) < 0)
		err(DOCTOR_FAIL, NULL);
	va_end(args);
}

bool doctor_read(char *text, size_t size, const char *format, ...)
{
	char path[512];
	va_list args;
	FILE *file;
	bool fine;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return false;
	fine = fgets(text, size, file);
	fclose(file);
	if (fine)
		text[strcspn(text, "\n")] = '\0';
	return fine;
}

static enum doctor_verdict worst(const struct doctor *doctor)
{
	enum doctor_verdict verdict = DOCTOR_OK;
	size_t i;

	for (i = 0; i < doctor->count; i++) {
		if (doctor->results[i].verdict > verdict)
			verdict = doctor->results[i].verdict;
	}
	return verdict;
}

static size_t count_of(const struct doctor *doctor, enum doctor_verdict verdict)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < doctor->count; i++)
		count += doctor->results[i].verdict == verdict;
	return count;
}

static void print_text(const struct doctor *doctor)
{
	const struct doctor_result *result;
	size_t i;

	for (i = 0; i < doctor->count; i++) {
		result = &doctor->results[i];
		text_print(stdout, "%-4s  %-13s  %s\n", verdicts[result->verdict], result->check,
			   result->found);
		if (result->fix)
			text_print(stdout, "%21sfix: %s\n", "", result->fix);
	}
	printf("%zu ok, %zu warnings, %zu failures\n", count_of(doctor, DOCTOR_OK),
	       count_of(doctor, DOCTOR_WARN), count_of(doctor, DOCTOR_FAIL));
}

static void print_json(const struct doctor *doctor)
{
	struct json json = JSON_INIT(stdout);
	const struct doctor_result *result;
	size_t i;

	json_object(&json, NULL);
	json_string(&json, "verdict", verdicts[worst(doctor)]);
	json_array(&json, "checks");
	for (i = 0; i < doctor->count; i++) {
		result = &doctor->results[i];
		json_object(&json, NULL);
		json_string(&json, "check", result->check);
		json_string(&json, "verdict", verdicts[result->verdict]);
		json_string(&json, "found", result->found);
		if (result->fix)
			json_string(&json, "fix", result->fix);
		else
			json_null(&json, "fix");
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

static void doctor_free(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->count; i++) {
		free(doctor->results[i].found);
		free(doctor->results[i].fix);
	}
	free(doctor->results);
	if (doctor->ctx >= 0)
		close(doctor->ctx);
}

static int examine(const struct target *peer, const struct rdmachan_options *options,
		   bool as_json)
{
	struct doctor doctor = { .ctx = -1, .peer = peer, .options = options };
	int verdict;

	doctor_module(&doctor);
	doctor_devices(&doctor);
	doctor_limits(&doctor);
	doctor_peer(&doctor);
	if (as_json)
		print_json(&doctor);
	else
		print_text(&doctor);
	verdict = worst(&doctor);
	doctor_free(&doctor);
	return verdict;
}

static const struct option options[] = {
	PARSE_CONNECT_LONG,
	{ "json", no_argument, NULL, 'j' },
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct rdmachan_options conn = RDMACHAN_OPTIONS_INIT;
	struct target peer;
	bool as_json = false;
	int option;

	while ((option = getopt_long(argc, argv, "j" PARSE_CONNECT_SHORT, options, NULL)) != -1) {
		if (option == 'j')
			as_json = true;
		else if (option == '?')
			return fail_usage(&cmd_doctor, NULL);
		else if (!parse_connect(option, optarg, &conn))
			return fail_value(&cmd_doctor, option, optarg);
	}
	if (argc - optind > 1)
		return fail_usage(&cmd_doctor, "say one HOST[:SERVICE] at most");
	if (optind == argc)
		return examine(NULL, &conn, as_json);
	if (!parse_peer(argv[optind], &peer))
		return fail_usage(&cmd_doctor, "\"%s\" is not HOST[:SERVICE]", argv[optind]);
	return examine(&peer, &conn, as_json);
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "check this machine, and the way to a peer",
	.help =
	"Usage: rdmachan doctor [OPTION]... [HOST[:SERVICE]]\n"
	"\n"
	"Checks what message channels need: the module and its device file, RDMA devices,\n"
	"their ports, network interfaces and MTU, limits and the firewall; with HOST the\n"
	"route to it and its module, with SERVICE whether a program there takes channels.\n"
	"Says for each what was found and, unless it is well, what to do.\n"
	"\n"
	"  -t, --timeout SEC    give up connecting after SEC seconds\n"
	"  -p, --port PORT      port of the module at HOST, if it is not 26471\n"
	"  -T, --traffic-class N  class of the packets, 0 to 255 (DSCP times 4)\n"
	"  -b, --bind ADDR      connect from the local address ADDR\n"
	"  -j, --json           write one JSON object\n"
	"\n"
	"Exit codes: 0 all is well, 1 there are warnings, 2 something fails.\n"
	"\n"
	"Examples:\n"
	"  rdmachan doctor\n"
	"  rdmachan doctor db1:5000\n",
	.run = run,
};
