"""The rows of bench/gpu/kernels.py: each is a kernel in every language, a number of bytes, and a number of
threads.
"""

from __future__ import annotations

from dataclasses import dataclass

ROOM = 65536
"""The mailboxes' room, in bytes."""


@dataclass(frozen=True)
class Row:
    op: str
    kernel: str
    nbytes: int
    threads: int
    calls: int
    """The operation's calls in a round: 2 if one way is half of a round."""

    @property
    def key(self) -> str:
        return f"{self.kernel}-{self.nbytes}"

    @property
    def is_numbered(self) -> bool:
        """Return whether a flag carries the round's number, so that each launch continues the last one's count."""
        return self.kernel in ("flags", "bare_flags", "put_signals", "tiles")

    @property
    def moves(self) -> bool:
        return self.kernel in ("put_signals", "messages", "ways", "reduces", "tiles", "tile_reduces")

    @property
    def is_tiled(self) -> bool:
        return self.kernel in ("tiles", "tile_reduces")

    @property
    def rows(self) -> int:
        """The rows of a tile, of 64 floats each."""
        return self.nbytes // 256


_THREADS = {8: 32, 1024: 128, 16384: 1024, 65536: 1024}
ROWS = [
    Row("flag", "flags", 8, 1, 2),
    *(Row("put_signal", "put_signals", size, threads, 2) for size, threads in _THREADS.items()),
    *(Row("post, receive", "messages", size, threads, 2) for size, threads in _THREADS.items()),
    *(Row("outbox, inbox", "ways", size, threads, 2) for size, threads in _THREADS.items()),
    Row("sync", "syncs", 0, 32, 1),
    Row("sync by a meeting", "meetings", 0, 32, 1),
    Row("barrier", "barriers", 0, 32, 1),
    *(Row("reduce", "reduces", size, 256 if size < 4096 else 1024, 1) for size in (8, 2048, 65536)),
    *(Row("tile_put, signal", "tiles", size, 256, 2) for size in (1024, 16384)),
    *(Row("tile_reduce", "tile_reduces", size, 256, 1) for size in (1024, 16384)),
]
BARE = Row("flag, bare", "bare_flags", 8, 1, 2)
