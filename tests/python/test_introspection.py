"""Introspection of the package: signatures, and the nearest name for one that does not exist."""

from __future__ import annotations

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
    assert list(inspect.signature(atoll.Team.split).parameters) == ["self", "color", "key"]
    assert list(inspect.signature(atoll.DeviceArray.view).parameters) == ["self", "dtype"]
    assert inspect.signature(atoll.put_signal).parameters["op"].default == "set"


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
