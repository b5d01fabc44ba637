#!/usr/bin/env bash
# Atoll against its peers in one run: bench/compare.py, whose options it takes. About ten minutes on a quiet machine;
# the medians are written to bench/results/host.json.
source "$(dirname "$0")/lib.sh"
scripts/install.sh all
scripts/setup.sh bench
exec "$python" bench/compare.py "$@"
