"""NVSHMEM's functions, of hosts and kernels: each name is provided, or refused with a reason."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from test_layout import ROOT

# In a separate process: `table` is also a module of bench/.
READ = """
import json, nvshmem
table = nvshmem.Table()
host = [f.name for f in table.functions] + list(nvshmem.INLINE), nvshmem.names("nvshmem_names.txt")
kernels = [f.name for f in table.kernels] + list(nvshmem.INLINE_BOTH), nvshmem.names("nvshmem_device_names.txt")
print(json.dumps([*host, table.refused, table.differs, *kernels, table.refused_in_kernels]))
"""


def read() -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=ROOT / "api", capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def test_every_name_is_provided_or_refused() -> None:
    functions, names, refused, differs, kernels, kernel_names, refused_there = read()
    for ours, theirs, without in ((functions, names, refused), (kernels, kernel_names, refused_there)):
        assert set(theirs) - set(ours) - set(without) == set()
        assert set(ours) - set(theirs) == set(), "names that NVSHMEM does not have"
        assert set(without) & set(ours) == set(), "refused and provided"
    assert set(differs) <= {*names, *kernel_names}


def test_coverage_is_what_was_promised() -> None:
    functions, names, _, _, kernels, kernel_names, _ = read()
    for ours, theirs, share in ((functions, names, 0.99), (kernels, kernel_names, 0.97)):
        working = set(ours) & set(theirs)
        assert len(working) >= share * len(theirs), f"{len(working)} of {len(theirs)}"
