"""atoll.launch: functions from anywhere, results in PE order, failures with number and traceback."""

from __future__ import annotations

import os
import sys

import atoll
import numpy as np
import pytest
from jobs import python

pytestmark = pytest.mark.usefixtures("quiet_environment")


@pytest.fixture
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ATOLL_", "SHMEM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ATOLL_CHECK", "all")


def test_results_come_in_pe_order() -> None:
    def work(base: int, *, factor: int) -> tuple[int, np.ndarray]:
        x = atoll.full(3, float(atoll.my_pe()))
        atoll.barrier_all()
        return base + factor * atoll.my_pe(), atoll.global_view(x)[:, 0].copy()

    results = atoll.launch(work, 3, 100, factor=10)
    assert [value for value, _ in results] == [100, 110, 120]
    assert all(seen.tolist() == [0, 1, 2] for _, seen in results)


def test_functions_may_init_and_finalize_themselves(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        atoll.init()
        print("line from", atoll.my_pe())
        atoll.finalize()
        return atoll.n_pes()

    assert atoll.launch(work, 2) == [2, 2]


def test_an_exception_comes_back() -> None:
    def work() -> None:
        if atoll.my_pe() == 1:
            raise ValueError("the one")
        atoll.barrier_all()

    with pytest.raises(atoll.LaunchError, match="PE 1 raised ValueError: the one") as info:
        atoll.launch(work, 3)
    assert info.value.pe == 1 and "Traceback" in str(info.value) and "in work" in str(info.value)
    assert isinstance(info.value.__cause__, ValueError) and isinstance(info.value, atoll.Error)


def test_an_exception_that_cannot_be_pickled_is_reported() -> None:
    def work() -> None:
        class Strange(Exception):
            def __reduce__(self) -> str:
                raise TypeError("no")

        raise Strange("words")

    with pytest.raises(atoll.LaunchError, match="Strange: words"):
        atoll.launch(work, 1)


def test_a_crash_is_reported() -> None:
    with pytest.raises(atoll.LaunchError, match="without a result") as info:
        atoll.launch(lambda: os._exit(3), 1)
    assert "status 3" in str(info.value)


@pytest.mark.parametrize("n", range(3))
@pytest.mark.parametrize("end", ["os._exit(5)", "sys.exit(5)", "os.kill(os.getpid(), 9)"])
def test_the_pe_that_ended_first_is_named(end: str, n: int) -> None:
    def work() -> None:
        import os
        import sys

        if atoll.my_pe() == n:
            exec(end, {"os": os, "sys": sys})
        atoll.barrier_all()

    status = 137 if "kill" in end else 5
    with pytest.raises(atoll.LaunchError, match=rf"launch\(\): PE {n} .*exit status {status}\b") as info:
        atoll.launch(work, 3)
    assert info.value.pe == n


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (3, 3), ("words", 1)])
def test_an_exit_is_not_a_result(code: object, status: int) -> None:
    def work() -> None:
        import sys

        if atoll.my_pe() == 1:
            sys.exit(code)  # type: ignore[arg-type]

    said = f' with "{code}"' if isinstance(code, str) else ""
    with pytest.raises(
        atoll.LaunchError, match=rf"PE 1 called sys.exit{said} \(exit status {status}\)"
    ) as info:
        atoll.launch(work, 2)
    assert info.value.pe == 1


def test_bad_arguments() -> None:
    for n in (0, -1, 1.5, "2"):
        with pytest.raises(atoll.InvalidArgument, match="n_pes"):
            atoll.launch(lambda: 0, n)  # type: ignore[arg-type]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ImportError, match=r"pip install cloudpickle"):
        atoll.launch(lambda: 0, 1)


def test_main_functions_of_scripts(tmp_path: object) -> None:
    code = """
import atoll
def where():
    return __name__, atoll.my_pe()
if __name__ == "__main__":
    print(atoll.launch(where, 2))
"""
    done = python(code)
    assert done.stdout == "[('__main__', 0), ('__main__', 1)]\n", done.stderr


def test_a_job_beyond_its_time_is_a_timeout() -> None:
    """PE 1 waits for a word that is never set."""

    def work() -> None:
        words = atoll.zeros(4, int)
        if atoll.my_pe() == 1:
            atoll.wait_until(words, "==", 7, index=2)

    with pytest.raises(TimeoutError, match=r"after timeout=1 seconds") as caught:
        atoll.launch(work, 2, timeout=1)
    assert type(caught.value) is atoll.Timeout
    assert "what the PEs are doing" in str(caught.value)
