"""Measures barriers and small reductions under several values of ATOLL_SPIN, to find the best polling time.

It prints the best tenth of the batches, which is meaningful even on a busy machine.
"""

import argparse
from pathlib import Path

from runner import CORES, ROOT, Runner
from table import duration

SPINS = (0, 1, 3, 10, 30, 100, 1000, 10000)
OPERATIONS = ("barrier_all", "broadcast", "sum_reduce")


def main() -> None:
    """Print one line for each setting and number of PEs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, nargs="+", default=[2, 4, 16, 64])
    parser.add_argument("--spins", type=int, nargs="+", default=list(SPINS))
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    print(f"{'PEs':>4} {'spins':>7}" + "".join(f"{name:>14}" for name in OPERATIONS))
    for n_pes in options.pes:
        for spins in options.spins:
            if n_pes > CORES and spins > 100:
                continue
            runner = Runner(
                options.build.absolute(), Path(), quick=True, bind="core" if n_pes <= CORES else "none"
            )
            command = runner.atoll(n_pes, runner.build / "bench" / "core")
            runner.collect(command, list(OPERATIONS), {"spin": spins}, ATOLL_SPIN=str(spins))
            found = {row["op"]: row["p10"] for row in runner.rows if row["bytes"] <= 8}
            times = "".join(f"{duration(found.get(name)):>14}" for name in OPERATIONS)
            print(f"{n_pes:4} {spins:7}{times}", flush=True)


if __name__ == "__main__":
    main()
