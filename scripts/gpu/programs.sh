#!/usr/bin/env bash
# The GPU part in C++ on a machine with GPUs, from a bare checkout: builds, tests on all GPUs, measures.
#
#   gpu.sh programs [--no-build] [tests] [soak] [bench]   all three if none is named
#
# It needs nvcc, CMake, ninja and g++. GoogleTest, CLI11, nlohmann-json and UCX may be in the folder deps/ (a prefix
# made by `gpu.sh carry`). With --no-build it uses build/release as it is, or the programs that `gpu.sh carry --built`
# carried. Results: tests.log, soak.json, gpu.json. ATOLL_TEST_SOAK_SECONDS: 20 by default. COUNTS: the numbers of PEs
# for the test programs; 1, 2, 4 and one a GPU by default.
source "$(dirname "$0")/lib.sh"
build=yes
if [ "${1:-}" = --no-build ]; then build=no && shift; fi
parts programs "tests soak bench" "tests soak bench" "$@"
log_to tests.log

# All programs in C++ that use GPUs, with all types, for the GPUs of this machine.
build_here() {
    local capability
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .) || return 1
    cmake --preset release -DATOLL_PYTHON=OFF -DATOLL_WERROR=OFF -DATOLL_CUDA=ON -DATOLL_TEST_ALL_TYPES=ON -DCMAKE_PREFIX_PATH="$PWD/deps" \
        -DCMAKE_CUDA_COMPILER="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" \
        -DATOLL_CUDA_ARCHITECTURES="$capability" -DCMAKE_CUDA_ARCHITECTURES="$capability" &&
        cmake --build "$built" -j "$(nproc)" --target gpu_programs
}

# Each PE sees one GPU, different from its neighbour's, as if a scheduler bound the processes.
own_gpu='pe=$(cut -d: -f2 <<<"$ATOLL_LAUNCHED"); exec env CUDA_VISIBLE_DEVICES=$((pe % GPUS)) "$@"'

# Runs a program as two PEs with torchrun's variables, without our launcher.
as_torchrun() {
    local rank pids=() status=0
    for rank in 0 1; do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 timeout 120 "$@" &
        pids+=($!)
    done
    for rank in "${pids[@]}"; do wait "$rank" || status=1; done
    return "$status"
}

# with_env NAME=VALUE... N COMMAND...: a job of N PEs with these variables.
with_env() {
    local variables=()
    while [[ $1 == *=* ]]; do variables+=("$1") && shift; done
    (export "${variables[@]}" && job 120 "$@")
}
# far N HOSTS COMMAND...: runs a job on simulated hosts, between which UCX uses TCP.
far() { with_env ATOLL_TEST_GPU=1 UCX_TLS=tcp,self ATOLL_HOST_ID="$2" "$1" "${@:3}"; }
with_ucx() { "$built/bin/atoll" info | grep -q 'UCX [0-9]'; }

# ends STATUS WORDS ENVIRONMENT... MODE: tests that the job ends by itself, soon, with that status and an error with
# these words.
ends() {
    local status=0 wanted=$1 words=$2 mode=${*: -1} output
    shift 2
    output=$(without_mps env "${@:1:$#-1}" timeout 60 "$built/bin/atoll" run -n 2 --timeout 50 "$built/gpu/ends/kernel_ends" "$mode" 2>&1) ||
        status=$?
    printf '%s\nstatus %d\n' "$output" "$status"
    [ "$status" -eq "$wanted" ] && grep -q "$words" <<<"$output"
}

# Tests `dies`: the time from the kill to the end of the job, and that all of its GPU memory is free.
memory_used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | awk '{ sum += $1 } END { print sum }'; }
dies() {
    local before output killed ms
    before=$(memory_used)
    output=$(ends 137 'PE 1' ATOLL_INFO=0 dies) || { printf '%s\n' "$output"; return 1; }
    ms=$(date +%s%N)
    killed=$(sed -n 's/.*killed at //p' <<<"$output")
    ms=$(((ms - killed) / 1000000))
    printf '%s\nover %d ms after the kill; %d MiB of the GPUs were in use before, %d are\n' "$output" "$ms" "$before" "$(memory_used)"
    printf '{"side": "atoll", "op": "a PE is killed while kernels spin, until the job is over", "bytes": 0, "median_us": %d000}\n' \
        "$ms" >"$OUT/ends.rows"
    [ "$ms" -le 2000 ] && [ "$(memory_used)" -le "$before" ]
}

