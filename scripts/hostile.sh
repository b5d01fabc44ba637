#!/usr/bin/env bash
# A part of the tests on machines that lack something: each check runs the same sub-suite without one thing. If this
# machine cannot take that thing away (root or namespaces are needed), the check is skipped with the reason.
#
#   hostile.sh            all of them
#   hostile.sh --suite    the sub-suite alone, in the present environment, as the checks run it
source "$(dirname "$0")/lib.sh"
built=$PWD/build/release
scratch=${HOSTILE_SCRATCH:-$PWD/build/hostile}

# ---- the sub-suite: heap, moves, teams, statics, messages; the network; Python; the command line.
programs=(multi/heap multi/rma multi/teams multi/messages multi/signals shmem/memory shmem/statics shmem/contexts)
targets=(core_tests shmem_memory shmem_statics shmem_contexts) # core_tests holds the suites of multi/
job() { timeout 100 "$built/bin/atoll" run -n "$1" --timeout 90 "${@:2}"; }
# UCX 1.13's TCP (Debian 12) supports IPv4 only: there the job ends at its start with that reason.
by_network() {
    local said
    said=$(ATOLL_TRANSPORT=ucx UCX_TLS=tcp,self job 2 "$built/multi/rma" 2>&1) && return 0
    printf '%s\n' "$said"
    grep -q 'PE 0 cannot reach PE 1: UCX .* finds no way' <<<"$said"
}
suite() {
    local program failed=0
    try() {
        "$@" >"$scratch/said" 2>&1 && return 0
        printf 'FAILED: %s\n' "$*"
        tail -n 25 "$scratch/said"
        failed=1
    }
    export ATOLL_CHECK=all OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
    try "$built/bin/atoll" info
    for program in "${programs[@]}"; do try job 2 "$built/$program"; done
    try job 5 "$built/multi/signals"
    [ -z "${HOSTILE_UCX:-}" ] || try by_network
    [ -z "${HOSTILE_NO_PYTHON:-}" ] || return "$failed"
    try job 2 "$PWD/$python" tests/python/programs/operations.py
    try job 3 "$PWD/$python" tests/python/programs/words.py
    try job 2 "$PWD/$python" examples/02_ring/ring.py
    try "$python" -m pytest -q -p no:cacheprovider --basetemp="$scratch/tests" tests/cli/test_usage.py
    return "$failed"
}
if [ "${1:-}" = --suite ]; then
    suite
    exit
fi

begin hostile
check "build" bash -c "source scripts/lib.sh; scripts/install.sh && cmake --build build/release -j $jobs --target ${targets[*]}"
[ "$checked" -eq 0 ] || { [ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing hostile; exit 1; }
mkdir -p "$scratch"

# `where NAME NEEDS COMMAND...` runs the sub-suite by COMMAND; skipped if NEEDS, a command, fails.
where() {
    local name=$1 needs=$2
    shift 2
    if bash -c "$needs" >"$scratch/needs" 2>&1; then
        check "$name" "$@" scripts/hostile.sh --suite
    else
        skip "$name" "$(tail -n 1 "$scratch/needs" | grep . || echo "'$needs' failed")"
    fi
}
# Runs in new namespaces, after SETUP.
in_namespaces() { printf '%s\n' unshare "$1" bash -c "$2"' && exec "$@"' -; }

root='[ "$(id -u)" = 0 ] || { echo "needs root"; exit 1; }'

# Another user, without a writeable home. It has a separate scratch folder.
nobody=$scratch/nobody
mkdir -p "$nobody"
[ "$(id -u)" -ne 0 ] || chown 65534:65534 "$nobody"
become=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ USER=nobody HOSTILE_SCRATCH="$nobody")
may="$root; ${become[*]}"
no_python=
if [ "$(id -u)" -eq 0 ] && ! "${become[@]}" "$python" -c '' 2>/dev/null; then
    no_python=HOSTILE_NO_PYTHON=1
    skip "another user, Python" "other users may not run $(readlink -f "$python")"
fi
where "another user, home not writable" "$may test -x '$built/bin/atoll' || { echo 'other users cannot read $PWD'; exit 1; }" \
    "${become[@]}" $no_python

locales=$scratch/locales
mkdir -p "$locales"
for locale in tr_TR de_DE; do
    where "locale $locale, time zone +14" \
        "[ -d '$locales/$locale.UTF-8' ] || localedef -i $locale -f UTF-8 '$locales/$locale.UTF-8' || { echo 'no definitions of locales (package locales)'; exit 1; }" \
        env LOCPATH="$locales" LC_ALL="$locale.UTF-8" LANG="$locale.UTF-8" TZ=Pacific/Kiritimati
done
where "locale POSIX" true env -u LANG LC_ALL=POSIX TZ=America/St_Johns PYTHONUNBUFFERED=1

mounts="$root; unshare -m true || { echo 'no mount namespaces here'; exit 1; }"
mapfile -t command < <(in_namespaces -m 'mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp && { head -c 1M /dev/zero >/tmp/full 2>/dev/null; true; }')
where "/tmp full" "$mounts; case $PWD in /tmp/*) echo 'this tree lies in /tmp'; exit 1 ;; esac" "${command[@]}"
mapfile -t command < <(in_namespaces -m 'mount -t tmpfs -o ro,size=4k,mode=000 tmpfs /dev/shm')
where "no /dev/shm" "$mounts; [ -d /dev/shm ] || { echo 'it has none anyway'; exit 1; }" "${command[@]}"
mapfile -t command < <(in_namespaces -n 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo && ip -6 addr show dev lo | grep -q ::1')
where "IPv6 only" "$root; command -v ip >/dev/null || { echo 'needs iproute2'; exit 1; }; unshare -n true || { echo 'no network namespaces here'; exit 1; }" \
    env HOSTILE_UCX=1 "${command[@]}"

# Limits memory as a container does: by cgroup 1 where mounted, else cgroup 2.
limit_memory='for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    [ -e $root/cgroup.procs ] || continue
    group=$root/atoll-hostile-$$
    mkdir $group 2>/dev/null || continue
    limited=
    for file in memory.limit_in_bytes memory.max; do
        [ -e $group/$file ] && { echo 1G >$group/$file; } 2>/dev/null && limited=1
    done
    [ -n "$limited" ] && { echo $$ >$group/cgroup.procs; } 2>/dev/null || { rmdir $group; continue; }
    exit_status=0
    "$@" || exit_status=$?
    echo $$ >$root/cgroup.procs
    rmdir $group
    exit $exit_status
done
echo "no cgroup that limits memory can be made here"
exit 77'
where "1 GiB of memory (cgroup)" "$root; bash -c '$limit_memory' - true" bash -c "$limit_memory" -

where "1 core" "command -v taskset >/dev/null || { echo 'needs taskset'; exit 1; }" \
    taskset -c "$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//;s/[-,].*//')"
pretence="command -v cc >/dev/null || { echo 'needs a C compiler, cc'; exit 1; }"
! bash -c "$pretence" >/dev/null || check "library that pretends cores" cc -shared -fPIC -O1 -o "$scratch/cpus.so" tests/hostile/cpus.c
for cpus in 4 64; do
    where "$cpus cores, by pretence" "$pretence" \
        env LD_PRELOAD="$scratch/cpus.so" PRETENDED_CPUS="$cpus"
done
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing hostile
