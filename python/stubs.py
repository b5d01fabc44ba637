"""Write the type stubs of the module _atoll: python stubs.py OUTPUT.

nanobind's generator knows its own classes. The functions are plain C ones; each states its signature once, beside its
code, and the module keeps these texts in `__signatures__`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from atoll import _atoll
from nanobind.stubgen import ReplacePattern, StubGen

HEADER = [
    "\\from typing import Any, Callable, Final, NoReturn, overload",
    "from collections.abc import Generator, Iterator",
    "import numpy",
    "from ._device import DeviceTeam",
    "from ._types import AnyArray, AnySource, Array, ArrayLike, CompareName, DeviceLike, GivenStream, IndexArray",
    "from ._types import NotBlocking, OutArray, ReduceName, SignalName, Stream, Value",
    "from .shmem import Ctx",
    "",
]

# DeviceArray is a plain C type, so the generator cannot find the types of its members.
DEVICE_ARRAY = """
class DeviceArray:
    \\doc
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def ptr(self) -> int: ...
    @property
    def T(self) -> DeviceArray: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def reshape(self, *shape: Any) -> DeviceArray: ...
    def view(self, dtype: Any, /) -> DeviceArray: ...
    def numpy(self) -> Array: ...
    def cupy(self) -> Any: ...
    def torch(self) -> Any: ...
    def buffer(self) -> Any: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> DeviceArray: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
""".strip().split("\n")

# The base of distributed arrays is one, too.
BOXES = """
class _Boxes:
    \\doc
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def get(self, box: Any, out: Any = None) -> Any: ...
    def put(self, box: Any, value: Any) -> None: ...
    def _set_block(self, rows: tuple[Any, ...], memory: Array | None, team: Team | None, me: int, copies: type | None = None) -> None: ...
    def accumulate(self, box: Any, value: Any, scale: Any = 1, *, op: str = 'sum') -> None: ...
    def _add(self, box: Any, value: Any) -> bool: ...
    def _use_atomics(self) -> None: ...
    def _end(self) -> None: ...
    def _near(self, key: Any, /) -> tuple[int, tuple[Any, ...]] | None: ...
""".strip().split("\n")


def pattern(name: str, lines: list[str]) -> ReplacePattern:
    """Return the rule that writes one name of the module into the stub."""
    return ReplacePattern(re.compile(rf"^atoll\._atoll\.{name}$"), lines, 0)


def function_lines(name: str, signature: str) -> list[str]:
    """Return a definition, or the overloads of a signature that has several; the first has the docstring."""
    plain, *overloads = signature.split("\n")
    if not overloads:
        return [f"def {name}{plain}:", "\\doc", ""]
    lines: list[str] = []
    for i, text in enumerate(overloads):
        lines += [
            "@overload",
            f"def {name}{text}:" if i == 0 else f"def {name}{text}: ...",
            *(["\\doc"] if i == 0 else []),
            "",
        ]
    return lines


def exception_lines(kind: type[BaseException]) -> list[str]:
    bases = ", ".join(base.__name__ for base in kind.__bases__)
    return [f"class {kind.__name__}({bases}):", "\\doc", ""]


def main() -> None:
    patterns = [pattern("__prefix__", HEADER), pattern("__signatures__", [])]
    for name, value in vars(_atoll).items():
        if name in _atoll.__signatures__:
            patterns.append(pattern(name, function_lines(name, _atoll.__signatures__[name])))
        elif isinstance(value, type) and issubclass(value, BaseException):
            patterns.append(pattern(name, exception_lines(value)))
        elif name == "DeviceArray":
            patterns.append(pattern(name, [*DEVICE_ARRAY, ""]))
        elif name == "_Boxes":
            patterns.append(pattern(name, [*BOXES, ""]))
        elif isinstance(value, type) and "__signature__" in vars(value):
            del value.__signature__  # the generator would write it as a field
        elif name == "Block":
            patterns.append(pattern(name, ["class Block:", "\\doc", ""]))
        elif type(value).__name__ in ("Compare", "ReduceOp", "SignalOp"):
            patterns.append(pattern(name, [f"{name}: Final = {type(value).__name__}.{name}", ""]))
    generator = StubGen(_atoll, include_private=True, patterns=patterns)
    generator.put(_atoll)
    text = re.sub(r"\n{4,}", "\n\n\n", generator.get())
    Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
