#!/usr/bin/env bash
# make test, make cute, make wheel, make clusters, make sanitize and make cross in one run with one closing line.
source "$(dirname "$0")/lib.sh"
export ATOLL_BUILD_NO_CLOSING=1
# Of what passed nothing is remembered in a fresh clone: files that changed last are looked at, no others.
export ATOLL_BUILD_TIDY_SECONDS=${ATOLL_BUILD_TIDY_SECONDS:-120}
for part in test cute wheel clusters sanitize cross; do
    rm -f "$results/$part.tsv"
    say "$part:"
    make --no-print-directory "$part" || true   # what failed is counted, and decides the status below
done
closing test cute wheel clusters sanitize cross
