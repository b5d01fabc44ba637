#!/usr/bin/env bash
# Cross-compiled for aarch64; the unit, transport, core and collective suites run under qemu-user. Jobs of processes under
# the launcher run natively in `make test`: qemu-user emulates what they need of the kernel in part, and very slowly.
source "$(dirname "$0")/lib.sh"
begin cross
check "build (aarch64)" bash -c "source scripts/lib.sh; configure cross-aarch64 && build cross-aarch64"
[ "$checked" -ne 0 ] || check "C++ tests (aarch64, qemu)" --junit "$PWD/$results/ctest-aarch64.xml" \
    limited ctest --preset cross-aarch64 -R '^(unit|transport|core|collective)\.' --output-junit "$PWD/$results/ctest-aarch64.xml"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cross
