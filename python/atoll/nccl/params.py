"""NCCL's parameters: the NCCL_ variables of the environment, which change nothing here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

__all__ = ["dump_params", "params"]


class _Params(Mapping[str, str]):
    """NCCL's variables of the environment, by name with or without the prefix."""

    def __getitem__(self, key: str) -> str:
        return os.environ[key if key.startswith("NCCL_") else f"NCCL_{key}"]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in os.environ if name.startswith("NCCL_")))

    def __len__(self) -> int:
        return sum(1 for name in self)


params = _Params()


def dump_params() -> None:
    """Print the variables."""
    for name, value in params.items():
        print(f"{name}={value}")
