"""Every public name says what it is; `help` alone is enough to call it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import atoll
from atoll import _atoll

PUBLIC = [name for name in dir(atoll) if not name.startswith("_")] + ["launch", "LaunchError"]


def test_every_function_is_documented() -> None:
    for name in PUBLIC:
        value = getattr(atoll, name)
        if callable(value):
            assert inspect.getdoc(value), f"{name} has no documentation"


def test_signatures_can_be_asked_for() -> None:
    assert str(inspect.signature(atoll.put)) == "(dst, src, pe, *, ctx=None, team=None)"
    for name in _atoll.__signatures__:
        inspect.signature(getattr(_atoll, name))


def test_one_sided_calls_say_errors_order_and_source() -> None:
    for name in ("put", "get", "put_signal", "atomic_add", "wait_until", "quiet", "sum_reduce", "broadcast"):
        text = inspect.getdoc(getattr(atoll, name)) or ""
        assert "OpenSHMEM 1.6, section 9" in text, name
        assert re.search(r"\b[Ll]ocal|[Cc]ollective|Never waits|this PE", text), name
        assert name == "quiet" or "Raises" in text, name


def test_classes_document_their_methods() -> None:
    for kind in (atoll.Team, atoll.Context, atoll.Lock, atoll.Mailbox):
        assert inspect.getdoc(kind)
        for name, method in vars(kind).items():
            if not name.startswith("_"):
                assert method.__doc__, f"{kind.__name__}.{name}"


def test_importing_is_light() -> None:
    """What is not needed at once is not loaded at once."""
    code = "import sys, numpy; before = set(sys.modules); import atoll; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"subprocess", "numpy.typing", "torch", "cupy", "mpi4py", "cloudpickle"} & set(loaded), loaded
