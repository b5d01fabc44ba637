"""Lets a program under `atoll run` make its world again, from the same variables.

PyTorch closes rank 0's store with the world, so a quicker rank would connect to a store that is being closed. Here
the store stays open until the process ends, as torchrun's does. Each world has its own keys in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

_kept: list[Any] = []
_worlds: Counter[int] = Counter()  # by size: a rank may be in worlds of one size only


def keep() -> None:
    """Replace PyTorch's handler of `env://`."""
    from torch.distributed import PrefixStore
    from torch.distributed.rendezvous import _rendezvous_handlers

    original = _rendezvous_handlers["env"]

    def handler(url: str, **options: Any) -> Iterator[Any]:
        for store, rank, size in original(url, **options):
            if not _kept:
                _kept.append(store)
            _worlds[size] += 1
            yield PrefixStore(f"atoll/{size}/{_worlds[size]}", store), rank, size

    _rendezvous_handlers["env"] = handler
