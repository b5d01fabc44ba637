#!/usr/bin/env bash
# Prepares .venv: the package is importable (edits of python/atoll take effect at once), and .venv/bin/atoll is the
# launcher. The wheel is made from build/release, the tree of the tests, so nothing is compiled twice.
#
#   install.sh [TARGET]   TARGET of build/release to build first: atoll_package (default) or all
source "$(dirname "$0")/lib.sh"

step "configure (release)" configure release -DPython_EXECUTABLE="$PWD/$python"
step "build (release)" build release "${1:-atoll_package}"

# pip is slow, so it runs only if a file that it installs has changed. Python sources are used in place, so only their
# list counts.
fingerprint() {
    {
        find build/release/lib/libatoll*.so build/release/lib/libnvshmem* build/release/bin/atoll build/release/python/_atoll*.so \
            include include_nvshmem api/generated/include api/generated/nvshmem/include pyproject.toml CMakeLists.txt cmake -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum
        find python -name '*.py*' -not -path '*/__pycache__/*' | sort
    } | sha256sum
}
now=$(fingerprint)
if [ "$now" != "$(cat .venv/atoll.fingerprint 2>/dev/null)" ]; then
    step "package into .venv" "$python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps \
        --config-settings=build-dir=build/release --editable .
    fingerprint >.venv/atoll.fingerprint
fi
