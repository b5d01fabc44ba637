#!/usr/bin/env bash
# The terrain example with four PEs, on the elevation model that matplotlib ships. Arguments go to the program.
source "$(dirname "$0")/lib.sh"
mkdir -p out
say
exec .venv/bin/atoll run -n "${ATOLL_BUILD_DEMO_PES:-4}" "$python" examples/09_terrain/terrain.py --open --output out/terrain.png "$@"
