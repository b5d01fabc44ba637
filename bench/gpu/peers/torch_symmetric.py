"""All-reduce of torch symmetric memory, one-shot and two-shot (without multicast), in CUDA graphs.

torchrun's variables start it, one process for each GPU. It prints one line of JSON for each row, as
bench/gpu/stream.cpp does.
"""

import json
import os
import statistics

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm

REPEATS, BATCHES = 40, 11


def median_us(graph: torch.cuda.CUDAGraph) -> float:
    times = []
    for i in range(BATCHES + 2):
        dist.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([begin.elapsed_time(end) * 1e3 / REPEATS], device="cuda")
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        if i >= 2:
            times.append(slowest.item())
    return statistics.median(times)


def main() -> None:
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    group = dist.group.WORLD
    most = 64 << 20
    shared = symm.empty(most // 4, dtype=torch.float32, device="cuda")
    symm.rendezvous(shared, group)
    for count in (16, 1024, 16384, 262144, 4 << 20, 16 << 20):
        part = shared[:count]
        for name, call in (
            ("one_shot", lambda p=part: torch.ops.symm_mem.one_shot_all_reduce(p, "sum", group.group_name)),
            ("two_shot", lambda p=part: torch.ops.symm_mem.two_shot_all_reduce_(p, "sum", group.group_name)),
        ):
            if name == "one_shot" and count > 1 << 20:
                continue
            call()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(REPEATS):
                    call()
            us = median_us(graph)
            if rank == 0:
                row = {
                    "side": "torch",
                    "op": f"all-reduce of float, {name}, graph",
                    "bytes": count * 4,
                    "pes": dist.get_world_size(),
                    "median_us": round(us, 3),
                    "gb_per_s": round(count * 4 / us * 1e-3, 2),
                }
                print(json.dumps(row), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
