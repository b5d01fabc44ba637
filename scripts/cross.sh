#!/usr/bin/env bash
# Cross-compiled for aarch64; the unit and transport suites, and the core's spine, heap and allocator, run under qemu-user.
# Left out there: jobs under the launcher and tests that start and kill processes or stress threads, which qemu-user
# emulates in part and very slowly; those run natively in `make test`.
source "$(dirname "$0")/lib.sh"
begin cross
check "build (aarch64)" bash -c "source scripts/lib.sh; configure cross-aarch64 && build cross-aarch64"
[ "$checked" -ne 0 ] || check "C++ tests (aarch64, qemu)" --junit "$PWD/$results/ctest-aarch64.xml" \
    timeout 1500 ctest --preset cross-aarch64 -R '^(unit|transport)\.|^core\..*(Spine|Allocator|Heap)' -E '^unit\.(Tcp|UniqueId|Death|Abort|Launched)' --output-junit "$PWD/$results/ctest-aarch64.xml"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cross
