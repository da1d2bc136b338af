# What is installed, and where. Each name is without DESTDIR; `uninstall` removes what the lists say.

PREFIX ?= /usr/local
EXEC_PREFIX ?= $(PREFIX)
SBINDIR ?= $(EXEC_PREFIX)/sbin
LIBDIR ?= $(EXEC_PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/fatwise
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
UDEVDIR ?= $(PREFIX)/lib/udev
DESTDIR ?=
INSTALL ?= install

ALIASES_mkfs.fat := mkdosfs mkfs.msdos mkfs.vfat
ALIASES_fsck.fat := dosfsck fsck.msdos fsck.vfat
ALIASES_fatlabel := dosfslabel
DOCS := README.md LICENSE CHANGELOG.md

# Completions are made from --help, so the built tools are run: a cross build sets RUN=qemu-arm or so.
RUN ?=
COMPLETIONS := $(foreach t,$(TOOLS),$(O)/completions/$(t) $(O)/completions/_$(t))
.PHONY: completions
completions: $(COMPLETIONS)
$(O)/completions/_%: $(O)/% packaging/completions/generate.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(RUN) $< --help 2>&1 | awk -v shell=zsh -v tool=$* -v aliases="$(ALIASES_$*)" \
		-f packaging/completions/generate.awk >$@.tmp && mv $@.tmp $@
$(O)/completions/%: $(O)/% packaging/completions/generate.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(RUN) $< --help 2>&1 | awk -v shell=bash -v tool=$* -v aliases="$(ALIASES_$*)" \
		-f packaging/completions/generate.awk >$@.tmp && mv $@.tmp $@

# SOURCE=TARGET for files, TEXT=TARGET for links.
man_target = $(MANDIR)/man$(lastword $(subst ., ,$(1)))/$(notdir $(1))
PROGRAM_FILES = $(foreach t,$(TOOLS),$(O)/$(t)=$(SBINDIR)/$(t))
DATA_FILES = $(foreach p,$(filter-out %.3,$(MAN_PAGES)),$(p)=$(call man_target,$(p))) \
	$(foreach t,$(TOOLS),$(O)/completions/$(t)=$(BASHCOMPDIR)/$(t)) \
	$(foreach t,$(TOOLS),$(O)/completions/_$(t)=$(ZSHCOMPDIR)/_$(t)) \
	packaging/udev/90-fatadvise.rules=$(UDEVDIR)/rules.d/90-fatadvise.rules \
	$(foreach d,$(DOCS),$(d)=$(DOCDIR)/$(d))
LINKS = $(foreach t,$(TOOLS),$(foreach a,$(ALIASES_$(t)),\
	$(t)=$(SBINDIR)/$(a) $(t).8=$(MANDIR)/man8/$(a).8 $(t)=$(BASHCOMPDIR)/$(a)))
DEV_FILES = $(O)/libfat.a=$(LIBDIR)/libfat.a lib/libfat.h=$(INCLUDEDIR)/libfat.h \
	$(foreach p,$(filter %.3,$(MAN_PAGES)),$(p)=$(call man_target,$(p)))

source = $(firstword $(subst =, ,$(1)))
target = $(DESTDIR)$(lastword $(subst =, ,$(1)))
install_files = $(Q)$(foreach f,$(2),$(INSTALL) -D -m $(1) $(call source,$(f)) $(call target,$(f)) &&) true
remove = $(Q)rm -f $(foreach f,$(1),$(call target,$(f)))
remove_folder = $(Q)[ ! -d $(DESTDIR)$(1) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(1)

# The files of a package are its own: with PREFIX=/usr the system's dosfstools must go first.
.PHONY: install uninstall
install: $(BINARIES) man completions
	$(Q)[ -n "$(DESTDIR)" ] || for f in $(SBINDIR)/mkfs.fat $(SBINDIR:/usr/%=/%)/mkfs.fat; do \
		if dpkg -S $$f >/dev/null 2>&1; then \
			echo "make: $$f belongs to a Debian package: remove that first," \
				"or install to another PREFIX" >&2; exit 1; fi; done
	$(call install_files,755,$(PROGRAM_FILES))
	$(call install_files,644,$(DATA_FILES))
	$(Q)$(foreach f,$(LINKS),ln -sf $(call source,$(f)) $(call target,$(f)) &&) true
	$(Q)$(INSTALL) -d $(DESTDIR)$(UDEVDIR)/hwdb.d

uninstall:
	$(call remove,$(PROGRAM_FILES) $(DATA_FILES) $(LINKS))
	$(call remove_folder,$(DOCDIR))
	$(call remove_folder,$(UDEVDIR)/hwdb.d)

# libfat for other programs: libfat(3).
.PHONY: install-dev uninstall-dev
install-dev: $(O)/libfat.a man
	$(call install_files,644,$(DEV_FILES))
	$(Q)$(INSTALL) -d $(DESTDIR)$(PKGCONFIGDIR)
	$(Q)sed $(foreach v,PREFIX EXEC_PREFIX LIBDIR INCLUDEDIR VERSION,-e 's|@$(v)@|$($(v))|') \
		packaging/libfat.pc.in >$(DESTDIR)$(PKGCONFIGDIR)/libfat.pc
	$(Q)chmod 644 $(DESTDIR)$(PKGCONFIGDIR)/libfat.pc

uninstall-dev:
	$(call remove,$(DEV_FILES) libfat.pc=$(PKGCONFIGDIR)/libfat.pc)
