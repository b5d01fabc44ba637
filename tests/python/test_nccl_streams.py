"""The order of a communicator's calls on several streams, by the calls of CUDA's driver that it makes."""

from __future__ import annotations

from typing import Any

import pytest
from atoll.nccl import _streams
from atoll.nccl._streams import Order


class Driver:
    """A driver that notes the recorded streams, and those that wait."""

    def __init__(self, current: int) -> None:
        self.calls: list[tuple[str, int]] = []
        self.events: dict[int, int] = {}
        self.current, self.pushed = current, 0

    def cuDevicePrimaryCtxRetain(self, context: Any, _: Any) -> int:
        context._obj.value = 77
        return 0

    def cuCtxGetCurrent(self, context: Any) -> int:
        context._obj.value = self.current
        return 0

    def cuCtxPushCurrent_v2(self, context: Any) -> int:
        self.pushed += 1
        return int(context.value != 77)

    def cuCtxPopCurrent_v2(self, _: Any) -> int:
        self.pushed -= 1
        return 0

    def cuEventCreate(self, event: Any, _: Any) -> int:
        event._obj.value = len(self.events) + 1
        self.events[event._obj.value] = -1
        return 0

    def cuEventRecord(self, event: Any, stream: Any) -> int:
        self.events[event.value] = stream.value or 0
        self.calls.append(("record", stream.value or 0))
        return 0

    def cuStreamWaitEvent(self, stream: Any, event: Any, _: Any) -> int:
        assert self.pushed or self.current == 77, "CUDA would refuse a call without the context"
        self.calls.append((f"{stream.value or 0} waits for", self.events[event.value]))
        return 0

    def cuEventSynchronize(self, event: Any) -> int:
        self.calls.append(("host waits for", self.events[event.value]))
        return 0

    def cuEventDestroy_v2(self, event: Any) -> int:
        del self.events[event.value]
        return 0


class Stream:
    """A stream of CuPy, by its name."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


Stream.__module__ = "cupy.cuda.stream"
CAPTURING: set[int] = set()


@pytest.fixture(params=[77, 0], ids=["context", "no context"])
def driver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Driver:
    found = Driver(request.param)
    monkeypatch.setattr(_streams, "_driver", lambda: found)
    CAPTURING.clear()
    return found


@pytest.fixture
def order(driver: Driver) -> Order:
    return Order(CAPTURING.__contains__, 0)


def call(order: Order, stream: Any) -> None:
    order.end(stream, order.begin(stream))


def test_one_stream_needs_no_event(driver: Driver, order: Order) -> None:
    stream = Stream(16)
    for given in (stream, stream, Stream(16)):
        call(order, given)
    assert not driver.calls


def test_another_stream_waits_for_the_last(driver: Driver, order: Order) -> None:
    for given in (None, Stream(16), Stream(32)):
        call(order, given)
    assert driver.calls == [("record", 0), ("16 waits for", 0), ("record", 16), ("32 waits for", 16)]


class External(Stream):
    """A stream of which the object only shows the handle."""


External.__module__ = "cupy.cuda.stream"


@pytest.mark.parametrize("given", [16, External(16), 2])
def test_a_stream_known_by_its_handle_is_recorded_while_it_exists(
    driver: Driver, order: Order, given: Any
) -> None:
    handle = given if isinstance(given, int) else given.ptr
    call(order, given)
    assert driver.calls == [("record", handle)]
    call(order, given)  # another stream may have the handle now
    assert driver.calls[1:] == [(f"{handle} waits for", handle), ("record", handle)]
    order.after(32, 48)
    call(order, None)
    assert driver.calls[3:] == [("record", 48), ("32 waits for", 48), ("0 waits for", handle)]


def test_captured_calls_and_others_are_in_order_with_their_kind(driver: Driver, order: Order) -> None:
    first, captured, second = Stream(16), Stream(32), Stream(48)
    call(order, first)
    CAPTURING.update((32, 64))
    call(order, captured)
    call(order, Stream(64))  # the same graph
    assert driver.calls == [("record", 32), ("64 waits for", 32)]
    call(order, second)
    assert driver.calls[2:] == [("record", 16), ("48 waits for", 16)]
    CAPTURING.clear()
    CAPTURING.add(80)  # another graph, after the end of the first
    call(order, Stream(80))
    assert len(driver.calls) == 4


def test_the_end_waits_and_leaves_no_event(driver: Driver, order: Order) -> None:
    call(order, 16)
    order.finish()
    assert driver.calls == [("record", 16), ("host waits for", 16)]
    assert not driver.events and driver.pushed == 0