# Each kind of wait for a word that never changes: eight jobs at once.
waits_end() {
    local names name status=0
    names=$("$built/gpu/ends/kernel_ends" names) && [ -n "$names" ] || { echo "no wait was named: nothing is tested"; return 1; }
    export -f ends ends_in_vain without_mps
    export built
    xargs -P 8 -I{} bash -c 'ends_in_vain {}' <<<"$names" >"$OUT/waits" 2>&1 || status=1
    cat "$OUT/waits"
    rm -f "$OUT/waits"
    return "$status"
}
ends_in_vain() {
    local words=${1#stream_} bound=1   # by the name that the caller used
    case $words in
        bounded) words='signal_wait_until.*tag 7.*Give this wait more time' bound=0 ;;
        bounded_reduce) words='reduce, waiting for team PE 1, tag 8.*Give this wait more time' bound=0 ;;
        sync_relaxed) words=sync ;;
        large_*) words=${words#large_} ;;
        signed) words='wait_until at .*: found -1, waiting for == -2' ;;
        fraction) words='wait_until at .*: found -1.5, waiting for > 0.25' ;;
        grid_sync) words='sync of a grid' ;;
    esac
    local output status=0
    output=$(ends 1 "timed out in a kernel, in $words[ ,.]" ATOLL_WAIT_TIMEOUT=$bound "$1") || status=1
    printf '%s: %s\n%s\n' "$1" "$([ $status = 0 ] && echo ends || echo "DOES NOT END AS IT SHOULD")" "$output"
    return "$status"
}

# A kernel of NVSHMEM's functions before any allocation: ends with an assertion that reports it.
unfilled() {
    local output status=0
    output=$(without_mps timeout 60 "$built/bin/atoll" run -n 2 "$built/gpu/nvshmem/in_kernels" unfilled 2>&1) || status=$?
    printf '%s\nstatus %d\n' "$output" "$status"
    [ "$status" -eq 3 ] && grep -q 'this module does not know the job yet' <<<"$output"
}

no_such_gpu() {
    local output
    output=$(ATOLL_DEVICE=99 job 120 2 "$built/gpu/device_rma" 2>&1) && return 1
    grep -m 1 "ATOLL_DEVICE=99, but this process sees $GPUS GPU" <<<"$output"
}

