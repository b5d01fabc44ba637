#!/usr/bin/env bash
# Builds the unmodified shmem4py of PyPI by our oshcc into build/shmem4py-venv. Its sources and tests go to
# build/shmem4py-src. The status is 75 if pip cannot fetch them. Does nothing if both folders exist.
#
#   shmem4py.sh           compiled with pip's options, for measurements
#   shmem4py.sh --quick   in less than half the time, without optimisation, for tests
source "$(dirname "$0")/lib.sh"
version=1.0.0
venv=build/shmem4py-venv
source=build/shmem4py-src
oshcc=$PWD/.venv/bin/oshcc
[ "${1:-}" = --quick ] && flags="-O0 -g0" || flags=
include=$("$oshcc" -show -c | grep -o -- '-I[^ ]*' | head -1)
headers=$({ cat "$oshcc"; find -L "${include#-I}" -path '*shmem*' -type f -print0 | sort -z | xargs -0 cat; } | sha256sum)
state="shmem4py $version for $("$python" --version), headers ${headers%% *}"

pip() { "$venv/bin/python" -m pip --disable-pip-version-check --retries 1 --timeout 20 "$@"; }

# shmem4py 1.0.0 passes `copy=False` to numpy.array, which has another meaning in NumPy 2.
fetch() {
    # Called in a context where `set -e` has no effect, hence the &&.
    { [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"; } &&
        pip install "numpy<2; python_version<'3.13'" "numpy; python_version>='3.13'" cffi setuptools wheel &&
        pip download --no-deps --no-build-isolation --no-binary shmem4py -d "$source" "shmem4py==$version" &&
        tar -xf "$source/shmem4py-$version.tar.gz" -C "$source"
}

compile() {
    CFLAGS=$flags OSHCC=$oshcc pip install --force-reinstall --no-deps --no-index --no-build-isolation --no-cache-dir \
        "$source/shmem4py-$version.tar.gz"
}

[ "$("$venv/bin/python" --version 2>/dev/null)" = "$("$python" --version)" ] || rm -rf "$venv"
# A build with all optimisation also serves the tests.
there=$(cat "$venv/state" 2>/dev/null || true)
if [ "$there" = "$state" ] || { [ -n "$flags" ] && [ "$there" = "$state, quick" ]; }; then exit 0; fi
if [ ! -d "$source/shmem4py-$version" ] || ! "$venv/bin/python" -c "import cffi, numpy, setuptools" 2>/dev/null; then
    ATOLL_BUILD_TAIL=5 step "shmem4py's sources" fetch || {
        say "pip could not fetch shmem4py $version or what building it needs."
        exit 75
    }
fi
step "shmem4py by oshcc${flags:+ (quick)}" compile
printf '%s' "$state${flags:+, quick}" >"$venv/state"
