#!/usr/bin/env bash
# The benchmarks of bench/, as `atoll bench` prints them.
source "$(dirname "$0")/lib.sh"
scripts/install.sh all
if [ -f bench/run.py ]; then exec "$python" bench/run.py "$@"; fi
exec .venv/bin/atoll bench "$@"
