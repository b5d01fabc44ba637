#!/usr/bin/env bash
# The GPU part on a machine with GPUs: tests, then measurements. It builds nothing there, so that such a machine needs no
# GoogleTest or CLI11: build here, and carry scripts/, build/release/bin/atoll, build/release/lib, build/release/gpu,
# build/release/examples/gpu and build/release/bench, and bench/gpu/peers. Results go to $OUT (build/results/gpu): tests.log, gpu.json.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-build/results/gpu}
built=build/release
mkdir -p "$out"
log=$out/tests.log
: >"$log"
passed=0 failed=0 skipped=0

# try NAME COMMAND...: one line each; what a failing one said.
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

# Each PE sees one GPU, another than its neighbour: how schedulers bind processes.
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

GPUS=$(nvidia-smi -L | wc -l)
export GPUS ATOLL_CHECK=all LD_LIBRARY_PATH="$PWD/$built/lib"
nvidia-smi -L | sed 's/ (UUID.*//'
nvidia-smi topo -p2p r >>"$log" 2>&1
for program in "$built"/gpu/*; do
    [ -f "$program" ] || continue
    name=${program##*/}
    for n in 1 2 4; do
        try "$name, $n PEs" timeout 150 "$built/bin/atoll" run -n "$n" --timeout 120 "$program"
    done
    try "$name, 2 PEs, each sees its own GPU" \
        timeout 150 "$built/bin/atoll" run -n 2 --timeout 120 bash -c "$own_gpu" - "$program"
done
try "device_rma, 2 PEs as torchrun starts them" as_torchrun "$built/gpu/device_rma"
try "device_rma, 3 PEs on one GPU" env ATOLL_DEVICE=0 timeout 150 "$built/bin/atoll" run -n 3 --timeout 120 \
    "$built/gpu/device_rma"
try "device_rma, 2 PEs, nothing checked" env ATOLL_CHECK=none timeout 150 "$built/bin/atoll" run -n 2 --timeout 120 \
    "$built/gpu/device_rma"
try "device_rma, 2 PEs, transport loopback" env ATOLL_TRANSPORT=loopback timeout 150 "$built/bin/atoll" run -n 2 \
    --timeout 120 "$built/gpu/device_rma"
try "messages between kernels, a million rounds a way" env ATOLL_TEST_LITMUS_ROUNDS=1000000 ATOLL_CHECK=none timeout 150 \
    "$built/bin/atoll" run -n 2 --timeout 120 "$built/gpu/word_kernels" --gtest_filter='*Overtake*'

# ends STATUS WORDS ENVIRONMENT... MODE: the job ends by itself, soon, with that status, and says so.
ends() {
    local status=0 wanted=$1 words=$2 mode=${*: -1} said
    shift 2
    said=$(env "${@:1:$#-1}" timeout 30 "$built/bin/atoll" run -n 2 --timeout 25 "$built/gpu/ends/kernel_ends" "$mode" 2>&1) ||
        status=$?
    printf '%s\nstatus %d\n' "$said" "$status"
    [ "$status" -eq "$wanted" ] && grep -q "$words" <<<"$said"
}
try "a kernel that waits too long says for what" ends 1 'signal_wait_until.*found 0.*>= 5.*tag 42' ATOLL_WAIT_TIMEOUT=1 waits
try "so do thousands that wait, by one report" ends 1 'signal_wait_until.*found 0.*>= 5.*tag 42' ATOLL_WAIT_TIMEOUT=1 crowd
try "a PE that is none is refused by name" ends 1 'in put for team PE 2; the team has PEs 0 to 1' ATOLL_INFO=0 wrong
try "a killed PE ends the job while a kernel spins" ends 137 'PE 1' ATOLL_INFO=0 dies
try "so does a PE that ends with a status" ends 3 'PE 1' ATOLL_INFO=0 leaves
try "a PE that leaves ends the wait for it" ends 1 'PE 1 left the job without finalize.*signal_wait_until' ATOLL_INFO=0 goes
try "so for a stream's collective" ends 1 'PE 1 left the job without finalize.*a collective' ATOLL_INFO=0 goes-from-stream
try "a message of another size is said" ends 1 'another size.*found 8.*== 4' ATOLL_INFO=0 messages
if [ -x "$(command -v compute-sanitizer)" ]; then
    # Not the bulk copies: of one that crosses from chunk to chunk of the heap, memcheck says that it leaves its allocation.
    for program in device_rma:DeviceForms.* device_kernels:DeviceKernels.Elements* word_kernels:*Atomic*:*Strided* \
        collective_kernels:*Parts* move_kernels:TileKernels.* move_kernels:*Whole*; do
        try "${program%%:*} under memcheck, 2 PEs" timeout 150 "$built/bin/atoll" run -n 2 --timeout 120 compute-sanitizer \
            --tool memcheck --error-exitcode 9 "$built/gpu/${program%%:*}" "--gtest_filter=${program#*:}"
    done
