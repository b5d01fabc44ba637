"""The backend atoll of torch.distributed against gloo over TCP, between hosts that are network namespaces.

    build/torch/bin/python bench/torch_hosts.py [--hosts 2] [--ranks 1] [--rounds 10]

Needs root. Each operation is measured in rounds that alternate between the backends, so that other load on the
machine meets both. The table has the ratio of the least times.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = {"8 B": 8, "4 KiB": 4096, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "16 MiB": 1 << 24, "64 MiB": 1 << 26}
SMALL = 1 << 17
Body = Callable[[Any], object]


def operations(ranks: int, rank: int) -> dict[str, tuple[Body, int]]:
    """Return each operation on a group, with the number of repetitions in a round."""
    import torch
    import torch.distributed as dist

    table: dict[str, tuple[Body, int]] = {}
    for text, nbytes in SIZES.items():
        repeat = 100 if nbytes < SMALL else 10 if nbytes < 1 << 24 else 2
        tensor, wide = torch.ones(nbytes // 4), torch.ones(max(nbytes // 4, ranks))
        part = torch.ones(wide.numel() // ranks)
        table[f"all_reduce {text}"] = (lambda g, t=tensor: dist.all_reduce(t, group=g), repeat)
        table[f"broadcast {text}"] = (lambda g, t=tensor: dist.broadcast(t, 0, group=g), repeat)
        table[f"all_gather {text}"] = (
            lambda g, p=part, w=wide: dist.all_gather_into_tensor(w[: p.numel() * ranks], p, group=g),
            repeat,
        )
    word = torch.ones(2)

    def ping_pong(group: Any) -> None:
        if rank == 0:
            dist.send(word, ranks - 1, group=group)
            dist.recv(word, ranks - 1, group=group)
        elif rank == ranks - 1:
            dist.recv(word, 0, group=group)
            dist.send(word, 0, group=group)

    table["barrier"] = (lambda g: dist.barrier(group=g), 100)
    table["send and recv 8 B"] = (ping_pong, 100)
    return table


def measure(rounds: int) -> None:
    """Measure all operations as one rank; rank 0 prints the table."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("atoll")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    groups = {"atoll": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    if rank == 0:
        print(f"{'':20} {'atoll us':>10} {'gloo us':>10} {'atoll/gloo':>11}")
    for what, (body, repeat) in operations(ranks, rank).items():
        times: dict[str, list[float]] = {name: [] for name in groups}
        for _ in range(rounds):
            for name, group in groups.items():
                dist.barrier()
                start = time.perf_counter()
                for _ in range(repeat):
                    body(group)
                times[name].append((time.perf_counter() - start) / repeat * 1e6)
        atoll, gloo = (min(each) for each in times.values())
        if rank == 0:
            print(f"{what:20} {atoll:10.1f} {gloo:10.1f} {atoll / gloo:11.3f}", flush=True)
    dist.destroy_process_group()


def main() -> None:
    """Make the hosts, and start the ranks on them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=1, help="on each host")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    if "RANK" in os.environ:
        return measure(arguments.rounds)
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests/clusters"))
    import hosts

    if reason := hosts.why_not():
        sys.exit(reason)
    places = [host for host in range(arguments.hosts) for _ in range(arguments.ranks)]
    with tempfile.TemporaryDirectory() as folder:
        made = hosts.Hosts(arguments.hosts, Path(folder))
        try:
            command = [sys.executable, __file__, "--rounds", str(arguments.rounds)]
            environment = {"GLOO_SOCKET_IFNAME": "eth0", "UCX_TLS": "tcp,self"}
            ends = [each.wait(600) for each in made.torchrun(places, command, environment)]
            print(ends[0].out, end="")
            for done in ends:
                if done.status:
                    sys.exit(done.text)
        finally:
            made.close()


if __name__ == "__main__":
    main()
