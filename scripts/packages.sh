#!/usr/bin/env bash
# Makes the files of a release in dist/ (wheels, sdist, Debian package), and builds by the recipes of packaging/ in a clean
# Debian. Not a part of `make ci`: it compiles the library eight times, 35 minutes of two cores.
#
#   packages.sh          all parts
#   packages.sh PART...  some of: wheels sdist debian container conda spack
source "$(dirname "$0")/lib.sh"

source scripts/roots.sh
base=$work/debian-12

part_wheels() {
    scripts/setup.sh torch || true # without it the wheels lack the modules for PyTorch, which wheels.sh reports
    ATOLL_BUILD_NO_CLOSING=1 scripts/wheels.sh
}

# `check` sees only the status of a function's last command, so commands are joined by `&&`.

# The sdist, and two wheels from it in different folders, without a network.
part_sdist() {
    begin sdist
    rm -rf dist/*.tar.gz "$work/sdist"
    mkdir -p "$work/sdist/second"
    check "sdist" "$python" -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
    step "an environment to build in" build_environment
    [ "$checked" -ne 0 ] || check "a wheel from it, without a network" from_sdist first "$PWD"/dist/*.tar.gz
    [ "$checked" -ne 0 ] || check "its files" tar xzf dist/*.tar.gz -C "$work/sdist/second"
    [ "$checked" -ne 0 ] || check "a wheel from another folder" from_sdist second "$work"/sdist/second/atoll-*
    [ "$checked" -ne 0 ] || check "the same bytes" same_bytes
}
build_environment() {
    python3 -m venv "$work/sdist/environment" &&
        again "$work/sdist/environment/bin/pip" install -q --disable-pip-version-check cmake ninja nanobind 'numpy>=2' 'scikit-build-core>=1.1'
}
# without_network COMMAND...: runs it without a network, where the system lets us take it away.
without_network() {
    if unshare -n true 2>/dev/null; then unshare -n "$@"; else "$@"; fi
}
from_sdist() (
    export CCACHE_DISABLE=1
    cd "$work/sdist" &&
        without_network environment/bin/pip wheel --no-build-isolation --no-index --no-deps -w "$1-wheel" "$2"
)
same_bytes() { cmp "$work"/sdist/first-wheel/*.whl "$work"/sdist/second-wheel/*.whl; }

# A Debian 12 without anything else, for root where mounts are permitted.
clean_debian() {
    local reason=
    [ -e "$base/etc/debian_version" ] && return 0
    [ "$(id -u)" -eq 0 ] || reason="needs root"
    unshare --mount true 2>/dev/null || reason="needs the right to mount"
    command -v debootstrap >/dev/null || reason="needs debootstrap"
    if [ -n "$reason" ]; then
        skip "$1" "a clean Debian $reason"
        return 1
    fi
    check "a clean Debian 12" make_base
    return "$checked"
}
make_base() { rm -rf "$base" && bootstrap bookworm "$base.new" && mv "$base.new" "$base"; }
# fresh NAME: a copy of the clean Debian, with the tracked sources in /src.
fresh() {
    rm -rf "${work:?}/$1" &&
        cp -a "$base" "$work/$1" &&
        mkdir "$work/$1/src" &&
        git ls-files -z | tar -c --null -T - | tar -x -C "$work/$1/src"
}
part_debian() {
    begin debian
    clean_debian "Debian package" || return 0
    check "Debian package" debian
}
debian() {
    fresh debian &&
        inside debian packaging/debian/build.sh /out &&
        cp "$work"/debian/out/*.deb dist/ &&
        rm -rf "$work/debian"
}

# The commands of the Containerfile, each stage in a separate root.
part_container() {
    begin container
    clean_debian "container" || return 0
    check "container" container
}
container() {
    local hello='import atoll; atoll.init(); atoll.print("hello"); atoll.barrier_all()' job=(/opt/atoll/bin/atoll run -n 2 /opt/atoll/bin/python -c)
    fresh build &&
        inside build packaging/container/build.sh /wheels &&
        fresh image &&
        cp -a "$work/build/wheels" "$work/image/wheels" &&
        inside image packaging/container/install.sh /wheels &&
        inside image /opt/atoll/bin/atoll info &&
        inside image "${job[@]}" "$hello" &&
        # Two pretended hosts, which UCX connects.
        inside image env ATOLL_HOST_ID=a,b UCX_TLS=tcp,self "${job[@]}" "$hello" &&
        rm -rf "$work/build" "$work/image"
}

# The build steps of conda and Spack, without their programs.
part_conda() {
    begin conda
    clean_debian "conda" || return 0
    check "build step of the conda recipe" recipe conda packaging/conda/try.sh
}
part_spack() {
    begin spack
    clean_debian "Spack" || return 0
    check "build steps of the Spack package" recipe spack packaging/spack/build.sh
}
recipe() { fresh "$1" && inside "$1" "$2" && rm -rf "${work:?}/$1"; }

parts=("$@")
[ $# -gt 0 ] || parts=(wheels sdist debian container conda spack)
for part in "${parts[@]}"; do
    case $part in
        wheels | sdist | debian | container | conda | spack) say "$part:" && "part_$part" ;;
        *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done
ls -l dist
closing "${parts[@]}"
