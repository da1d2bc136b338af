#!/bin/sh
# SPDX-License-Identifier: MIT
# musl: another C library.
# shellcheck source=tests/builds/build.inc
. "$(dirname "$0")/build.inc"

build musl '' musl-gcc -idirafter /usr/include -idirafter "$headers"
done_testing
