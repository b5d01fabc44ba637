#!/usr/bin/env bash
# The GPU part on a machine with GPUs, from a bare checkout: builds, tests on all GPUs, measures.
#
#   gpu_test.sh [--no-build] [tests] [soak] [bench]   all three if none is named
#
# It needs nvcc, CMake, ninja and g++. GoogleTest, CLI11, nlohmann-json and UCX may be in the folder deps/ (a prefix
# made by scripts/gpu_carry.sh). With --no-build it uses build/release as it is, or the programs that `gpu_carry.sh
# --built` carried. Results go to $OUT (build/results/gpu): tests.log, soak.json, gpu.json. ATOLL_TEST_SOAK_SECONDS: 20
# by default. COUNTS: the numbers of PEs for the test programs; 1, 2, 4 and one a GPU by default. On one GPU they share
# it by MPS.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/gpu_mps.sh
out=${OUT:-build/results/gpu}
built=build/release
build=yes what=
for word in "$@"; do
    if [ "$word" = --no-build ]; then build=no; else what="$what $word"; fi
done
what=${what:-tests soak bench}
for word in $what; do
    case $word in tests | soak | bench) ;; *) echo "gpu_test.sh: '$word' is not one of tests, soak, bench"; exit 2 ;; esac
done
mkdir -p "$out"
log=$out/tests.log
: >"$log"
passed=0 failed=0 skipped=0

# try NAME COMMAND...: prints a line, and the output of a failed command.
try() {
    local name=$1 start=$SECONDS status=0 said
    shift
    said=$("$@" 2>&1) || status=$?
    printf '== %s (status %d, %d s)\n%s\n' "$name" "$status" $((SECONDS - start)) "$said" >>"$log"
    if [ "$status" -eq 0 ] && grep -q 'PEs that share a GPU' <<<"$said"; then
        skipped=$((skipped + 1))
        printf 'skipped %3d s  %s: in part, for PEs that share a GPU\n' $((SECONDS - start)) "$name"
    elif [ "$status" -eq 0 ] && ! grep -q 'SKIPPED ' <<<"$said"; then
        passed=$((passed + 1))
        printf 'ok      %3d s  %s\n' $((SECONDS - start)) "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %3d s  %s (status %d)\n' $((SECONDS - start)) "$name" "$status"
        tail -n 40 <<<"$said" | sed 's/^/    | /'
    fi
}

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

# Two PEs as torchrun starts them, without our launcher.
as_torchrun() {
    local rank pids=() status=0
    for rank in 0 1; do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 timeout 120 "$@" &
        pids+=($!)
    done
    for rank in "${pids[@]}"; do wait "$rank" || status=1; done
    return "$status"
}

# job N COMMAND...: runs a job of N PEs, for at most JOB_SECONDS (120).
job() { timeout 150 "$built/bin/atoll" run -n "$1" --timeout "${JOB_SECONDS:-120}" "${@:2}"; }

# far N HOSTS COMMAND...: runs a job on simulated hosts, between which UCX uses TCP.
far() {
    ATOLL_TEST_GPU=1 UCX_TLS=tcp,self ATOLL_HOST_ID=$2 timeout 150 "$built/bin/atoll" run -n "$1" --timeout 120 "${@:3}"
}
with_ucx() { "$built/bin/atoll" info | grep -q 'UCX [0-9]'; }

# ends STATUS WORDS ENVIRONMENT... MODE: tests that the job ends by itself, soon, with that status and an error with
# these words.
ends() {
    local status=0 wanted=$1 words=$2 mode=${*: -1} said
    shift 2
    said=$(without_mps env "${@:1:$#-1}" timeout 60 "$built/bin/atoll" run -n 2 --timeout 50 "$built/gpu/ends/kernel_ends" "$mode" 2>&1) ||
        status=$?
    printf '%s\nstatus %d\n' "$said" "$status"
    [ "$status" -eq "$wanted" ] && grep -q "$words" <<<"$said"
}

