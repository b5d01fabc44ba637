"""atoll.register, errors of kernels, documentation of stream=, ranges of NVTX: with the simulated GPU."""

from __future__ import annotations

import re

import atoll
import pytest
from atoll import _atoll
from jobs import Job
from simulated import needs_plugin


@needs_plugin
@pytest.mark.parametrize("n", [1, 2, 4])
def test_register_gives_a_symmetric_view_of_memory_of_others(job: Job, package: str, n: int) -> None:
    done = job("register.py", n, PYTHONPATH=package)
    assert done.stdout.count("done") == n


@needs_plugin
@pytest.mark.parametrize("n", [1, 2])
def test_a_kernels_error_is_an_exception_and_the_job_goes_on(job: Job, package: str, n: int) -> None:
    done = job("kernel_errors.py", n, "caught", PYTHONPATH=package)
    assert done.stdout.count("done") == n
    assert done.stderr == ""


@needs_plugin
def test_a_kernel_that_reports_its_name_is_named_so(job: Job, package: str) -> None:
    assert job("kernel_errors.py", 2, "named", PYTHONPATH=package).stdout.count("done") == 2


@needs_plugin
def test_another_librarys_error_is_explained(job: Job, package: str) -> None:
    done = job("kernel_errors.py", 2, "uncaught", PYTHONPATH=package, ok=False)
    assert done.returncode != 0
    assert "SystemError: another library's error" in done.stderr
    assert re.search(
        r"atoll\.KernelError: PE 1 timed out in a kernel, in signal_wait_until .*tag 42", done.stderr
    )


@needs_plugin
def test_a_kernels_unchecked_error_ends_the_job(job: Job, package: str) -> None:
    done = job("kernel_errors.py", 2, "ignored", PYTHONPATH=package, ok=False)
    assert done.returncode != 0
    assert "PE 1 timed out in a kernel" in done.stderr
    assert "The job ends." in done.stderr


def test_every_function_that_takes_a_stream_documents_it() -> None:
    taking = [name for name, text in _atoll.__signatures__.items() if "stream:" in text]
    assert len(taking) > 40
    for name in taking:
        text = getattr(_atoll, name).__doc__
        assert text.count("\nstream\n    For arrays of a GPU: enqueue the call on this stream") == 1, name
        assert text.index("\nstream\n") > text.index("Parameters\n----------\n"), name
        assert '"Streams" in docs/python.md' in text, name
    for name in set(_atoll.__signatures__) - set(taking):
        assert "\nstream\n" not in (getattr(_atoll, name).__doc__ or ""), name


def test_the_page_has_the_section_that_the_functions_name() -> None:
    from jobs import ROOT

    assert "\n## Streams\n" in (ROOT / "docs/python.md").read_text()


@needs_plugin
def test_nvtx_ranges_enclose_methods(job: Job, package: str) -> None:
    done = job(
        """
        import types
        said = []
        nvtx = types.ModuleType("nvtx")
        nvtx.push_range = lambda name: said.append("+" + name)
        nvtx.pop_range = lambda: said.append("-")
        sys.modules["nvtx"] = nvtx
        atoll.init()
        x = atoll.zeros(3, device="cuda")
        said.clear()
        atoll.WORLD.sync()
        x[1:] = 2.0
        x.numpy()
        with atoll.WORLD.split(0) as team:
            team.barrier()
        print(*said)
        """,
        1,
        PYTHONPATH=package,
        ATOLL_NVTX="1",
    )
    found = done.stdout.split()
    assert found[:2] == ["+atoll.Team.sync", "-"]
    assert "+atoll.DeviceArray.__setitem__" in found
    assert "+atoll.DeviceArray.numpy" in found
    assert "+atoll.Team.split" in found
    assert "+atoll.Team.barrier" in found
    assert found.count("-") * 2 == len(found)


def test_without_nvtx_the_methods_are_the_modules_own() -> None:
    """Without ATOLL_NVTX no wrapper is added."""
    assert not hasattr(atoll.put, "__wrapped__")
    for kind in (atoll.Team, atoll.DeviceArray, atoll.Context, atoll.Lock, atoll.Mailbox):
        assert not any(hasattr(method, "__wrapped__") for method in vars(kind).values()), kind
