#!/usr/bin/env bash
# Cross-compiled for aarch64, the C++ suites run under qemu-user. Left out there: jobs under the launcher (label multi: it
# starts PEs with vfork and watches them by ways that qemu-user emulates in part) and the tests that start and kill
# processes; those run natively in `make test`.
source "$(dirname "$0")/lib.sh"
begin cross
check "build (aarch64)" bash -c "source scripts/lib.sh; configure cross-aarch64 && build cross-aarch64"
[ "$checked" -ne 0 ] || check "C++ tests (aarch64, qemu)" --junit "$PWD/$results/ctest-aarch64.xml" \
    timeout 1500 ctest --preset cross-aarch64 -LE multi -E '^unit\.(Tcp|UniqueId|Death|Abort|Launched)' --output-junit "$PWD/$results/ctest-aarch64.xml"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cross
