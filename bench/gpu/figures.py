"""Draws examples/11_kernels_jacobi/times.png from bench/results/gpu_examples.json."""

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import tables  # noqa: E402

LINES = {
    "nvshmem: a kernel a step, barrier": ("C3", ":", "NVSHMEM, a kernel a step, barrier"),
    "nvshmem: a kernel a step, put_signal": ("C3", "--", "NVSHMEM, a kernel a step, put_signal"),
    "nvshmem: one kernel, put_signal, grid sync": ("C3", "-", "NVSHMEM, one kernel, put_signal, grid sync"),
    "atoll: Numba": ("C2", "-", "Atoll in Numba, one kernel, mailboxes"),
    "atoll: stepwise": ("C0", "--", "Atoll in CUDA C++, a kernel a step, put_signal"),
    "atoll: persistent": ("C0", "-", "Atoll in CUDA C++, one kernel, mailboxes"),
}


def main() -> None:
    rows = tables.run_of("gpu_examples", "2xH200-jacobi")["rows"]
    figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for name, (colour, style, label) in LINES.items():
        side, form = name.split(": ", 1)
        pattern = re.compile(rf"Jacobi step, {re.escape(form)}, (\d+) x \d+ a GPU")
        found = [(pattern.fullmatch(row["operation"]), row) for row in rows if row["implementation"] == side]
        points = [(int(match[1]), row["median"]) for match, row in found if match]
        ax.loglog(*zip(*points, strict=True), color=colour, ls=style, marker=".", label=label)
    ax.set_xscale("log", base=2)
    ax.set(
        xlabel="side of each GPU's grid, cells of float",
        ylabel="µs a step",
        title="Jacobi on two H200, a ring of rows",
    )
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    figure.savefig(ROOT / "examples/11_kernels_jacobi/times.png", dpi=90)


main()
