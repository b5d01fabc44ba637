#!/usr/bin/env bash
# Builds the peers' programs into build/peers: peers/build.sh c | python | ga. A step fails where its peer is not installed;
# compare.py then says which peer is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/peers
mkdir -p "$out"
case "${1:-}" in
    c)
        cc -O2 bench/peers/empty.c -o "$out/empty"
        for name in oshmem_bench oshmem_init network; do
            oshcc -O3 -std=gnu99 -Wall -Wextra "bench/peers/$name.c" -o "$out/$name"
        done
        ;;
    python)
        # Built against Open MPI's OpenSHMEM, in an environment of its own; NumPy is whatever pip takes, and is recorded.
        [ -x "$out/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$out/venv"
        "$out/venv/bin/python" -c "import numpy, shmem4py" 2>/dev/null ||
            OSHCC=oshcc "$out/venv/bin/python" -m pip install --disable-pip-version-check shmem4py==1.0.0
        ;;
    ga)
        # For arrays.py peers: Debian's libglobalarrays-dev, libarmci-mpi-dev and libscalapack-openmpi-dev. The program takes
        # the packages of .venv, because it lies in its bin.
        config=$(.venv/bin/python -c 'import sys; print(sys.base_prefix)')/bin/python3-config
        # shellcheck disable=SC2046
        cc -O2 -Wall -Wextra -rdynamic $("$config" --includes) bench/peers/ga_python.c -o .venv/bin/ga_python \
            -Wl,-rpath,"$(dirname "$config")/../lib" -lga-openmpi -lscalapack-openmpi -larmci-openmpi \
            $("$config" --ldflags --embed) $(mpicc --showme:link) -llapack -lblas -lgfortran -lm
        ;;
    *)
        sed -n '2,3s/^# //p' "$0"
        exit 2
        ;;
esac
