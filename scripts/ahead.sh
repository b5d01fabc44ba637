#!/usr/bin/env bash
# Works ahead for `make ci`: compiles the programs for the sanitizers and for aarch64.
source "$(dirname "$0")/lib.sh"
for preset in asan tsan; do
    configure "$preset" && build "$preset" || true
done
build_cross || true
