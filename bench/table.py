"""From rows to the table: medians of rounds, the peer's best variant, ratios, aims."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from runner import Row

KIB, MIB = 1024, 1024 * 1024
SIZES = [64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB]

# (operation, bytes, PEs): the greatest ratio to the peer's time.
AIMS: dict[tuple[str, int, int], float] = {
    ("put_quiet", 8, 2): 0.4,
    ("p", 8, 2): 0.5,
    ("get", 8, 2): 0.5,
    ("atomic_fetch_add", 8, 2): 0.4,
    ("flag_one_way", 8, 2): 0.6,
    ("barrier_all", 0, 2): 0.35,
    ("barrier_all", 0, 4): 0.5,
    ("barrier_all", 0, 16): 0.5,
    ("barrier_all", 0, 64): 0.5,
    ("broadcast", 8, 2): 0.4,
    ("broadcast", MIB, 2): 0.6,
    ("sum_reduce", 8, 2): 0.4,
    ("sum_reduce", MIB, 2): 0.35,
    ("py_put", 8, 2): 0.07,
    ("py_atomic_fetch_add", 8, 2): 0.08,
    ("py_sum_reduce", 8, 2): 0.2,
}
# The same for the peers' C source, built with our shmem.h.
C_AIMS = {key: aim for key, aim in AIMS.items() if not key[0].startswith("py_")} | {
    ("sum_reduce", 8, 4): 0.5,
    ("sum_reduce", 8, 16): 0.5,
}
C_OVER_NS = 2.0
PUT_AIM, SIGNAL_AIM = 0.97, 1.5  # the least, relative to memcpy's bandwidth
INIT_AIMS_MS = {2: 3.0, 64: 20.0}
BARRIER_OVER_NS, ADD_AT_AIM = 60.0, 1.1


@dataclass
class Line:
    """One line of the table; times in nanoseconds unless the texts name another unit."""

    operation: str
    pes: int
    atoll: str
    peer: str
    value: float | None
    shown: str
    aim: str
    met: bool | None

    def text(self) -> str:
        """The line as printed."""
        met = {True: "yes", False: "NO", None: ""}[self.met]
        return f"{self.operation:26} {self.pes:4}  {self.atoll:>11}  {self.peer:>11}  {self.shown:>9}  {self.aim:>9}  {met}"


HEADER = f"{'operation':26} {'PEs':>4}  {'Atoll':>11}  {'peer':>11}  {'ratio':>9}  {'aim':>9}  met?"


def duration(ns: float | None) -> str:
    """Return a human-readable time."""
    if ns is None:
        return "-"
    for unit, scale in (("ns", 1.0), ("µs", 1e3), ("ms", 1e6)):
        if abs(ns) < 1000 * scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def size(n_bytes: int) -> str:
    """Return a human-readable size."""
    return (
        f"{n_bytes} B"
        if n_bytes < KIB
        else f"{n_bytes // KIB} KiB"
        if n_bytes < MIB
        else f"{n_bytes // MIB} MiB"
    )


class Rows:
    """Rows, selected by side, operation, size and PEs. `statistic` represents a run: median or p10."""

    def __init__(self, rows: list[Row], statistic: str = "median") -> None:
        self.rows, self.statistic = rows, statistic

    def select(self, side: str, op: str, n_bytes: int, pes: int) -> list[Row]:
        """Return the runs of one measurement."""
        return [
            row
            for row in self.rows
            if (row["side"], row["op"], row["bytes"], row["pes"]) == (side, op, n_bytes, pes)
            and "spin" not in row
        ]

    def of_run(self, row: Row) -> float:
        """Return the statistic of one run."""
        return row.get(self.statistic, row["median"])

    def time(self, side: str, op: str, n_bytes: int, pes: int) -> float | None:
        """Return the median over the rounds, of the fastest variant."""
        by_variant: dict[str, list[float]] = {}
        for row in self.select(side, op, n_bytes, pes):
            by_variant.setdefault(row.get("variant", ""), []).append(self.of_run(row))
        return min(map(statistics.median, by_variant.values()), default=None)

    def in_turn(self, above: str, below: str, n_bytes: int, pes: int) -> float | None:
        """Return the ratio of two of our operations that took turns batch by batch: the median of all pairs."""
        pairs = zip(
            self.select("atoll", above, n_bytes, pes), self.select("atoll", below, n_bytes, pes), strict=False
        )
        ratios = [a / b for x, y in pairs for a, b in zip(x["batches"], y["batches"], strict=True)]
        return statistics.median(ratios) if ratios else None

    def by_round(
        self,
        ours: tuple[str, int, int],
        other: tuple[str, int, int],
        combine: Callable[[float, float], float],
    ) -> float | None:
        """Combine two of our measurements within each round, and return the median of the rounds."""
        others = {row["round"]: self.of_run(row) for row in self.select("atoll", *other)}
        values = [
            combine(self.of_run(row), others[row["round"]])
            for row in self.select("atoll", *ours)
            if row["round"] in others
        ]
        return statistics.median(values) if values else None


def against_peer(rows: Rows) -> Iterable[Line]:
    """Yield every operation that both sides have, and ours if the peer is missing."""
    seen = {(row["op"], row["bytes"], row["pes"]) for row in rows.rows if row["unit"] == "ns"}
    order = [key for key in AIMS if key in seen] + sorted(
        key for key in seen - AIMS.keys() if key[0] in ("sync_all", "broadcast", "sum_reduce") and key[2] > 1
    )
    for op, n_bytes, pes in order:
        ours = rows.time("atoll", op, n_bytes, pes)
        side = "shmem4py" if op.startswith("py_") else "openmpi"
        theirs = rows.time(side, op, n_bytes, pes)
        aim = AIMS.get((op, n_bytes, pes))
        ratio = ours / theirs if ours and theirs else None
        yield Line(
            f"{op} {size(n_bytes)}" if n_bytes else op,
            pes,
            duration(ours),
            duration(theirs),
            ratio,
            f"{ratio:.3f}" if ratio else "-",
            f"≤ {aim}" if aim else "",
            ratio <= aim if ratio and aim else None,
        )


def source_against_source(rows: Rows) -> Iterable[Line]:
    """Yield the rows of one C source, built with our shmem.h and with the peer's."""
    for (op, n_bytes, pes), aim in C_AIMS.items():
        ours, theirs = rows.time("atoll_c", op, n_bytes, pes), rows.time("openmpi", op, n_bytes, pes)
        if ours is None:
            continue
        ratio = ours / theirs if theirs else None
        yield Line(
            f"{op} {size(n_bytes)} in C" if n_bytes else f"{op} in C",
            pes,
            duration(ours),
            duration(theirs),
            ratio,
            f"{ratio:.3f}" if ratio else "-",
            f"≤ {aim}",
            ratio <= aim if ratio else None,
        )
    in_c, in_cpp = rows.time("atoll_c", "p", 8, 2), rows.time("atoll", "p", 8, 2)
    if in_c is not None and in_cpp is not None:
        over = in_c - in_cpp
        shown = f"{over:+.1f} ns"
        yield Line(
            "p in C over C++", 2, duration(in_c), duration(in_cpp), over, shown, "≤ +2 ns", over <= C_OVER_NS
        )


