#!/usr/bin/env bash
# The backend of torch.distributed against gloo, in an environment with PyTorch. Only this script installs PyTorch, a
# download of several GB.
#
#   torch.sh [ARGUMENTS OF PYTEST...]
source "$(dirname "$0")/lib.sh"
begin torch
check "ready environment" scripts/install.sh
scripts/setup.sh torch || true # without it the tests are skipped with the reason
check "backend of PyTorch" --junit "$results/torch.xml" \
    limited "$python" -m pytest -q -rs -n "$workers" tests/torch "tests/python/test_pages.py::test_program[mixing-beside_torch.py]" --junit-xml="$results/torch.xml" "$@"
if [ -e build/torch/packages ]; then
    check "notebook of PyTorch" limited env PATH="$PWD/.venv/bin:$PATH" build/torch/bin/python -m pytest -q -rs tests/python/test_tutorials.py -k pytorch
else
    skip "notebook of PyTorch" "no build/torch"
fi
grep -h '^SKIPPED' "$logs/backend-of-PyTorch.log" | sed 's/^/  /' | cut -c1-200 || true
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing torch
