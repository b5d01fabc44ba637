#!/usr/bin/env bash
# Builds the peers of bench/gpu where their packages are (pip's nvidia-nvshmem-cu13): peers/build.sh OUT [nvshmem] [jacobi]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$1
home=${NVSHMEM_HOME:-$(find / -path '*nvidia/nvshmem/include/nvshmem.h' -printf '%h/..' -quit 2>/dev/null || true)}
[ -n "$home" ] || { echo "no NVSHMEM here"; exit 1; }
host=$(find "$home/lib" -name 'libnvshmem_host.so*' | head -n 1)
# Two programs: nvshmem (flags, puts, reductions) and nvshmem_jacobi; or those named after OUT.
sources=(nvshmem jacobi)
[ $# -gt 1 ] && sources=("${@:2}")
for name in "${sources[@]}"; do
    program=$out/nvshmem
    [ "$name" = nvshmem ] || program=$out/nvshmem_$name
    nvcc -std=c++17 -O3 -rdc=true -arch=sm_90 -I"$home/include" -o "$program" "$name.cu" \
        "$home/lib/libnvshmem_device.a" -Xlinker "$host" -lcuda -Xlinker -rpath -Xlinker "$home/lib"
done
