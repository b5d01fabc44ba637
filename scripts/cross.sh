#!/usr/bin/env bash
# Cross-compiled for aarch64; the suites of the layers run under qemu-user. Jobs of processes under
# the launcher run natively in `make test`: qemu-user emulates what they need of the kernel in part, and very slowly.
source "$(dirname "$0")/lib.sh"
begin cross
check "build (aarch64)" bash -c "source scripts/lib.sh; build_cross"
[ "$checked" -ne 0 ] || check "C++ tests (aarch64, qemu)" --junit "$results/cxx-aarch64.xml" \
    limited python3 scripts/gtests.py --junit "$results/cxx-aarch64.xml" --jobs "$jobs" \
    --emulator "qemu-aarch64 -L /usr/aarch64-linux-gnu" "${cross_tests[@]/#/build/cross-aarch64/bin/}"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cross
