#!/bin/sh
# SPDX-License-Identifier: MIT
# s390x: a machine that stores the high byte first.
# shellcheck source=tests/builds/build.inc
. "$(dirname "$0")/build.inc"

build s390x 'qemu-s390x -L /usr/s390x-linux-gnu' s390x-linux-gnu-gcc-12
done_testing
