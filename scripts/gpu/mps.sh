# Functions for the scripts that test on GPUs: if PEs outnumber the GPUs, NVIDIA's MPS lets them run at the same time.
# The daemon is the script's own, in a private folder; no setting of the GPU is changed.
#
#   source scripts/gpu/mps.sh; mps_start; ... ; mps_stop

# mps_start: does nothing if there are two GPUs, if MPS is missing, or if the caller uses a daemon already.
mps_folder=
mps_start() {
    [ "$(nvidia-smi -L | wc -l)" -lt 2 ] && [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || return 0
    command -v nvidia-cuda-mps-control >/dev/null || { echo "no MPS here: PEs take turns on the GPU"; return 0; }
    mps_folder=$(mktemp -d) && mkdir "$mps_folder/pipe" "$mps_folder/log" || return 1
    trap mps_stop EXIT
    export CUDA_MPS_PIPE_DIRECTORY=$mps_folder/pipe CUDA_MPS_LOG_DIRECTORY=$mps_folder/log
    export CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-8} # the value that `atoll run --mps` sets
    timeout 30 nvidia-cuda-mps-control -d && echo "PEs share the GPU by MPS" && return 0
    echo "MPS does not start: PEs take turns on the GPU"
    mps_stop
}

# `quit` waits for clients; a failed test may have left some.
mps_stop() {
    [ -n "$mps_folder" ] || return 0
    echo quit | timeout 20 nvidia-cuda-mps-control >/dev/null 2>&1 || kill "$(cat "$mps_folder/pipe/nvidia-cuda-mps-control.pid")"
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    rm -rf "$mps_folder"
    mps_folder=
}

# without_mps COMMAND...: for kernels that trap on purpose. With MPS the fault of one client ends the contexts of all.
without_mps() { (unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY && "$@"); }