test_all() {
    local program name n counts
    counts=${COUNTS:-$(printf '%s\n' 1 2 4 "$GPUS" | sort -nu)}
    [ -x "$built/gpu/device_rma" ] && [ -x "$built/examples/gpu/jacobi" ] ||
        try "programs in $built/gpu and $built/examples/gpu" false
    for program in "$built"/gpu/*; do
        [ -f "$program" ] || continue
        name=${program##*/}
        [ "$name" != soak ] || continue
        for n in $counts; do try "$name, $n PEs" job 120 "$n" "$program"; done
        try "$name, 2 PEs, each sees its own GPU" job 120 2 bash -c "$own_gpu" - "$program"
    done
    try "device_rma, 2 PEs as torchrun starts them" as_torchrun "$built/gpu/device_rma"
    try "device_rma, 3 PEs on one GPU" with_env ATOLL_DEVICE=0 3 \
        "$built/gpu/device_rma"
    try "device_rma, 2 PEs, nothing checked" with_env ATOLL_CHECK=none 2 \
        "$built/gpu/device_rma"
    try "device_rma, 2 PEs, transport loopback" with_env ATOLL_TRANSPORT=loopback 2 "$built/gpu/device_rma"
    # With three GPUs, the third PE has one of its own; with two, it is a block of the first PE's kernel.
    local litmus=$((GPUS < 2 ? 2 : GPUS < 4 ? GPUS : 4))
    try "messages between kernels, millions of rounds, $litmus PEs" with_env ATOLL_TEST_LITMUS_ROUNDS=1000000 ATOLL_CHECK=none "$litmus" "$built/gpu/word_kernels" --gtest_filter='*Overtake*:*News*'
    try "a GPU that is not there is named" no_such_gpu

    try "a kernel that waits too long says for what" ends 1 'signal_wait_until.*found 0.*>= 5.*tag 42' ATOLL_WAIT_TIMEOUT=1 waits
    try "so do thousands that wait, by one report" ends 1 'signal_wait_until.*found 0.*>= 5.*tag 42' ATOLL_WAIT_TIMEOUT=1 crowd
    try "each wait of kernels and streams is bounded" waits_end
    try "a PE that is none is refused by name" ends 1 'in put for team PE 2; the team has PEs 0 to 1' ATOLL_INFO=0 wrong
    try "an address that is not symmetric is refused" ends 1 'not symmetric.*in atomic_add at 0x.*symmetric memory is 0x' ATOLL_INFO=0 place
    try "a killed PE ends the job while a kernel spins" dies
    try "so does a PE that ends with a status" ends 3 'PE 1' ATOLL_INFO=0 leaves
    try "a PE that leaves ends the wait for it" ends 1 'PE 1 left the job without finalize.*signal_wait_until' ATOLL_INFO=0 goes
    try "so for a stream's collective" ends 1 'PE 1 left the job without finalize.*in sync' ATOLL_INFO=0 goes-from-stream
    try "a message of another size is said" ends 1 'another size.*found 8.*== 4' ATOLL_INFO=0 messages
    try "a collect without room is said" ends 1 'more bytes than its dst has.*in collect.*found 16.*<= 8' ATOLL_INFO=0 crammed
    if [ -x "$(command -v compute-sanitizer)" ]; then
        # Not the bulk copies: if one crosses from chunk to chunk of the heap, memcheck reports that it leaves its
        # allocation.
        for program in device_rma:DeviceForms.* device_kernels:DeviceKernels.Elements* word_kernels:*Atomic*:*Strided* \
            collective_kernels:*Parts* move_kernels:TileKernels.* move_kernels:*Whole* stream_collectives:*NumbersBegin*; do
            try "${program%%:*} under memcheck, 2 PEs" job 120 2 compute-sanitizer --tool memcheck --error-exitcode 9 \
                "$built/gpu/${program%%:*}" "--gtest_filter=${program#*:}"
        done
    fi
    # Without reports of kernels, which end the GPU context: tests/python_gpu/kernel_error.py has them.
    for n in $counts; do
        try "device_elements, $n PEs" with_env ATOLL_TEST_GPU=1 "$n" \
            "$built/multi/device_elements" "--gtest_filter=-*ReportedByTheKernel"
    done
    try "device_absent, 2 PEs" job 120 2 "$built/multi/device_absent"
    for n in $counts; do try "NVSHMEM's host functions, $n PEs" job 120 "$n" "$built/gpu/nvshmem/on_gpu"; done
    for n in $counts; do try "NVSHMEM's functions in kernels, $n PEs" job 120 "$n" "$built/gpu/nvshmem/in_kernels"; done
    for n in $counts; do try "NVSHMEM's tiles, $n PEs" job 120 "$n" "$built/gpu/nvshmem/tiles"; done
    for n in $counts; do try "NVSHMEM by NVRTC, $n PEs" job 120 "$n" "$built/gpu/nvshmem/runtime_compiled"; done
    try "a kernel of a module without state is refused" unfilled
    for n in $counts; do
        try "device_mailbox, $n PEs" with_env ATOLL_TEST_GPU=1 ATOLL_CHECK=all "$n" \
            "$built/multi/device_mailbox" "--gtest_filter=-*WithFunctionsOfKernels:FarDeviceMailbox.*" # of the simulated one
    done
    if with_ucx; then
        for name in device_elements device_far device_far_collectives; do
            try "$name, 2 PEs as two hosts" far 2 a,b "$built/multi/$name" "--gtest_filter=-*ReportedByTheKernel"
            [ "$GPUS" -lt 4 ] || try "$name, 4 PEs as two hosts" far 4 a,b,b,b "$built/multi/$name" "--gtest_filter=-*ReportedByTheKernel"
        done
        try "far_kernels, 2 PEs as two hosts" far 2 a,b "$built/gpu/far_kernels"
        try "far_kernels, 2 PEs, window not used" with_env ATOLL_TRANSPORT=ucx UCX_TLS=tcp,self 2 "$built/gpu/far_kernels"
        [ "$GPUS" -lt 4 ] || try "far_kernels, 4 PEs as two hosts" far 4 a,b,b,b "$built/gpu/far_kernels"
    else
        echo "skipped        device_elements, device_far, device_far_collectives: this library was built without UCX"
    fi
    for program in "$built"/examples/{gpu,porting}/*; do
        [ -f "$program" ] || continue
        for n in $counts; do try "example ${program##*/}, $n PEs" job 120 "$n" "$program"; done
    done
}

# Random operations: ATOLL_TEST_SOAK_SECONDS=400 once, before a release.
soak() {
    local seconds=${ATOLL_TEST_SOAK_SECONDS:-20} before=$failed
    try "random operations, 2 PEs, $seconds s" env ATOLL_TEST_SOAK_SECONDS="$seconds" timeout $((seconds + 60)) \
        "$built/bin/atoll" run -n 2 "$built/gpu/soak"
    printf '{"date": "%s", "seconds": %d, "rounds": %d, "gpus": %d, "failed": %d}\n' "$(date -I)" "$seconds" \
        "$(sed -n 's/.* \([0-9]*\) rounds in .*/\1/p;s/^\([0-9]*\) rounds in .*/\1/p' "$log" | tail -n 1)" "$GPUS" $((failed - before)) >"$OUT/soak.json"
}

