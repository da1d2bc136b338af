# fatwise: one makefile. `make help` lists what it does.

VERSION := 4.3.0
BUILD ?= release
O := build/$(BUILD)$(if $(STATIC),-static)

CC ?= cc
AR ?= ar
PKG_CONFIG ?= pkg-config
have = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo 1)

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wswitch-enum -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wformat=2 -Werror
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ilib -Ilib/cli -Ilib/host
ALL_CFLAGS := -std=c11 -g $(WARNINGS) -fno-common -ffile-prefix-map=$(CURDIR)=.
ifeq ($(BUILD),release)
ALL_CFLAGS += -O2 -fstack-protector-strong -fPIE -D_FORTIFY_SOURCE=2
LDFLAGS += -pie -Wl,-z,relro,-z,now
else ifeq ($(BUILD),debug)
ALL_CFLAGS += -Og
else ifeq ($(BUILD),asan)
ALL_CFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
else ifeq ($(BUILD),cov)
ALL_CFLAGS += -O0 --coverage
LDFLAGS += --coverage
else
$(error BUILD is release, debug, asan or cov, not $(BUILD))
endif
ALL_CFLAGS += $(CFLAGS)

# For rescue disks and boards. There is no static libudev: the kernel's sysfs is asked instead.
ifdef STATIC
LDFLAGS += -static-pie
HAVE_UDEV :=
PKG_CONFIG += --static
endif

# Without libblkid or libudev everything builds and says what it cannot know.
HAVE_BLKID ?= $(call have,blkid)
HAVE_UDEV ?= $(call have,libudev)
HOST_CPPFLAGS := $(if $(HAVE_BLKID),-DHAVE_BLKID $(shell $(PKG_CONFIG) --cflags blkid)) \
	$(if $(HAVE_UDEV),-DHAVE_UDEV $(shell $(PKG_CONFIG) --cflags libudev))
HOST_LIBS := $(if $(HAVE_BLKID),$(shell $(PKG_CONFIG) --libs blkid)) \
	$(if $(HAVE_UDEV),$(shell $(PKG_CONFIG) --libs libudev))

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

