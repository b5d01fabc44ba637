#!/usr/bin/env bash
# Slow checks of the C++ sources, in CI only: clang-tidy, a build of the programs for GPUs, and every header by every
# compiler of Debian's.
source "$(dirname "$0")/lib.sh"
begin lint
scripts/setup.sh compilers || true # those that are there are taken, and named
scripts/setup.sh tidy || true # clang-tidy fails below
rm -f "$logs/clang-tidy.log" "$logs/headers-by-every-compiler.log"
# In `make ci` another process compiles them, in time that tests leave idle.
compile_headers() {
    if [ -z "${ATOLL_BUILD_HEADERS_BY:-}" ]; then
        "$python" scripts/headers.py
        return
    fi
    while [ ! -e "$logs/headers-ahead.status" ] && kill -0 "$ATOLL_BUILD_HEADERS_BY"; do sleep 1; done
    cat "$logs/headers-ahead.log"
    return "$(cat "$logs/headers-ahead.status")"
}
check "ready environment" scripts/install.sh
ready=$checked
[ "$ready" -ne 0 ] || check "clang-tidy" bash -c \
    "source scripts/lib.sh; configure tidy -DPython_EXECUTABLE=$PWD/$python && $python scripts/tidy.py"
# `make test` leaves these out, since no machine without a GPU can run them.
! cmake --build build/release --target help 2>/dev/null | grep -q '^gpu_programs:' || [ "$ready" -ne 0 ] ||
    check "programs for GPUs" bash -c "source scripts/lib.sh; build release gpu_programs"
! ctest --test-dir build/release -N -R 'nvrtc$' 2>/dev/null | grep -q nvrtc || [ "$ready" -ne 0 ] ||
    check "device headers under NVRTC" --junit "$PWD/$results/nvrtc.xml" bash -c \
        "source scripts/lib.sh; build release nvrtc_headers nvrtc_nvshmem && ctest --preset release -R 'nvrtc$' --output-junit $PWD/$results/nvrtc.xml"
[ "$ready" -ne 0 ] || check "headers by every compiler" compile_headers
for log in clang-tidy headers-by-every-compiler; do
    [ ! -f "$logs/$log.log" ] || tail -n 2 "$logs/$log.log" | cut -c1-300 | sed 's/^/  /'
done
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing lint
