"""The backend atoll of torch.distributed: how its worlds and ranks end, and how its module is found.

These programs need PyTorch alone, so they run by one import of it (one_import.py).
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest
from jobs import HANG_GUARD, Done
from one_import import HERE, PYTHON

pytestmark = pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)


class Started:
    """A program that was started."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait(self) -> Done:
        """Return the end of the program and its output. A program that takes too long is killed."""
        try:
            out, err = self._process.communicate(timeout=HANG_GUARD)
        finally:
            self._process.kill()
        return Done([], self._process.returncode, out, err)


class Server:
    """Starts programs of a Python."""

    def __init__(self, python: str) -> None:
        self.python = python

    def start(self, program: Path | str, *arguments: str, **environment: str) -> Started:
        """Start a file, or a text."""
        begin = ["-c", program] if isinstance(program, str) else [str(program)]
        return Started([self.python, *begin, *arguments], os.environ | environment)

    def run(self, program: Path | str, *arguments: str, **environment: str) -> Done:
        """Start a program and wait for its end."""
        return self.start(program, *arguments, **environment).wait()


@pytest.fixture
def server(forks: str) -> Server:
    """Return a server that starts forks of a process with PyTorch imported."""
    return Server(forks)


PLACE = """
import os, sys, torch
loaded = sorted(name for name in ("atoll", "numpy") if name in sys.modules)
print(sys.argv, __name__, loaded, os.environ.get("RANK"), os.getcwd(), flush=True)
os.write(int(sys.argv[1]), b"through")
"""


def test_a_fork_has_the_place_of_its_program(server: Server, tmp_path: Path) -> None:
    """Its arguments, environment, folder and descriptors; and nothing of Atoll is loaded."""
    ends = os.pipe()
    done = subprocess.run(
        [server.python, "-c", PLACE, str(ends[1])],
        env=os.environ | {"RANK": "5"}, cwd=tmp_path, pass_fds=ends[1:], timeout=HANG_GUARD,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    os.close(ends[1])
    with os.fdopen(ends[0]) as pipe:
        assert pipe.read() == "through", done.stderr
    assert done.stdout == f"['-c', '{ends[1]}'] __main__ ['numpy'] 5 {tmp_path}\n"


@pytest.mark.parametrize(
    ("way", "status"),
    [("sys.exit(3)", 3), ("os.kill(os.getpid(), signal.SIGSEGV)", -11), ("raise KeyError", 1)],
)
def test_a_fork_ends_as_its_program(server: Server, way: str, status: int) -> None:
    assert server.run(f"import os, signal, sys\n{way}").returncode == status


def test_a_fork_gets_signals_and_ends_with_what_started_it(server: Server) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"signal\\n"))
os.write(1, b"%d\\n" % os.getpid())
while True: time.sleep(1000)
"""
    with subprocess.Popen([server.python, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        program = os.pidfd_open(int(process.stdout.readline()))
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == "signal\n"
        process.kill()
        assert select.select([program], [], [], HANG_GUARD)[0], "the program has not ended"
        os.close(program)


def test_docstrings_of_the_module_have_their_sections(server: Server) -> None:
    done = server.run(HERE.parent / "python/public_names.py", "atoll.torch")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["skipped"] and not found["faults"], found


REINIT = """
import sys, torch, torch.distributed as dist
rank = int(sys.argv[1])
store = dist.FileStore(sys.argv[2], 3)
for turn, size in enumerate((3, 2, 3)):
    if rank < size:
        dist.init_process_group("atoll", store=dist.PrefixStore(str(turn), store), rank=rank, world_size=size)
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        assert tensor.item() == size, tensor
        dist.destroy_process_group()
