"""atoll.nvshmem: programs of NVSHMEM4Py, on host memory and on the simulated GPU."""

from __future__ import annotations

import textwrap

import pytest
from atoll.compat import _has_driver
from jobs import ROOT, Job, python
from ported import PAGE, PROGRAMS
from simulated import needs_plugin

pytestmark = pytest.mark.skipif(
    _has_driver(), reason="NVIDIA's driver is here: tests/python_gpu/nvshmem_core.py is the test"
)
SENTENCE = (
    "atoll: import nvshmem finds atoll.nvshmem, which has the names of nvshmem.core of NVSHMEM4Py 0.4.1."
)


def check(done: object, n: int) -> None:
    assert done.stdout.count("done") == n  # type: ignore[attr-defined]
    first, *others = done.stderr.splitlines()  # type: ignore[attr-defined]
    assert first == SENTENCE
    assert len(others) == n
    assert all("is not allocated, or was freed" in line for line in others)


def test_a_program_of_nvshmem4py_on_host_memory(job: Job) -> None:
    check(job("nvshmem_core.py", 3, ATOLL_COMPAT="nvshmem"), 3)


@needs_plugin
def test_a_program_of_nvshmem4py_on_a_gpu(job: Job, package: str) -> None:
    check(job("nvshmem_core.py", 2, "gpu", PYTHONPATH=package, ATOLL_COMPAT="nvshmem"), 2)


def test_the_program_of_the_page(job: Job) -> None:
    done = job(PROGRAMS["unchanged.py"], 2, ATOLL_COMPAT="nvshmem")
    shown = PAGE.read_text().partition("finalize()\n```\n\n")[2].partition("\n\n")[0]
    assert sorted(done.stdout.splitlines()) == [line.strip() for line in shown.splitlines()]


def test_refused_names_raise() -> None:
    code = f"""
        import inspect, tomllib, atoll.compat
        atoll.compat.install("nvshmem")
        import nvshmem.core
        table = tomllib.load(open({str(ROOT / "api/nvshmem4py.toml")!r}, "rb"))
        nvshmem.core.init()
        for name in table["refused"]:
            if name.count(".") > 2:  # in modules of kernels: test_nvshmem_kernels.py
                continue
            function = getattr(nvshmem.core, name.removeprefix("nvshmem.core."))
            kinds = [p.kind for p in inspect.signature(function).parameters.values()]
            try:
                function(*[None for kind in kinds if kind is not inspect.Parameter.KEYWORD_ONLY])
            except nvshmem.core.NvshmemError as error:
                assert name in str(error)
            else:
                print(name, "was carried out")
        print("looked at all")
        """
    done = python(textwrap.dedent(code))
    assert done.stdout == "looked at all\n", done.stdout + done.stderr


MISTAKES = {
    "from cuda.core import Program; Program('', 'c++')": "cuda.core.Program does not exist in Atoll's substitute",
    "import cuda.core; cuda.core.Graph": "cuda.core has no attribute 'Graph' in Atoll's substitute for cuda.core",
    "import nvshmem.device.bindings": "nvshmem.device does not exist in Atoll's form of nvshmem: it is NVSHMEM4Py's layer",
    "nvshmem.core.device": "nvshmem.core has no attribute 'device': import nvshmem.core.device.numba",
    "import nvshmem.core.device as d; d.triton": "no attribute 'triton'; it has: cute, numba, numba_cuda_mlir",
    "import nvshmem.bindings as b; b.nothing": "nothing",
    "from nvshmem.bindings.device.numba import int_p": "nvshmem.bindings.device does not exist in Atoll's form of nvshmem",
    "nvshmem.core.fence": "nvshmem.core has no attribute 'fence': NVSHMEM4Py has none",
    "nvshmem.core.Teams.TEAM_ALL": "No such member: TEAM_ALL; there are: TEAM_INVALID, ",
}


def test_names_that_are_missing_give_the_reason() -> None:
    code = f"""
        import atoll.compat
        atoll.compat.install("nvshmem")
        import nvshmem.core
        for mistake, wanted in {MISTAKES!r}.items():
            try:
                exec(mistake)
            except (ImportError, AttributeError, NotImplementedError) as error:
                assert wanted in str(error), error
            else:
                print(mistake, "was carried out")
        """
    done = python(textwrap.dedent(code))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
