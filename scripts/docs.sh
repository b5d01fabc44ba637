#!/usr/bin/env bash
# Builds the documentation site into build/docs/html, with warnings as errors and every internal link checked. Then runs
# the programs on its pages. Sphinx, mpi4py, MPICH, Dask and Ray are in a separate environment.
source "$(dirname "$0")/lib.sh"
begin docs
site=build/docs/environment/bin/python
check "ready environment" scripts/install.sh
[ "$checked" -ne 0 ] || check "environment of the site" scripts/setup.sh docs
if [ "$checked" -eq 0 ]; then
    check "the site" limited "$site" docs/site/build.py .venv/bin/atoll "$jobs"
    check "programs and names of pages" --junit "$results/docs.xml" \
        limited "$site" -m pytest -q -rs -n "$workers" "${page_tests[@]}" --junit-xml="$results/docs.xml"
    grep -h '^The site is' "$logs/the-site.log" | sed 's/^/  /' || true
fi
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing docs
