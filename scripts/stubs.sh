#!/usr/bin/env bash
# Writes the type stubs of the built module _atoll into the package; with --check, fails if the committed ones differ.
source "$(dirname "$0")/lib.sh"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$python" python/stubs.py "$fresh/_atoll.pyi"
if [ "${1:-}" = --check ]; then
    diff -u python/atoll/_atoll.pyi "$fresh/_atoll.pyi" || { say "The stubs are out of step; run: make stubs"; exit 1; }
else
    cp "$fresh/_atoll.pyi" python/atoll/_atoll.pyi
fi