# A room is a folder; every .c in it but main.c belongs to its archive.
objects = $(patsubst %.c,$(O)/%.o,$(filter-out %/main.c %_main.c,$(wildcard $(1)/*.c)))
ROOMS := fat:lib cli:lib/cli host:lib/host mkfs:mkfs fsck:fsck label:label advisor:advisor
ARCHIVES := $(foreach r,$(ROOMS),$(O)/lib$(firstword $(subst :, ,$(r))).a)
TOOLS := $(if $(wildcard mkfs/main.c),mkfs.fat) $(if $(wildcard fsck/main.c),fsck.fat) \
	$(if $(wildcard fsck/fatundo_main.c),fatundo) $(if $(wildcard label/main.c),fatlabel) \
	$(if $(wildcard advisor/main.c),fatadvise)
BINARIES := $(addprefix $(O)/,$(TOOLS))

.PHONY: all
all: $(BINARIES) $(ARCHIVES) man compile_commands.json

define archive_rule
$(O)/lib$(1).a: $$(call objects,$(2))
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcsD $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call archive_rule,$(firstword $(subst :, ,$(r))),$(lastword $(subst :, ,$(r))))))

# What was built with another compiler, other flags or without a library is built again.
SIGNATURE := $(strip $(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(HOST_CPPFLAGS) $(HOST_LIBS))
ifneq ($(SIGNATURE),$(strip $(file <$(O)/signature)))
$(shell mkdir -p $(O))
$(file >$(O)/signature,$(SIGNATURE))
endif

$(O)/%.o: %.c $(O)/signature
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(if $(findstring lib/host/,$<),$(HOST_CPPFLAGS)) \
		-MMD -MP -c -o $@ $<

# Only the tools that look around on the host link its libraries; fsck.fat links to libc alone.
link = $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(1) $(LIBS)
$(O)/mkfs.fat: $(O)/mkfs/main.o $(O)/libmkfs.a $(O)/libhost.a $(O)/libcli.a $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(call link,$(HOST_LIBS))
$(O)/fsck.fat: $(O)/fsck/main.o $(O)/libfsck.a $(O)/libhost.a $(O)/libcli.a $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(call link)
$(O)/fatundo: $(O)/fsck/fatundo_main.o $(O)/libfsck.a $(O)/libhost.a $(O)/libcli.a $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(call link)
$(O)/fatlabel: $(O)/label/main.o $(O)/liblabel.a $(O)/libhost.a $(O)/libcli.a $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(call link)
$(O)/fatadvise: $(O)/advisor/main.o $(O)/libadvisor.a $(O)/libhost.a $(O)/libcli.a $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(call link,$(HOST_LIBS) -lm)

include tests/tests.mk

# Manual pages are written in scdoc; the built ones in man/built are kept in step by `make man`.
MAN_SRC := $(wildcard man/*.scd)
MAN_PAGES := $(patsubst man/%.scd,man/built/%,$(MAN_SRC))
.PHONY: man
man: $(MAN_PAGES)
man/fat-faults.7.scd: fsck/faults.def man/fat-faults.awk
	$(call say,GEN,$@)
	$(Q)awk -f man/fat-faults.awk $< > $@.tmp && mv $@.tmp $@
man/built/%: man/%.scd man/tidy.awk man/build
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)if command -v scdoc >/dev/null; then { man/build $< >$@.tmp && mv $@.tmp $@; } || { rm -f $@.tmp; exit 1; }; \
	elif [ -e $@ ]; then touch $@; else echo "make: $@: needs scdoc (apt-get install scdoc)" >&2; exit 1; fi

include packaging/install.mk packaging/package.mk

# One entry a source file, for clangd and clang-tidy.
ALL_SRC := $(wildcard lib/*.c lib/cli/*.c lib/host/*.c mkfs/*.c fsck/*.c label/*.c advisor/*.c \
	tests/*/*.c)
compile_commands.json: Makefile $(ALL_SRC)
	$(Q){ echo '['; s=; for f in $(ALL_SRC); do \
		printf '%s{"directory":"%s","file":"%s","command":"%s -c %s"}' "$$s" "$(CURDIR)" "$$f" \
		"$(CC) $(subst ",\\\",$(CPPFLAGS) $(HOST_CPPFLAGS) $(ALL_CFLAGS))" "$$f"; s=', '; done; echo; echo ']'; } > $@

# As the tests do it: packages first, in a make of its own.
.PHONY: demo run-demo
demo:
	$(Q)CC="$(CC)" tests/packages build
	$(Q)$(MAKE) --no-print-directory run-demo
run-demo: $(BINARIES)
	$(Q)demo/demo.sh $(O)

# The README's chart.
.PHONY: pictures
pictures: $(O)/fatadvise
	$(Q)$(O)/fatadvise -q --simulate old-stick --svg docs/fatadvise.svg >/dev/null

.PHONY: clean help
clean:
	rm -rf build compile_commands.json

help:
	@echo 'make                     build the tools into build/release'
	@echo 'make demo                measure, format and check a scratch image; show a slow stick'
	@echo 'make check               the tests that belong to every change (under two minutes)'
	@echo '  KINDS=unit T=FILE        one kind of them; one program or .bats file'
	@echo 'make check-full          what .ci/run does: all values, other compilers, packages (25 minutes at most)'
	@echo 'make check-long          every recipe before foreign judges and sanitizers, fuzzing: hours'
	@echo 'make check-pack          tarball, static build, Debian package (root, network)'
	@echo 'make check-others        with mtools, util-linux, libblockdev, systemd in front'
	@echo 'make check-boot          boots a kernel with a damaged volume, pulls the plug (qemu)'
	@echo 'make fuzz                fuzz targets (needs clang); FUZZ_SECONDS=60, T=check for one'
	@echo 'make afl                 AFL++ on the programs; AFL_SECONDS=300, T=fsck-a for one'
	@echo 'make lint-deep           gcc -fanalyzer, cppcheck, clang-tidy (many minutes)'
	@echo 'make coverage            what the tests run of each room (needs gcovr)'
	@echo 'make mutate              which wrong lines the tests notice (hours)'
	@echo 'make install, uninstall  with DESTDIR, PREFIX and the folders in packaging/install.mk'
	@echo 'make install-dev         libfat.a, libfat.h, libfat.pc, libfat(3); uninstall-dev'
	@echo 'make dist                release tarball: build/fatwise-$(VERSION).tar.gz'
	@echo 'make deb                 Debian package fatwise, in place of dosfstools: build/deb'
	@echo 'make STATIC=1            programs that need no library, in build/release-static'
	@echo 'make man                 build the manual pages (needs scdoc)'
	@echo 'make clean               remove what was built'
	@echo 'BUILD=debug|asan|cov     another kind of build, in its own folder'
	@echo 'V=1                      show the commands'

-include $(shell find $(O) -name '*.d' 2>/dev/null)
