#!/usr/bin/env bash
# Kernels in Python on a machine with GPUs: tests, examples, and speed compared with CUDA C++.
#
#   gpu.sh kernels [tests] [examples] [bench] [cute] [mlir]     the first three if none is named
#
# Bring what scripts/gpu/module.sh needs, and build/release/bench/kernels.cubin, the part of CUDA C++ in the benchmark.
# `cute`: the tests of CuTe DSL, if it is installed. Its part of the benchmark is compiled there, or brought as
# build/release/bench/cute (made on any machine by python bench/gpu/forms/in_cute.py build/release/bench/cute). `mlir`:
# the tests of Numba's kernels with numba-cuda-mlir, if it is installed. PES: numbers of PEs for tests and examples; 2
# and 4 by default.
source "$(dirname "$0")/lib.sh"
source scripts/gpu/module.sh
parts kernels "tests examples bench cute mlir" "tests examples bench" "$@"
log_to kernels.log
counts=${PES:-2 4}
export NUMBA_CACHE_DIR=/tmp/numba-cache NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0
python_module
mps_start || exit 1

# on N SECONDS NAME PROGRAM ARGUMENT...: tests a program in Python with N PEs.
on() { try "$3, $1 PEs" job "$2" "$1" python3 "${@:4}"; }

# reports WORDS COMMAND...: succeeds if the command fails and its output has these words.
reports() {
    local words=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    printf '%s\nstatus %d\n' "$output" "$status"
    [ "$status" -ne 0 ] && grep -q "$words" <<<"$output"
}

# ends LANGUAGE...: tests kernels that fail. Some wait for a word that never changes, with the job's bound and with
# their own, also in a collective and a message. Others name an invalid PE, or put to an ordinary array.
ends() {
    local mode kind words bound check
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
            export ATOLL_CHECK=$check ATOLL_WAIT_TIMEOUT=$bound
            try "how a kernel ends is reported, $mode$kind" reports "$words" without_mps job 35 2 \
                python3 tests/python/programs/kernel_ends.py "$mode$kind"
            unset ATOLL_CHECK ATOLL_WAIT_TIMEOUT
        done
    done
}

programs=tests/python/programs
# conformance LANGUAGE SECONDS N ARGUMENT...: tests the language's programs, which api/kernels.toml lists, with N PEs.
conformance() {
    local program listed='import json, sys
table = json.load(open("python/atoll/_kernels/operations.json"))
print(*[name for name in table["languages"][sys.argv[1]]["programs"] if name.endswith(".py")])'
    listed=$(python3 -c "$listed" "$1") || listed="the-list-of-$1"
    for program in $listed; do on "$3" "$2" "$1${4:+ $4}, $program" "$programs/$program" "${@:4}"; done
}
tests() {
    local n
    for n in $counts; do
        conformance cpp 60 "$n"
        conformance triton 90 "$n"
        on "$n" 90 "distributed arrays, Numba" $programs/distributed_kernels.py numba cuda
        on "$n" 90 "distributed arrays, Triton" $programs/distributed_kernels.py triton cuda
        conformance numba 120 "$n" cuda
        on "$n" 140 "numba by NVSHMEM4Py's names" $programs/nvshmem_numba.py cuda
        on "$n" 90 "Triton by NVSHMEM's bitcode" $programs/nvshmem_triton.py
    done
    ATOLL_COMPAT=nbshmem on 2 60 "numba by nbshmem's names" $programs/nbshmem_kernels.py cuda
    on 2 60 "numba, kept kernels" $programs/numba_kernels.py cuda
    on 2 60 "numba, kernels to keep" $programs/kept_kernels.py cuda first
    on 1 60 "numba, kernels kept for another number of PEs" $programs/kept_kernels.py cuda
    on 2 120 "graphs and torch.compile" tests/python_gpu/kernel_graphs.py
}
mlir() {
    conformance numba 300 2 mlir
    on 2 300 "numba-cuda-mlir by NVSHMEM4Py's names" $programs/nvshmem_numba.py cuda mlir
    on 2 60 "numba-cuda-mlir, kept kernels" $programs/numba_kernels.py mlir
}
cute() {
    conformance cute 150 2
    on 2 150 "CuTe DSL by NVSHMEM4Py's names" $programs/nvshmem_cute.py
    on 2 90 "CuTe DSL by NVSHMEM's bitcode" $programs/cute_bitcode.py
}

# Runs the examples; those in CuTe DSL only if it is installed.
examples() {
    local program n
    for program in examples/*kernels*/*.py; do
        [[ $program != *_cute/* ]] || wanted cute || continue
        for n in $counts; do on "$n" 60 "$(basename "$program")" "$program" cuda; done
    done
}

# Runs the programs of docs/from-nvshmem4py.md, except those that start without a launcher or by MPI. Programs in CuTe
# DSL run if it is installed.
documented() {
    local program name
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
            GLOO_SOCKET_IFNAME=lo try "$name" timeout 60 python3 -m torch.distributed.run --standalone --nproc-per-node 2 \
                "$program"
        else
            on 2 60 "$name" "$program"
        fi
    done
}

# The forms of one kernel alternate; all of them keep their compiled kernels.
bench() {
    local cute=$built/bench/cute measure=bench/gpu/kernels.py side sides
    [ -e "$cute/entries.json" ] || timeout 100 python3 bench/gpu/forms/in_cute.py "$cute" >>"$log" 2>&1
    for side in numba triton cupy; do on 2 60 "kernels in $side, compiled" "$measure" /dev/null "$side" --compile & done
    wait
    sides="cpp=$built/bench/kernels.cubin cupy numba triton"
    [ -e "$cute/entries.json" ] && sides="$sides cute=$cute"
    # shellcheck disable=SC2086
    on 2 150 "kernels in turns" "$measure" "$OUT/kernels.json" $sides
    python3 bench/tables.py add gpu_kernels "$OUT/kernels.json" --to "$OUT/gpu_kernels.json" || failed=$((failed + 1))
}

if wanted tests; then
    checked tests
    ends cuda triton
fi
if wanted mlir; then checked mlir; fi
if wanted cute; then
    checked cute
    ends cute
fi
if wanted examples; then examples; fi
if wanted examples || wanted cute; then checked documented; fi
if wanted bench; then bench; fi
closing
