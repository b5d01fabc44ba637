"""Tests over several hosts, which are network namespaces: scripts/clusters.sh runs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import hosts as hosts_module
import slurm as slurm_module

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests/python"), str(ROOT / "tests/torch")]
from one_import import forks  # noqa: E402, F401 (a fixture)

BUILT = ROOT / "build/release"


@pytest.fixture(scope="session", autouse=True)
def permitted() -> None:
    reason = hosts_module.why_not()
    if reason:
        pytest.skip(reason)
    hosts_module.sweep()


@pytest.fixture
def make_hosts(tmp_path: Path) -> Iterator[Callable[[int], hosts_module.Hosts]]:
    made: list[hosts_module.Hosts] = []

    def make(count: int) -> hosts_module.Hosts:
        made.append(hosts_module.Hosts(count, tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def pe() -> str:
    """The program of bootstrap_pe.cpp."""
    return str(BUILT / "clusters/bootstrap_pe")


@pytest.fixture
def slurm(make_hosts: Callable[[int], hosts_module.Hosts], tmp_path: Path) -> Iterator[slurm_module.Slurm]:
    reason = slurm_module.why_not()
    if reason:
        pytest.skip(reason)
    made = slurm_module.Slurm(make_hosts(2), tmp_path)
    yield made
    made.close()
