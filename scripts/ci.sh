#!/usr/bin/env bash
# make test, docs, kernels, hostile, cute, wheel, torch, clusters, lint, sanitize and cross in one run with one closing line.
#
# Tests often wait. Meanwhile scripts/ahead.sh installs and compiles what later parts need, in time that the tests leave idle.
# These parts build and check as they always do, and find the work done. Two things compute and rarely wait: the headers of
# lint, and the part cross. Once all is built they run beside the others. Their output comes at its turn.
source "$(dirname "$0")/lib.sh"
export ATOLL_BUILD_NO_CLOSING=1
# Debian's Python is compiled with profiles: the tests need a sixth less CPU time with it than with one of pyenv's
# (docs/measurements/2026-11-30-ci-parts.md).
[ -n "${PYTHON:-}" ] || ! [ -x /usr/bin/python3 ] || export PYTHON=/usr/bin/python3
# A part that could not begin in this time is not run. It counts as skipped, and the end of the output names it.
rm -f "$logs/late"
export ATOLL_BUILD_LATEST=$(($(date +%s) + ${ATOLL_BUILD_CI_SECONDS:-4700}))
parts=(test docs kernels hostile cute wheel torch clusters lint sanitize cross) # clusters use the PyTorch of torch

# Packages are installed first: two installations at once would fail.
make --no-print-directory setup setup-test setup-cross || true # a part that lacks a prerequisite fails, or skips its tests with the reason
scripts/setup.sh compilers || true
scripts/setup.sh docs || true # it installs packages, too
idle=(chrt --idle 0)
"${idle[@]}" true 2>/dev/null || idle=(nice -n 19)
set -m # gives it a process group, which the trap ends
rm -f "$logs/cross-built" "$logs/headers-ahead.status" "$results/cross.tsv"
"${idle[@]}" scripts/ahead.sh >"$logs/ahead.log" 2>&1 </dev/null &
ahead=$!
{
    while [ ! -e "$logs/cross-built" ] && kill -0 "$ahead" 2>/dev/null; do sleep 5; done
    nice -n 5 "$python" scripts/headers.py >"$logs/headers-ahead.log" 2>&1 && status=0 || status=$?
    echo "$status" >"$logs/headers-ahead.status"
    nice -n 5 scripts/cross.sh # without `make`, which would install packages beside other parts
} >"$logs/cross.log" 2>&1 </dev/null &
cross=$!
export ATOLL_BUILD_HEADERS_BY=$cross # the process that compiles them
set +m
trap 'for group in $ahead $cross; do kill -- "-$group" 2>/dev/null || true; done' EXIT
for part in "${parts[@]}"; do
    if [ "$part" = cross ]; then
        say "$part:"
        wait "$cross" || true
        cross=
        cat "$logs/cross.log"
        continue
    fi
    rm -f "$results/$part.tsv"
    if is_late; then
        say "$part:"
        begin "$part"
        skip_late "$part"
        continue
    fi
    if [ "$part" = lint ]; then
        wait "$ahead" || true # a failed build fails again below, in its part
        ahead=
    fi
    say "$part:"
    make --no-print-directory "$part" || true   # failures are counted, and decide the status below
done
[ ! -s "$logs/late" ] || say "Not run, for lack of time: $(tr '\n' ' ' <"$logs/late")"
closing "${parts[@]}"
