#!/usr/bin/env bash
# make test, lint, hostile, cute, wheel, clusters, sanitize, cross and torch in one run with one closing line.
source "$(dirname "$0")/lib.sh"
export ATOLL_BUILD_NO_CLOSING=1
parts=(test lint hostile cute wheel clusters sanitize cross torch)
for part in "${parts[@]}"; do
    rm -f "$results/$part.tsv"
    say "$part:"
    make --no-print-directory "$part" || true   # what failed is counted, and decides the status below
done
closing "${parts[@]}"
