"""Files of `atoll run --trace`, decoded by Perfetto's own message definitions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


@dataclass
class Slice:
    name: str
    track: int
    begin: int
    end: int = 0
    depth: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    flows: list[int] = field(default_factory=list)


class Decoded:
    """A trace by Perfetto's definitions. Reading checks that slices nest and times grow."""

    def __init__(self, path: Path) -> None:
        trace = Trace()
        trace.ParseFromString(path.read_bytes())
        self.processes: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.slices: list[Slice] = []
        self.woken: dict[int, tuple[int, int]] = {}  # time and track of the end of each flow
        self.counters: dict[int, list[int]] = defaultdict(list)
        self.titles: dict[int, str] = {}
        self.job: dict[str, Any] = {}
        self.kernels: dict[int, dict[str, Any]] = {}  # each PE's kernels in the file
        names: dict[int, str] = {}
        annotations: dict[int, str] = {}
        stacks: dict[int, list[Slice]] = defaultdict(list)
        last: dict[int, int] = defaultdict(int)
        for packet in trace.packet:
            names.update({one.iid: one.name for one in packet.interned_data.event_names})
            annotations.update({one.iid: one.name for one in packet.interned_data.debug_annotation_names})
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
            if not packet.HasField("track_event"):
                continue
            assert packet.timestamp_clock_id == 3  # CLOCK_MONOTONIC
            event = packet.track_event
            notes = {
                annotations[one.name_iid]: one.string_value or one.uint_value
                for one in event.debug_annotations
            }
            if event.type == TrackEvent.TYPE_COUNTER:
                self.counters[event.track_uuid].append(event.counter_value)
            elif event.track_uuid == 1:
                if "dropped events of kernels" in notes:
                    self.kernels[notes["PE"]] = notes
                else:
                    self.job.update(notes)
            else:
                assert packet.timestamp >= last[event.track_uuid], "times on a track grow"
                last[event.track_uuid] = packet.timestamp
                self.add(event, packet.timestamp, names, notes, stacks[event.track_uuid])
        assert not any(stacks.values()), "every slice ends"

    def describe(self, descriptor: Any) -> None:
        self.titles[descriptor.uuid] = descriptor.name or descriptor.thread.thread_name
        self.parents[descriptor.uuid] = descriptor.parent_uuid
        if descriptor.HasField("process"):
            self.processes[descriptor.uuid] = descriptor.process.process_name

    def add(
        self, event: Any, time: int, names: dict[int, str], notes: dict[str, Any], stack: list[Slice]
    ) -> None:
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            one = Slice(names[event.name_iid], event.track_uuid, time, depth=len(stack), notes=notes)
            one.flows = list(event.flow_ids)
            self.slices.append(one)
            stack.append(one)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            stack.pop().end = time
        else:
            for flow in event.terminating_flow_ids:
                assert flow not in self.woken
                self.woken[flow] = (time, event.track_uuid)

    def pe(self, track: int) -> str:
        return self.processes[self.parents[track]]

    def within_kernels(self) -> list[Slice]:
        return [one for one in self.slices if " kernels, " in self.titles[one.track]]

    def named(self, name: str) -> list[Slice]:
        return [one for one in self.slices if one.name == name]
