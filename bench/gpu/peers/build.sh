#!/usr/bin/env bash
# Builds the peers of bench/gpu where their packages are (pip's nvidia-nvshmem-cu13): peers/build.sh OUT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$1
home=${NVSHMEM_HOME:-$(find / -path '*nvidia/nvshmem/include/nvshmem.h' -printf '%h/..' -quit 2>/dev/null || true)}
[ -n "$home" ] || { echo "no NVSHMEM here"; exit 1; }
host=$(find "$home/lib" -name 'libnvshmem_host.so*' | head -n 1)
nvcc -std=c++17 -O3 -rdc=true -arch=sm_90 -I"$home/include" -o "$out/nvshmem" nvshmem.cu \
    "$home/lib/libnvshmem_device.a" -Xlinker "$host" -lcuda -Xlinker -rpath -Xlinker "$home/lib"
