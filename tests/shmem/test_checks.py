"""ATOLL_CHECK=all: every family of calls detects wrong arguments, and ends the job with one sentence.

The sentence names PE, call and argument. programs/checks.c has the wrong calls.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

STRANGE = r"\d+ .*bytes? at 0x\w+ are neither in the symmetric heap nor in the program's static data"
HUGE = r"\S+ \w+ at 0x\w+ are neither|\S+ \w+ at 0x\w+ reach past"
PE = r"PE -?\d+ does not exist: the team has 2 PEs"
BEHIND = r"\d+ bytes at 0x\w+ reach past the end of their block, which has 80 bytes"
FREED = "8 bytes at .* are in no block of the symmetric heap that is allocated now"
ODD = "its address must be a multiple of"
OVERLAP = "it overlaps"
STRIDE = "strides count elements and must be at least 1"
DIFFERENT = "PEs called a collective of .* differently: PE 0 called .*, PE 1 called"
GONE = "The team was destroyed"
WRONG = {
    # ---- remote memory access
    "put_dest": f"shmem_long_put: dest: {STRANGE}.* Such memory is from shmem_malloc[.]",
    "put_pe": f"shmem_long_put: pe: {PE}",
    "put_negative_pe": f"shmem_long_put: pe: {PE}",
    "put_size": f"shmem_long_put: dest: {HUGE}",
    "put_behind_block": f"shmem_long_put: dest: {BEHIND}",
    "p_behind_block": "shmem_long_p: dest: 8 bytes at .* begin behind the end of their block, which has 80 bytes",
    "get_freed": f"shmem_long_get: source: {FREED}",
    "atomic_freed": f"shmem_long_atomic_add: dest: {FREED}",
    "test_freed": f"shmem_long_test: ivar: {FREED}",
    "broadcast_behind_block": f"shmem_long_broadcast: source: {BEHIND}",
    "put_overlap": f"shmem_long_put: dest: {OVERLAP} source",
    "put_aligned": f"shmem_long_put: dest: {ODD} 8",
    "put_source_aligned": f"shmem_long_put: source: {ODD} 8",
    "put_nbi": f"shmem_double_put_nbi: dest: {STRANGE}",
    "get_source": f"shmem_long_get: source: {STRANGE}",
    "get_overlap": f"shmem_long_get: source: {OVERLAP} dest",
    "get_nbi": f"shmem_short_get_nbi: pe: {PE}",
    "put_constant": "shmem_long_put: dest: it is among the program's constants",
    "ctx_put": f"shmem_ctx_int_put: dest: {STRANGE}",
    "ctx_team_pe": f"shmem_ctx_long_p: pe: {PE}",
    "sized_put": f"shmem_put64: dest: {STRANGE}",
    "sized_get": f"shmem_get128: pe: {PE}",
    "putmem": f"shmem_putmem: dest: {STRANGE}",
    "getmem_nbi": f"shmem_getmem_nbi: source: {STRANGE}",
    "p": f"shmem_float_p: dest: {STRANGE}",
    "g": f"shmem_long_g: source: {STRANGE}",
    "g_pe": f"shmem_long_g: pe: {PE}",
    "iput": f"shmem_long_iput: dest: {STRANGE}",
    "iput_stride": f"shmem_long_iput: dst or sst: {STRIDE}",
    "iput_overlap": f"shmem_long_iput: dest: {OVERLAP} source",
    "iput_size": f"shmem_long_iput: dest: {HUGE}",
    "iget": f"shmem_long_iget: source: {STRANGE}",
    "iget_stride": f"shmem_long_iget: dst or sst: {STRIDE}",
    "ibput": f"shmem_long_ibput: dest: {STRANGE}",
    "ibget": f"shmem_ibget32: source: {STRANGE}",
    "ibget_pe": f"shmem_long_ibget: pe: {PE}",
    # ---- signals
    "put_signal": f"shmem_long_put_signal: dest: {STRANGE}",
    "put_signal_word": f"shmem_long_put_signal: sig_addr: {STRANGE}",
    "put_signal_op": "shmem_putmem_signal: sig_op: 7 is neither",
    "put_signal_overlap": f"shmem_long_put_signal_nbi: dest: {OVERLAP} source",
    "signal_add": f"shmem_signal_add: sig_addr: {STRANGE}",
    "signal_set": f"shmem_signal_set: pe: {PE}",
    "signal_aligned": f"shmem_signal_set: sig_addr: {ODD} 8",
    "signal_fetch": f"shmem_signal_fetch: sig_addr: {STRANGE}",
    "signal_wait": f"shmem_signal_wait_until: sig_addr: {STRANGE}",
    "signal_cmp": "shmem_signal_wait_until: cmp: 9 is not a comparison",
    # ---- atomics
    "amo_fetch": f"shmem_long_atomic_fetch: source: {STRANGE}",
    "amo_set": f"shmem_double_atomic_set: dest: {STRANGE}",
    "amo_swap": f"shmem_long_atomic_swap: pe: {PE}",
    "amo_cswap": f"shmem_long_atomic_compare_swap: dest: {STRANGE}",
    "amo_inc": f"shmem_long_atomic_inc: dest: {ODD} 8",
    "amo_add": f"shmem_int_atomic_add: dest: {STRANGE}",
    "amo_fetch_add": f"shmem_long_atomic_fetch_add: pe: {PE}",
    "amo_xor": f"shmem_ulong_atomic_xor: dest: {STRANGE}",
    "amo_nbi": f"shmem_long_atomic_fetch_add_nbi: dest: {STRANGE}",
    "amo_extension": f"shmemx_double_atomic_add: dest: {STRANGE}",
    # ---- waiting
    "wait_until": f"shmem_long_wait_until: ivar: {STRANGE}",
    "wait_cmp": "shmem_long_wait_until: cmp: 6 is not a comparison",
    "wait_aligned": f"shmem_long_wait_until: ivar: {ODD} 8",
    "wait_all": f"shmem_long_wait_until_all: ivar: {HUGE}",
    "wait_any": f"shmem_long_wait_until_any: ivar: {STRANGE}",
    "wait_some": f"shmem_long_wait_until_some_vector: ivar: {STRANGE}",
    "wait_old": f"shmem_int_wait: ivar: {STRANGE}",
    "test": f"shmem_long_test: ivar: {STRANGE}",
    "test_cmp": "shmem_long_test_any: cmp: -1 is not a comparison",
    # ---- collectives
    "alltoall": f"shmem_long_alltoall: dest: {STRANGE}",
    "alltoall_overlap": f"shmem_long_alltoall: dest: {OVERLAP} source",
    "alltoalls": f"shmem_long_alltoalls: dst or sst: {STRIDE}",
    "alltoalls_dest": f"shmem_alltoallsmem: dest: {STRANGE}",
    "broadcast": f"shmem_long_broadcast: PE_root: {PE}",
    "broadcast_dest": f"shmem_broadcastmem: dest: {STRANGE}",
    "collect": f"shmem_long_collect: dest: {STRANGE}",
    "fcollect": f"shmem_long_fcollect: source: {STRANGE}",
    "fcollect_size": f"shmem_long_fcollect: dest: {HUGE}",
    "reduce": f"shmem_long_sum_reduce: dest: {STRANGE}",
    "reduce_source": f"shmem_double_max_reduce: source: {STRANGE}",
    "reduce_overlap": f"shmem_long_sum_reduce: dest: {OVERLAP} source",
    "reduce_aligned": f"shmem_long_min_reduce: dest: {ODD} 8",
    "scan": f"shmem_long_sum_inscan: dest: {STRANGE}",
    "scan_overlap": f"shmem_long_sum_exscan: dest: {OVERLAP} source",
    "reduce_scatter": f"shmemx_long_sum_reduce_scatter: dest: {STRANGE}",
    "differing_size": f"shmem_long_sum_reduce: {DIFFERENT}",
    "differing_root": f"shmem_long_broadcast: {DIFFERENT}",
    "differing_op": rf"shmem_long_\w+_reduce: {DIFFERENT}",
    "differing_type": rf"shmem_\w+_sum_reduce: {DIFFERENT}",
    "differing_call": rf"shmem_long_\w+: {DIFFERENT}",
    "differing_scan": rf"shmem_long_sum_\w+scan: {DIFFERENT}",
    "differing_malloc": f"shmem_malloc: {DIFFERENT}",
    "differing_team": f"shmem_team_split_strided: {DIFFERENT}",
    "differing_meeting": rf"shmem_\w+: {DIFFERENT}",
    "differing_team_sync": rf"shmem_\w+: {DIFFERENT}",
    "differing_set": rf"shmem_\w+: {DIFFERENT}",
    "invalid_team": "shmem_long_sum_reduce: SHMEM_TEAM_INVALID",
    "destroyed_team": f"shmem_long_sum_reduce: {GONE}",
    "destroyed_sync": f"shmem_team_sync: {GONE}",
    "destroyed_twice": f"shmem_team_destroy: {GONE}",
    "destroyed_ctx": "shmem_ctx_long_p: ctx: this context was destroyed",
    "destroyed_ctx_twice": "shmem_ctx_destroy: ctx: this context was destroyed",
    "ctx_of_destroyed": "shmem_ctx_quiet: ctx: this context was destroyed",
    "ctx_options": "shmem_ctx_create: options: 1048576 has unknown bits",
    "destroyed_world": "shmem_team_destroy: The world team cannot be destroyed",
    "invalid_ctx": "shmem_ctx_long_p: ctx: SHMEM_CTX_INVALID",
    # ---- active sets
    "to_all": f"shmem_long_sum_to_all: dest: {STRANGE}",
    "to_all_count": "shmem_long_sum_to_all: nreduce: -1 is negative",
    "to_all_overlap": f"shmem_long_max_to_all: dest: {OVERLAP} source",
    "set_outside": r"shmem_barrier: The active set \(PE_start 0, logPE_stride 0, PE_size 3\) must name .*PE 2",
    "set_stride": r"shmem_sync: The active set \(PE_start 0, logPE_stride 40, PE_size 2\) must name",
    "set_psync": f"shmem_barrier: pSync: {STRANGE}",
    "set_broadcast": f"shmem_broadcast64: PE_root: {PE}",
    "set_fcollect": f"shmem_fcollect32: dest: {STRANGE}",
    "set_collect": f"shmem_collect64: dest: {STRANGE}",
    "set_alltoall": f"shmem_alltoall64: dest: {OVERLAP} source",
    "set_alltoalls": f"shmem_alltoalls32: dst or sst: {STRIDE}",
    # ---- order, locks, memory, set-up
    "pe_quiet": f"shmem_pe_quiet: target_pes: {PE}",
    "ctx_pe_quiet": f"shmem_ctx_pe_quiet: target_pes: {PE}",
    "set_lock": f"shmem_set_lock: lock: {STRANGE}",
    "lock_twice": "shmem_set_lock: This PE holds the lock already",
    "clear_lock": r"shmem_clear_lock: .*on a lock that PE \d does not hold",
    "test_lock": f"shmem_test_lock: lock: {ODD} 8",
    "free_local": "shmem_free: ptr: .* not in this PE's heap",
    "free_inside": "shmem_free: ptr: .* is inside a block",
    "free_twice": "shmem_free: ptr: .* it was freed already",
    "realloc_local": "shmem_realloc: ptr: .* not in this PE's heap",
    "align": "shmem_align: The alignment .* must be a power of two; 24",
    # ---- null pointers, and invalid handles
    "null_dest": "shmem_long_put: dest: A null pointer was passed as symmetric memory of 64 bytes",
    "null_source": "shmem_long_put: source: NULL was passed; pass memory of 64 bytes",
    "null_get": "shmem_long_get: dest: NULL was passed",
    "null_word": "shmem_long_atomic_inc: dest: A null pointer was passed",
    "null_indices": "shmem_long_wait_until_some: indices: NULL was passed",
    "null_values": "shmem_long_test_all_vector: cmp_values: NULL was passed",
    "null_collective": "shmem_long_sum_reduce: source: NULL was passed",
    "null_broadcast": "shmem_long_broadcast: dest: NULL was passed",
    "null_broadcast_source": "shmem_long_broadcast: source: NULL was passed",
    "null_to_all": "shmem_int_sum_to_all: source: NULL was passed",
    "null_to_all_large": "shmem_long_max_to_all: dest: NULL was passed",
    "null_set_broadcast": "shmem_broadcast64: source: NULL was passed",
    "null_set_target": "shmem_broadcast64: dest: (NULL|A null pointer) was passed",
    "null_set_fcollect": "shmem_fcollect64: dest: NULL was passed",
    "null_set_collect": "shmem_collect32: source: NULL was passed",
    "null_set_alltoall": "shmem_alltoall32: source: NULL was passed",
    "null_set_alltoalls": "shmem_alltoalls64: dest: NULL was passed",
    "null_split": "shmem_team_split_strided: new_team: NULL was passed",
    "null_split_2d": "shmem_team_split_2d: yaxis_team: NULL was passed",
    "null_ctx": "shmem_ctx_create: ctx: NULL was passed",
    "null_ctx_team": "shmem_ctx_get_team: team: NULL was passed",
    "null_name": "shmem_info_get_name: name: NULL was passed",
    "null_version": "shmem_info_get_version: minor: NULL was passed",
    "null_pes": "shmem_pe_quiet: target_pes: NULL was passed",
    "strange_team": "shmem_long_sum_reduce: 0x1238 is not a team",
    "strange_team_destroy": r"shmem_team_destroy: 0x\w+ is not a team",
    "strange_ctx": "shmem_ctx_long_p: ctx: 0x1238 is not a context",
    "strange_ctx_quiet": r"shmem_ctx_quiet: ctx: 0x\w+ is not a context",
    "strange_ctx_destroy": r"shmem_ctx_destroy: ctx: 0x\w+ is not a context",
    "strange_session": "shmem_ctx_session_stop: ctx: 0x1238 is not a context",
    "default_ctx": "shmem_ctx_destroy: ctx: SHMEM_CTX_DEFAULT cannot be destroyed",
    "hints": "shmem_malloc_with_hints: hints: -1 has unknown bits",
    "alltoalls_huge": f"shmem_long_alltoalls: dest: {HUGE}",
    "finalize_twice": "shmem_finalize: it was called more often than shmem_init",
    "after_finalize": "shmem_long_p: OpenSHMEM is not initialized",
}
# Expected errors at level `basic`, the default in C, for calls that would crash, hang or give a wrong result.
BASIC = {
    **{
        name: WRONG[name]
        for name in WRONG
        if name.startswith("null_") and name not in ("null_ctx", "null_ctx_team")
    },
    "null_source": "shmem_long_put: A null pointer was passed as local memory of 64 bytes",
    "null_get": "shmem_long_get: A null pointer was passed as local memory of 64 bytes",
    **{name: WRONG[name] for name in WRONG if name.startswith("strange_") and name != "strange_team"},
    **{
        name: WRONG[name]
        for name in ("pe_quiet", "wait_cmp", "test_cmp", "signal_cmp", "put_signal_op", "put_pe")
    },
}
NOBODY = {"finalize_twice", "after_finalize"}  # errors of a process that has left the job


def test_the_table_is_the_programs(program: Callable[[str], Path], oshrun: Run) -> None:
    done = oshrun(2, program("checks"), ATOLL_CHECK="all")  # correct calls that look wrong are accepted
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(WRONG)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_call_is_named(wrong: str, program: Callable[[str], Path], oshrun: Run) -> None:
    is_named(wrong, WRONG[wrong], oshrun(2, program("checks"), wrong, ATOLL_CHECK="all"))


@pytest.mark.parametrize("wrong", BASIC)
def test_a_wrong_call_is_named_by_default(wrong: str, program: Callable[[str], Path], oshrun: Run) -> None:
    is_named(wrong, BASIC[wrong], oshrun(2, program("checks"), wrong))


def is_named(wrong: str, sentence: str, done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 1 and "came back" not in done.stdout, done.stderr
    who = "" if wrong in NOBODY else r"PE \d, "
    said = [line for line in done.stderr.splitlines() if re.match(rf"atoll: {who}({sentence})", line)]
    assert said, done.stderr