def against_memcpy(rows: Rows) -> Iterable[Line]:
    """Yield bandwidths against plain memcpy in the same process."""
    for op, reference, aim in (
        ("put_bandwidth", "memcpy", PUT_AIM),
        ("put_signal_read", "memcpy_flag_read", SIGNAL_AIM),
    ):
        for n_bytes in SIZES:
            ours = rows.time("atoll", op, n_bytes, 2)
            if ours is None:
                continue
            ratio = rows.in_turn(reference, op, n_bytes, 2)
            plain = rows.time("atoll", reference, n_bytes, 2)
            yield Line(
                f"{op} {size(n_bytes)}",
                2,
                f"{n_bytes / ours:.1f} GB/s",
                f"{n_bytes / plain:.1f} GB/s" if plain else "-",
                ratio,
                f"{ratio:.3f}" if ratio else "-",
                f"≥ {aim}",
                ratio >= aim if ratio else None,
            )


def within_atoll(rows: Rows) -> Iterable[Line]:
    """Yield Python against the same in C++, and the start of a job against spawning alone."""
    over = rows.by_round(("py_barrier_all", 8, 2), ("barrier_all", 0, 2), lambda python, cpp: python - cpp)
    if over is not None:
        times = (
            duration(rows.time("atoll", "py_barrier_all", 8, 2)),
            duration(rows.time("atoll", "barrier_all", 0, 2)),
        )
        shown = f"{over:+.0f} ns"
        yield Line("py_barrier_all over C++", 2, *times, over, shown, "≤ +60 ns", over <= BARRIER_OVER_NS)
    ratio = rows.by_round(("py_add_at", 8, 2), ("add_at", 8, 2), lambda python, cpp: python / cpp)
    if ratio is not None:
        times = duration(rows.time("atoll", "py_add_at", 8, 2)), duration(rows.time("atoll", "add_at", 8, 2))
        yield Line(
            "py_add_at, 1 M random", 2, *times, ratio, f"{ratio:.3f}", f"≤ {ADD_AT_AIM}", ratio <= ADD_AT_AIM
        )
    for pes in sorted({row["pes"] for row in rows.rows if row["op"] == "init"}):
        own, peer = (spawned(rows, side, pes) for side in ("atoll", "openmpi"))
        if own is None:
            continue
        aim = INIT_AIMS_MS.get(pes)
        yield Line(
            "init + finalize",
            pes,
            duration(own),
            duration(peer),
            own,
            duration(own),
            f"≤ {aim:g} ms" if aim else "",
            own / 1e6 <= aim if aim else None,
        )


def spawned(rows: Rows, side: str, pes: int) -> float | None:
    """Return the nanoseconds of init and finalize beyond spawning as many empty programs."""
    whole, empty = rows.time(side, "init", 0, pes), rows.time(side, "empty", 0, pes)
    return whole - empty if whole is not None and empty is not None else None


def memory(rows: Rows) -> Iterable[str]:
    """Yield the memory of a PE, in separate lines."""
    for pes in sorted({row["pes"] for row in rows.rows if row["op"] == "memory_pss"}):
        texts = []
        for side in ("atoll", "openmpi"):
            pss, shared = rows.time(side, "memory_pss", 0, pes), rows.time(side, "memory_shared", 0, pes)
            texts.append(
                f"{pss:9.0f} KiB ({shared:.0f} shared)" if pss is not None and shared is not None else "-"
            )
        yield f"memory a PE at {pes:3} PEs:  Atoll {texts[0]:>28}   peer {texts[1]:>28}"


def lines(rows: Rows) -> list[Line]:
    """Return the whole table."""
    return [*against_peer(rows), *source_against_source(rows), *against_memcpy(rows), *within_atoll(rows)]
