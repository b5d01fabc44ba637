"""The ways in which PEs find each other in Python: variables, stores and communicators of others, and their precedence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Job, environment, free_port, python, rank_variables, write_program
from test_host_traces import run as run_on_hosts

# A fake of an initialised torch.distributed. Its store refuses a key that was written before, as PEs of
# an earlier job left it there.
TORCH = """
import sys, types
values = {}
class PrefixStore:
    def __init__(self, prefix, store):
        assert store == "the store"
        self.prefix = prefix
    def set(self, key, value):
        assert self.prefix + key not in values, key
        values[self.prefix + key] = value
    def get(self, key): return values[self.prefix + key]
torch = types.ModuleType("torch.distributed")
torch.is_available = torch.is_initialized = lambda: True
torch.get_rank, torch.get_world_size = lambda: 0, lambda: 1
torch.distributed_c10d = types.SimpleNamespace(_get_default_store=lambda: "the store")
torch.PrefixStore = PrefixStore
sys.modules["torch.distributed"] = torch
import atoll
"""


def run_alone(code: str, **changes: str) -> None:
    done = python(code, **changes)
    assert done.returncode == 0, done.stderr


def test_torchrun_variables(tmp_path: Path) -> None:
    """Processes that know RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT find each other."""
    port = free_port()
    program = write_program(
        tmp_path, "atoll.init(); atoll.barrier_all(); print(atoll.my_pe(), atoll.n_pes())"
    )
    started = [
        subprocess.Popen(
            [sys.executable, str(program)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(**rank_variables(pe, 2, port)),
        )
        for pe in range(2)
    ]  # fmt: skip
    for pe, process in enumerate(started):
        out, err = process.communicate(timeout=HANG_GUARD)
        assert out == f"{pe} 2\n", err


# It sends itself Ctrl-C once the main thread is within init, and lets other threads run.
CTRL_C_IN_INIT = """
import os, signal, sys, threading, atoll
main = threading.main_thread().ident
def send():
    while sys._current_frames()[main].f_code.co_name != "init": pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    atoll.init()  # waits for a PE that does not come
except KeyboardInterrupt:
    print("interrupted", atoll.is_initialized())
"""


@pytest.mark.parametrize("pe", [0, 1])
def test_ctrl_c_in_init_of_pes_without_the_launcher(pe: int) -> None:
    place = rank_variables(pe, 2, free_port())
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C_IN_INIT], env=environment(ATOLL_INIT_TIMEOUT="1000", **place),
        capture_output=True, text=True, check=False, timeout=HANG_GUARD,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "interrupted False\n"), done.stderr


def test_a_pe_that_does_not_call_init_is_named(job: Job) -> None:
    """Under the launcher. ATOLL_WAIT_TIMEOUT bounds waits after init only, so it does not end this one."""
    code = """
        import time
        if os.environ["ATOLL_LAUNCHED"].split(":")[1] == "1": time.sleep(1000)
        atoll.init()
    """
    done = job(code, 2, ok=False, ATOLL_INIT_TIMEOUT="0.3", ATOLL_WAIT_TIMEOUT="1e-9")
    assert done.returncode != 0
    # The barrier of a busy machine waits for all others, and names none of them.
    said = r"Timed out after 0.3 s in init(, waiting for PE 1)?; not yet started: PE 1. Give this wait more time: raise"
    assert re.search(said + " ATOLL_INIT_TIMEOUT, or", done.stderr), done.stderr


def test_a_store_of_torch_connects_the_pes() -> None:
    run_alone(TORCH + "atoll.init(); assert atoll.n_pes() == 1 and values; atoll.finalize()")


def test_each_job_has_separate_keys_in_a_store_of_torch() -> None:
    run_alone(TORCH + "for _ in range(2): atoll.init(); atoll.finalize()")


def test_each_attempt_of_an_agent_has_separate_keys() -> None:
    code = TORCH + "import os\nos.environ['TORCHELASTIC_RESTART_COUNT'] = '1'; atoll.init(); print(*values)"
    first, second = code.replace("= '1'", "= '0'"), code
    keys = [python(program).stdout.split() for program in (first, second)]
    assert keys[0] and not set(keys[0]) & set(keys[1])


def test_a_bootstrap_that_is_asked_for_wins_over_a_store_of_torch() -> None:
    run_alone(TORCH + "atoll.init(); assert atoll.n_pes() == 1 and not values", ATOLL_BOOTSTRAP="single")


def test_the_launcher_wins_over_a_store_of_torch(job: Job) -> None:
    job(TORCH + "atoll.init(); assert atoll.n_pes() == 2 and not values; atoll.finalize()", 2)


def test_without_the_launcher_a_store_of_torch_is_used(job: Job) -> None:
    code = TORCH + "atoll.init(); assert atoll.n_pes() == 1 and values; atoll.finalize()"
    job(code, 2, ATOLL_NO_LAUNCHER="1")


def test_a_job_of_the_launcher_stays_one_of_the_launcher(job: Job) -> None:
    again = "atoll.init(); assert atoll.n_pes() == 2 and not values; atoll.finalize()\n"
    job(TORCH + again * 3, 2)


def test_a_second_init_reads_the_settings_again(job: Job) -> None:
    job(
        """
        for size, most in (("8M", 7 << 20), ("2M", 3 << 19), ("32M", 31 << 20)):
            os.environ["ATOLL_HEAP_SIZE"] = size
            os.environ["ATOLL_CHECK"] = "none" if size == "2M" else "all"
            atoll.init()
            kept = atoll.zeros(most, "u1")
            try:
                atoll.zeros(most, "u1")
            except atoll.OutOfMemory:
                del kept
            else:
                raise AssertionError(size)
            atoll.finalize()
        """,
        3,
    )


def test_children_are_not_invited(job: Job) -> None:
    """A program that a PE starts with a copy of os.environ is a separate job."""
    job(
        """
        import subprocess
        atoll.init()
        assert "ATOLL_LAUNCHED" not in os.environ
        child = "import atoll; atoll.init(); print(atoll.n_pes()); atoll.finalize()"
        done = subprocess.run([sys.executable, "-c", child], env={**os.environ}, capture_output=True, text=True)
        assert done.stdout == "1\\n", done.stderr
        atoll.finalize()
        """,
        2,
    )


def test_a_store_or_communicator_connects_the_pes() -> None:
    """init(comm=) takes the methods of mpi4py: Get_rank, Get_size, bcast. Threads are not PEs, so n is 1
    here.
    """
    code = """
