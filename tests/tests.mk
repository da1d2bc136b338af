# Tests: every test program prints TAP; tests/run adds them up.

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(UNIT_SRC))

$(O)/tests/unit/test_%: $(O)/tests/unit/test_%.o $(ARCHIVES)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(ARCHIVES) -Wl,--end-group \
		$(HOST_LIBS) -lcmocka -lm

.PHONY: check
check: all $(UNIT_BIN)
	$(Q)O=$(O) CC="$(CC)" tests/run $(UNIT_BIN)
