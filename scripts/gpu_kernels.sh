#!/usr/bin/env bash
# Kernels in Python on a machine with GPUs: tests, examples, and speed compared with CUDA C++. gpu_python.sh makes the
# module for the Python there. Bring what that script needs, and build/release/bench/kernels.cubin, the part of CUDA C++
# in the benchmark. `cute`: the tests of CuTe DSL, if it is installed. Its part of the benchmark is compiled there, or
# brought as build/release/bench/cute (made on any machine by python bench/gpu/forms/in_cute.py
# build/release/bench/cute). `mlir`: the tests of Numba's kernels with numba-cuda-mlir, if it is installed.
#
#   gpu_kernels.sh [tests] [examples] [bench] [cute] [mlir]     the first three if none is named
#
# Results go to $OUT (build/results/gpu-kernels). On one GPU the PEs share it by MPS. PES: numbers of PEs for tests and
# examples; 2 and 4 by default.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gpu_mps.sh
export OUT=${OUT:-build/results/gpu-kernels} STAGE=${STAGE:-/tmp/atoll-python}
what=${*:-tests examples bench}
for word in $what; do
    case $word in tests | examples | bench | cute | mlir) ;; *) echo "gpu_kernels.sh: '$word' is not one of tests, examples, bench, cute, mlir"; exit 2 ;; esac
done
counts=${PES:-2 4}
failed=0
scripts/gpu_python.sh module || exit 1
export PYTHONPATH=$STAGE LD_LIBRARY_PATH=$STAGE/atoll/lib PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/tmp/numba-cache
export NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0
export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1

# say_how NAME SECONDS COMMAND...: prints a line, and the output of a failed command.
say_how() {
    local name=$1 seconds=$2 start=$SECONDS status=0 said
    shift 2
    said=$(timeout "$seconds" "$@" 2>&1) || status=$?
    printf '== %s (status %d)\n%s\n' "$name" "$status" "$said" >>"$OUT/kernels.log"
    if [ "$status" -eq 0 ]; then
        printf 'ok      %3d s  %s\n' $((SECONDS - start)) "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %3d s  %s (status %d)\n' $((SECONDS - start)) "$name" "$status"
        grep -v '^ *During\|^ *$' <<<"$said" | tail -n 22 | cut -c1-400 | sed 's/^/    | /'
    fi
}

# try NAME SECONDS PROGRAM...: the same, with $n PEs.
n=2
try() {
    local name=$1 seconds=$2
    shift 2
    say_how "$name, $n PEs" "$seconds" build/release/bin/atoll run -n "$n" --timeout $((seconds - 5)) "$@"
}

# ends LANGUAGE...: tests kernels that fail. Some wait for a word that never changes, with the job's bound and with
# their own, also in a collective and a message. Others name an invalid PE, or put to an ordinary array.
ends() {
    local mode kind said words bound check
    for mode in "$@"; do
        for kind in "" -bound -pe -place -collective-bound -message-bound; do
            bound=4 check=args
            case $kind in
                -pe) words='in put for team PE 7; the team has PEs 0 to 1.*The kernel beyond, 1 block of' ;;
                -place) check=all words='in put at 0x.*symmetric memory is 0x.*The kernel \(astray\|misplaced\), 1 block of' ;;
                -collective-bound) words='in \(reduce\|sync\).*tag 42.*The kernel alone, 1 block of' ;;
                -message-bound) words='in receive.*tag 42.*The kernel unanswered, 1 block of' ;;
                *) words='signal_wait_until.*found 0.*>= 5.*tag 42.*The kernel late, 1 block of' ;;
            esac
            [[ $kind == *-bound ]] && bound=0 words="${words/late/bounded}.*Give this wait more time"
            said=$(ATOLL_CHECK=$check ATOLL_WAIT_TIMEOUT=$bound without_mps timeout 40 build/release/bin/atoll run -n 2 --timeout 35 \
                python3 tests/python/programs/kernel_ends.py "$mode$kind" 2>&1) && failed=$((failed + 1))
            if grep -q "$words" <<<"$said"; then
                echo "ok             how a kernel ends is said, $mode$kind"
            else
                failed=$((failed + 1))
                printf 'FAILED         how a kernel ends, %s\n%s\n' "$mode$kind" "$(tail -n 12 <<<"$said" | cut -c1-400)"
            fi
        done
    done
}

