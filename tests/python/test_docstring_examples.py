"""The examples in docstrings of all public modules run, and print what the docstrings show."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from typing import Any

import atoll
import pytest
from jobs import HANG_GUARD, HERE, Job, environment

LAUNCHES = {"atoll:launch", "atoll:Pool"}  # they start PEs, so they are no calls of a PE


@pytest.fixture(scope="module")
def public() -> dict[str, Any]:
    """The findings of public_names.py in a separate process: the import of some modules calls init."""
    done = subprocess.run(
        [sys.executable, str(HERE / "public_names.py")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_examples_run_on_pes(kept_job: Job, public: dict[str, Any]) -> None:
    names = [name for name in public["examples"] if name not in LAUNCHES]
    modules = {name.partition(":")[0] for name in names}
    assert {"atoll", "atoll.arrays", "atoll.fft", "atoll.logging", "atoll.sparse"} <= modules
    for n in 2, 3:
        done = kept_job("docstring_examples.py", n, *names)
        counts = [int(count) for count in re.findall(r"examples: (\d+)", done.stdout)]
        assert len(counts) == n and min(counts) > len(names), done.stdout


def test_modules_without_their_package(public: dict[str, Any]) -> None:
    if public["skipped"]:
        pytest.skip("; ".join(f"{name}: {reason}" for name, reason in public["skipped"].items()))


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_examples_that_start_pes(name: str) -> None:
    text = getattr(atoll, name.partition(":")[2]).__doc__ or ""
    test = doctest.DocTestParser().get_doctest(text, {"atoll": atoll}, name, None, None)
    assert test.examples and not any(example.options for example in test.examples)
    assert doctest.DocTestRunner().run(test).failed == 0