"""


def test_a_world_can_be_made_again_with_another_size(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(REINIT)
    ranks = [server.start(program, str(rank), str(tmp_path / "store")) for rank in range(3)]
    for rank in ranks:
        done = rank.wait()
        assert done.returncode == 0, done.stderr


DEATH = """
import os, sys, torch, torch.distributed as dist
torch.set_num_threads(1)  # PyTorch's threads do not live on in a forked child
rank = next((rank for rank in (1, 2, 3) if os.fork() == 0), 0)  # four ranks by one import
store, device = dist.FileStore(sys.argv[1], 4), torch.device("cpu:0")
dist.init_process_group("atoll", store=store, rank=rank, world_size=4, device_id=device)
pair = dist.new_group([0, 3])
half = dist.split_group(split_ranks=[[0, 3], [1, 2]])
assert dist.get_process_group_ranks(half) == ([0, 3] if rank in (0, 3) else [1, 2])
dist.barrier()
if rank == 1:
    os._exit(3)
try:
    dist.all_reduce(torch.ones(4))
except RuntimeError as error:
    if rank == 0:
        print(error, flush=True)
group = dist.shrink_group([1])
tensor = torch.full((2,), float(rank))
dist.all_reduce(tensor)
assert group is dist.group.WORLD and tensor.tolist() == [5.0, 5.0], tensor
dist.all_reduce(torch.ones(1), group=dist.new_group())
if rank == 0:
    print([dist.get_rank(), dist.get_world_size(), dist.get_process_group_ranks(group)], flush=True)
dist.destroy_process_group()
if rank > 0:
    os._exit(0)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(3)))
"""


def test_a_rank_that_dies_is_named_and_the_others_go_on_without_it(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(DEATH)
    done = server.run(program, str(tmp_path / "store"))
    assert "rank 1 (process " in done.stdout, done.stdout + done.stderr
    assert "ended without leaving the group" in done.stdout
    assert done.stdout.endswith("[0, 3, [0, 2, 3]]\n[0, 0, 3]\n"), done.stdout + done.stderr


SYMMETRIC_DEATH = """
import os, sys, torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
rank = int(sys.argv[1])
dist.init_process_group("atoll", store=dist.FileStore(sys.argv[2], 2), rank=rank, world_size=2)
symm_mem.set_backend("ATOLL")
handle = symm_mem.rendezvous(symm_mem.empty(10, device="cpu"), dist.group.WORLD)
handle.barrier()
if rank == 1:
    os._exit(3)
try:
    handle.barrier()
except RuntimeError as error:
    print(error)
"""


def test_a_rank_that_dies_before_a_barrier_of_symmetric_memory_is_named(
    server: Server, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SYMMETRIC_DEATH)
    other = server.start(program, "1", str(tmp_path / "store"))
    done = server.run(program, "0", str(tmp_path / "store"))
    assert other.wait().returncode == 3
    assert "rank 1 (process " in done.stdout, done.stdout + done.stderr
    assert "so barrier on symmetric memory of group 0 on rank 0 cannot end" in done.stdout


FULL = """
import gc, os, torch, torch.distributed._symmetric_memory as symm_mem
symm_mem.set_backend("ATOLL")
torch.set_num_threads(1)  # PyTorch's threads do not live on in a forked child
def refused(n):
    try:
        symm_mem.empty(n, dtype=torch.uint8, device="cpu")
    except torch.OutOfMemoryError as error:
        return str(error)
first = symm_mem.empty(600_000, dtype=torch.uint8, device="cpu").fill_(1)
print(refused(600_000))
del first
gc.collect()
second = symm_mem.empty(600_000, dtype=torch.uint8, device="cpu").fill_(2)
if os.fork() == 0:
    assert second.sum() == 1_200_000
    try:
        symm_mem.empty(10, device="cpu")
    except RuntimeError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.wait()
