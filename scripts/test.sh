#!/usr/bin/env bash
# Runs everything that `make test` checks, whatever fails, and prints a summary at the end.
source "$(dirname "$0")/lib.sh"
begin test

check "ready environment" scripts/install.sh all
for compiler in triton numba-cuda; do
    scripts/setup.sh "$compiler" || true # without it its tests are skipped, and say so
done
[ "$checked" -ne 0 ] || cxx_tests release
# Whole files in several processes: much of a test is a wait for processes that start and end.
workers=${ATOLL_BUILD_TEST_WORKERS:-$((jobs < 8 ? jobs + 1 : 8))}
for folder in tests/python tests/cli tests/packaging tests/shmem tests/layout; do
    check "pytest ${folder#tests/}" --junit "$results/${folder##*/}.xml" \
        limited "$python" -m pytest -q -n "$workers" --dist loadfile "$folder" --junit-xml="$results/${folder##*/}.xml"
done
check "clang-format" scripts/format.sh --check
check "ruff" "$python" -m ruff check .
check "ruff format" "$python" -m ruff format --check .
check "mypy --strict" "$python" -m mypy
check "type stubs" scripts/stubs.sh --check
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing test
