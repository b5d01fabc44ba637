"""Docstrings of all public modules have numpydoc's sections, and their examples run and print what they show."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import atoll
import pytest
from jobs import HANG_GUARD, HERE, ROOT, Job, environment
from numpydoc_form import faults_of

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
    most_used = (
        "put get p g put_nbi get_nbi put_signal signal_wait_until wait_until quiet fence barrier barrier_all broadcast "
        "fcollect alltoall gather sum_reduce max_reduce atomic_add atomic_fetch_add atomic_compare_swap peer zeros my_pe"
    )
    assert {f"atoll:{name}" for name in most_used.split()} <= set(names)
    for n in 2, 3:
        done = kept_job("docstring_examples.py", n, *names)
        counts = [int(count) for count in re.findall(r"examples: (\d+)", done.stdout)]
        assert len(counts) == n and min(counts) > len(names), done.stdout


def test_docstrings_have_their_sections(public: dict[str, Any]) -> None:
    assert not public["faults"], "CONTRIBUTING.md (Docstrings) has the rules:\n" + "\n".join(public["faults"])


@pytest.mark.parametrize("name", ["shmem", "nvshmem", "nccl", "nbshmem"])
def test_modules_of_other_names_lead_to_our_page(name: str) -> None:
    package = Path(atoll.__file__).parent / name / "__init__.py"
    text = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))) or ""
    pages = re.findall(r"docs/[\w-]+\.md", text)
    assert pages and all((ROOT / page).is_file() for page in pages)
    assert "https://" in text or name == "nbshmem"  # nbshmem has no documentation


def takes_both(a: int, *more: int, by: str = "") -> int:
    """Return a number.

    Parameters
    ----------
    a, *more
        Numbers.
    by
        A text.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        It raises this.

    See Also
    --------
    put : an operation
    Team.split
    """
    return a


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        ("", "", None),
        ("a, *more", "a", "Parameters does not name more"),
        ("a, *more", "a, b, *more", "Parameters names b, which it does not have"),
        ("Returns\n-------\nint\n", "", "no section Returns"),
        ("Return a number.", "It raises ValueError.", None),
        (
            "Raises\n------\nValueError\n    It",
            "Notes\n-----\nIt",
            "it raises an error, and has no section Raises",
        ),
        ("Raises", "Errors", "'Errors' is no section of numpydoc"),
        ("put : an", "putt : an", "See Also names putt, which atoll does not have"),
    ],
)
def test_faults_of_docstrings_are_found(was: str, becomes: str, fault: str | None) -> None:
    text = (inspect.getdoc(takes_both) or "").replace(was, becomes)
    found = list(faults_of(inspect.signature(takes_both), text, True))
    assert (fault in found) if fault else found == []


# Modules that need an optional package when they are imported.
NEED_PACKAGES = {
    *("atoll.arrays.numba", "atoll.arrays.triton", "atoll.cupy", "atoll.cute", "atoll.numba", "atoll.torch"),
    *(
        "atoll.nvshmem.device.cute",
        "atoll.nvshmem.device.numba",
        "atoll.nvshmem.interop.cute",
        "atoll.triton",
    ),
    *("atoll.nbshmem", "atoll.nbshmem.device", "atoll.nvshmem.interop.cupy", "atoll.nvshmem.interop.torch"),
}


def test_modules_without_their_package(public: dict[str, Any]) -> None:
    assert public["skipped"].keys() <= NEED_PACKAGES
    if public["skipped"]:
        pytest.skip("; ".join(f"{name}: {reason}" for name, reason in public["skipped"].items()))


@pytest.mark.parametrize("name", sorted(LAUNCHES))
def test_examples_that_start_pes(name: str) -> None:
    text = getattr(atoll, name.partition(":")[2]).__doc__ or ""
    test = doctest.DocTestParser().get_doctest(text, {"atoll": atoll}, name, None, None)
    assert test.examples and not any(example.options for example in test.examples)
    assert doctest.DocTestRunner().run(test).failed == 0
