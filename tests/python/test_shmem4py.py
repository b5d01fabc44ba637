"""atoll.shmem as a whole: shmem4py's names, and its joining and leaving of the job. programs/shmem_* test the
calls.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys

import pytest
from jobs import HANG_GUARD, HERE, ROOT, Job, environment, launcher, python

DESCRIBE = HERE / "shmem4py_names.py"
IMPORTS = "from atoll import shmem\n"


@pytest.fixture(scope="module")
def offered() -> dict[str, object]:
    command = [sys.executable, str(DESCRIBE), "atoll.shmem"]
    done = subprocess.run(
        command, env=environment(SHMEM4PY_RC_INITIALIZE="no"), capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_names_and_signatures_are_those_of_shmem4py(offered: dict[str, object]) -> None:
    listed = json.loads((HERE / "shmem4py_names.json").read_text())
    assert sorted(offered) == sorted(listed)
    different = {name: (offered[name], listed[name]) for name in listed if offered[name] != listed[name]}
    assert not different


def test_the_page_of_names_is_up_to_date() -> None:
    code = "import shmem4py as s; t = s.read(); print(sorted(set(t[2]['differs']) - set(t[0]))); print(s.page(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE.parents[1] / "api", capture_output=True, text=True, check=True
    )
    missing, _, page = done.stdout.partition("\n")
    assert missing == "[]"
    assert page == (HERE.parents[1] / "docs/shmem4py-coverage.md").read_text(), (
        "run .venv/bin/python api/shmem4py.py > docs/shmem4py-coverage.md"
    )


def test_every_name_is_documented() -> None:
    code = (
        "import inspect, atoll.shmem as shmem\n"
        "for name, value in vars(shmem).items():\n"
        "    if name[0] != '_' and callable(value):\n"
        "        members = vars(value).items() if isinstance(value, type) else ()\n"
        "        for member, what in [(name, value), *members]:\n"
        "            if member[0] != '_' and callable(what) and not inspect.getdoc(what): print(name, member)\n"
    )
    done = python(code)
    assert done.stdout == ""


def test_the_c_functions_name_their_module() -> None:
    from atoll import _atoll

    assert _atoll._shmem_put.__module__ == "atoll.shmem" and _atoll._shmem_put.__name__ == "put"
    assert str(inspect.signature(_atoll._shmem_put)) == "(target, source, pe, size=None, ctx=None)"


def test_import_joins_and_exit_leaves(job: Job) -> None:
    """Exit functions that were registered before the import run after its own, so they see that the job was
    left.
    """
    code = "import atexit; atexit.register(lambda: print(inside, atoll.is_initialized()))\n"
    code += IMPORTS + "inside = atoll.is_initialized() and shmem.n_pes()\n"
    assert job(code, 3).stdout.split() == ["3", "False"] * 3


def test_exit_waits_for_the_other_pes(job: Job) -> None:
    """PE 0 ends its program before PE 1 gets its data: the exit is a finalize, and that waits."""
    code = IMPORTS + (
        "x = shmem.full(1, shmem.my_pe() + 5)\n"
        "flag = shmem.zeros(1, int)\n"
        "if shmem.my_pe() == 1:\n"
        "    here = np.zeros(1, int); shmem.get(here, x, 0)\n"
        "    print('got', here[0])\n"
    )
    assert job(code, 2).stdout.split() == ["got", "5"]


def test_the_import_can_leave_all_to_the_program(job: Job) -> None:
    code = (
        "atoll.rc(initialize=False)\n" + IMPORTS + "assert not atoll.is_initialized()\n"
        "shmem.init(); assert shmem.init_thread(shmem.THREAD_SINGLE) is shmem.THREAD_MULTIPLE\n"
        "shmem.finalize(); assert atoll.is_initialized() and shmem.n_pes() == 2\n"
        "shmem.finalize(); assert not atoll.is_initialized()\n"
        "print('fine')\n"
    )
    assert job(code, 2).stdout.split() == ["fine"] * 2


@pytest.mark.parametrize(
    ("settings", "inside"), [("initialize=False", False), ("threads=True, thread_level='single'", True)]
)
def test_settings_by_rc(job: Job, settings: str, inside: bool) -> None:
    code = f"from atoll import rc\nrc({settings})\n{IMPORTS}print(atoll.is_initialized(), rc.finalize, repr(rc))\n"
    assert job(code, 1).stdout.split() == [str(inside), str(inside or None), "<atoll.rc>"]


def test_settings_by_environment(job: Job) -> None:
    code = (
        IMPORTS + "import atoll.rc\nprint(atoll.is_initialized(), atoll.rc.finalize, atoll.rc.thread_level)\n"
    )
    settings = {
        "SHMEM4PY_RC_FINALIZE": "off",
        "SHMEM4PY_RC_THREADS": "1",
        "SHMEM4PY_RC_THREAD_LEVEL": "Funneled",
    }
    assert job(code, 1, **settings).stdout.split() == ["True", "False", "funneled"]
    assert job(code, 1, SHMEM4PY_RC_INITIALIZE="N").stdout.split() == ["False", "None", "multiple"]
    for name, value in (("INITIALIZE", "maybe"), ("THREAD_LEVEL", "some")):
        wrong = job(code, 1, ok=False, SHMEM4PY_RC_THREADS="on", **{f"SHMEM4PY_RC_{name}": value})
        assert wrong.returncode != 0 and "SettingsError" in wrong.stderr and value in wrong.stderr


def test_one_job_for_both_packages(job: Job) -> None:
    """Each package's init counts; the last finalize of all ends the job, and the exit adds none."""
    code = (
        "atoll.init()\n" + IMPORTS + "x = shmem.zeros(3); y = atoll.ones(3)\n"
        "shmem.put(x, y, 0); atoll.put(y, x, 0); atoll.barrier_all()\n"
        "shmem.finalize(); assert atoll.is_initialized(); atoll.finalize(); print('left')\n"
    )
    assert job(code, 2).stdout.split() == ["left"] * 2


def test_a_failure_ends_the_job_at_once(job: Job) -> None:
    """The exit of a PE that failed does not wait, and PEs that wait for it get the reason."""
    code = IMPORTS + "if shmem.my_pe() == 1: raise ValueError('no such rain')\nshmem.barrier_all()\n"
    done = job(code, 3, ok=False)
    assert (
        done.returncode != 0
        and "no such rain" in done.stderr
        and "PE 1 ended by an uncaught exception" in done.stderr
    )


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_example(n: int) -> None:
    command = [launcher(), "run", "-n", str(n), sys.executable, str(ROOT / "examples/shmem4py/histogram.py")]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=HANG_GUARD, check=True
    )
    assert f"atoll.shmem over Atoll, {n} PEs" in done.stdout and f"the lock was held {n} times" in done.stdout


def test_in_launched_functions() -> None:
    """The PEs of atoll.launch get their function from a process that is not a PE; the import counts there,
    too.
    """
    code = (
        "import atoll\n"
        "def total():\n"
        "    from atoll import shmem\n"
        "    x = shmem.full(1, shmem.my_pe())\n"
        "    shmem.sum_reduce(x, x)\n"
        "    return int(x[0])\n"
        "if __name__ == '__main__': print(atoll.launch(total, 3))\n"
    )
    done = python(code)
    assert done.stdout == "[3, 3, 3]\n", done.stderr


def test_without_a_launcher() -> None:
    code = IMPORTS + "print(shmem.my_pe(), shmem.n_pes())"
    done = python(code)
    assert done.stdout.split() == ["0", "1"] and done.stderr == "" and "ATOLL_LAUNCHED" not in os.environ
