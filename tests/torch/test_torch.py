"""The backend atoll of torch.distributed: cases.py on 4 ranks, and how programs start and end.

The environment build/torch has PyTorch (scripts/setup.sh torch). Without it the tests are skipped.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "build" / "torch" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("packages").exists(),
    reason="no build/torch; scripts/setup.sh torch makes it",
)


def case_names() -> list[str]:
    """Return the names of the cases, read from the text because this Python may lack PyTorch."""
    files = [
        HERE / f"{name}_cases.py" for name in ("array", "data", "group", "parallel", "symmetric", "training")
    ]
    pairs = itertools.pairwise(line for file in files for line in file.read_text().splitlines())
    return [line.split("(")[0].removeprefix("def ") for before, line in pairs if before == "@case"]


def run(*command: str, seconds: int = 800, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run PyTorch's Python on a command and capture its output."""
    return subprocess.run(
        [str(PYTHON), *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=os.environ | environment,
    )


@functools.cache
def results(size: int, folder: Path) -> tuple[dict[str, dict[str, str]], str]:
    """Run all cases on `size` ranks. Return the errors of each case by rank, and the ends of all outputs."""
    store = str(folder / f"store-{size}")
    command = [str(PYTHON), str(HERE / "cases.py")]
    files = {rank: folder / f"rank-{rank}-of-{size}" for rank in range(1, size)}
    others = []
    for rank, file in files.items():
        with file.open("w") as output:
            others.append(
                subprocess.Popen([*command, str(rank), str(size), store], stdout=output, stderr=output)
            )
    try:
        first = run(*command[1:], "0", str(size), store)
    finally:
        for other in others:
            other.kill()
            other.wait()
    lines = [json.loads(line) for line in first.stdout.splitlines() if line.startswith("{")]
    outputs = [f"rank {rank}: {file.read_text(errors='replace')[-2000:]}" for rank, file in files.items()]
    return {line["name"]: line["errors"] for line in lines}, "\n".join([*outputs, first.stderr[-3000:]])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the files by which ranks find each other."""
    return tmp_path_factory.mktemp("torch")


@pytest.mark.parametrize("name", case_names())
def test_on_four_ranks(name: str, folder: Path) -> None:
    errors, output = results(4, folder)
    assert name in errors, output
    assert not errors[name], "\n".join(f"rank {rank}: {text}" for rank, text in errors[name].items())


PROGRAM = """
import os, torch, torch.distributed as dist
dist.init_process_group("atoll")
tensor = torch.ones(3)
dist.all_reduce(tensor)
assert tensor.tolist() == [dist.get_world_size()] * 3
# One write a line: torchrun gives both ranks the same pipe.
os.write(1, f"rank {dist.get_rank()} of {dist.get_world_size()} {dist.get_backend()}\\n".encode())
dist.destroy_process_group()
"""


def test_torchrun_needs_no_import_of_atoll(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run("-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", str(program))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 of 2 atoll", "rank 1 of 2 atoll"]


def test_import_of_torch_loads_nothing_of_atoll() -> None:
    done = run("-c", "import torch, sys; print([m for m in sys.modules if m.split('.')[0] == 'atoll'])")
    assert done.stdout == "[]\n", done.stderr


def test_docstrings_of_the_module_have_their_sections() -> None:
    done = run(str(HERE.parent / "python/public_names.py"), "atoll.torch")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["skipped"] and not found["faults"], found


def test_import_of_torch_survives_a_broken_registration() -> None:
    program = (
        "import torch.distributed as dist, _atoll_torch\n"
        "dist.Backend.backend_list.remove('atoll')\n"
        "def fail(*args, **kwargs): raise RuntimeError('broken')\n"
        "dist.Backend.register_backend = fail\n"
        "_atoll_torch.register()\n"
        "print('alive')"
    )
    done = run("-c", program)
    assert done.stdout == "alive\n", done.stderr


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


def test_a_world_can_be_made_again_with_another_size(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(REINIT)
    ranks = [
        subprocess.Popen(
            [str(PYTHON), str(program), str(rank), str(tmp_path / "store")], stderr=subprocess.PIPE, text=True
        )
        for rank in range(3)
    ]
    for rank in ranks:
        _, errors = rank.communicate(timeout=400)
        assert rank.returncode == 0, errors


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


def test_a_rank_that_dies_is_named_and_the_others_go_on_without_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(DEATH)
    done = run(str(program), str(tmp_path / "store"))
    assert "rank 1 (process " in done.stdout, done.stdout + done.stderr
    assert "ended without leaving the group" in done.stdout
    assert done.stdout.endswith("[0, 3, [0, 2, 3]]\n[0, 0, 3]\n"), done.stdout + done.stderr


SYMMETRIC = """
import os, sys, torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
symm_mem.set_backend("ATOLL")  # before any group, and for any backend
dist.init_process_group(sys.argv[1])
tensor = symm_mem.empty(1000, device="cpu").fill_(dist.get_rank() + 1)
handle = symm_mem.rendezvous(tensor, dist.group.WORLD)
total = torch.ops.symm_mem.one_shot_all_reduce(tensor, "sum", dist.group.WORLD.group_name)
assert total.eq(3).all(), total
handle.barrier()
os.write(1, f"rank {handle.rank} of {handle.world_size} {symm_mem.get_backend(torch.device('cpu'))}\\n".encode())
dist.destroy_process_group()
# By the same variables. In torchrun's store gloo may find the addresses of its first world.
if sys.argv[1] == "gloo" and "TORCHELASTIC_RUN_ID" in os.environ:
    sys.exit()
dist.init_process_group(sys.argv[1])
total = torch.ones(1)
dist.all_reduce(total)
assert total.item() == 2, total
import atoll
atoll.init()
assert (atoll.my_pe(), atoll.n_pes()) == (dist.get_rank(), 2)
atoll.finalize()
dist.destroy_process_group()
"""
# `atoll run` is of this Python's environment, and starts PyTorch's Python.
LAUNCHERS = {
    "torchrun": (str(PYTHON), "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"),
    "atoll run": (str(Path(sys.executable).with_name("atoll")), "run", "-n", "2", str(PYTHON)),
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("backend", ["atoll", "gloo"])
def test_symmetric_memory_under_each_launcher(tmp_path: Path, launcher: str, backend: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(SYMMETRIC)
    command = [*LAUNCHERS[launcher], str(program), backend]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 of 2 ATOLL", "rank 1 of 2 ATOLL"], done.stdout


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_example_of_symmetric_memory_spreads_the_heat_as_one_rank_does(ranks: int) -> None:
    program = HERE.parents[1] / "examples" / "22_torch_symmetric" / "heat.py"
    done = run("-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--standalone", str(program))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "largest difference from one rank: 0.0e+00, heat 1000.000000\n"


def test_distributed_arrays_of_tensors() -> None:
    """On hosts; the program is that for GPUs."""
    program = HERE.parent / "python_gpu/dist_arrays.py"
    command = [*LAUNCHERS["atoll run"], str(program), "tensors"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.count("tensors passed") == 2, done.stdout + done.stderr


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


def test_a_rank_that_dies_before_a_barrier_of_symmetric_memory_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SYMMETRIC_DEATH)
    other = subprocess.Popen([str(PYTHON), str(program), "1", str(tmp_path / "store")])
    done = run(str(program), "0", str(tmp_path / "store"))
    assert other.wait() == 3
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


def test_a_full_symmetric_memory_tells_its_numbers_and_the_setting() -> None:
    done = run("-c", FULL, ATOLL_HEAP_SIZE="1m")
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


def test_the_module_has_the_cpp_runtime_of_pytorch() -> None:
    done = run("-c", RUNTIME)
    assert done.stdout == "done\n", done.stderr


REPLACED = """
import os, sys, torch, torch.distributed as dist
from datetime import timedelta
rank = int(sys.argv[1])
if sys.argv[3:] and rank == 1:
    import atoll._c10d as c10d
    def fail(): raise ImportError("no compiler")
    c10d.module = fail
dist.init_process_group("gloo", store=dist.FileStore(sys.argv[2], 2), rank=rank, world_size=2)
group = dist.new_group([0, 1])
for one in (dist.group.WORLD, group):
    tensor = torch.ones(3)
    dist.all_reduce(tensor, group=one)
    assert tensor.tolist() == [2.0] * 3, tensor
    print(dist.get_backend(one), one._get_backend(torch.device("cpu")).name())
assert dist.distributed_c10d.ProcessGroupGloo.create_default_device
backend = group._get_backend(torch.device("cpu"))
assert backend.create_default_device()
backend._set_default_timeout(timedelta(seconds=99))
assert backend.options._timeout == timedelta(seconds=99)
store = dist.PrefixStore("seconds", dist.distributed_c10d._get_default_store())
seconds = dist.distributed_c10d.ProcessGroupGloo(store, rank, 2, timeout=77.0)
assert seconds.options._timeout == timedelta(seconds=77)
del seconds
# PyTorch's logger reads memory of the backend where gloo's class has its options.
logged = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))._get_ddp_logging_data()
assert logged["backend_name"] == "gloo" and logged["gloo_num_threads"] == 2, logged
dist.monitored_barrier(group)
objects = [None, None]
dist.all_gather_object(objects, rank)
assert objects == [0, 1]
dist.destroy_process_group()
"""


@pytest.mark.parametrize("refuses", [(), ("no",)])
def test_groups_of_gloo_are_made_by_atoll_on_all_ranks_or_on_none(
    tmp_path: Path, refuses: tuple[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(REPLACED)
    ranks = [
        subprocess.Popen(
            [str(PYTHON), str(program), str(rank), str(tmp_path / "store"), *refuses],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"ATOLL_TORCH_REPLACE": "gloo,nccl"},
        )
        for rank in range(2)
    ]
    for rank in ranks:
        output, errors = rank.communicate(timeout=400)
        assert rank.returncode == 0, errors
        assert output == ("gloo gloo\n" if refuses else "gloo atoll\n") * 2
        said = "stays one of gloo: rank 1: ImportError: no compiler" if refuses else "are made by Atoll"
        assert errors.count(said) == 1, errors


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


def test_a_rank_that_compiles_is_awaited_and_one_that_never_asks_is_named() -> None:
    done = run("-c", AGREE)
    assert done.stdout.splitlines() == [
        "rank 1: no compiler",
        "Rank 1 of a group did not tell within 0.2 s whether it uses Atoll. "
        "Set ATOLL_TORCH_REPLACE on all ranks, or on none.",
    ], done.stderr


LOAD = "from atoll._c10d import _build\n_build.load()"


def test_without_a_compiler_the_error_has_both_ways_out(tmp_path: Path) -> None:
    done = run("-c", LOAD, ATOLL_TORCH_CACHE=str(tmp_path / "empty"), CXX="no-such-compiler")
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


def test_a_module_that_a_wheel_brings_is_loaded_and_a_broken_one_is_not(tmp_path: Path) -> None:
    shipped, made = run("-c", SHIPPED, str(tmp_path)).stdout.split()
    assert shipped != made
    Path(shipped).parent.mkdir()
    Path(shipped).symlink_to(made)
    done = run(
        "-c", SHIPPED, str(tmp_path), CXX="no-such-compiler", ATOLL_TORCH_CACHE=str(tmp_path / "empty")
    )
    assert done.stdout.split() == [shipped, shipped], done.stderr
    Path(shipped).unlink()
    Path(shipped).write_text("This is no module.")
    done = run("-c", SHIPPED, str(tmp_path))
    assert done.stdout.split() == [shipped, made], done.stderr
    assert "cannot be loaded" not in done.stderr  # only the rank that compiles reports it


def test_a_cache_that_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = run("-c", LOAD, ATOLL_TORCH_CACHE=str(tmp_path / "open"))
    assert "others may write it" in done.stderr


def test_other_versions_of_pytorch_are_refused() -> None:
    program = "from atoll._c10d import _build\n_build._check_version('2.99.1')"
    done = run("-c", program)
    assert "supports PyTorch 2.11 to 2.15; this is 2.99.1" in done.stderr


@pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("trainers").exists(),
    reason="no Lightning; scripts/setup.sh torch installs it",
)
def test_lightning_and_accelerate_train_to_the_same_bits_as_with_gloo() -> None:
    done = run(str(HERE / "trainers.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "same bits", done.stdout


EXAMPLES = (
    "21_torch_language/train.py,gloo",
    "21_torch_language/train.py",
    "21_torch_language/train_sharded.py",
    "30_torch_inference/inference.py",
    "31_torch_server/server.py",
    "32_torch_embedding/embedding.py",
)


def test_examples_on_two_ranks_and_the_language_model_with_the_same_losses_as_with_gloo() -> None:
    folder = HERE.parents[1] / "examples"
    done = run(str(HERE / "forked.py"), *(str(folder / name) for name in EXAMPLES))
    assert done.returncode == 0, done.stderr
    parts = [part.split("\n", 1)[1] for part in done.stdout.split("== ")[1:]]
    by_gloo, by_atoll, sharded, letters, server, embedding = parts
    assert by_gloo.count("loss") == 6
    assert by_gloo == by_atoll == sharded
    assert "14781 of 27293 parameters are on rank 0\nas one rank writes 'the sea " in letters, letters
    assert server == "200 steps of each worker: largest error 0.000\n"
    assert embedding == "2 ranks looked up 640 rows each, all as expected\n"
