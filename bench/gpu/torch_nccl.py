"""The backend atoll of torch.distributed on GPUs against NCCL, in one run.

    python bench/gpu/torch_nccl.py [--ranks 2] [--rounds 10] [--only 'all_reduce 16 MiB']

For each operation and size the table has the time of a call in a sequence of calls, and in a CUDA graph. The
backends alternate. `host` is the time of the host for one call: its overhead. NCCL takes one
rank a GPU; with more the table has atoll's times only. The empty backend (PyTorch's `fake`) moves no data: its
host time is that of PyTorch's own dispatch.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

# Registers the backend fake.
import torch.testing._internal.distributed.fake_pg

SIZES = {
    "8 B": 8, "4 KiB": 1 << 12, "64 KiB": 1 << 16, "256 KiB": 1 << 18, "1 MiB": 1 << 20, "4 MiB": 1 << 22,
    "16 MiB": 1 << 24, "64 MiB": 1 << 26,
}  # fmt: skip
CALLS = 20
Operation = Callable[[Any], object]


def operations(ranks: int, only: str) -> dict[str, Operation]:
    """Return each operation on a group whose name and size contain `only`."""
    table: dict[str, Operation] = {}
    for text, nbytes in SIZES.items():
        n = nbytes // 4
        tensor = torch.ones(n, device="cuda")
        part = torch.ones(max(n // ranks, 1), device="cuda")
        whole = torch.ones(part.numel() * ranks, device="cuda")
        swapped = torch.empty_like(whole)
        table[f"all_reduce {text}"] = lambda g, t=tensor: dist.all_reduce(t, group=g)
        table[f"all_gather {text}"] = lambda g, w=whole, p=part: dist.all_gather_into_tensor(w, p, group=g)
        table[f"reduce_scatter {text}"] = lambda g, w=whole, p=part: dist.reduce_scatter_tensor(p, w, group=g)
        table[f"broadcast {text}"] = lambda g, t=tensor: dist.broadcast(t, 0, group=g)
        table[f"all_to_all {text}"] = lambda g, w=whole, s=swapped: dist.all_to_all_single(s, w, group=g)
    return {name: body for name, body in table.items() if only in name}


def captured(body: Operation, group: Any) -> Callable[[], None]:
    """Return a function that launches CALLS calls as one graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            body(group)
    return graph.replay


def eager(body: Operation, group: Any) -> Callable[[], None]:
    """Return a function that makes CALLS calls."""

    def run() -> None:
        for _ in range(CALLS):
            body(group)

    return run


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Return the time of one of CALLS calls until all are done, and until all are enqueued, in us."""
    torch.cuda.synchronize()
    dist.barrier()
    begin = time.perf_counter()
    run()
    enqueued = time.perf_counter()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / CALLS * 1e6, (enqueued - begin) / CALLS * 1e6


def measure_operation(body: Operation, groups: dict[str, Any], rounds: int) -> dict[str, float]:
    """Return the least times of an operation, by backend and kind."""
    times: dict[str, list[float]] = {}
    for name, group in groups.items():
        body(group)
        torch.cuda.synchronize()
        times |= {f"{name} {kind}": [] for kind in ("eager", "graph", "host")}
    graphs = {name: captured(body, group) for name, group in groups.items() if name != "fake"}
    for _ in range(rounds):
        for name, group in groups.items():
            whole, host = timed(eager(body, group))
            times[f"{name} eager"].append(whole)
            times[f"{name} host"].append(host)
            if name in graphs:
                times[f"{name} graph"].append(timed(graphs[name])[0])
    return {key: min(values, default=float("nan")) for key, values in times.items()}


def measure(rank: int, ranks: int, rounds: int, only: str, file: str) -> None:
    """Measure all operations as one rank; rank 0 prints the table."""
    faulthandler.enable()
    faulthandler.dump_traceback_later(60, exit=True)
    torch.cuda.set_device(rank % torch.cuda.device_count())
    store = dist.FileStore(file, ranks)
    limit = timedelta(minutes=2)
    dist.init_process_group("atoll", store=store, rank=rank, world_size=ranks, timeout=limit)
    groups = {"atoll": dist.group.WORLD, "fake": dist.new_group(backend="fake")}
    if torch.cuda.device_count() >= ranks:
        groups["nccl"] = dist.new_group(backend="nccl", timeout=limit)
    columns = ("eager", "graph", "host")
    if rank == 0:
        print(f"{ranks} ranks, {torch.cuda.get_device_name()}, PyTorch {torch.__version__}; times in us")
        head = [f"{name} {column}" for column in columns for name in ("atoll", "nccl")] + ["empty host"]
        print(
            f"{'':22}" + "".join(f"{text:>13}" for text in head) + f"{'eager ratio':>13}{'graph ratio':>13}"
        )
    for what, body in operations(ranks, only).items():
        faulthandler.dump_traceback_later(30, exit=True)
        times = measure_operation(body, groups, rounds)
        row = [
            times.get(f"{name} {column}", float("nan")) for column in columns for name in ("atoll", "nccl")
        ]
        row.append(times["fake host"])
        ratios = [row[0] / row[1], row[2] / row[3]]
        if rank == 0:
            print(
                f"{what:22}" + "".join(f"{t:13.1f}" for t in row) + "".join(f"{r:13.2f}" for r in ratios),
                flush=True,
            )
    dist.destroy_process_group()


def main() -> None:
    """Start the ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", default="", metavar="TEXT", help="operations whose name has this text")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ranks = [
            context.Process(
                target=measure,
                args=(rank, arguments.ranks, arguments.rounds, arguments.only, f"{folder}/store"),
            )
            for rank in range(arguments.ranks)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
        codes = [process.exitcode for process in ranks]
    if any(codes):
        sys.exit(f"the ranks ended with {codes}")


if __name__ == "__main__":
    main()
