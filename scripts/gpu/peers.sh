#!/usr/bin/env bash
# Python on GPUs compared with NVSHMEM4Py, NCCL4Py and torch.distributed (bench/gpu/peers.py), on a machine with GPUs.
# It runs with 1 PE, then with 2 if there are as many GPUs. Two PEs on one GPU would take turns of 2 ms, and only those
# would be measured. Bring what scripts/gpu/module.sh needs, and in $WHL (.whl) the peers that the machine lacks. These are
# nvshmem4py_cu13 0.3.1 with cffi and pycparser, any versions of nccl4py (the newest that works is used), and
# nvshmem-*.tar.xz. `gpu.sh carry-peers` makes that last file, the NVSHMEM for them. A failure is a line of the output;
# the rest goes on.
#
#   gpu.sh peers            ends within $LIMIT (235) seconds
#   gpu.sh carry-peers      makes $WHL; needs PyPI
source "$(dirname "$0")/lib.sh"
source scripts/gpu/module.sh
whl=${WHL:-.whl}

# carry: packs NVSHMEM as its headers and two libraries with the kernels for sm_90 only: 5 MB instead of 70.
carry() {
    local work get=(python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12
        --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64)
    work=$(mktemp -d)
    mkdir -p "$whl"
    "${get[@]}" -d "$whl" nvshmem4py-cu13==0.3.1 cffi pycparser || return 1
    for version in 0.6.0 0.4.1 0.2.0; do "${get[@]}" -d "$whl" nccl4py==$version || return 1; done
    "${get[@]}" -d "$work" nvidia-nvshmem-cu13==3.6.5 || return 1
    python3 scripts/gpu/thin_nvshmem.py "$work"/nvidia_nvshmem*.whl "$work/nvshmem" || return 1
    tar -C "$work" -cJf "$whl/nvshmem-3.6.5-sm_90.tar.xz" nvshmem
    rm -r "$work"
    du -sh "$whl"
}
if [ "${1:-}" = carry ]; then
    carry
    exit
fi

log_to peers.log
limit=${LIMIT:-235}
peers=/tmp/atoll-peers
python_module

# install FOLDER WHEEL
install() {
    python3 -m pip install -q --no-deps --no-index --disable-pip-version-check --target "$@" >>"$log" 2>&1 ||
        python3 -m zipfile -e "$2" "$1" >>"$log" 2>&1
}
rm -rf "$peers"
mkdir -p "$peers/nvshmem4py"
for wheel in "$whl"/nvshmem4py*.whl "$whl"/cffi*.whl "$whl"/pycparser*.whl; do
    [ -e "$wheel" ] && { install "$peers/nvshmem4py" "$wheel" || echo "not installed: $wheel"; }
done
for wheel in "$whl"/nccl4py*.whl; do
    [ -e "$wheel" ] || continue
    version=$(basename "$wheel" | cut -d- -f2)
    install "$peers/nccl4py-$version" "$wheel" || echo "not installed: $wheel"
done
for archive in "$whl"/nvshmem-*.tar.xz; do
    [ -e "$archive" ] && tar -C "$peers" -xJf "$archive" && export PEERS_NVSHMEM=$peers/nvshmem
done

export NVSHMEM_REMOTE_TRANSPORT=none NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=lo NVSHMEM_SYMMETRIC_SIZE=256M NCCL_SOCKET_IFNAME=lo
export GLOO_SOCKET_IFNAME=lo NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0
[ -n "${CUDA_HOME:-}" ] || CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
export CUDA_HOME
paths=$STAGE:$peers/nvshmem4py

# peers_py SECONDS PES ARGUMENT...: runs within the remaining time.
peers_py() {
    local seconds=$1 n=$2 left=$((limit - SECONDS))
    shift 2
    [ "$left" -gt 12 ] || { echo "no time left"; return 124; }
    [ "$seconds" -lt "$left" ] || seconds=$left
    timeout -k 3 "$seconds" "$built/bin/atoll" run -n "$n" --timeout $((seconds - 5)) python3 bench/gpu/peers.py "$@"
}

# trial NAME PEER PES PATHS: tests whether a peer works, and reports why not. A peer that crashes or hangs does so here.
trial() {
    local output=$OUT/trial-$1-$3 status=0
    PYTHONPATH=$4 peers_py 45 "$3" --only "$2" --try --no-kernels trial >"$output" 2>&1 || status=$?
    printf '== trial of %s, %d PEs (status %d)\n' "$1" "$3" "$status" >>"$log"
    cat "$output" >>"$log"
    [ "$status" -eq 0 ] && return
    { grep -ao 'not there: .*' "$output" || grep -aE 'Error|error|rror:|signal' "$output" || tail -n 1 "$output"; } | tail -n 1 |
        cut -c1-300 >"$output.failed"
    [ -s "$output.failed" ] || echo "ended with status $status" >"$output.failed"
}

measure() {
    local n=$1 skips=() with=$paths version name status=0
    rm -f "$OUT"/trial-*-"$n"*
    trial nvshmem4py nvshmem4py "$n" "$paths" &
    trial torch torch "$n" "$paths" &
    for version in "$peers"/nccl4py-*; do
        [ -e "$version" ] && { trial "$(basename "$version")" nccl4py "$n" "$paths:$version" & }
    done
    wait
    for name in nvshmem4py torch; do
        [ -e "$OUT/trial-$name-$n.failed" ] && skips+=(--skip "$name=$(cat "$OUT/trial-$name-$n.failed")")
    done
    local taken=
    for version in $(printf '%s\n' "$peers"/nccl4py-* | sort -rV); do
        if [ -e "$version" ] && [ ! -e "$OUT/trial-$(basename "$version")-$n.failed" ]; then
            taken=$version
            break
        fi
    done
    if [ -n "$taken" ]; then
        with=$with:$taken
        echo "NCCL4Py: $(basename "$taken")"
    else
        skips+=(--skip "nccl4py=$(cat "$OUT"/trial-nccl4py-*-"$n".failed 2>/dev/null | sort | uniq -c | tr -s ' \n' ' ' | cut -c1-600 || true)")
    fi
    echo "== $n PEs"
    PYTHONPATH=$with peers_py 150 "$n" --json "$OUT/peers-$n.json" ${skips+"${skips[@]}"} >"$OUT/table-$n" 2>"$OUT/stderr-$n" || status=$?
    cat "$OUT/stderr-$n" "$OUT/table-$n" >>"$log"
    cat "$OUT/table-$n"
    [ ! -e "$OUT/peers-$n.json" ] || python3 bench/tables.py add gpu_peers "$OUT/peers-$n.json" --to "$OUT/gpu_peers.json"
    if [ "$status" -ne 0 ]; then
        echo "FAILED with $n PEs (status $status; what was measured until then is above and in the file)"
        tail -n 25 "$OUT/stderr-$n" | cut -c1-400 | sed 's/^/    | /'
    fi
}

gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
for n in ${PES:-1 $([ "$gpus" -gt 1 ] && echo 2)}; do measure "$n"; done
echo "ended after $SECONDS s"
