# Sourced by the scripts beside it: quiet steps, and counts of what was checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${ATOLL_BUILD_JOBS:-$(nproc)}
logs=build/logs
results=build/results
python=.venv/bin/python
mkdir -p "$logs" "$results"

# pip compiles no bytecode: half of its time, and most modules are never imported. 0 is how pip spells this option. So
# Python must keep what it compiles, also where a container says otherwise. NumPy's import is slow without bytecode
# (docs/measurements/2026-11-24-constants.md).
export PIP_NO_COMPILE=0
unset PYTHONDONTWRITEBYTECODE

# Suites that run at once: much of a test is a wait for processes that start and end.
workers=${ATOLL_BUILD_TEST_WORKERS:-$((jobs < 8 ? jobs + 1 : 8))}
# Tests that compile kernels in Numba or Triton, which scripts/kernels.sh runs.
kernel_tests=(tests/python/test_{numba_messages,numba,kernel_languages,kernel_page,kernel_traces,numba_checks,numba_examples,numba_gpus,nvshmem_bitcode,nvshmem_kernels,porting}.py)
# Programs, notebooks and names on pages, which scripts/docs.sh runs.
page_tests=(tests/python/test_{pages,tutorials}.py)

say() { printf '%s\n' "$*"; }

# cpu_seconds VARIABLE: sets it to the CPU seconds that this shell's children have used. A subshell has no children yet, so
# `times` writes to a file.
cpu_seconds() {
    times >"$logs/times.$$"
    printf -v "$1" %s "$(awk -F'[ms ]' 'NR == 2 { printf "%d", 60 * $1 + $2 + 60 * $4 + $5 }' "$logs/times.$$")"
    rm -f "$logs/times.$$"
}

# log_of NAME: prints the path of a step's log.
log_of() { printf '%s/%s.log' "$logs" "${1//[^A-Za-z0-9_-]/-}"; }

# step NAME COMMAND...: one line on the terminal with elapsed and CPU seconds, all output in a log, the log's end if it
# failed.
step() {
    local name=$1 start=$SECONDS cpu_before cpu status=0
    shift
    local log
    log=$(log_of "$name")
    cpu_seconds cpu_before
    printf '  %-34s ' "$name"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    cpu_seconds cpu
    cpu=$((cpu - cpu_before))
    if [ "$status" -eq 0 ]; then
        printf 'ok      %4d s  %5d s of CPU\n' $((SECONDS - start)) "$cpu"
    else
        printf 'FAILED  %4d s  %5d s of CPU  (status %d; the log is %s)\n' $((SECONDS - start)) "$cpu" "$status" "$log"
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

# set_uv_sources: sets uv's variables for package indexes from pip's configuration.
set_uv_sources() {
    local name value
    while IFS='=' read -r name value; do
        value=${value#\'} value=${value%\'}
        case $name in
            *.index-url) export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$value} ;;
            *.extra-index-url) export UV_INDEX=${UV_INDEX:-$value} UV_INDEX_STRATEGY=${UV_INDEX_STRATEGY:-unsafe-best-match} ;;
            *.find-links) export UV_FIND_LINKS=${UV_FIND_LINKS:-$value} ;;
            *.no-index) [ "$value" != 1 ] && [ "$value" != true ] || export UV_NO_INDEX=1 ;;
            *.cert) export SSL_CERT_FILE=${SSL_CERT_FILE:-$value} ;;
        esac
    done < <("$python" -m pip config list 2>/dev/null)
}

# install_into ENVIRONMENT ARGUMENTS...: installs packages by uv, with a fifth of pip's CPU time. By pip if uv is missing or
# fails.
install_into() {
    local to=$1/bin/python
    shift
    if [ -x .venv/bin/uv ]; then
        (set_uv_sources && .venv/bin/uv pip install --python "$to" "$@") && return 0
    fi
    "$to" -m pip --version >/dev/null 2>&1 || "$to" -m ensurepip || return 1
    "$to" -m pip install --disable-pip-version-check "$@"
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
    python3 scripts/summary.py count "$results/$suite.tsv" "$name" "$status" $((SECONDS - start)) "$(log_of "$name")" \
        ${junit:+"$junit"}
    checked=$status
}

# skip NAME REASON: counts and reports a check that this machine cannot make.
skip() {
    printf '  %-34s skipped: %s\n' "$1" "$2"
    python3 scripts/summary.py skip "$results/$suite.tsv" "$1"
}

# is_late: true once no further part of `make ci` should begin.
is_late() { [ "$(date +%s)" -gt "${ATOLL_BUILD_LATEST:-99999999999}" ]; }
# skip_late NAME: skips a part for lack of time, and keeps its name for the end of the output.
skip_late() {
    skip "$1" "not run, for lack of time (ATOLL_BUILD_CI_SECONDS)"
    printf '%s\n' "$1" >>"$logs/late"
}

# cxx_tests PRESET: the C++ tests of a built preset. Tests of one process share processes; jobs of several are ctest's,
# and count as two processors. Most of their time is waits, so more run than there are cores. Lint compiles by NVRTC.
cxx_tests() {
    local ctest="$PWD/$results/ctest-$1.xml"
    check "C++ tests ($1)" --junit "$results/cxx-$1.xml" limited python3 scripts/gtests.py --junit "$results/cxx-$1.xml" \
        --jobs "$((4 * jobs))" "build/$1"/bin/*_tests
    check "C++ jobs ($1)" --junit "$ctest" \
        limited ctest --preset "$1" -j "$((2 * jobs))" -E '^(common|bootstrap|memory|gpu_unit|transport|core|collective|device)\.|nvrtc$' --output-junit "$ctest"
}

# closing SUITE...: the table and the one closing line; fails where anything failed.
closing() { python3 scripts/summary.py close "${@/#/$results/}"; }

# The Clang of Debian 12 and 13 whose sanitizers are used. Its programs compile in half of GCC's time, and tests under it
# need two thirds. GCC serves where it is missing.
sanitizer=19
# configure PRESET, and build targets of it (all by default).
configure() {
    local compilers=()
    case $1 in
        asan | tsan)
            if has_sanitizers; then
                compilers=(-DCMAKE_C_COMPILER=clang-$sanitizer -DCMAKE_CXX_COMPILER=clang++-$sanitizer)
            fi
            ;;
    esac
    cmake --preset "$1" "${compilers[@]}" "${@:2}"
}
# has_sanitizers: true where that Clang can link a program with its sanitizers.
has_sanitizers() {
    echo 'int main() {}' | "clang++-$sanitizer" -x c++ -fsanitize=address,undefined -o "$logs/sanitized.$$" - 2>/dev/null && rm -f "$logs/sanitized.$$"
}
build() { cmake --build "build/$1" -j "$jobs" --target "${@:2}" $([ $# -gt 1 ] || echo all); }
# Builds the libraries for aarch64 and the test programs of the layers.
cross_tests=({common,bootstrap,memory,transport,gpu_unit,core,collective}_tests)
build_cross() { configure cross-aarch64 && build cross-aarch64 atoll atoll_cli atoll_shmem "${cross_tests[@]}"; }