assert second.sum() == 1_200_000
"""


def test_a_full_symmetric_memory_tells_its_numbers_and_the_setting(server: Server) -> None:
    done = server.run(FULL, ATOLL_HEAP_SIZE="1m")
    assert done.returncode == 0, done.stderr
    for part in ("tensor of 585.9 KiB", "of 1 MiB are in use", "largest free block", "raise ATOLL_HEAP_SIZE"):
        assert part in done.stdout, done.stdout
    assert "forked after its parent had made symmetric tensors" in done.stdout


RUNTIME = """
from pathlib import Path
import torch
from atoll._c10d import _build
maps = (
    "7f00-7f10 r--p 00000000 fe:00 12 /usr/lib/libc.so.6\\n"
    "7f10-7f20 rw-p 00000000 00:00 0\\n"
    "7f20-7f30 r-xp 00000000 fe:00 13 /opt/a b/libstdc++.so.6.0.33\\n"
)
assert _build.shared_runtime(maps) == ["/opt/a b/libstdc++.so.6.0.33"]
assert _build.shared_runtime("") == []
line = _build.command(Path("torch"), Path("all.cpp"), Path("module.so"), ["/opt/libstdc++.so.6"])
assert line.index("/opt/libstdc++.so.6") > line.index("-ltorch_python"), line
module = _build.load()
loaded = {part.split()[5] for part in Path("/proc/self/maps").read_text().splitlines() if "libstdc++" in part}
assert len(loaded) == 1, loaded
print("done")
"""


def test_the_module_has_the_cpp_runtime_of_pytorch(server: Server) -> None:
    done = server.run(RUNTIME)
    assert done.stdout == "done\n", done.stderr


AGREE = """
import threading
from torch.distributed import HashStore
from _atoll_torch import _replace
_replace.WAIT_SECONDS = 0.2
store, compiled = HashStore(), threading.Event()
def compiles():
    compiled.wait()
    return "no compiler"
other = threading.Thread(target=_replace._agree, args=(store, 1, 2, compiles))
other.start()
store.wait(["atoll/replace/1/begun"])
threading.Timer(1, compiled.set).start()
print(_replace._agree(store, 0, 2, lambda: ""))
other.join()
try:
    _replace._agree(HashStore(), 0, 2, lambda: "")
except RuntimeError as error:
    print(error)
"""


def test_a_compiling_rank_is_awaited_and_a_silent_rank_is_named(server: Server) -> None:
    done = server.run(AGREE)
    assert done.stdout.splitlines() == [
        "rank 1: no compiler",
        "Rank 1 of a group did not tell within 0.2 s whether it uses Atoll. "
        "Set ATOLL_TORCH_REPLACE on all ranks, or on none.",
    ], done.stderr


LOAD = "from atoll._c10d import _build\n_build.load()"


def test_without_a_compiler_the_error_has_both_ways_out(server: Server, tmp_path: Path) -> None:
    done = server.run(LOAD, ATOLL_TORCH_CACHE=str(tmp_path / "empty"), CXX="no-such-compiler")
    assert done.returncode != 0
    assert "CXX is no-such-compiler, which is not there. Install one" in done.stderr
    assert "copy the folder" in done.stderr


SHIPPED = """
import sys, sysconfig
from pathlib import Path
import torch
from atoll._c10d import _build
_build.PREBUILT = Path(sys.argv[1])
abi = sysconfig.get_config_var("SOABI")
print(_build.PREBUILT / _build.folder_name(torch.__version__, abi) / _build.file_name(abi))
print(_build.load().__file__)
"""


def test_a_module_that_a_wheel_brings_is_loaded_and_a_broken_one_is_not(
    server: Server, tmp_path: Path
) -> None:
    shipped, made = server.run(SHIPPED, str(tmp_path)).stdout.split()
    assert shipped != made
    Path(shipped).parent.mkdir()
    Path(shipped).symlink_to(made)
    done = server.run(
        SHIPPED, str(tmp_path), CXX="no-such-compiler", ATOLL_TORCH_CACHE=str(tmp_path / "empty")
    )
    assert done.stdout.split() == [shipped, shipped], done.stderr
    Path(shipped).unlink()
    Path(shipped).write_text("This is no module.")
    done = server.run(SHIPPED, str(tmp_path))
    assert done.stdout.split() == [shipped, made], done.stderr
    assert "cannot be loaded" not in done.stderr  # only the rank that compiles reports it


def test_a_cache_that_others_may_write_is_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = server.run(LOAD, ATOLL_TORCH_CACHE=str(tmp_path / "open"))
    assert "others may write it" in done.stderr


def test_other_versions_of_pytorch_are_refused(server: Server) -> None:
    program = "from atoll._c10d import _build\n_build._check_version('2.99.1')"
    done = server.run(program)
    assert "supports PyTorch 2.11 to 2.15; this is 2.99.1" in done.stderr
