#!/usr/bin/env bash
# Builds, tests and measures the GPU part on a machine with GPUs, from a bare checkout and without a network.
#
#   gpu.sh programs [--no-build] [tests] [soak] [bench]            programs in C++; tests, soak and bench if none is named
#   gpu.sh python [tests] [bench]                                  Python on GPU arrays; both if none is named
#   gpu.sh kernels [tests] [examples] [bench] [cute] [mlir]        kernels in Python; the first three if none is named
#   gpu.sh torch [tests] [bench]                                   CUDA tensors in torch.distributed; both if none is named
#   gpu.sh peers                                                   beside NVSHMEM4Py, NCCL4Py and torch.distributed
#   gpu.sh carry [--built] FOLDER                                  gathers the files that such a machine needs
#   gpu.sh carry-peers                                             fetches the peers' packages into .whl; needs PyPI
#
# On one GPU the PEs share it by MPS. Results go to $OUT, by default build/results/gpu. scripts/gpu/PART.sh says what
# each part needs and which variables it reads.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
part=${1:-}
usage() { sed -n '2,/^set /p' "scripts/gpu.sh" | sed '$d;s/^# \{0,1\}//'; }
case $part in
    programs | python | kernels | torch | peers | carry | carry-peers) ;;
    -h | --help) usage && exit 0 ;;
    *) { echo "gpu.sh: '$part' is not one of programs, python, kernels, torch, peers, carry, carry-peers"; usage; } >&2; exit 2 ;;
esac
shift
[ "$part" != carry-peers ] || exec scripts/gpu/peers.sh carry
exec "scripts/gpu/$part.sh" "$@"
