#!/usr/bin/env bash
# Tests that run long on purpose: programs of tests/soak, and pytest's marker `soak`.
source "$(dirname "$0")/lib.sh"
export ATOLL_TEST_SOAK_SECONDS=${ATOLL_TEST_SOAK_SECONDS:-600}
begin soak
check "ready environment" scripts/install.sh all
check "C++ soak" --junit "$PWD/$results/ctest-soak.xml" \
    ctest --test-dir build/release -C soak -L soak --no-tests=error --output-on-failure --output-junit "$PWD/$results/ctest-soak.xml"
if grep -rqs 'mark\.soak' tests --include='*.py'; then
    check "Python soak" --junit "$results/soak.xml" \
        "$python" -m pytest -q -m soak --timeout=0 --junit-xml="$results/soak.xml" tests
fi
closing soak
