#!/bin/sh
# SPDX-License-Identifier: MIT
# asan: the unit tests, the recipes and the crash sample under ASan and UBSan.
# shellcheck source=tests/sanitize/kinds.inc
. "$(dirname "$0")/kinds.inc"

kinds "ASan, UBSan" "unit recipes crash" build/asan BUILD=asan
done_testing
