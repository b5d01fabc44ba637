#!/usr/bin/env bash
# Installs missing prerequisites and reports them; if all are there, returns quickly without output.
#
#   setup.sh build       the prerequisites of the library, the launcher and the Python module
#   setup.sh test        further ones for `make test`
#   setup.sh compilers   the gcc and clang of this Debian that compile headers (make lint)
#   setup.sh sanitizers  the Clang of the sanitizers, where this Debian has it (make sanitize)
#   setup.sh cross       further ones for `make cross`
#   setup.sh packages    further ones for `make packages`
#   setup.sh bench       the peers that `make bench` compares with: Open MPI's OpenSHMEM, shmem4py
#   setup.sh venv        the project's .venv, with the packages of requirements-dev.txt
#   setup.sh triton      an environment with Triton, for tests of its kernels on CPUs, in build/triton
#   setup.sh numba-cuda  one with numba-cuda, for tests that compile Numba's kernels for GPUs, in build/numba-cuda; needs nvcc
#   setup.sh cute        one with NVIDIA's CuTe DSL (a download of 100 MB), for tests that compile its kernels, in build/cute
#   setup.sh tidy        one with clang-tidy, whose version decides the findings, in build/clang-tidy
#   setup.sh docs        one with Sphinx, mpi4py, MPICH, Dask and Ray, for the documentation site, in build/docs; Graphviz, Doxygen by apt
#   setup.sh torch       one with PyTorch (a download of several GB), for tests of its backend, in build/torch
source "$(dirname "$0")/lib.sh"

build_packages=(g++ cmake ninja-build libcli11-dev nlohmann-json3-dev python3 python3-venv python3-dev)
# libucx-dev brings UCX, which jobs of several hosts load, and the headers with which a test compares our declarations.
test_packages=(libucx-dev libgtest-dev googletest pkg-config git gdb tmux groff-base)
sanitizer_packages=("clang-$sanitizer" "libclang-rt-$sanitizer-dev")
compiler_packages=(g++-{11..16} clang-{13..22})
bench_packages=(openmpi-bin libopenmpi-dev python3-dev python3-venv)
docs_packages=(graphviz doxygen)
# The last ones are for a free-threaded Python, which is built.
release_packages=(debootstrap mmdebstrap g++-aarch64-linux-gnu qemu-user make xz-utils zlib1g-dev libssl-dev libffi-dev)
cross_packages=(g++-aarch64-linux-gnu qemu-user googletest libcli11-dev nlohmann-json3-dev)

missing_of() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
    done
}

apt_install() {
    export DEBIAN_FRONTEND=noninteractive
    $as_root apt-get update -q
    # A machine that has just started may run an update of its own.
    $as_root apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
}

need() {
    local missing as_root=
    if ! command -v dpkg-query >/dev/null; then
        for tool in g++ cmake ninja python3; do
            command -v "$tool" >/dev/null || { say "Atoll needs $tool; install it (on Debian it comes by apt)."; exit 1; }
        done
        return 0
    fi
    missing=$(missing_of "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if sudo -n true 2>/dev/null; then as_root="sudo -n"; else
            say "Missing system packages, and no right to install them. Please run:"
            say "    sudo apt-get install $missing"
            exit 1
        fi
    fi
    # shellcheck disable=SC2086  # a list of package names
    step "apt: $(wc -w <<<"$missing") packages" again apt_install $missing
}

# need_known PACKAGE...: installs those that this release of Debian has.
need_known() {
    local package there=()
    command -v apt-cache >/dev/null || return 0
    for package in "$@"; do
        # apt takes an unknown name with "+" for a pattern, hence the comparison.
        apt-cache policy "$package" 2>/dev/null | grep -A 2 -Fx "$package:" | grep -q 'Candidate: [^(]' && there+=("$package")
    done
    need "${there[@]}"
}

newest_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11 python3.10; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return 0
        fi
    done
    say "Atoll needs Python 3.10 or newer; python3 is $(python3 --version 2>&1)." >&2
    return 1
}

venv() {
    cmp -s requirements-dev.txt .venv/requirements-dev.txt && return 0
    local base
    base=$(newest_python)
    [ -x "$python" ] || step "Python environment in .venv" "$base" -m venv .venv
    # pip 22.1 is the first one that takes --config-settings. Without uv, pip will do.
    [ -x .venv/bin/uv ] || "$python" -m pip install -q --disable-pip-version-check 'pip>=22.1' uv >"$logs/uv.log" 2>&1 || true
    step "Python packages" again install_into .venv -r requirements-dev.txt
    cp requirements-dev.txt .venv/requirements-dev.txt
}

# The folder of an interpreter's packages.
purelib_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# new_environment ENV: an environment of the Python that .venv has. Its pip is left out, which would take most of the time.
new_environment() { step "environment in $1" "$("$python" -c 'import sys; print(sys._base_executable)')" -m venv --without-pip "$1"; }

# The line of a .pth file that adds the packages of .venv, and what its own .pth files add.
all_of_venv() { printf 'import site; site.addsitedir("%s")\n' "$(purelib_of "$python")"; }

# above_venv ENV NAME LINE ARGUMENTS...: makes an environment and installs into it. LINE of a .pth file lets it find packages
# of .venv.
above_venv() {
    local env=$1 name=$2 below=$3
    shift 3
    new_environment "$env"
    step "$name" again install_into "$env" "$@"
    echo "$below" >"$(purelib_of "$env/bin/python")/below.pth"
}