# Tests `dies`: the time from the kill to the end of the job, and that all of its GPU memory is free.
memory_used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | awk '{ sum += $1 } END { print sum }'; }
dies() {
    local before said killed ms
    before=$(memory_used)
    said=$(ends 137 'PE 1' ATOLL_INFO=0 dies) || { printf '%s\n' "$said"; return 1; }
    ms=$(date +%s%N)
    killed=$(sed -n 's/.*killed at //p' <<<"$said")
    ms=$(((ms - killed) / 1000000))
    printf '%s\nover %d ms after the kill; %d MiB of the GPUs were in use before, %d are\n' "$said" "$ms" "$before" "$(memory_used)"
    printf '{"side": "atoll", "op": "a PE is killed while kernels spin, until the job is over", "bytes": 0, "median_us": %d000}\n' \
        "$ms" >"$out/ends.rows"
    [ "$ms" -le 2000 ] && [ "$(memory_used)" -le "$before" ]
}

# Each kind of wait for a word that never changes: eight jobs at once.
waits_end() {
    local names name status=0
    names=$("$built/gpu/ends/kernel_ends" names) && [ -n "$names" ] || { echo "no wait was named: nothing is tested"; return 1; }
    export -f ends ends_in_vain without_mps
    export built
    xargs -P 8 -I{} bash -c 'ends_in_vain {}' <<<"$names" >"$out/waits" 2>&1 || status=1
    cat "$out/waits"
    rm -f "$out/waits"
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
    local said status=0
    said=$(ends 1 "timed out in a kernel, in $words[ ,.]" ATOLL_WAIT_TIMEOUT=$bound "$1") || status=1
    printf '%s: %s\n%s\n' "$1" "$([ $status = 0 ] && echo ends || echo "DOES NOT END AS IT SHOULD")" "$said"
    return "$status"
}

no_such_gpu() {
    local said
    said=$(ATOLL_DEVICE=99 job 2 "$built/gpu/device_rma" 2>&1) && return 1
    grep -m 1 "ATOLL_DEVICE=99, but this process sees $GPUS GPU" <<<"$said"
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
        for n in $counts; do try "$name, $n PEs" job "$n" "$program"; done
        try "$name, 2 PEs, each sees its own GPU" job 2 bash -c "$own_gpu" - "$program"
    done
    try "device_rma, 2 PEs as torchrun starts them" as_torchrun "$built/gpu/device_rma"
    try "device_rma, 3 PEs on one GPU" env ATOLL_DEVICE=0 timeout 150 "$built/bin/atoll" run -n 3 --timeout 120 \
        "$built/gpu/device_rma"
    try "device_rma, 2 PEs, nothing checked" env ATOLL_CHECK=none timeout 150 "$built/bin/atoll" run -n 2 --timeout 120 \
        "$built/gpu/device_rma"
    try "device_rma, 2 PEs, transport loopback" env ATOLL_TRANSPORT=loopback timeout 150 "$built/bin/atoll" run -n 2 \
        --timeout 120 "$built/gpu/device_rma"
    # With three GPUs, the third PE has one of its own; with two, it is a block of the first PE's kernel.
    local litmus=$((GPUS < 2 ? 2 : GPUS < 4 ? GPUS : 4))
    try "messages between kernels, millions of rounds, $litmus PEs" env ATOLL_TEST_LITMUS_ROUNDS=1000000 ATOLL_CHECK=none timeout 150 \
        "$built/bin/atoll" run -n "$litmus" --timeout 120 "$built/gpu/word_kernels" --gtest_filter='*Overtake*:*News*'
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
            try "${program%%:*} under memcheck, 2 PEs" job 2 compute-sanitizer --tool memcheck --error-exitcode 9 \
                "$built/gpu/${program%%:*}" "--gtest_filter=${program#*:}"
        done
    fi
    # Without reports of kernels, which end the GPU context: tests/python_gpu/kernel_error.py has them.
    for n in $counts; do
        try "device_elements, $n PEs" env ATOLL_TEST_GPU=1 timeout 150 "$built/bin/atoll" run -n "$n" --timeout 120 \
            "$built/multi/device_elements" "--gtest_filter=-*ReportedByTheKernel"
    done
    try "device_absent, 2 PEs" job 2 "$built/multi/device_absent"
    for n in $counts; do
        try "device_mailbox, $n PEs" env ATOLL_TEST_GPU=1 ATOLL_CHECK=all timeout 150 "$built/bin/atoll" run -n "$n" --timeout 120 \
            "$built/multi/device_mailbox" "--gtest_filter=-*WithFunctionsOfKernels:FarDeviceMailbox.*" # of the simulated one
    done
    if with_ucx; then
        for name in device_elements device_far device_far_collectives; do
            try "$name, 2 PEs as two hosts" far 2 a,b "$built/multi/$name" "--gtest_filter=-*ReportedByTheKernel"
            [ "$GPUS" -lt 4 ] || try "$name, 4 PEs as two hosts" far 4 a,b,b,b "$built/multi/$name" "--gtest_filter=-*ReportedByTheKernel"
        done
        try "far_kernels, 2 PEs as two hosts" far 2 a,b "$built/gpu/far_kernels"
        try "far_kernels, 2 PEs, window not used" env ATOLL_TRANSPORT=ucx UCX_TLS=tcp,self timeout 150 "$built/bin/atoll" run -n 2 \
            --timeout 120 "$built/gpu/far_kernels"
        [ "$GPUS" -lt 4 ] || try "far_kernels, 4 PEs as two hosts" far 4 a,b,b,b "$built/gpu/far_kernels"
    else
        echo "skipped        device_elements, device_far, device_far_collectives: this library was built without UCX"
    fi
    for program in "$built"/examples/gpu/*; do
        [ -f "$program" ] || continue
        for n in $counts; do try "example ${program##*/}, $n PEs" job "$n" "$program"; done
    done
}

