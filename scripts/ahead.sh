#!/usr/bin/env bash
# Works ahead for `make ci`: fetches PyTorch, compiles the programs for the sanitizers and for aarch64, and fills the
# cache of clang-tidy. It compiles once the release build exists, since that one takes all cores.
source "$(dirname "$0")/lib.sh"
scripts/setup.sh torch || true
until [ -e .venv/atoll.fingerprint ] && [ -x build/release/bin/core_tests ]; do sleep 2; done
for preset in asan tsan; do configure "$preset" && build "$preset" || true; done
configure tidy -DPython_EXECUTABLE="$PWD/$python" && "$python" scripts/tidy.py || true
build_cross || true
