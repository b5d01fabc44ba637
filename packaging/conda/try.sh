#!/bin/bash
# Runs build.sh and the tests of recipe.yaml in an environment of pip's, which has what the recipe requires.
# For root on a Debian that may be thrown away, such as a container:  packaging/conda/try.sh
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends g++ python3-dev python3-venv libcli11-dev nlohmann-json3-dev
environment=$(mktemp -d)
python3 -m venv "$environment"
PATH=$environment/bin:$PATH
pip install -q --disable-pip-version-check 'cmake>=3.25' ninja 'scikit-build-core>=1.1' 'nanobind>=3' 'numpy>=2'
PYTHON=$environment/bin/python packaging/conda/build.sh

cd "$environment"
atoll info
atoll run -n 2 python -c "import atoll; atoll.init(); atoll.barrier_all()"
