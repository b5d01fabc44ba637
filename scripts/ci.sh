#!/usr/bin/env bash
# make test, docs, kernels, lint, hostile, cute, wheel, torch, clusters, sanitize and cross in one run with one closing line.
#
# Jobs over several hosts mostly wait. Meanwhile scripts/ahead.sh compiles, with the lowest priority, the programs that
# the last parts need. These parts build as they always do, and find the work done. Beside the other tests that would
# cost more than it gains: a PE that yields its core to a compiler gets it back late.
source "$(dirname "$0")/lib.sh"
export ATOLL_BUILD_NO_CLOSING=1
# A part that could not begin in this time is not run. It counts as skipped, and the end of the output names it.
rm -f "$logs/late"
export ATOLL_BUILD_LATEST=$(($(date +%s) + ${ATOLL_BUILD_CI_SECONDS:-4700}))
parts=(test docs kernels lint hostile cute wheel torch clusters sanitize cross)  # clusters use the PyTorch of torch

# Packages are installed first: two installations at once would fail.
make --no-print-directory setup setup-test setup-cross || true # a part that lacks something fails, or says so
ahead=
trap '[ -z "$ahead" ] || kill -- "-$ahead" 2>/dev/null || true' EXIT
for part in "${parts[@]}"; do
    rm -f "$results/$part.tsv"
    if is_late; then
        say "$part:"
        begin "$part"
        skip_late "$part"
        continue
    fi
    if [ "$part" = clusters ]; then
        set -m # gives it a process group, which the trap ends
        nice -n 19 scripts/ahead.sh >"$logs/ahead.log" 2>&1 </dev/null &
        ahead=$!
        set +m
    fi
    say "$part:"
    make --no-print-directory "$part" || true   # what failed is counted, and decides the status below
    if [ -n "$ahead" ]; then
        wait "$ahead" || true # what it could not build fails again below, in its own part
        ahead=
    fi
done
[ ! -s "$logs/late" ] || say "Not run, for lack of time: $(tr '\n' ' ' <"$logs/late")"
closing "${parts[@]}"
