#!/bin/sh
# SPDX-License-Identifier: MIT
# failures: in the repair of every volume of the recipes, calls and allocations that fail.
exec "${O:-build/release}/tests/crash/test_crash" -s :failures
