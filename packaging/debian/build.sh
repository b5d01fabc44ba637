#!/bin/bash
# Builds the Debian package from the sources in the current folder, installs it, and runs an OpenSHMEM program with it.
# For root on a Debian or Ubuntu that may be thrown away, such as a container:  packaging/debian/build.sh [OUTPUT]
set -euo pipefail
output=${1:-$PWD/dist}
export DEBIAN_FRONTEND=noninteractive
sources=$(mktemp -d)/atoll
mkdir -p "$sources" "$output"
cp -a CMakeLists.txt LICENSE README.md api bench cmake include include_nvshmem src "$sources"
cp -a packaging/debian "$sources"
apt-get update -q
apt-get install -q -y --no-install-recommends dpkg-dev
(cd "$sources" && apt-get build-dep -q -y --no-install-recommends ./ && dpkg-buildpackage -b -us -uc)
cp "$sources"/../atoll_*.deb "$output"
apt-get install -q -y --no-install-recommends "$output"/atoll_*.deb g++

program=$(mktemp -d)/ring
oshcc examples/openshmem/ring.c -o "$program"
oshrun -n 4 "$program"
atoll --version
