#!/usr/bin/env bash
# Works ahead for `make ci`: fetches PyTorch, and compiles the programs for the sanitizers and for aarch64.
source "$(dirname "$0")/lib.sh"
scripts/setup.sh torch || true
for preset in asan tsan; do
    configure "$preset" && build "$preset" || true
done
build_cross || true
