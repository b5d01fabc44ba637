# Sourced by the scripts beside it: the parts that were named, counted checks, jobs, and a daemon of MPS.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
source scripts/gpu/mps.sh
export OUT=${OUT:-build/results/gpu} PYTHONUNBUFFERED=1
built=build/release
passed=0 failed=0 partly=0
# Multicast can put the GPUs of a host out of service: no program here uses it.
export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
mkdir -p "$OUT"

# parts SCRIPT "KNOWN..." "DEFAULT..." WORD...: sets $what to the named parts; ends the script at one that is not known.
parts() {
    local script=$1 known=$2 word
    what=${*:4}
    what=${what:-$3}
    for word in $what; do
        case " $known " in *" $word "*) ;; *) echo "gpu.sh $script: '$word' is not one of ${known// /, }"; exit 2 ;; esac
    done
}
# wanted PART: succeeds if the part was named.
wanted() { case " $what " in *" $1 "*) ;; *) return 1 ;; esac; }

# log_to FILE: begins the log of the checks that follow.
log_to() {
    log=$OUT/$1
    : >"$log"
}

# try NAME COMMAND...: counts a check and prints a line; the output goes to the log, its end to the terminal on failure.
try() {
    local name=$1 start=$SECONDS status=0 output
    shift
    output=$("$@" 2>&1) || status=$?
    printf '== %s (status %d, %d s)\n%s\n' "$name" "$status" $((SECONDS - start)) "$output" >>"$log"
    if [ "$status" -eq 0 ] && grep -q 'PEs that share a GPU' <<<"$output"; then
        partly=$((partly + 1))
        printf 'skipped %3d s  %s: in part, for PEs that share a GPU\n' $((SECONDS - start)) "$name"
    elif [ "$status" -eq 0 ] && ! grep -q 'SKIPPED ' <<<"$output"; then
        passed=$((passed + 1))
        printf 'ok      %3d s  %s\n' $((SECONDS - start)) "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED  %3d s  %s (status %d)\n' $((SECONDS - start)) "$name" "$status"
        grep -v '^ *During\|^ *$' <<<"$output" | tail -n 40 | cut -c1-600 | sed 's/^/    | /'
    fi
}

# checked COMMAND...: runs a command or function with all checks.
checked() {
    export ATOLL_CHECK=all
    "$@"
    unset ATOLL_CHECK
}

# job SECONDS N COMMAND...: runs a job of N PEs, which the launcher ends after SECONDS.
job() { timeout $(($1 + 10)) "$built/bin/atoll" run -n "$2" --timeout "$1" "${@:3}"; }

# closing: prints the counts; fails if a check failed, or if the named parts have checks and none passed.
closing() {
    echo "$passed passed, $failed failed, $partly skipped in part"
    [ "$failed" -eq 0 ] || exit 1
    [ "$passed" -gt 0 ] || [ "$what" = bench ] || { echo "no check passed: nothing was tested"; exit 1; }
}
