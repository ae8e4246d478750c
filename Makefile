# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Makefile: every task that a person types; each is one line that calls a script or a folder's own rules.
# Kbuild has the module's objects.
#
# KDIR=folder      kernel headers to build the module against
# KERNEL=name      the guest's kernel, of qemu-images/kernels
# T="name..."      which VM tests
# SECONDS_EACH=n   how long each fuzzer runs
KDIR =
KERNEL = bookworm
T =

.PHONY: all module provider test soak coverage models fuzz bench vm demo wire lint check check-debug check-races setup load unload install clean help

all: module provider

module: ## bellhop.ko, in build/module/<release>
	@scripts/build-module.sh $(KDIR)

provider: ## the libibverbs provider, in build/userspace
	@$(MAKE) -C userspace

test: ## unit tests, on this machine
	@$(MAKE) -C tests/unit check

soak: ## the simulated networks of the unit tests, for 10^8 packets: make soak PACKETS=1000000000
	@$(MAKE) -C tests/unit soak

coverage: ## which lines of kernel/proto unit tests and the fuzzers' corpora reach; fails below 90 %
	@$(MAKE) -C tests/unit coverage

models: ## searches the models of the lock-free parts, and each of their mutations
	@$(MAKE) -C tests/models check

fuzz: ## a run of every fuzzer, of 20 s each: make fuzz SECONDS_EACH=3600
	@$(MAKE) -C tests/fuzz check

bench: ## native benchmarks
	@$(MAKE) -C tests/bench run

vm: ## VM tests: make vm T="load pingpong" KERNEL=bookworm; logs in build/vm-run
	@scripts/vm-run.sh $(KERNEL) $(T)

demo: ## perftest on bellhop and on rdma_rxe, side by side in a guest
	@scripts/setup.sh && scripts/demo.sh $(KERNEL)

wire: ## perftest between two guests, on bellhop and on rdma_rxe
	@scripts/setup.sh && scripts/wire.sh $(KERNEL)

lint: ## what sparse, checkpatch, clang-tidy and others say of the sources; logs in build/lint
	@scripts/lint.sh

check: ## all tests; installs what they need
	@scripts/setup.sh && scripts/check.sh

check-debug: ## VM tests on a kernel that looks for mistakes, which is built first: make check-debug T="kill"
	@scripts/setup.sh && scripts/vm-run.sh bookworm-debug $(T)

check-races: ## VM tests on a kernel that looks for data races in the module, which is built first
	@scripts/setup.sh && scripts/vm-run.sh bookworm-races $(T)

setup: ## installs the packages that building and testing need
	@scripts/setup.sh

load: ## inserts the module into the running kernel (root)
	@scripts/load.sh

unload: ## removes it (root)
	@rmmod bellhop

install: ## installs module and provider; DESTDIR= for packages (root)
	@scripts/install-module.sh $(KDIR) && $(MAKE) -C userspace install

clean:
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' $(MAKEFILE_LIST)
