#!/usr/bin/env bash
# The C++ suites under the address and undefined-behaviour sanitizers, then under the thread sanitizer.
source "$(dirname "$0")/lib.sh"
begin sanitize
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
# Without LLVM's own program Clang's reports have addresses in place of names.
if command -v addr2line >/dev/null; then
    for options in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        export "$options=${!options}:external_symbolizer_path=$(command -v addr2line)"
    done
fi

scripts/setup.sh sanitizers || true # GCC's serve, too
for preset in asan tsan; do
    if is_late; then
        skip_late "$preset"
        continue
    fi
    check "build ($preset)" bash -c "source scripts/lib.sh; configure $preset && build $preset"
    [ "$checked" -eq 0 ] || continue
    cxx_tests "$preset"
done
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing sanitize
