#!/usr/bin/env bash
# One program with `from atoll import shmem`, then with shmem4py from PyPI, built by our oshcc; 4 PEs each. Then the
# times of both.
source "$(dirname "$0")/lib.sh"
pes=${ATOLL_BUILD_DEMO_PES:-4}
program=examples/shmem4py/histogram.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
scripts/shmem4py.sh || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 75 ] || exit "$status"
say
.venv/bin/atoll run -n "$pes" "$python" "$program" "times=$folder/atoll"
say
if [ "$status" -eq 75 ]; then
    say "shmem4py itself could not be fetched, so that it was not run; the above was Atoll's package."
    exit 0
fi
.venv/bin/oshrun -n "$pes" build/shmem4py-venv/bin/python "$program" shmem4py "times=$folder/shmem4py"
"$python" - "$folder" <<'END'
import json, pathlib, sys

ours, theirs = (json.loads((pathlib.Path(sys.argv[1]) / name).read_text()) for name in ("atoll", "shmem4py"))
rows = [f"{name} {ours[name] / 1000:.2f} / {theirs[name] / 1000:.2f}" for name in ours]
print("\nµs a call, atoll.shmem / shmem4py on the same library: " + "; ".join(rows))
END
