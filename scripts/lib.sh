# Sourced by the scripts beside it: quiet steps, and counts of what was checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${ATOLL_BUILD_JOBS:-$(nproc)}
logs=build/logs
results=build/results
python=.venv/bin/python
mkdir -p "$logs" "$results"

say() { printf '%s\n' "$*"; }

# step NAME COMMAND...: one line on the terminal, all output in a log, the log's end where it failed.
step() {
    local name=$1 start=$SECONDS status=0
    shift
    local log="$logs/${name//[^A-Za-z0-9_-]/-}.log"
    printf '  %-34s ' "$name"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 0 ]; then
        printf 'ok      %4d s\n' $((SECONDS - start))
    else
        printf 'FAILED  %4d s   (status %d; the log is %s)\n' $((SECONDS - start)) "$status" "$log"
        tail -n "${ATOLL_BUILD_TAIL:-40}" "$log" | sed 's/^/    | /'
    fi
    return "$status"
}

# again COMMAND...: runs a repeatable command up to three times, since a network may fail once.
again() {
    local seconds
    for seconds in 5 20; do
        "$@" && return 0
        say "That failed; once more after $seconds s: $*"
        sleep "$seconds"
    done
    "$@"
}

# limited COMMAND...: runs a suite, and ends it if it hangs. Each test has its own limit, so this one also suffices on
# machines of a fifth of the usual speed.
limited() { timeout --kill-after=20 3000 "$@"; }

# begin SUITE: starts the file in which the following checks are counted.
begin() {
    suite=$1
    : >"$results/$suite.tsv"
}

# check NAME [--junit FILE] COMMAND...: a step that is counted, by its JUnit file or as one check. Never ends the script;
# whether it went well is left in $checked.
check() {
    local name=$1 junit= status=0 start=$SECONDS
    shift
    if [ "${1:-}" = --junit ]; then
        junit=$2
        shift 2
        rm -f "$junit"
    fi
    step "$name" "$@" || status=$?
    python3 scripts/summary.py count "$results/$suite.tsv" "$name" "$status" $((SECONDS - start)) ${junit:+"$junit"}
    checked=$status
}

# skip NAME REASON: counts and reports a check that this machine cannot make.
skip() {
    printf '  %-34s skipped: %s\n' "$1" "$2"
    python3 scripts/summary.py skip "$results/$suite.tsv" "$1"
}

# cxx_tests PRESET: the C++ tests of a built preset. Tests of one process share processes; jobs of several are ctest's.
cxx_tests() {
    local ctest="$PWD/$results/ctest-$1.xml"
    check "C++ tests ($1)" --junit "$results/cxx-$1.xml" limited python3 scripts/gtests.py --junit "$results/cxx-$1.xml" \
        --jobs "$jobs" "build/$1"/bin/*_tests
    check "C++ jobs ($1)" --junit "$ctest" \
        limited ctest --preset "$1" -E '^(common|bootstrap|memory|gpu_unit|transport|core|collective|device)\.' --output-junit "$ctest"
}

# closing SUITE...: the table and the one closing line; fails where anything failed.
closing() { python3 scripts/summary.py close "${@/#/$results/}"; }

# configure PRESET, and build targets of it (all by default).
configure() { cmake --preset "$1" "${@:2}"; }
build() { cmake --build "build/$1" -j "$jobs" --target "${@:2}" $([ $# -gt 1 ] || echo all); }
# Builds the libraries for aarch64 and the test programs of the layers.
cross_tests=({common,bootstrap,memory,transport,gpu_unit,core,collective}_tests)
build_cross() { configure cross-aarch64 && build cross-aarch64 atoll atoll_cli atoll_shmem "${cross_tests[@]}"; }
