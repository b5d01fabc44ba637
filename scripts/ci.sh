#!/usr/bin/env bash
# make test, hostile, clusters, cute, wheel, lint, sanitize, cross and torch in one run with one closing line.
#
# Tests wait for processes during a third of their time. Meanwhile scripts/ahead.sh compiles, with the lowest priority,
# the programs that the last four parts need. These parts build and check as they always do, and find the work done.
source "$(dirname "$0")/lib.sh"
export ATOLL_BUILD_NO_CLOSING=1
parts=(test hostile clusters cute wheel lint sanitize cross torch)

# All packages first: two installations at once would fail.
say "setup:"
make --no-print-directory setup setup-test setup-cross || true   # a part that lacks something fails, or says so
scripts/setup.sh compilers || true
setsid nice -n 19 scripts/ahead.sh >"$logs/ahead.log" 2>&1 </dev/null &
ahead=$!
trap 'kill -- -$ahead 2>/dev/null || true' EXIT

for part in "${parts[@]}"; do
    rm -f "$results/$part.tsv"
    [ "$part" != lint ] || wait "$ahead" || true # what it could not build fails again below, in its own part
    say "$part:"
    make --no-print-directory "$part" || true   # what failed is counted, and decides the status below
done
closing "${parts[@]}"
