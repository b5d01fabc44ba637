#!/usr/bin/env bash
# README's two commands on fresh Debians that have nothing but make, git and the registries: no compiler, no Python, no pip.
# Not a part of `make ci`: each release of Debian builds all and runs every test, 25 minutes of two cores. Needs root.
#
#   debians.sh           Debian 12 and 13
#   debians.sh SUITE...  such as trixie
source "$(dirname "$0")/lib.sh"
source scripts/roots.sh
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie)
begin debians
may_mount || { skip "fresh Debians" "needs root and the right to mount" && closing debians; exit; }
scripts/setup.sh packages

# bare SUITE: a Debian that has never seen Atoll, with a clone of it.
bare() {
    bootstrap "$1" "$work/fresh-$1" make,git &&
        git clone -q . "$work/fresh-$1/src" &&
        inside "fresh-$1" git config --global --add safe.directory /src
}

for release in "${releases[@]}"; do
    check "a fresh $release" bare "$release"
    [ "$checked" -eq 0 ] || continue
    for command in demo test; do
        check "make $command on $release" inside "fresh-$release" make "$command"
        tail -n 3 "$(log_of "make $command on $release")" | sed 's/^/    /'
    done
    rm -rf "$work/fresh-$release"
done
closing debians
