// SPDX-License-Identifier: MIT
/*
 * doctor_module.c - checks of the module and its device file
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

/* Whether modprobe would find the module: it is named in modules.dep. */
static bool module_installed(const struct utsname *system)
{
	char line[4096];
	char path[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", system->release);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":\n")] = '\0';
		found = strstr(line, "/rdmachan.ko");
	}
	fclose(file);
	return found;
}

static bool module_loaded(void)
{
	return !access("/sys/module/rdmachan", F_OK);
}

static void check_loaded(struct doctor *doctor)
{
	struct utsname system;
	char version[64];

	if (module_loaded()) {
		if (doctor_read(version, sizeof(version), "/sys/module/rdmachan/version"))
			doctor_note(doctor, DOCTOR_OK, "module", "loaded, version %s", version);
		else
			doctor_note(doctor, DOCTOR_OK, "module", "loaded");
		return;
	}
	uname(&system);
	if (module_installed(&system)) {
		doctor_note(doctor, DOCTOR_FAIL, "module", "installed, but not loaded");
		doctor_fix(doctor, "modprobe rdmachan");
	} else {
		doctor_note(doctor, DOCTOR_FAIL, "module", "not installed for kernel %s",
			    system.release);
		doctor_fix(doctor, "build and install the module for this kernel, or load it with insmod");
	}
}

static void check_node(struct doctor *doctor)
{
	struct stat stat_;
	int error;

	doctor->ctx = rdmachan_open(NULL);
	error = errno;
	if (doctor->ctx >= 0) {
		doctor_note(doctor, DOCTOR_OK, "device file", "%s can be used by this user",
			    RDMACHAN_DEVICE_PATH);
		return;
	}
	doctor_note(doctor, DOCTOR_FAIL, "device file", "%s cannot be opened: %s",
		    RDMACHAN_DEVICE_PATH, strerror(error));
	if (error == ENOENT && !module_loaded())
		doctor_fix(doctor, "load the module, as told above");
	else if (error == ENOENT)
		doctor_fix(doctor, "give this container the device (--device %s), or restart udev",
			   RDMACHAN_DEVICE_PATH);
	else if (!stat(RDMACHAN_DEVICE_PATH, &stat_) && !S_ISCHR(stat_.st_mode))
		doctor_fix(doctor, "remove that file, it is no device, and load the module again");
	else
		doctor_fix(doctor, "%s", context_open_hint(error));
}

static void check_interface(struct doctor *doctor)
{
	struct rdmachan_info info;

	if (rdmachan_get_info(doctor->ctx, &info, NULL, 0, NULL) < 0) {
		doctor_note(doctor, DOCTOR_FAIL, "interface", "the module does not answer: %s",
			    strerror(errno));
		doctor_fix(doctor, "install the module and the tool of one version");
	} else if (info.out_abi < RDMACHAN_ABI_VERSION) {
		doctor_note(doctor, DOCTOR_WARN, "interface",
			    "the module speaks version %u, this tool %u", info.out_abi,
			    RDMACHAN_ABI_VERSION);
		doctor_fix(doctor, "the module is older than the tool: load the newer one");
	} else {
		doctor_note(doctor, DOCTOR_OK, "interface", "version %u of module %.*s",
			    info.out_abi, (int)sizeof(info.out_version), info.out_version);
	}
}

/* A service of the module's is waited for on its port: no program of another kind may have that. */
static void check_port(struct doctor *doctor)
{
	struct rdmachan_error err;
	struct rdmachan_info info;
	int listener;

	if (rdmachan_get_info(doctor->ctx, &info, NULL, 0, NULL) < 0)
		return;
	listener = rdmachan_listen(doctor->ctx, TOOL_SERVICE_NOBODY, NULL, &err);
	if (listener >= 0) {
		close(listener);
		doctor_note(doctor, DOCTOR_OK, "port", "peers are waited for on port %u",
			    info.out_port);
	} else if (err.cause == RDMACHAN_CAUSE_PORT_TAKEN) {
		doctor_note(doctor, DOCTOR_FAIL, "port", "port %u is taken by another program",
			    info.out_port);
		doctor_fix(doctor, "%s", rdmachan_cause_hint(err.cause));
	}
}

void doctor_module(struct doctor *doctor)
{
	check_loaded(doctor);
	check_node(doctor);
	if (doctor->ctx >= 0)
		check_interface(doctor);
	if (doctor->ctx >= 0)
		check_port(doctor);
}
