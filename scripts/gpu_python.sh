#!/usr/bin/env bash
# Python's GPU part on a machine with GPUs: the module for the Python there, tests, host overhead. Libraries and
# launcher are built on another machine: bring build/release/bin/atoll, build/release/lib and
# build/release/bench/gpu_enqueue. This machine needs g++, NumPy, nanobind, and those of CuPy, PyTorch and Numba that
# are to be tested. On one GPU the PEs share it by MPS. PES: numbers of PEs for the tests that accept any; 1, 2 and 4 by
# default.
#
#   gpu_python.sh [tests] [bench]   both if neither is named; results go to $OUT (build/results/gpu-python)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gpu_mps.sh
out=${OUT:-build/results/gpu-python}
mkdir -p "$out"
stage=${STAGE:-/tmp/atoll-python}
what=${*:-tests bench}
for word in $what; do
    case $word in tests | bench | module) ;; *) echo "gpu_python.sh: '$word' is not one of tests, bench, module"; exit 2 ;; esac
done
failed=0

build() {
    local objects=$stage/objects include suffix
    mkdir -p "$stage/atoll/lib" "$objects"
    cp -r python/atoll/. "$stage/atoll/"
    cp build/release/lib/libatoll*.so* "$stage/atoll/lib/"
    cp -r include "$stage/atoll/"
    include=$(python3 -c '
import nanobind, numpy, sysconfig
from pathlib import Path
nb = Path(nanobind.include_dir())
robin = [p.parent.parent for p in nb.parent.rglob("robin_map.h")]
folders = [sysconfig.get_path("include"), numpy.get_include(), nb, *robin]
print(*(f"-isystem {folder}" for folder in folders))')
    suffix=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    local source
    source=$(python3 -c 'import nanobind; print(nanobind.source_dir())')/nb_combined.cpp
    local flags="-std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden -fno-stack-protector -Iinclude -Isrc -Ibuild/release/generated/include
        -DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION -DNPY_TARGET_VERSION=NPY_2_0_API_VERSION -DNB_COMPACT_ASSERTIONS $include"
    # shellcheck disable=SC2086
    printf '%s\n' python/src/*.cpp "$source" | xargs -P "$(nproc)" -I{} sh -c \
        'g++ '"$(echo $flags)"' -w -fno-strict-aliasing -c "{}" -o "$1/$(basename "{}").o"' - "$objects" || return 1
    g++ -shared -o "$stage/atoll/_atoll$suffix" "$objects"/*.o -L"$stage/atoll/lib" -latoll -Wl,-rpath,'$ORIGIN/lib'
}

# try NAME COMMAND...: prints a line, and the output of a failed command.
try() {
    local name=$1 start=$SECONDS status=0 said
    shift
    said=$("$@" 2>&1) || status=$?
    printf '== %s (status %d)\n%s\n' "$name" "$status" "$said" >>"$out/python.log"
    if [ "$status" -eq 0 ]; then
        printf 'ok      %3d s  %s\n' $((SECONDS - start)) "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %3d s  %s (status %d)\n' $((SECONDS - start)) "$name" "$status"
        tail -n 25 <<<"$said" | cut -c1-600 | sed 's/^/    | /'
    fi
}

export PYTHONPATH=$stage LD_LIBRARY_PATH=$stage/atoll/lib PYTHONUNBUFFERED=1
export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
chmod +x build/release/bin/* build/release/bench/* 2>/dev/null
run() { timeout 100 build/release/bin/atoll run -n "$1" --timeout 90 "${@:2}"; }
if [ ! -e "$stage/atoll/built" ]; then
    try "module for $(python3 --version)" build
    [ "$failed" -eq 0 ] || exit 1
    touch "$stage/atoll/built"
fi
# numba-cuda 0.30 uses a name that NumPy 2.5 has removed.
cat >"$stage/sitecustomize.py" <<'PYTHON'
import numpy
if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
PYTHON
[[ $what == module ]] || mps_start || exit 1
if [[ $what == *tests* ]]; then
    for n in ${PES:-1 2 4}; do
        try "device.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device.py --real
        try "device.py on streams, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device.py --real --streams
        try "device_mailbox.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device_mailbox.py --real
        try "device_elements.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device_elements.py --real
        try "device_waits.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device_waits.py --real
        try "device_collectives.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/device_collectives.py --real
        try "far_views.py, $n PEs" env ATOLL_CHECK=all timeout 100 build/release/bin/atoll run -n "$n" --timeout 90 \
            python3 tests/python/programs/far_views.py cuda --real
    done
    for program in tests/python_gpu/*.py; do
        [[ $(basename "$program") == test_* ]] && continue
        try "$(basename "$program"), 2 PEs" env ATOLL_CHECK=all timeout 150 build/release/bin/atoll run -n 2 --timeout 140 \
            python3 "$program"
    done
    for mode in torch many wrong_pe wrong_index; do
        try "kernel_error.py $mode, 2 PEs" without_mps timeout 60 build/release/bin/atoll run -n 2 --timeout 50 \
            python3 tests/python_gpu/kernel_error.py "$mode"
    done
    try "kernel_error.py wrong_place, 2 PEs" without_mps timeout 60 env ATOLL_CHECK=all build/release/bin/atoll run -n 2 --timeout 50 \
        python3 tests/python_gpu/kernel_error.py wrong_place
    for when in after late; do
        try "import_order.py $when, 2 PEs" timeout 60 build/release/bin/atoll run -n 2 --timeout 50 \
            python3 tests/python_gpu/import_order.py "$when"
    done
    for library in cupy torch; do
        try "heat.py $library, 2 PEs" timeout 100 build/release/bin/atoll run -n 2 --timeout 90 \
            python3 examples/10_heat/heat.py "$library"
    done
    try "NVTX ranges, 1 PE" env ATOLL_NVTX=1 timeout 60 build/release/bin/atoll run -n 1 --timeout 50 \
        python3 examples/10_heat/heat.py cupy
fi
if [[ $what == *bench* ]]; then
    { run 2 build/release/bench/gpu_enqueue && run 2 python3 bench/gpu/enqueue.py --nccl &&
        run 2 build/release/bench/gpu_enqueue; } >"$out/rows" 2>"$out/bench.err" ||
        { failed=$((failed + 1)); echo "FAILED  bench"; tail -n 20 "$out/bench.err"; }
    cat "$out/rows"
    python3 bench/tables.py add gpu_enqueue "$out/rows" --to "$out/gpu_enqueue.json" || failed=$((failed + 1))
fi
echo "$failed failed"
[ "$failed" -eq 0 ]
