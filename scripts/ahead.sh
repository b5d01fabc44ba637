#!/usr/bin/env bash
# Works ahead for `make ci`: installs the environments of its parts, and compiles the programs for the sanitizers and for
# aarch64. It also runs clang-tidy, which keeps what passed.
source "$(dirname "$0")/lib.sh"
for environment in docs triton numba-cuda cute torch tidy; do
    scripts/setup.sh "$environment" || true # its part tries again, and says why it fails
done
for preset in asan tsan; do
    configure "$preset" && build "$preset" || true
done
build_cross || true
touch "$logs/cross-built"
{ configure tidy -DPython_EXECUTABLE="$PWD/$python" && "$python" scripts/tidy.py; } || true
