#!/usr/bin/env bash
# Slow checks of the C++ sources, in CI only: clang-tidy over all of them, and every header with every compiler of
# Debian's.
source "$(dirname "$0")/lib.sh"
begin lint
scripts/setup.sh compilers || true # those that are there are taken, and named
rm -f "$logs/clang-tidy.log" "$logs/headers-by-every-compiler.log"
check "ready environment" scripts/install.sh
ready=$checked
[ "$ready" -ne 0 ] || check "clang-tidy" bash -c \
    "source scripts/lib.sh; configure tidy -DPython_EXECUTABLE=$PWD/$python && $python scripts/tidy.py"
[ "$ready" -ne 0 ] || check "headers by every compiler" "$python" scripts/headers.py
for log in clang-tidy headers-by-every-compiler; do
    [ ! -f "$logs/$log.log" ] || tail -n 2 "$logs/$log.log" | cut -c1-300 | sed 's/^/  /'
done
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing lint
