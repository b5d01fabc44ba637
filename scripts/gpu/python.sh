#!/usr/bin/env bash
# Python's GPU part on a machine with GPUs: the module for the Python there, tests, host overhead.
#
#   gpu.sh python [tests] [bench]   both if neither is named
#
# Bring what scripts/gpu/module.sh needs, and build/release/bench/gpu_enqueue. Those of CuPy, PyTorch and Numba that are
# to be tested must be installed. PES: numbers of PEs for the tests that accept any; 1, 2 and 4 by default.
source "$(dirname "$0")/lib.sh"
source scripts/gpu/module.sh
parts python "tests bench" "tests bench" "$@"
log_to python.log
python_module
mps_start || exit 1

# of_any_number NAME PROGRAM ARGUMENT...: runs a test program with each number of PEs.
of_any_number() {
    local n
    for n in ${PES:-1 2 4}; do try "$1, $n PEs" job 90 "$n" python3 "${@:2}"; done
}

if wanted tests; then
    export ATOLL_CHECK=all
    programs=tests/python/programs
    of_any_number "device.py on streams" $programs/device.py --real --streams
    for program in device device_mailbox device_elements device_waits device_collectives; do
        of_any_number "$program.py" "$programs/$program.py" --real
    done
    of_any_number "far_views.py" $programs/far_views.py cuda --real
    for program in tests/python_gpu/*.py; do
        [[ $(basename "$program") == test_* ]] || try "$(basename "$program"), 2 PEs" job 200 2 python3 "$program"
    done
    try "traces of kernels" python3 tests/python_gpu/test_kernel_traces.py
    try "dist_arrays.py, 4 PEs" job 200 4 python3 tests/python_gpu/dist_arrays.py
    try "kernel_error.py wrong_address, 2 PEs" without_mps job 50 2 python3 tests/python_gpu/kernel_error.py wrong_address
    unset ATOLL_CHECK
    for mode in torch many wrong_pe wrong_index; do
        try "kernel_error.py $mode, 2 PEs" without_mps job 50 2 python3 tests/python_gpu/kernel_error.py "$mode"
    done
    for when in after late; do
        try "import_order.py $when, 2 PEs" job 50 2 python3 tests/python_gpu/import_order.py "$when"
    done
    for library in cupy torch; do
        try "heat.py $library, 2 PEs" job 90 2 python3 examples/10_heat/heat.py "$library"
    done
    for program in examples/porting/*.py; do
        try "$program, 2 PEs" env ATOLL_COMPAT=nvshmem,nccl timeout 100 "$built/bin/atoll" run -n 2 python3 "$program"
    done
    export ATOLL_NVTX=1
    try "NVTX ranges, 1 PE" job 50 1 python3 examples/10_heat/heat.py cupy
    unset ATOLL_NVTX
fi
if wanted bench; then
    { job 90 2 "$built/bench/gpu_enqueue" && job 90 2 python3 bench/gpu/enqueue.py --nccl &&
        job 90 2 "$built/bench/gpu_enqueue"; } >"$OUT/rows" 2>"$OUT/bench.err" ||
        { failed=$((failed + 1)); echo "FAILED  bench"; tail -n 20 "$OUT/bench.err"; }
    cat "$OUT/rows"
    try "dist_arrays.py beside its calls, 2 PEs" job 200 2 python3 bench/gpu/dist_arrays.py
    grep '"ratio"' "$log" | tail -n 40
    python3 bench/tables.py add gpu_enqueue "$OUT/rows" --to "$OUT/gpu_enqueue.json" || failed=$((failed + 1))
fi
closing
