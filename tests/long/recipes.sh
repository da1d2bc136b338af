#!/bin/sh
# SPDX-License-Identifier: MIT
# recipes: all volumes, those of `tier long` too.
exec "${O:-build/release}/tests/recipes/test_recipes" -l
