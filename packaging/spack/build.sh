#!/bin/bash
# Takes the steps that Spack takes by package.py (configure, build, install), and runs an OpenSHMEM program with the result.
# For root on a Debian that may be thrown away, such as a container:  packaging/spack/build.sh
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends g++ cmake ninja-build libcli11-dev nlohmann-json3-dev python3
folder=$(mktemp -d)
mapfile -t options < <(python3 packaging/spack/options.py)
[ "${#options[@]}" -gt 0 ]
cmake -G Ninja -S . -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder/prefix" "${options[@]}"
cmake --build "$folder/build"
cmake --install "$folder/build"

PATH=$folder/prefix/bin:$PATH
oshcc examples/openshmem/ring.c -o "$folder/ring"
oshrun -n 4 "$folder/ring"
atoll --version
