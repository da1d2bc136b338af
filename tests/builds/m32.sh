#!/bin/sh
# SPDX-License-Identifier: MIT
# m32: a machine of 32 bits.
# shellcheck source=tests/builds/build.inc
. "$(dirname "$0")/build.inc"

build m32 qemu-i386 gcc -m32 -idirafter "$headers"
done_testing
