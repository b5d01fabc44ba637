#!/usr/bin/env bash
# The backend of torch.distributed on GPUs, on a machine with GPUs and PyTorch.
#
#   gpu.sh torch [tests] [bench]   both if neither is named
#
# Bring what scripts/gpu/module.sh needs, and build/release/lib/libatoll_cuda.so. The backend's module is compiled here,
# once, in a minute. RANKS: numbers of ranks for the tests; 2 and 4 by default. CASES: names of cases; all by default.
source "$(dirname "$0")/lib.sh"
source scripts/gpu/module.sh
parts torch "tests bench" "tests bench" "$@"
log_to torch.log
python_module
# The entry point by which PyTorch finds the backend.
cp -r python/_atoll_torch "$STAGE/"
mkdir -p "$STAGE/atoll-0.dist-info"
printf 'Metadata-Version: 2.1\nName: atoll\nVersion: 0\n' >"$STAGE/atoll-0.dist-info/METADATA"
printf '[torch.backends]\natoll = _atoll_torch:register\n' >"$STAGE/atoll-0.dist-info/entry_points.txt"
export ATOLL_TORCH_CACHE=${ATOLL_TORCH_CACHE:-/tmp/atoll-torch} GLOO_SOCKET_IFNAME=lo NCCL_SOCKET_IFNAME=lo
try "module for PyTorch" python3 -c 'import atoll._c10d as c10d, torch; c10d.module(); print(torch.__version__)'
[ "$failed" -eq 0 ] || exit 1
mps_start || exit 1

# shown COMMAND...: copies the output to the terminal.
exec 3>&1
shown() { "$@" 2>&1 | tee /dev/fd/3; }

if wanted tests; then
    for n in ${RANKS:-2 4}; do
        # The output is shown while cases run, so that the last step of a case that hangs is known.
        # shellcheck disable=SC2086
        try "tests/torch/gpu.py, $n ranks" shown timeout 280 python3 tests/torch/gpu.py --ranks "$n" ${CASES:-}
    done
fi
if wanted bench; then
    timeout 200 python3 bench/gpu/torch_nccl.py --ranks 2 2>"$OUT/bench.err" | tee "$OUT/torch_nccl.txt"
    [ "${PIPESTATUS[0]}" -eq 0 ] || { failed=$((failed + 1)); echo "FAILED  bench"; tail -n 30 "$OUT/bench.err"; }
fi
closing
