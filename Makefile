# SPDX-License-Identifier: GPL-2.0
#
# For people. kbuild's part is in Kbuild. `make help` lists the targets.

KDIR	?= /lib/modules/$(shell uname -r)/build
KVER	?= $(shell uname -r)
KERNEL	?= 6.12
KERNELS	?= 6.1 6.12
MINUTES	?= 10

version	:= $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
dkms-src := /usr/src/hslab-$(version)
# What DKMS needs of this folder, and no more.
dkms-files := Kbuild Makefile dkms.conf COPYING $(filter-out %.mod.c,$(wildcard *.c *.h)) include \
	scripts/dkms-symvers

all: modules

help:
	@echo 'For a kernel whose headers are installed (KDIR=$(KDIR)):'
	@echo '  all               build hslab.ko'
	@echo '  modules_install   install it with kbuild'
	@echo '  dkms-install      hand it to DKMS: built again for every new kernel (KVER=$(KVER))'
	@echo '  dkms-remove       take it back'
	@echo '  tools             build hslabctl, in out/tools'
	@echo '  install-tools     install it, with manual pages, systemd unit, udev rule (DESTDIR, PREFIX=/usr)'
	@echo '  deb               build the Debian packages, in out/deb'
	@echo '  clean             remove what was built'
	@echo 'In virtual machines, on stock Debian kernels (KERNELS="$(KERNELS)"):'
	@echo '  demo              see hslab at work'
	@echo '  check             run all tests'
	@echo '  peers             run file systems, network modules and heap tests of the kernel on it'
	@echo '  torture           everything at once, for MINUTES=$(MINUTES) a kernel'
	@echo '  bench             count instructions, beside SLUB; and attached'
	@echo '  compare           what SLUB, slub_debug, KFENCE and hslab catch (Documentation/compare.rst)'
	@echo '  answers           measure what clearing memory and RCU cost (Documentation/answers.rst)'
	@echo '  slab-memory       measure the slab memory of kernel code on it, beside SLUB'
	@echo '  shell             a root shell with hslab loaded (KERNEL=$(KERNEL))'
	@echo '  lint              checkpatch, sparse, both compilers, documentation'
	@echo 'Documentation:'
	@echo '  docs              build it as HTML into out/docs (sphinx)'

modules modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

clean:
	$(RM) -r out
	if [ -d $(KDIR) ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi

tools:
	$(MAKE) -C tools/hslabctl OUT=$(CURDIR)/out/tools

install-tools:
	$(MAKE) -C tools/hslabctl OUT=$(CURDIR)/out/tools install

dkms-copy:
	mkdir -p $(dkms-src)
	cp -r --parents $(dkms-files) $(dkms-src)

dkms-install:
	scripts/setup build dkms
	$(MAKE) dkms-copy
	dkms install hslab/$(version) -k $(KVER)

dkms-remove:
	dkms remove hslab/$(version) --all
	$(RM) -r $(dkms-src)

deb:
	@scripts/deb

demo:
	@scripts/demo $(KERNEL)

check:
	@scripts/check $(KERNELS)

peers:
	@scripts/setup build vm kunit peers
	@scripts/peers $(KERNELS)

torture:
	@scripts/setup build vm
	@scripts/torture --minutes $(MINUTES) $(KERNELS)

bench:
	@scripts/setup build vm
	@scripts/bench $(KERNELS)
	@scripts/bench-attach $(KERNELS)

compare:
	@scripts/setup build vm
	@scripts/compare $(KERNEL)

answers:
	@scripts/setup build vm
	@scripts/answers $(KERNEL) $(PARTS)

slab-memory:
	@scripts/setup build vm peers
	@scripts/slab-memory $(KERNELS)

shell:
	@scripts/shell $(KERNEL)

lint:
	@scripts/lint $(KERNELS)

docs:
	@scripts/docs

.PHONY: all help modules modules_install tools install-tools clean dkms-copy dkms-install \
	dkms-remove deb demo check peers torture bench compare answers slab-memory shell lint docs
