#!/usr/bin/env bash
# Kernels in Numba and Triton: compiled and run on CPUs, and compiled for GPUs without needing one. Each process
# compiles its own kernels for seconds, so these tests take as long as all others of Python together.
#
#   kernels.sh [ARGUMENTS OF PYTEST...]
source "$(dirname "$0")/lib.sh"
begin kernels
check "ready environment" scripts/install.sh
for compiler in triton numba-cuda; do
    scripts/setup.sh "$compiler" || true # without it its tests are skipped with the reason
done
check "kernels in Numba and Triton" --junit "$results/kernels.xml" \
    limited "$python" -m pytest -q -n "$workers" --dist loadfile --no-loadscope-reorder "${kernel_tests[@]}" --junit-xml="$results/kernels.xml" "$@"
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing kernels
