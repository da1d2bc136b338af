#!/bin/sh
# SPDX-License-Identifier: MIT
# patches: $PATCHES (100,000) random patches of a volume at each width.
exec "${O:-build/release}/tests/recipes/test_patches" 0 "${PATCHES:-100000}"
