#!/bin/sh
# SPDX-License-Identifier: MIT
# crash: every volume of the recipes, cut at sampled writes. test_crash -a takes all writes: days.
exec "${O:-build/release}/tests/crash/test_crash" -s
