"""Errors about wrong arguments tell the cure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import atoll
import numpy as np
import pytest
from atoll import arrays


def refused(call: Callable[..., Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        call()


@pytest.mark.pes(1)
def test_collectives_without_data_on_other_pes() -> None:
    both = "None; every PE passes an array of the same shape if dst is left out. Or pass "
    nothing: Any = None
    refused(
        lambda: atoll.scatter(nothing), TypeError, "scatter(): src is " + both + "dst: scatter(part, data)"
    )
    refused(
        lambda: atoll.broadcast(nothing, 0),
        TypeError,
        "broadcast(): src is " + both + "an array of that shape as both: broadcast(x, x)",
    )


@pytest.mark.pes(1)
def test_objects_are_no_messages() -> None:
    thing: Any = {"a": 1}
    refused(lambda: atoll.send(thing, 0), TypeError, "For other objects: atoll.bcast_object, gather_object")
    refused(
        lambda: atoll.zeros(3, object),
        atoll.DtypeMismatch,
        "to give objects to others, call atoll.bcast_object",
    )


@pytest.mark.pes(1)
def test_keywords_of_other_libraries() -> None:
    send: Any = atoll.send
    x = np.ones(2)
    tags = "messages have no tags, those between two PEs arrive in the order of the sends"
    refused(lambda: send(x, dest=0, tag=11), TypeError, f"no argument 'dest'; Atoll's is pe=, and {tags}")
    refused(lambda: send(x, 0, tag=11), TypeError, f"no argument 'tag'; {tags}")
    reduce: Any = atoll.sum_reduce
    refused(lambda: reduce(x, comm=None), TypeError, "no argument 'comm'; Atoll's is team=")
    refused(lambda: reduce(x, whatever=1), TypeError, "no argument 'whatever'; see help(atoll.sum_reduce)")


@pytest.mark.pes(2)
def test_lists_and_numbers_are_sent() -> None:
    if atoll.my_pe() == 0:
        atoll.send([1.5, 2.5], 1)
        atoll.send(7, 1)
        with atoll.group():
            atoll.send((3, 4), 1)
    else:
        floats, one, ints = np.zeros(2), np.zeros((), int), np.zeros(2, int)
        atoll.recv(floats, 0)
        atoll.recv(one, 0)
        atoll.recv(ints, 0)
        assert floats.tolist() == [1.5, 2.5] and one == 7 and ints.tolist() == [3, 4]


@pytest.mark.pes(1)
def test_distributed_arrays_have_their_own_ways() -> None:
    a: Any = arrays.ones(4)
    refused(lambda: atoll.free(a), TypeError, "free(): x is a distributed array; free it by x.free().")
    refused(
        lambda: atoll.put(a, 1.0, 0), TypeError, "Assign to a part of it, x[box] = values; or pass x.local"
    )


@pytest.mark.pes(1)
def test_swapped_arguments_are_noticed() -> None:
    x, y = atoll.zeros(8), np.ones(8)
    hint = "The arguments may be swapped: the target comes first."
    refused(lambda: atoll.put(y, x, 0), atoll.NotSymmetric, hint)
    refused(lambda: atoll.get(x, y, 0), atoll.NotSymmetric, hint)
    with pytest.raises(atoll.NotSymmetric) as info:
        atoll.put(y, y, 0)
    assert hint not in str(info.value)


@pytest.mark.pes(1)
def test_a_group_shows_whether_it_is_open() -> None:
    group = atoll.group()
    assert repr(group) == "<atoll.group, for a `with` statement>"
    with group:
        assert repr(group) == "<atoll.group, open>"