# apart ENV NAME PACKAGES...: an environment that holds these packages alone.
apart() {
    local env=$1 name=$2
    shift 2
    [ "$(cat "$env/packages" 2>/dev/null)" = "$*" ] && return 0
    new_environment "$env"
    step "$name" again install_into "$env" "$@"
    echo "$*" >"$env/packages"
}

# A separate environment, because the NumPy of .venv is newer than Triton's interpreter supports.
triton() { apart build/triton "Triton, for its interpreter" 'triton==3.6.*' 'numpy>=2,<2.4'; }

# A separate environment on top of .venv, in which atoll.numba is to support hosts only. libNVVM is that of nvcc's
# toolkit.
numba_cuda() {
    command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || return 0
    local env=build/numba-cuda packages=('numba-cuda==0.30.*' 'cuda-bindings==13.*' 'cuda-core<2' 'cuda-pathfinder<2') below
    below=$(purelib_of "$python")
    [ "$(cat "$env/packages" 2>/dev/null)" = "${packages[*]} $below" ] && return 0
    above_venv "$env" numba-cuda "$below" --no-deps "${packages[@]}"
    echo "${packages[*]} $below" >"$env/packages"
}

# Debian's version takes twice the CPU time. Another version has other findings.
tidy() { apart build/clang-tidy clang-tidy 'clang-tidy==23.1.4'; }

# Uses the atoll of .venv. Packages are named one by one, because nvidia-cutlass-dsl itself also requires those of CUDA
# 12.
cute() {
    local env=build/cute version=4.8.1 packages below
    packages=("nvidia-cutlass-dsl==$version" "nvidia-cutlass-dsl-libs-"{base,core,cu13}"==$version" 'cuda-bindings==13.*'
        'cuda-pathfinder<2' 'protobuf>=4.21' 'typing-extensions>=4.10')
    below=$(all_of_venv)
    [ "$(cat "$env/packages" 2>/dev/null)" = "${packages[*]} $below" ] && return 0
    above_venv "$env" "CuTe DSL" "$below" --no-deps "${packages[@]}"
    echo "${packages[*]} $below" >"$env/packages"
}

# Uses the atoll of .venv. Sphinx and its theme are pinned to what the site was looked at with.
docs() {
    local env=build/docs/environment packages below
    need "${docs_packages[@]}"
    packages=('sphinx==9.0.*' 'myst-parser==5.*' 'furo==2025.12.19' 'sphinx-copybutton==0.5.*' 'breathe==5.1.*' 'weasyprint==70.*' 'mpi4py>=4,<5' mpich 'distributed>=2025,<2028' 'ray>=2.50,<3')
    below=$(all_of_venv)
    [ "$(cat "$env/packages" 2>/dev/null)" = "${packages[*]} $below" ] && return 0
    above_venv "$env" Sphinx "$below" "${packages[@]}"
    ln -sf "$PWD/.venv/bin/atoll" "$env/bin/atoll"
    echo "${packages[*]} $below" >"$env/packages"
}

# Uses the atoll of .venv, with its entry points. ATOLL_BUILD_TORCH is the version to install.
torch() {
    local env=build/torch packages below
    packages=("torch==${ATOLL_BUILD_TORCH:-2.15.*}" 'numpy>=2')
    below=$(all_of_venv)
    [ "$(cat "$env/packages" 2>/dev/null)" = "${packages[*]} $below" ] && { trainers; return; }
    # The environment takes 5.5 GB, and pip as much for its downloads in between.
    if [ "$(df --output=avail -BG . | tail -n 1 | tr -dc 0-9)" -lt 14 ]; then
        say "  PyTorch is not installed: its environment needs 14 GB of free disk space"
        return 1
    fi
    above_venv "$env" PyTorch "$below" "${packages[@]}"
    echo "${packages[*]} $below" >"$env/packages"
    trainers
}

# Lightning and Accelerate, 20 MB, in that environment. With all that they require it would be ten times as much.
trainers() {
    local env=build/torch packages=('lightning==2.6.*' 'accelerate==1.15.*' lightning-utilities torchmetrics packaging pyyaml tqdm psutil
        huggingface-hub safetensors)
    [ "$(cat "$env/trainers" 2>/dev/null)" = "${packages[*]}" ] && return 0
    step "Lightning and Accelerate" again install_into "$env" --no-deps "${packages[@]}"
    echo "${packages[*]}" >"$env/trainers"
}

# The comparison runs without the missing peers and reports them.
peers() {
    (need "${bench_packages[@]}") || true
    step "peers in C" bench/peers/build.sh c || true
    step "peers in Python" bench/peers/build.sh python || true
}

# `make ci` installs environments ahead: whoever comes second waits, and finds the environment.
alone() {
    command -v flock >/dev/null && mkdir -p build 2>/dev/null && { : >>"build/$1.lock"; } 2>/dev/null || return 0
    exec 8>>"build/$1.lock"
    flock -w 1800 8 || say "build/$1 is being installed for 30 minutes; going on"
}

case "${1:-}" in
    docs | triton | numba-cuda | cute | torch | tidy) alone "$1" ;;
esac
case "${1:-}" in
    build) need "${build_packages[@]}" ;;
    test) need "${test_packages[@]}" ;;
    packages) need "${release_packages[@]}" ;;
    cross) need "${cross_packages[@]}" ;;
    compilers) need_known "${compiler_packages[@]}" "${sanitizer_packages[@]}" ;;
    sanitizers) need_known "${sanitizer_packages[@]}" ;;
    bench) peers ;;
    venv) venv ;;
    triton) triton ;;
    numba-cuda) numba_cuda ;;
    cute) cute ;;
    tidy) tidy ;;
    docs) docs ;;
    torch) torch ;;
    *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