import atoll
class Comm:
    def Get_rank(self): return 0
    def Get_size(self): return 1
    def bcast(self, value, root): return value
atoll.init(comm=Comm())
assert atoll.n_pes() == 1
atoll.finalize()
"""
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_a_communicator_smaller_than_the_job_is_refused(job: Job, tmp_path: Path) -> None:
    """`atoll run` starts no MPI, so that each PE is alone in COMM_WORLD. It made as many jobs of one PE."""
    code = """
    class Comm:
        def Get_rank(self): return 0
        def Get_size(self): return 1
        def bcast(self, value, root): return value
    try:
        atoll.init(comm=Comm())
        print("alone")
    except atoll.InvalidArgument as error:
        atoll.init()
        print(atoll.my_pe(), error)
    """
    done = job(code, 2)
    assert sorted(done.stdout.splitlines()) == [
        f"{pe} init(): `atoll run` started this process as PE {pe} of 2, but comm has 1 rank. Start the program by "
        "mpiexec -n 2, or call init() without comm."
        for pe in range(2)
    ]
    assert job(code, 1).stdout == "alone\n"
    hosts = run_on_hosts(tmp_path, code, hosts="a:1,b:1")
    assert "1 init(): `atoll run` started this process as PE 1 of 2, but comm has 1 rank." in hosts.stdout, (
        hosts.stderr
    )


def test_the_package_may_be_imported_again(job: Job) -> None:
    """Notebooks and reloaders do that: the job goes on, classes stay the same, and an exception still ends the
    job.
    """
    code = """
    atoll.init()
    x, first, kind = atoll.zeros(2, int), atoll, atoll.Timeout
    for again in range(2):
        for name in [name for name in sys.modules if name.split(".")[0] == "atoll"]:
            del sys.modules[name]
        import atoll
        assert atoll is not first and atoll.Timeout is kind and atoll.is_initialized()
        atoll.init()
        atoll.put(x, atoll.my_pe() + 1, 1)
        assert isinstance(atoll.zeros(2).base, first.Block) and atoll.is_symmetric(x)
        atoll.finalize()
    atoll.barrier_all()
    if atoll.my_pe() == 1:
        raise KeyError("said once")
    atoll.barrier_all()
    """
    done = job(code, 2, ok=False)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1 and "PE 1 ended by an uncaught exception" in done.stderr, (
        done.stderr
    )