# measure PES PROGRAM ARGUMENT...
measure() { job 120 "$1" "$built/bench/$2" "${@:3}"; }
# NVSHMEM in the same run, if its package is there and nvcc can link it.
peers() {
    bench/gpu/peers/build.sh /tmp nvshmem >"$OUT/peers.log" 2>&1 || return 0
    local pes ours=/tmp/atoll-nvshmem.h
    # The same source on Atoll's nvshmem.h.
    nvcc -std=c++17 -O3 -arch=native -DSIDE='"atoll nvshmem.h"' -I{include_nvshmem,api/generated/nvshmem/include,api/generated/include,include} \
        -I"$built/generated/include" -o "$ours" bench/gpu/peers/nvshmem.cu -L"$built/lib" -lnvshmem_host -latoll -lcuda >>"$OUT/peers.log" 2>&1 || true
    for pes in "$@"; do
        for program in /tmp/nvshmem "$ours"; do timeout 100 "$program" "$pes" 2>>"$OUT/peers.log" || true; done
    done
}
# Torch's symmetric memory, if torch is there.
torch_peer() {
    python3 -c 'import torch' 2>>"$OUT/peers.log" || return 0
    local rank pids=()
    for ((rank = 0; rank < $1; rank++)); do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29512 \
            timeout 100 python3 bench/gpu/peers/torch_symmetric.py 2>>"$OUT/peers.log" &
        pids+=($!)
    done
    wait "${pids[@]}" || true
}
# The rows of all measurements, and their origin.
write_json() {
    python3 - "$OUT" "$("$built/bin/atoll" --version)" "$passed" "$failed" "$partly" <<'PYTHON'
import datetime, json, os, pathlib, platform, subprocess, sys
sys.path.insert(0, "bench")
import schema
out = sys.argv[1]
query = "--query-gpu=name,driver_version,clocks.max.sm,memory.total"
gpus = subprocess.run(["nvidia-smi", query, "--format=csv,noheader"], capture_output=True, text=True).stdout
lines = [line[line.index("{"):] for line in open(f"{out}/rows") if "{" in line]
rows = [json.loads(line) for line in lines]
facts = {
    "date": datetime.date.today().isoformat(),
    "versions": {"atoll": sys.argv[2]},
    "machine": {"gpus": gpus.strip().splitlines(), "kernel": platform.release(), "cores": os.cpu_count()},
    "tests": dict(zip(("passed", "failed", "skipped_in_part"), map(int, sys.argv[3:]))),
    "rows": rows,
}
target = pathlib.Path(out, "gpu.json")
target.unlink(missing_ok=True)
schema.add("gpu", schema.convert("gpu", facts), target)
for row in rows:
    print(f"{row['side']:6} {row.get('pes', 2)} PEs  {row['op']:38} {row['bytes']:>10} B {row['median_us']:>12.3f} us "
          f"{row.get('gb_per_s', 0):>8.1f} GB/s")
PYTHON
}
measure_all() {
    local pes
    measure 2 gpu_put && measure 2 gpu_flag || return 1
    ! with_ucx || { far 2 a,b "$built/bench/gpu_far" && far 2 a,b "$built/bench/gpu_far_kernels"; } || return 1
    for pes in "$@"; do
        measure "$pes" gpu_team && measure "$pes" gpu_stream && measure "$pes" ../examples/gpu/jacobi times || return 1
    done
    peers "$@"
    for pes in "$@"; do torch_peer "$pes"; done
}
bench() {
    LIBNCCL=${LIBNCCL:-$(find / -name libnccl.so.2 -path '*nccl*' 2>/dev/null | head -n 1)}
    export LIBNCCL
    # Operations of more than two PEs also run on all GPUs.
    local counts=2
    [ "$GPUS" -le 2 ] || counts="2 $GPUS"
    if measure_all $counts >"$OUT/rows" 2>"$OUT/bench.err"; then
        [ ! -f "$OUT/ends.rows" ] || cat "$OUT/ends.rows" >>"$OUT/rows"
        write_json
    else
        failed=$((failed + 1))
        echo "FAILED  bench"
        tail -n 20 "$OUT/bench.err"
    fi
    rm -f "$OUT/rows" "$OUT/bench.err"
}

GPUS=$(nvidia-smi -L | wc -l)
export GPUS
nvidia-smi -L | sed 's/ (UUID.*//'
nvidia-smi topo -p2p r >>"$log" 2>&1
if [ "$build" = yes ]; then
    try "build" build_here
    [ "$failed" -eq 0 ] || exit 1
fi
export LD_LIBRARY_PATH="$PWD/$built/lib:$PWD/deps/lib/x86_64-linux-gnu"
mps_start || exit 1
! wanted tests || checked test_all
! wanted soak || soak
! wanted bench || bench
rm -f "$OUT/ends.rows"
closing
