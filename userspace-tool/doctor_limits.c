// SPDX-License-Identifier: MIT
/*
 * doctor_limits.c - checks of limits and firewalls
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor.h"

/* Less locked memory than this is too little for programs that use RDMA. */
#define MEMLOCK_WANTED	(8ULL << 20)
/* RoCE version 2 travels in UDP to this port. */
#define ROCE_PORT	"4791"

static void check_memlock(struct doctor *doctor)
{
	struct rlimit limit;
	char text[UNITS_MAX];

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY) {
		doctor_note(doctor, DOCTOR_OK, "locked memory", "no limit");
	} else if (limit.rlim_cur >= MEMLOCK_WANTED) {
		doctor_note(doctor, DOCTOR_OK, "locked memory", "up to %s",
			    units_bytes(limit.rlim_cur, text));
	} else {
		doctor_note(doctor, DOCTOR_WARN, "locked memory", "only %s",
			    units_bytes(limit.rlim_cur, text));
		doctor_fix(doctor, "ulimit -l 65536, or \"* - memlock 65536\" in /etc/security/limits.conf");
	}
}

/**
 * struct ruleset - what of the packet filter matters
 * @drops: input is dropped or rejected unless a rule lets it in
 * @port: some rule names the port
 */
struct ruleset {
	bool drops;
	bool port;
};

static bool read_ruleset(struct ruleset *ruleset)
{
	FILE *pipe = popen("nft list ruleset 2>/dev/null", "re");
	bool input = false;
	char line[1024];

	memset(ruleset, 0, sizeof(*ruleset));
	if (!pipe)
		return false;
	while (fgets(line, sizeof(line), pipe)) {
		if (strstr(line, "hook input"))
			input = true;
		else if (strchr(line, '}'))
			input = false;
		if (input && (strstr(line, "policy drop") || strstr(line, "drop\n") ||
			      strstr(line, "reject")))
			ruleset->drops = true;
		if (strstr(line, ROCE_PORT))
			ruleset->port = true;
	}
	return !pclose(pipe);
}

static void check_firewall(struct doctor *doctor)
{
	struct ruleset ruleset;

	if (!doctor->roce)
		return;
	if (geteuid() || !read_ruleset(&ruleset)) {
		doctor_note(doctor, DOCTOR_OK, "firewall",
			    "not looked at (needs root and nft); RoCE needs UDP port " ROCE_PORT);
	} else if (ruleset.drops && !ruleset.port) {
		doctor_note(doctor, DOCTOR_WARN, "firewall",
			    "input is filtered, and no rule names UDP port " ROCE_PORT " of RoCE");
		doctor_fix(doctor, "let it in: nft add rule inet filter input udp dport " ROCE_PORT " accept");
	} else {
		doctor_note(doctor, DOCTOR_OK, "firewall", "%s", ruleset.drops ?
			    "input is filtered, with a rule for UDP port " ROCE_PORT :
			    "input is not filtered");
	}
}

void doctor_limits(struct doctor *doctor)
{
	check_memlock(doctor);
	check_firewall(doctor);
}
