#!/bin/bash
# The build step of recipe.yaml. PYTHON is the interpreter of the environment, which has all needs of the build.
set -euo pipefail
"${PYTHON:?}" -m pip install -v --no-deps --no-build-isolation --no-index .
