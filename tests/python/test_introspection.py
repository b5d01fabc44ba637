"""Introspection of the package: signatures, and the nearest name for one that does not exist."""

from __future__ import annotations

import importlib
import inspect

import atoll
import pytest
from atoll._names import signatures

CLASSES = [atoll.Team, atoll.Context, atoll.Lock, atoll.Mailbox, atoll.group, atoll.DeviceArray]


def test_functions_and_methods_have_signatures() -> None:
    functions = [getattr(atoll, name) for name in atoll.__all__]
    methods = [value for kind in CLASSES for name, value in vars(kind).items() if not name.startswith("__")]
    asked = [f for f in [*functions, *methods] if inspect.isroutine(f) or hasattr(f, "__nb_signature__")]
    assert len(asked) > 150
    for function in asked:
        assert isinstance(inspect.signature(function), inspect.Signature), function


def test_signatures_are_those_of_the_calls() -> None:
    assert str(inspect.signature(atoll.Lock.acquire)) == (
        "(self, blocking: 'bool' = True, timeout: 'float | None' = None) -> 'bool'"
    )
    bound = atoll.Lock.acquire.__get__(object())
    assert list(inspect.signature(bound).parameters) == ["blocking", "timeout"]
    assert list(inspect.signature(atoll.Mailbox).parameters) == ["nbytes", "slots", "team", "device"]
    assert str(inspect.signature(atoll.Lock)) == "() -> 'None'"

    class Named(atoll.Lock):
        def __init__(self, name: str) -> None: ...

    assert list(inspect.signature(Named).parameters) == ["name"]
    assert list(inspect.signature(atoll.Team.split).parameters) == ["self", "color", "key"]
    assert list(inspect.signature(atoll.DeviceArray.view).parameters) == ["self", "dtype"]
    assert inspect.signature(atoll.put_signal).parameters["op"].default == "set"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("atoll.WORLD.split()", "Team.split() lacks its argument 'color'; see help(atoll.Team.split)"),
        ("atoll.WORLD.split(1, k=3)", "Team.split() has no argument 'k'; see help(atoll.Team.split)"),
        ("atoll.WORLD.split(1, color=3)", "Team.split() got its argument 'color' twice; see help(atoll.Team.split)"),
        ("atoll.WORLD.sync(0)", "Team.sync() takes at most 0 positional arguments (1 given); see help(atoll.Team.sync)"),
        ("atoll.Lock(1)", "Lock() takes at most 0 positional arguments (1 given); see help(atoll.Lock)"),
        ("atoll.Mailbox()", "Mailbox() lacks its argument 'nbytes'; see help(atoll.Mailbox)"),
        ("atoll.Mailbox(8).receive()", "Mailbox.receive() lacks its argument 'dst'; see help(atoll.Mailbox.receive)"),
        ("atoll.Context(x=1)", "Context() has no argument 'x'; see help(atoll.Context)"),
    ],
)  # fmt: skip
def test_wrong_arguments_of_methods_are_named(code: str, text: str) -> None:
    if not atoll.is_initialized():
        atoll.init()
    with pytest.raises(TypeError) as raised:
        eval(code)
    assert str(raised.value) == text


def test_a_wrong_type_of_an_argument_is_named() -> None:
    class Method:
        def __init__(self) -> None:
            self.__qualname__ = "Class.call"

        __nb_signature__ = (("def call(self, n: int, team: Team | None = None) -> int", None, None),)

    assert signatures.wrong_call(Method(), (None, "a"), {}).startswith(
        "Class.call() got n='a', of type str; pass int; see help(atoll.Class.call)"
    )
    assert "got team=3, of type int; pass Team | None" in signatures.wrong_call(Method(), (None, 1, 3), {})
    assert "takes (self, n: 'int'" in signatures.wrong_call(Method(), (None, 1), {})


def test_a_method_whose_signature_cannot_be_read_has_none() -> None:
    class Method:
        __nb_signature__ = (("def broken(self, x: int = <object>) -> int", None, None),)

    for method in (Method(), object()):
        with pytest.raises(AttributeError, match="no signature"):
            signatures.signature(method)


def test_a_name_that_does_not_exist_suggests_the_nearest() -> None:
    for wrong, right in (("putt", "put"), ("barier_all", "barrier_all"), ("lunch", "launch")):
        with pytest.raises(AttributeError, match=f"no attribute {wrong!r}; did you mean {right!r}"):
            getattr(atoll, wrong)
    with pytest.raises(AttributeError, match=r"no attribute 'qwertyuiop'$"):
        _ = atoll.qwertyuiop
    assert not hasattr(atoll, "__wrapped__")


@pytest.mark.parametrize(
    "name", ["logging", "fft", "atomics", "constants", "errors", "reductions", "strided", "waits"]
)
def test_completion_offers_a_modules_own_names(name: str) -> None:
    module = importlib.import_module(f"atoll.{name}")
    assert {each for each in dir(module) if not each.startswith("_")} == set(module.__all__)
