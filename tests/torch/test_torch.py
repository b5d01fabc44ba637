"""The backend atoll of torch.distributed: cases.py on 4 ranks, and how programs start and end.

The environment build/torch has PyTorch (scripts/setup.sh torch). Without it the tests are skipped. Programs of the
fixture `forks` are forks of a process that has imported PyTorch; tests that name PYTHON start new ones.
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


def run(
    python: Path | str, *command: str, seconds: int = 800, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python on a command and capture its output."""
    return subprocess.run(
        [str(python), *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=os.environ | environment,
    )


@functools.cache
def results(size: int, folder: Path, python: str) -> tuple[dict[str, dict[str, str]], str]:
    """Run all cases on `size` ranks. Return the errors of each case by rank, and the ends of all outputs."""
    store = str(folder / f"store-{size}")
    command = [python, str(HERE / "cases.py")]
    files = {rank: folder / f"rank-{rank}-of-{size}" for rank in range(1, size)}
    others = []
    for rank, file in files.items():
        with file.open("w") as output:
            others.append(
                subprocess.Popen([*command, str(rank), str(size), store], stdout=output, stderr=output)
            )
    try:
        first = run(*command, "0", str(size), store)
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
def test_on_four_ranks(name: str, folder: Path, forks: str) -> None:
    errors, output = results(4, folder, forks)
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
    done = run(PYTHON, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", str(program))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 of 2 atoll", "rank 1 of 2 atoll"]


def test_import_of_torch_loads_nothing_of_atoll() -> None:
    done = run(
        PYTHON, "-c", "import torch, sys; print([m for m in sys.modules if m.split('.')[0] == 'atoll'])"
    )
    assert done.stdout == "[]\n", done.stderr


def test_import_of_torch_survives_a_broken_registration() -> None:
    program = (
        "import torch.distributed as dist, _atoll_torch\n"
        "dist.Backend.backend_list.remove('atoll')\n"
        "def fail(*args, **kwargs): raise RuntimeError('broken')\n"
        "dist.Backend.register_backend = fail\n"
        "_atoll_torch.register()\n"
        "print('alive')"
    )
    done = run(PYTHON, "-c", program)
    assert done.stdout == "alive\n", done.stderr


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
# `atoll run` is of this Python's environment, and starts a Python with PyTorch, whose path is to follow.
ATOLL_RUN = (str(Path(sys.executable).with_name("atoll")), "run", "-n", "2")
TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone")


@pytest.mark.parametrize("launcher", ["torchrun", "atoll run"])
@pytest.mark.parametrize("backend", ["atoll", "gloo"])
def test_symmetric_memory_under_each_launcher(
    tmp_path: Path, forks: str, launcher: str, backend: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SYMMETRIC)
    python = str(PYTHON) if backend == "atoll" else forks
    start = (python, *TORCHRUN) if launcher == "torchrun" else (*ATOLL_RUN, python)
    command = [*start, str(program), backend]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0 of 2 ATOLL", "rank 1 of 2 ATOLL"], done.stdout


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_example_of_symmetric_memory_spreads_the_heat_as_one_rank_does(ranks: int, forks: str) -> None:
    program = HERE.parents[1] / "examples" / "22_torch_symmetric" / "heat.py"
    done = run(
        forks, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--standalone", str(program)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "largest difference from one rank: 0.0e+00, heat 1000.000000\n"


def test_distributed_arrays_of_tensors(forks: str) -> None:
    """On hosts; the program is that for GPUs."""
    program = HERE.parent / "python_gpu/dist_arrays.py"
    command = [*ATOLL_RUN, forks, str(program), "tensors"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.count("tensors passed") == 2, done.stdout + done.stderr


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
    tmp_path: Path, forks: str, refuses: tuple[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(REPLACED)
    python = forks if refuses else str(PYTHON)
    ranks = [
        subprocess.Popen(
            [python, str(program), str(rank), str(tmp_path / "store"), *refuses],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"ATOLL_TORCH_REPLACE": "gloo,nccl"},
        )
        for rank in range(2)
    ]
    told = [rank.communicate(timeout=400) for rank in ranks]
    # A rank that fails may make the other one fail first.
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(errors for _, errors in told)
    for output, errors in told:
        assert output == ("gloo gloo\n" if refuses else "gloo atoll\n") * 2
        said = "stays one of gloo: rank 1: ImportError: no compiler" if refuses else "are made by Atoll"
        assert errors.count(said) == 1, errors


@pytest.mark.skipif(
    not PYTHON.parents[1].joinpath("trainers").exists(),
    reason="no Lightning; scripts/setup.sh torch installs it",
)
def test_lightning_and_accelerate_train_to_the_same_bits_as_with_gloo(forks: str) -> None:
    done = run(forks, str(HERE / "trainers.py"))
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


def test_examples_on_two_ranks_and_the_language_model_with_the_same_losses_as_with_gloo(
    forks: str,
) -> None:
    folder = HERE.parents[1] / "examples"
    done = run(forks, str(HERE / "forked.py"), *(str(folder / name) for name in EXAMPLES))
    assert done.returncode == 0, done.stderr
    parts = [part.split("\n", 1)[1] for part in done.stdout.split("== ")[1:]]
    by_gloo, by_atoll, sharded, letters, server, embedding = parts
    assert by_gloo.count("loss") == 6
    assert by_gloo == by_atoll == sharded
    assert "14781 of 27293 parameters are on rank 0\nas one rank writes 'the sea " in letters, letters
    assert server == "200 steps of each worker: largest error 0.000\n"
    assert embedding == "2 ranks looked up 640 rows each, all as expected\n"
