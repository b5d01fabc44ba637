"""Global variables of functions that atoll.Pool calls: the PEs' own, and those that the caller sends."""

from __future__ import annotations

import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import atoll
import numpy as np
import pytest
from atoll._pool.names import Names
from atoll._pool.variables import Value, Variables
from jobs import python, write_program

pytest.importorskip("cloudpickle", reason="cloudpickle is not installed: pip install cloudpickle")


@pytest.fixture(scope="module")
def pool() -> Iterator[atoll.Pool]:
    with atoll.Pool(2, spare=False) as made:
        yield made


@pytest.fixture
def program(pool: atoll.Pool) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Runs lines as a program's, whose functions have its variables; the PEs forget them afterwards."""
    made: dict[str, Any] = {"__name__": "__main__", "atoll": atoll, "np": np}

    def run(lines: str) -> dict[str, Any]:
        exec(lines, made)
        return made

    yield run
    pool.restart()


def test_variables_that_pes_have_assigned_live_on(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    """Later calls with functions that use them reset nothing to the caller's values."""
    names = program("""
model = None
counter = 0
def load():
    global model
    model = np.arange(10.0)
def predict(i): return None if model is None else float(model[i])
def count():
    global counter
    counter += 1
    return counter
""")
    pool.run(names["load"])
    assert list(pool.map(names["predict"], range(4))) == [0.0, 1.0, 2.0, 3.0]
    assert pool.run(names["predict"], 3) == [3.0, 3.0]
    assert pool.submit(names["predict"], 2).result() == 2.0
    assert [pool.run(names["count"]) for _ in range(3)] == [[1, 1], [2, 2], [3, 3]]


def test_all_forms_of_calls_see_the_pes_variables(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    names = program("""
import functools
def setup():
    global kept
    kept = 5
def use(i=0): return kept + i
class Holder:
    def method(self): return kept
    @staticmethod
    def static(): return kept
    def __call__(self, i): return use(i)
def of_class(): return Holder().method()
""")
    use, Holder = names["use"], names["Holder"]
    pool.run(names["setup"])
    for call in (
        use,
        lambda: use(),
        names["functools"].partial(use, 0),
        Holder().method,
        Holder.static,
        names["of_class"],
    ):
        assert pool.run(call) == [5, 5]
        assert pool.submit(call).result() == 5
    assert pool.run(lambda given: given(), use) == [5, 5]
    assert pool.run(Holder(), 1) == [6, 6]
    for call in (use, Holder(), lambda i: use(i)):
        assert list(pool.map(call, range(4))) == [5, 6, 7, 8]
        assert list(pool.map(call, range(4), chunksize=3)) == [5, 6, 7, 8]


def test_the_callers_changes_arrive_until_a_pe_assigns(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    names = program("""
scale = 3
table = np.zeros(20_000)
helper = lambda: scale
def read(): return helper(), float(table.sum())
def assign():
    global scale
    scale = 10
""")
    assert pool.run(names["read"]) == [(3, 0.0)] * 2
    program("scale = 4; table[7] = 1.5")
    assert pool.run(names["read"]) == [(4, 1.5)] * 2
    program("helper = lambda: -scale; table = np.ones(3)")
    assert pool.run(names["read"]) == [(-4, 3.0)] * 2
    pool.run(names["assign"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pool.run(names["read"]) == [(-10, 3.0)] * 2
    program("scale = 5")
    with pytest.warns(RuntimeWarning, match="scale has a new value here, but PEs have assigned it") as told:
        assert pool.run(names["read"]) == [(-10, 3.0)] * 2
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pool.run(names["read"]) == [(-10, 3.0)] * 2


def test_a_name_of_the_caller_and_of_pes_is_the_pes(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    """A notebook has `u = pool.run(lambda: u.gather(0))[0]`, which is executed again and again."""
    names = program("""
def make():
    global u
    u = [1, 2]
def use(): return tuple(u)
""")
    pool.run(names["make"])
    for _ in range(3):
        names["u"] = pool.run(names["use"])[0]
        assert names["u"] == (1, 2)
    assert pool.run(eval("lambda: type(u)", names)) == [list] * 2
    names["u"] = threading.Lock()  # which cannot be sent, and need not
    assert pool.run(names["use"]) == [(1, 2)] * 2
    pool.run(eval("lambda: globals().pop('u')", names))
    names["u"] = (7,)
    assert pool.run(names["use"]) == [(7,)] * 2


def test_attributes_of_classes_live_on(pool: atoll.Pool, program: Callable[[str], dict[str, Any]]) -> None:
    names = program("""
class Base:
    total = 0
    def add(self):
        Base.total += 1
        return Base.total
class Derived(Base):
    def __init__(self): super().__init__()
    def kind(self): return type(self) is Derived and Derived.__mro__[1] is Base
def read(): return Base.total
def made(): return Derived().kind()
""")
    assert [pool.run(names["Base"]().add) for _ in range(3)] == [[1, 1], [2, 2], [3, 3]]
    assert pool.run(names["Derived"]().add) == [4, 4]
    assert pool.run(names["read"]) == [4, 4]
    assert pool.run(names["Derived"]().kind) == pool.run(names["made"]) == [True, True]
    program("Base.total = 50")
    assert pool.run(names["read"]) == [50, 50]
    assert pool.run(names["Derived"]().add) == [51, 51]
    program("def added(self): return -1\nBase.add = added")
    assert pool.run(names["Derived"]().add) == [-1, -1]


def test_a_class_that_came_back_can_be_sent_again(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    """Its generated methods have variables of their module at first, and a copy of them afterwards."""
    names = program("""
import dataclasses
@dataclasses.dataclass
class Point:
    x: int = 3
def use(given): return repr(given), given
""")
    for _ in range(3):
        for text, point in pool.run(names["use"], names["Point"]()):
            assert text == repr(point) == "Point(x=3)" and type(point) is names["Point"]


def test_results_leave_the_callers_classes_as_they_are(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    names = program("""
scale = 1
class Kept:
    total = 0
    def scaled(self): return scale
def make():
    Kept.total += 1
    return Kept(), type("New", (), {"of_pe": 5})
""")
    for kept, new in pool.run(names["make"]):
        assert type(kept) is names["Kept"] and new.of_pe == 5
    program("scale = 2")
    assert names["Kept"]().scaled() == 2 and names["Kept"].total == 0
    assert pool.run(names["Kept"]().scaled) == [2, 2]


def test_only_one_pe_may_have_assigned(pool: atoll.Pool, program: Callable[[str], dict[str, Any]]) -> None:
    names = program("""
x = 1
def assign():
    global x
    if atoll.my_pe() == 1: x = 50
def read(): return x
""")
    pool.run(names["assign"])
    assert pool.run(names["read"]) == [1, 50]
    program("x = 2")
    with pytest.warns(RuntimeWarning, match="x has a new value"):
        assert pool.run(names["read"]) == [2, 50]


def test_new_pes_get_the_callers_values(pool: atoll.Pool, program: Callable[[str], dict[str, Any]]) -> None:
    names = program("""
x = 1
def count():
    global x
    x += 1
    return x
""")
    assert pool.run(names["count"]) == [2, 2]
    pool.restart()
    assert pool.run(names["count"]) == [2, 2]


def test_a_variable_that_cannot_be_sent_is_named(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]]
) -> None:
    names = program("import threading\nlock = threading.Lock()\ndef use(): return type(lock)")
    for _ in range(2):
        with pytest.raises(
            TypeError, match=r"the global variable 'lock' of __main__ cannot be sent to PEs \(TypeError"
        ):
            pool.run(names["use"])
    program("lock = 3")
    assert pool.run(names["use"]) == [int, int]


def test_large_arrays_are_sent_once_until_they_change() -> None:
    owners = types.SimpleNamespace(owned_by_all=set(), owned_by_any=set())
    given: dict[str, Any] = {"__name__": "__main__", "data": np.zeros(3 << 18)}
    exec("def use(): return helper()\ndef helper(): return data", given)
    variables = Variables()

    def sent() -> dict[str, Value]:
        message, values = variables.encode(given["use"], owners)
        message.close()
        return {value.key[2]: value for value in values}

    first = sent()
    assert sorted(first) == ["data", "helper"] and first["data"].fd >= 0 and first["helper"].fd < 0
    assert sent() == first
    given["data"][-1] = 1
    second = sent()
    assert second["data"] is not first["data"] and second["helper"] is first["helper"]
    given["data"] = given["data"].copy()
    assert sent() == second
    given["data"] = given["data"][1:]
    assert sent()["data"] is not second["data"]
    owners.owned_by_all.add(("__main__", False, "data"))
    assert sorted(sent()) == ["helper"]


def test_a_module_is_sent_again_if_it_is_sent_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    module = types.ModuleType("changing")
    monkeypatch.setitem(sys.modules, "changing", module)
    vars(module)["x"] = 1
    given: dict[str, Any] = {"__name__": "__main__", "changing": module, "number": 3}
    exec("def use(): return changing.x + number", given)
    owners = types.SimpleNamespace(owned_by_all=set(), owned_by_any=set())
    variables = Variables()

    def sent() -> dict[str, Value]:
        message, values = variables.encode(given["use"], owners)
        message.close()
        return {value.key[2]: value for value in values}

    first = sent()
    vars(module)["x"] = 2
    assert sent() == first
    cloudpickle.register_pickle_by_value(module)
    try:
        second = sent()
        assert second["changing"] is not first["changing"] and second["number"] is first["number"]
        vars(module)["x"] = 3
        assert sent()["changing"] is not second["changing"]
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    given["number"] = 4
    assert sent()["number"] is not first["number"]


def test_a_map_looks_at_variables_once(
    pool: atoll.Pool, program: Callable[[str], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    value = Variables._value
    monkeypatch.setattr(
        Variables, "_value", lambda self, key, *rest: (looked.append(key[2]), value(self, key, *rest))[1]
    )
    names = program("data = np.arange(9.0)\ndef use(i): return float(data[i])")
    assert list(pool.map(names["use"], range(5))) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert looked == ["data"]


def test_a_module_that_pes_import_keeps_its_variables(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(
        "counter = 0\ndef count():\n    global counter\n    counter += 1\n    return counter\n"
        "def reader(): return lambda: (counter, count.__module__)\n"
        "def setter():\n    def set():\n        global early\n        early = 8\n    return set\n"
        "def early_reader(): return lambda: early\n"
    )
    program = write_program(
        tmp_path,
        """
        import counting
        if __name__ == "__main__":
            with atoll.Pool(2, spare=False) as pool:
                pool.run(counting.setter())
                print(pool.run(counting.early_reader()))
                print(pool.run(counting.count), pool.run(counting.count))
                print(pool.run(counting.reader()))
                print(pool.run(counting.early_reader()))
        """,
    )
    done = python(f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + program.read_text())
    assert done.stdout.splitlines() == [
        "[8, 8]",
        "[1, 1] [2, 2]",
        "[(2, 'counting'), (2, 'counting')]",
        "[8, 8]",
    ], done.stderr


def test_many_names_are_reported_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", made)
    found = Names()
    own = {f"x{i}" for i in range(1000)}
    vars(made).update(dict.fromkeys(own, 1))
    parts = list(found.reports())
    assert len(parts) > 1
    assert {name for added, _, _ in parts for _, _, name in added} >= own
    assert list(found.reports()) == []
    del made.x7
    assert list(found.reports()) == [(set(), {("__main__", False, "x7")}, [])]
