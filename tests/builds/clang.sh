#!/bin/sh
# SPDX-License-Identifier: MIT
# clang: clang.
# shellcheck source=tests/builds/build.inc
. "$(dirname "$0")/build.inc"

build clang '' clang
done_testing
