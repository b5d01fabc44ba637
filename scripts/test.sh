#!/usr/bin/env bash
# Runs everything that `make test` checks, whatever fails, and prints a summary at the end. Whole files of Python tests
# run in several processes.
source "$(dirname "$0")/lib.sh"
begin test

check "ready environment" scripts/install.sh all
[ "$checked" -ne 0 ] || cxx_tests release
# One run of pytest, whose processes take file after file. The files that take longest come first.
slowest=(shmem/test_shmem4py python/test_{programs,device,pytest_plugin,arrays,examples,stream_differences,terrain,typing}
    layout/test_layout shmem/test_headers)
slowest=("${slowest[@]/#/tests/}")
check "pytest" --junit "$results/pytest.xml" \
    limited "$python" -m pytest -q -n "$workers" --dist loadfile --no-loadscope-reorder "${slowest[@]/%/.py}" \
    tests/{python,shmem,packaging,layout,cli} "${kernel_tests[@]/#/--ignore=}" "${page_tests[@]/#/--ignore=}" --junit-xml="$results/pytest.xml"
check "clang-format" scripts/format.sh --check
check "ruff" "$python" -m ruff check .
check "ruff format" "$python" -m ruff format --check .
check "mypy --strict" "$python" -m mypy
check "type stubs" scripts/stubs.sh --check
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing test
