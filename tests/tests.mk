# Tests. Everything is found by its name, in kinds, that is folders; some kinds belong to `make
# check`, the slow ones only to `make check-full`:
#   tests/KIND/test_*.c   a cmocka program; the other .c files of all kinds are its library
#   tests/KIND/*_main.c   a program to be used by hand, linked likewise
#   tests/KIND/*.bats     the command line, with bats
#   tests/KIND/*.sh       any other program that prints TAP (executable)
# FULL_KINDS and LONG_KINDS below name those of the other tiers. Each is run with FATWISE_BIN (folder of the built tools), O and CC in the environment.

# Long ones first, so that the two jobs end at about the same time.
ALL_KINDS := diff sim cli recipes crash unit lint
KINDS ?= $(ALL_KINDS)
# One more than there are processors: some of them wait.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 1) + 1)))

TEST_SRC := $(foreach k,$(KINDS),$(wildcard tests/$(k)/test_*.c))
TEST_BIN := $(TEST_SRC:%.c=$(O)/%)
HAND_SRC := $(foreach k,$(ALL_KINDS),$(wildcard tests/$(k)/*_main.c))
HAND_BIN := $(HAND_SRC:%_main.c=$(O)/%)
HELP_SRC := $(filter-out $(HAND_SRC) $(foreach k,$(ALL_KINDS),$(wildcard tests/$(k)/test_*.c)), \
	$(foreach k,$(ALL_KINDS),$(wildcard tests/$(k)/*.c)))
HELP_OBJ := $(HELP_SRC:%.c=$(O)/%.o)
SCRIPTS := $(foreach k,$(KINDS),$(sort $(wildcard tests/$(k)/*.bats tests/$(k)/*.sh)))

# What the tests share: an archive, so that only what needs cmocka is linked with it.
CMOCKA_LIBS ?= -lcmocka
TEST_ARCHIVE := $(O)/libtests.a
$(TEST_ARCHIVE): $(HELP_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(TEST_SRC:%.c=$(O)/%.o) $(HAND_SRC:%.c=$(O)/%.o) $(HELP_OBJ): CPPFLAGS += -I.
link_test = $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(TEST_ARCHIVE) $(ARCHIVES) \
	-Wl,--end-group $(HOST_LIBS) $(CMOCKA_LIBS) -lm
$(TEST_BIN): $(O)/%: $(O)/%.o $(TEST_ARCHIVE) $(ARCHIVES)
	$(call say,LD,$@)
	$(Q)$(link_test)
$(HAND_BIN): $(O)/%: $(O)/%_main.o $(TEST_ARCHIVE) $(ARCHIVES)
	$(call say,LD,$@)
	$(Q)$(link_test)

# Allocations of what these test can be made to fail (tests/crash/malloc_fail.c).
$(filter $(O)/tests/crash/%,$(TEST_BIN) $(HAND_BIN)): LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# And calls, of one.
$(O)/tests/crash/test_mkfs_failures: LDFLAGS += \
	-Wl,--wrap=open64,--wrap=fopen64,--wrap=pread64,--wrap=pwrite64,--wrap=fsync

# What builds the tests does so on all processors, unless make was told how many jobs to run.
MAKE_TESTS = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS)) run-tests

# The packages first, in a make of its own: what is installed changes what this one has looked for.
.PHONY: check test run-tests
check test:
	$(Q)CC="$(CC)" tests/packages check
	$(Q)$(MAKE_TESTS)

# `make check KINDS=unit` runs one kind, `make check T=tests/cli/mkfs.bats` one program.
# A test that calls make is no part of this one's jobs.
run-tests: all $(TEST_BIN) $(HAND_BIN)
	$(Q)MAKEFLAGS='$(filter-out -j% --jobserver%,$(MAKEFLAGS))' O=$(O) CC="$(CC)" JOBS=$(JOBS) \
		FATWISE_BIN="$(CURDIR)/$(O)" tests/run $(or $(T),$(TEST_BIN) $(SCRIPTS))

# What .ci/run does, 25 minutes at most on two processors: the samples of `make check` whole (FATWISE_FULL);
# besides, what is slow, callers and boot scripts, other compilers, sanitizers, foreign judges, fuzzing for
# a minute, packages, a kernel. What has not begun when FULL_BUDGET seconds are over is skipped.
FULL_KINDS := cli/slow system others foreign sanitize boot builds pack fuzz
FULL_BUDGET ?= 1080
.PHONY: check-full
check-full:
	$(Q)CC="$(CC)" tests/packages full
	$(Q)TEST_TIMEOUT=900 TEST_BUDGET=$(FULL_BUDGET) FATWISE_FULL=1 FUZZ_SECONDS=60 FUZZ_SEED=1 $(MAKE_TESTS) \
		KINDS="$(ALL_KINDS) $(FULL_KINDS)"

# By hand, before a release; hours. Every recipe before foreign judges and under sanitizers, cuts at
# sampled writes of every volume, random patches by the hundred thousand, fuzzing for half an hour a target.
LONG_KINDS := long foreign sanitize builds fuzz
.PHONY: check-long
check-long:
	$(Q)CC="$(CC)" tests/packages full
	$(Q)TEST_TIMEOUT=86400 FATWISE_FULL=1 FOREIGN=all SANITIZE=all BUILDS=all FUZZ_SECONDS=1800 $(MAKE_TESTS) \
		KINDS="$(LONG_KINDS)"

# Cuts at every write of every recipe: days.
.PHONY: check-crash
check-crash: $(O)/tests/crash/test_crash $(O)/tests/recipes/test_recipes
	$(Q)$(O)/tests/recipes/test_recipes -l >$(O)/recipes.tap || { grep -v '^ok' $(O)/recipes.tap; exit 1; }
	$(Q)$(O)/tests/crash/test_crash -a >$(O)/crash.tap || { grep -v '^ok' $(O)/crash.tap; exit 1; }
	$(Q)tail -n 1 $(O)/crash.tap

# mkfs.fat against dosfstools 4.2 on 3,000 random cases; as root also on loop devices.
# `make diff DIFF_SEED=7` draws other ones.
DIFF_N ?= 3000
DIFF_SEED ?= 20261130
.PHONY: diff
diff: all $(O)/tests/diff/test_mkfs
	$(Q)FATWISE_BIN="$(CURDIR)/$(O)" MKFS_DIFF_CASES=$(DIFF_N) MKFS_DIFF_SEED=$(DIFF_SEED) \
		$(O)/tests/diff/test_mkfs >$(O)/diff.tap
	$(Q)grep '^#' $(O)/diff.tap; ! grep '^not ok' $(O)/diff.tap

# What leaves the tree, as a distribution takes it: tarball, static build, Debian package (debhelper,
# lintian, debootstrap, the network; as root). Programs of others beside ours; a booted kernel (qemu).
# Each skips what cannot be had here, and says so.
.PHONY: check-pack check-others check-boot
check-pack check-others check-boot: check-%:
	$(Q)CC="$(CC)" tests/packages full
	$(Q)TEST_TIMEOUT=3600 $(MAKE_TESTS) KINDS=$* JOBS=1

# What the tests of `make check`, and calls and allocations that fail in every volume's repair, run of each
# room's lines and branches. `make coverage` (an hour).
.PHONY: coverage
coverage:
	$(Q)rm -rf build/cov
	$(Q)TEST_TIMEOUT=3600 $(MAKE_TESTS) BUILD=cov
	$(Q)FATWISE_FULL=1 $(MAKE_TESTS) BUILD=cov T=build/cov/tests/crash/test_mkfs_failures
	$(Q)TEST_TIMEOUT=3600 $(MAKE_TESTS) BUILD=cov T=tests/long/failures.sh
	$(Q)tests/coverage/report.sh

# One line changed at a time: does a test notice? `make mutate MUTANTS=60 MUTATE_SEED=1`; hours.
MUTANTS ?= 60
MUTATE_SEED ?= 1
.PHONY: mutate
mutate:
	$(Q)nice tests/mutate/mutate.py $(MUTANTS) $(MUTATE_SEED)

# Analyzers. clang-analyzer-* is what scan-build runs.
LINT_DEEP := $(wildcard lib/*.c lib/*/*.c mkfs/*.c fsck/*.c label/*.c advisor/*.c)
.PHONY: lint-deep
lint-deep: compile_commands.json
	$(Q)tests/lint/analyze $(LINT_DEEP)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability,performance \
		--inline-suppr --suppress=missingIncludeSystem -D_GNU_SOURCE $(HOST_CPPFLAGS) \
		-Ilib -Ilib/cli -Ilib/host $(LINT_DEEP)
	$(Q)clang-tidy --quiet -p . --warnings-as-errors='*' \
		--checks='-*,bugprone-*,clang-analyzer-*,cert-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-cert-err33-c,-clang-analyzer-valist.Uninitialized,-bugprone-assignment-in-if-condition' \
		$(LINT_DEEP)

# Measurements against the peer, in one run; by hand, never part of a check. `make perf P=mkfs`: one.
PERF_BIN := $(O)/tests/perf/generate $(O)/tests/perf/measure $(O)/tests/perf/metadata
$(PERF_BIN): $(O)/tests/perf/%: $(O)/tests/perf/%.o $(O)/libfat.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^

.PHONY: perf
perf: all $(PERF_BIN)
	$(Q)for s in tests/perf/$(or $(P),*).sh; do O=$(O) FATWISE_BIN="$(CURDIR)/$(O)" "$$s" || exit 1; done

# Fuzzing with clang's libFuzzer: `make fuzz FUZZ_SECONDS=60`, T=boot for one target. Finds stay in
# build/fuzz; each becomes a test.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_FLAGS := -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
# What they are about, and of the recipes' library the builder, the strict reader and the layers.
FUZZED := $(wildcard lib/*.c lib/cli/*.c lib/host/*.c) $(filter-out %main.c,$(wildcard fsck/*.c \
	mkfs/*.c advisor/*.c label/*.c)) $(filter-out $(FUZZ_SRC),$(wildcard tests/fuzz/*.c)) \
	$(filter-out %_main.c tests/recipes/test_%.c tests/crash/test_%.c, \
	$(wildcard tests/recipes/*.c tests/crash/*.c))
FUZZ_OBJ := $(FUZZED:%.c=build/fuzz/%.o) $(FUZZ_SRC:%.c=build/fuzz/%.o)
$(FUZZ_OBJ): build/fuzz/%.o: %.c
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -I. $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
build/fuzz/libfuzzed.a: $(FUZZED:%.c=build/fuzz/%.o)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^
$(FUZZ_BIN): build/fuzz/%: build/fuzz/tests/fuzz/%.o build/fuzz/libfuzzed.a
	$(call say,FUZZLD,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -Wl,--wrap=malloc,--wrap=calloc,--wrap=free -o $@ $^ -lm
-include $(FUZZ_OBJ:.o=.d)

# AFL++ on the programs, `make afl AFL_SECONDS=300`, T=fsck-a for one command line.
.PHONY: afl
afl:
	$(Q)tests/fuzz/afl $(T)

.PHONY: fuzz fuzz-build
fuzz-build: $(if $(T),build/fuzz/fuzz_$(T),$(FUZZ_BIN))
fuzz:
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh $(T)