fi
try "device_absent, 2 PEs" timeout 60 "$built/bin/atoll" run -n 2 --timeout 50 "$built/multi/device_absent"

for program in "$built"/examples/gpu/*; do
    for n in 1 2 4; do
        try "example ${program##*/}, $n PEs" timeout 100 "$built/bin/atoll" run -n "$n" --timeout 90 "$program"
    done
done

unset ATOLL_CHECK
# Random operations: ATOLL_TEST_SOAK_SECONDS=400 once, before a release.
soak_seconds=${ATOLL_TEST_SOAK_SECONDS:-20}
try "random operations, 2 PEs, $soak_seconds s" env ATOLL_TEST_SOAK_SECONDS="$soak_seconds" timeout $((soak_seconds + 60)) \
    "$built/bin/atoll" run -n 2 "$built/gpu/soak"
measure() { timeout 150 "$built/bin/atoll" run -n 2 --timeout 120 "$built/bench/$1" "${@:2}"; }
# NVSHMEM in the same run, where its package is and nvcc can link it. Without multicast, as NCCL below: a program that
# uses it can put the host's GPUs out of service.
peers() {
    bench/gpu/peers/build.sh /tmp nvshmem >"$out/peers.log" 2>&1 && NVSHMEM_DISABLE_NVLS=1 timeout 100 /tmp/nvshmem 2>>"$out/peers.log"
    return 0
}
# Torch's symmetric memory, where torch is; never by multicast.
torch_peer() {
    python3 -c 'import torch' 2>>"$out/peers.log" || return 0
    local rank pids=()
    for rank in 0 1; do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29512 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 \
            timeout 100 python3 bench/gpu/peers/torch_symmetric.py 2>>"$out/peers.log" &
        pids+=($!)
    done
    wait "${pids[@]}" || true
}
LIBNCCL=${LIBNCCL:-$(find / -name libnccl.so.2 -path '*nccl*' 2>/dev/null | head -n 1)}
export LIBNCCL NCCL_NVLS_ENABLE=0
if { measure gpu_put && measure gpu_flag && measure gpu_team && measure gpu_stream &&
    measure ../examples/gpu/jacobi times && peers && torch_peer; } >"$out/rows" 2>"$out/bench.err"; then
    python3 - "$out" "$("$built/bin/atoll" --version)" "$passed" "$failed" "$skipped" <<'PYTHON'
import datetime, json, os, platform, subprocess, sys
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
with open(f"{out}/gpu.json", "w") as file:
    json.dump(facts, file, indent=1)
    file.write("\n")
for row in rows:
    print(f"{row['side']:6} {row['op']:38} {row['bytes']:>10} B {row['median_us']:>12.3f} us "
          f"{row.get('gb_per_s', 0):>8.1f} GB/s")
PYTHON
else
    failed=$((failed + 1))
    echo "FAILED  bench"
    tail -n 20 "$out/bench.err"
fi
rm -f "$out/rows" "$out/bench.err"
echo "$passed passed, $failed failed, $skipped skipped in part"
[ "$failed" -eq 0 ]
