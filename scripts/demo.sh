#!/usr/bin/env bash
# The terrain example with four PEs, on the elevation model that matplotlib ships.
source "$(dirname "$0")/lib.sh"
program=$(find examples -name terrain.py | head -1)
[ -n "$program" ] || { say "examples/*/terrain.py is not there."; exit 1; }
mkdir -p out
exec .venv/bin/atoll run -n "${ATOLL_BUILD_DEMO_PES:-4}" "$python" "$program" "$@"
