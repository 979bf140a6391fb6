# SPDX-License-Identifier: GPL-2.0
#
# rdmachan: message channels carried by RDMA. "make help" tells what there is.

KDIR ?= /lib/modules/$(shell uname -r)/build
B := $(CURDIR)/build

# Seconds of a fuzzing campaign.
TIME ?= 600
# Mutants: how many, chosen by what; or some by their names.
N ?= 60
SEED ?= 1
# Of the swarm.
SEEDS ?= 1-200
# Mutants: these; the swarm: faults of these kinds.
ONLY ?=

.PHONY: all module tool install modules_install clean demo check check-all steady soak coverage \
	mutants swarm fuzz abi-fuzz bench html help

all: module tool

# The module for the running kernel, in a copy of the sources: the tree stays clean.
module:
	@if [ -e "$(KDIR)/Makefile" ]; then \
		selftests/lab/build.sh --kdir "$(KDIR)" "$(B)/module"; \
	else \
		echo "The module is not built: the headers of the running kernel are missing"; \
		echo "($(KDIR)). On Debian: apt install linux-headers-$$(uname -r),"; \
		echo "or name another kernel's build directory: make KDIR=..."; \
	fi

tool:
	@if echo '#include <md5.h>' | $(CC) -E - >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory -C userspace-tool O="$(B)/tool" all; \
	else \
		echo "The tool is not built: libmd is missing (Debian: apt install libmd-dev)"; \
		exit 1; \
	fi

install: modules_install
	$(MAKE) --no-print-directory -C userspace-tool O="$(B)/tool" install

modules_install:
	@if [ -e "$(B)/module/kmod/rdmachan.ko" ]; then \
		$(MAKE) --no-print-directory -C "$(KDIR)" M="$(B)/module/kmod" modules_install && \
		{ depmod -a || true; }; \
	else \
		echo "The module is not installed, as it was not built (see make)"; \
	fi

clean:
	rm -rf "$(B)"

demo:
	@selftests/demo.sh

check:
	@selftests/check.sh

fuzz:
	@selftests/lab/packages.sh fuzz
	@selftests/fuzz/run.sh run $(TIME)

abi-fuzz:
	@selftests/lab/packages.sh check
	@selftests/abifuzz/run.sh $(TIME)

swarm:
	@KERNEL=$(KERNEL) selftests/swarm/run.sh $(SEEDS) $(ONLY)

check-all:
	@selftests/check.sh all

steady:
	@selftests/steady.sh

soak:
	@selftests/check.sh soak

coverage:
	@selftests/coverage/coverage.sh

mutants:
	@selftests/mutants/mutants.py $(if $(ONLY),--only $(ONLY),$(N) $(SEED))

bench:
	@selftests/bench/bench.sh

html:
	@selftests/lab/packages.sh docs
	@selftests/checks/html.sh && echo "html: build/html/index.html"

help:
	@echo "make               build module (for the running kernel) and tool into build/"
	@echo "make KDIR=DIR      the same for another kernel's build directory"
	@echo "sudo make install  install both; PREFIX= and DESTDIR= as usual"
	@echo "make demo          two guests exchange data over RDMA; installs what is missing"
	@echo "make check         all tests, in guests; installs what is missing"
	@echo "make fuzz          fuzz frames, handshakes and links on the host; TIME=600 seconds"
	@echo "make abi-fuzz      fuzz the calls of programs, in a guest; TIME=600 seconds"
	@echo "make swarm         many programs, many faults, from seeds: SEEDS=1-200, KERNEL=uml-7.2-san"
	@echo "make check-all     that, and what takes long: hours"
	@echo "make steady        make check four times on a busy machine: the same verdict each time"
	@echo "make soak          life and death under load, 200 times each; hours"
	@echo "make coverage      what of the module the tests execute: build/coverage"
	@echo "make mutants       change the module in one place at a time: a test must fail; N=60 SEED=1"
	@echo "make bench         beside verbs, rsockets, TCP, ...; BEDS=icount ROWS=lat64 for one row"
	@echo "make html          these documents and the comments of the headers: build/html/index.html"
	@echo "make clean         remove build/; caches are in ~/.cache/rdmachan"
