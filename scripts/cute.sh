#!/usr/bin/env bash
# Kernels in NVIDIA's CuTe DSL, compiled for GPUs without needing one. Only this script installs CuTe DSL, a download of
# 100 MB.
#
#   cute.sh [ARGUMENTS OF PYTEST...]
source "$(dirname "$0")/lib.sh"
begin cute
check "ready environment" scripts/install.sh
scripts/setup.sh cute || true # without it the tests are skipped with the reason
check "kernels in CuTe DSL" --junit "$results/cute.xml" \
    limited "$python" -m pytest -q -rs -n "$jobs" tests/cute --junit-xml="$results/cute.xml" "$@"
grep -h '^SKIPPED' "$logs/kernels-in-CuTe-DSL.log" | sed 's/^/  /' | cut -c1-200 || true
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing cute
