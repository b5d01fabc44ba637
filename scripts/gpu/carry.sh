#!/usr/bin/env bash
# Gathers the files that scripts/gpu.sh needs on a machine with GPUs but without a network, in one folder. They are
# the tracked files, and deps/, a prefix with this machine's GoogleTest, CLI11, nlohmann-json and UCX. With --built also
# the programs of build/release (stripped), for `gpu.sh programs --no-build`.
#
#   gpu.sh carry [--built] FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
built=no
if [ "${1:-}" = --built ]; then built=yes && shift; fi
folder=${1:?where to}
mkdir -p "$folder"
git ls-files -z --cached --others --exclude-standard -- ':!docs/images' | xargs -0 cp --parents -t "$folder"

# Debian's packages; their CMake files find other files relative to their own paths.
mkdir -p "$folder/deps"
for package in libgtest-dev libcli11-dev nlohmann-json3-dev libucx-dev libucx0 libnuma1; do
    # From shared libraries, only the names that a loader opens.
    dpkg -L "$package" | grep -E '^/usr/(include|lib|share/cmake)/' | grep -vE '\.so(\.[0-9]+\.[0-9.]+)?$|/libuc[a-z_]*\.a$' | while read -r file; do
        [ -f "$file" ] || continue
        mkdir -p "$folder/deps/$(dirname "${file#/usr/}")"
        cp "$file" "$folder/deps/${file#/usr/}"
    done
done
if [ "$built" = yes ]; then
    for part in bin/atoll lib gpu multi/device_absent multi/device_elements multi/device_far multi/device_far_collectives \
        multi/device_mailbox examples/gpu examples/porting bench; do
        mkdir -p "$folder/build/release/$(dirname "$part")"
        cp -r "build/release/$part" "$folder/build/release/$part"
    done
    mkdir -p "$folder/build/release/generated"
    cp -r build/release/generated/include "$folder/build/release/generated/" # of the Python module
    rm -f "$folder"/build/release/lib/*.a
    find "$folder/build/release" -type f -perm -u+x -exec strip {} +
fi
du -sh "$folder"
