#!/usr/bin/env bash
# What a machine with GPUs but without a network needs for scripts/gpu_test.sh, as one folder: the tracked files, and deps/,
# a prefix with GoogleTest, CLI11, nlohmann-json and UCX of this machine. With --built also build/release's programs (stripped),
# for `gpu_test.sh --no-build`.
#   gpu_carry.sh [--built] FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
built=no
if [ "${1:-}" = --built ]; then built=yes && shift; fi
folder=${1:?where to}
mkdir -p "$folder"
git ls-files -z --cached --others --exclude-standard -- ':!docs/images' | xargs -0 cp --parents -t "$folder"

# Debian's packages; their CMake files find what they name from where they stand.
mkdir -p "$folder/deps"
for package in libgtest-dev libcli11-dev nlohmann-json3-dev libucx-dev libucx0 libnuma1; do
    # Of shared libraries what a loader asks for.
    dpkg -L "$package" | grep -E '^/usr/(include|lib|share/cmake)/' | grep -vE '\.so(\.[0-9]+\.[0-9.]+)?$|/libuc[a-z_]*\.a$' | while read -r file; do
        [ -f "$file" ] || continue
        mkdir -p "$folder/deps/$(dirname "${file#/usr/}")"
        cp "$file" "$folder/deps/${file#/usr/}"
    done
done
if [ "$built" = yes ]; then
    for part in bin/atoll lib gpu multi/device_absent multi/device_elements multi/device_far multi/device_far_collectives \
        multi/device_mailbox examples/gpu bench; do
        mkdir -p "$folder/build/release/$(dirname "$part")"
        cp -r "build/release/$part" "$folder/build/release/$part"
    done
    mkdir -p "$folder/build/release/generated"
    cp -r build/release/generated/include "$folder/build/release/generated/" # of the Python module
    rm -f "$folder"/build/release/lib/*.a
    find "$folder/build/release" -type f -perm -u+x -exec strip {} +
fi
du -sh "$folder"
