#!/usr/bin/env bash
# Cross-compiled for aarch64, the C++ suites run under qemu-user.
source "$(dirname "$0")/lib.sh"
begin cross
check "build (aarch64)" bash -c "source scripts/lib.sh; configure cross-aarch64 && build cross-aarch64"
[ "$checked" -ne 0 ] || check "C++ tests (aarch64, qemu)" --junit "$PWD/$results/ctest-aarch64.xml" \
    timeout 1500 ctest --preset cross-aarch64 --output-junit "$PWD/$results/ctest-aarch64.xml"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cross