chmod +x build/release/bin/* build/release/bench/* 2>/dev/null
mps_start || exit 1
if [[ $what == *tests* ]]; then
    export ATOLL_CHECK=all
    for n in $counts; do
        try "cupy" 60 python3 tests/python/programs/cupy_kernels.py
        try "triton" 90 python3 tests/python/programs/triton_kernels.py
        try "numba" 120 python3 tests/python/programs/numba_kernels.py cuda
    done
    n=2
    try "numba, kept kernels" 60 python3 tests/python/programs/numba_kernels.py cuda
    try "numba, kernels to keep" 60 python3 tests/python/programs/kept_kernels.py cuda first
    n=1 try "numba, kernels kept for another number of PEs" 60 python3 tests/python/programs/kept_kernels.py cuda
    n=2
    try "graphs and torch.compile" 120 python3 tests/python_gpu/kernel_graphs.py
    unset ATOLL_CHECK
    ends cuda triton
fi
if [[ $what == *mlir* ]]; then
    ATOLL_CHECK=all try "numba-cuda-mlir" 300 python3 tests/python/programs/numba_kernels.py mlir
    ATOLL_CHECK=all try "numba-cuda-mlir, kept kernels" 60 python3 tests/python/programs/numba_kernels.py mlir
fi
if [[ $what == *cute* ]]; then
    ATOLL_CHECK=all try "CuTe DSL" 150 python3 tests/python/programs/cute_kernels.py
    ATOLL_CHECK=all try "CuTe DSL, messages and collectives" 150 python3 tests/python/programs/cute_collectives.py
    ends cute
fi
if [[ $what == *examples* ]]; then
    for program in examples/*kernels*/*.py; do
        [[ $program == *_cute/* && $what != *cute* ]] && continue # where CuTe DSL is installed
        for n in $counts; do try "$(basename "$program")" 60 python3 "$program" cuda; done
    done
    n=2
fi
if [[ $what == *examples* || $what == *cute* ]]; then
    # The programs of docs/from-nvshmem4py.md, except those that start without a launcher or by MPI's. Those in CuTe DSL
    # if it is installed.
    python3 - "$STAGE" $what <<'PYTHON'
import pathlib, sys
sys.path.insert(0, "tests/python")
from ported import PROGRAMS, STARTED_BY
for name, code in PROGRAMS.items():
    how = STARTED_BY[name]
    if how in ("atoll", "torchrun") and ("cute" if "cutlass" in code else "examples") in sys.argv:
        (pathlib.Path(sys.argv[1]) / f"documented_{how}_{name}").write_text(code)
PYTHON
    for program in "$STAGE"/documented_*.py; do
        name=$(basename "$program")
        if [[ $name == documented_torchrun_* ]]; then
            GLOO_SOCKET_IFNAME=lo ATOLL_CHECK=all say_how "$name" 60 python3 -m torch.distributed.run --standalone --nproc-per-node 2 "$program"
        else
            ATOLL_CHECK=all try "$name" 60 python3 "$program"
        fi
    done
fi
if [[ $what == *bench* ]]; then
    cute=build/release/bench/cute
    [ -e "$cute/entries.json" ] || timeout 100 python3 bench/gpu/forms/in_cute.py "$cute" >>"$OUT/kernels.log" 2>&1
    measure=bench/gpu/kernels.py
    for side in numba triton cupy; do try "kernels in $side, compiled" 60 python3 "$measure" /dev/null "$side" --compile & done
    wait # all of them keep what they compiled
    sides="cpp=build/release/bench/kernels.cubin cupy numba triton"
    [ -e "$cute/entries.json" ] && sides="$sides cute=$cute"
    # shellcheck disable=SC2086
    try "kernels in turns" 150 python3 "$measure" "$OUT/kernels.json" $sides
    python3 bench/tables.py add gpu_kernels "$OUT/kernels.json" --to "$OUT/gpu_kernels.json"
fi
echo "$failed failed"
[ "$failed" -eq 0 ]