# Random operations: ATOLL_TEST_SOAK_SECONDS=400 once, before a release.
soak() {
    local seconds=${ATOLL_TEST_SOAK_SECONDS:-20} before=$failed
    try "random operations, 2 PEs, $seconds s" env ATOLL_TEST_SOAK_SECONDS="$seconds" timeout $((seconds + 60)) \
        "$built/bin/atoll" run -n 2 "$built/gpu/soak"
    printf '{"date": "%s", "seconds": %d, "rounds": %d, "gpus": %d, "failed": %d}\n' "$(date -I)" "$seconds" \
        "$(sed -n 's/.* \([0-9]*\) rounds in .*/\1/p;s/^\([0-9]*\) rounds in .*/\1/p' "$log" | tail -n 1)" "$GPUS" $((failed - before)) >"$out/soak.json"
}

# measure PES PROGRAM ARGUMENT...
measure() { timeout 150 "$built/bin/atoll" run -n "$1" --timeout 120 "$built/bench/$2" "${@:3}"; }
# NVSHMEM in the same run, if its package is there and nvcc can link it. Without multicast, like NCCL below: a program
# that uses it can put the host's GPUs out of service.
peers() {
    bench/gpu/peers/build.sh /tmp nvshmem >"$out/peers.log" 2>&1 || return 0
    local pes
    for pes in "$@"; do NVSHMEM_DISABLE_NVLS=1 timeout 100 /tmp/nvshmem "$pes" 2>>"$out/peers.log" || true; done
}
# Torch's symmetric memory, if torch is there; never by multicast.
torch_peer() {
    python3 -c 'import torch' 2>>"$out/peers.log" || return 0
    local rank pids=()
    for ((rank = 0; rank < $1; rank++)); do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29512 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 \
            timeout 100 python3 bench/gpu/peers/torch_symmetric.py 2>>"$out/peers.log" &
        pids+=($!)
    done
    wait "${pids[@]}" || true
}
# The rows of all measurements, and their origin.
write_json() {
    python3 - "$out" "$("$built/bin/atoll" --version)" "$passed" "$failed" "$skipped" <<'PYTHON'
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
    export LIBNCCL NCCL_NVLS_ENABLE=0
    # Operations of more than two PEs also run on all GPUs.
    local counts=2
    [ "$GPUS" -le 2 ] || counts="2 $GPUS"
    if measure_all $counts >"$out/rows" 2>"$out/bench.err"; then
        [ ! -f "$out/ends.rows" ] || cat "$out/ends.rows" >>"$out/rows"
        write_json
    else
        failed=$((failed + 1))
        echo "FAILED  bench"
        tail -n 20 "$out/bench.err"
    fi
    rm -f "$out/rows" "$out/bench.err"
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
case $what in *tests*) ATOLL_CHECK=all && export ATOLL_CHECK && test_all && unset ATOLL_CHECK ;; esac
case $what in *soak*) soak ;; esac
case $what in *bench*) bench ;; esac
rm -f "$out/ends.rows"
echo "$passed passed, $failed failed, $skipped skipped in part"
[ "$failed" -eq 0 ] || exit 1
case $what in *tests* | *soak*) [ "$passed" -gt 0 ] || { echo "no check passed: nothing was tested"; exit 1; } ;; esac
