"""Kernels that run on GPUs or on the host, and their launch."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import pathlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple, overload

import numba
import numpy as np

from .. import _atoll
from .. import zeros as _zeros
from .._device import mailbox_parts
from .._kernels.arguments import (
    at_fault,
    check_argument,
    check_cooperative,
    check_sizes,
    gpu_of,
    mailbox_bytes,
    on_device,
    on_host,
    team_for,
)
from ._dsl._compilers import COMPILERS, Compiler, compiler
from ._dsl._kept import compiled_once, of_this_atoll

RESIDENT = -1
"""`grid` of launch: the most blocks that run at once; 1 on the host."""


class Mailbox(NamedTuple):
    """The mailbox argument of post and receive; made by mailbox()."""

    block: Any
    """Symmetric array of bytes. With two axes it is several mailboxes; dev.nth selects one."""
    room: int
    """The longest message, in bytes."""


def mailbox(
    room: int | _atoll.Mailbox, team: Any = None, *, count: int | None = None, **where: Any
) -> Mailbox:
    if isinstance(room, _atoll.Mailbox):
        if team is not None or count is not None or where:
            raise TypeError(
                "atoll.numba.mailbox: an atoll.Mailbox has its team, its memory and one mailbox; pass it alone"
            )
        return Mailbox(*mailbox_parts(room, None, "atoll.numba.mailbox"))
    if not isinstance(room, (int, np.integer)) or room < 0:
        raise ValueError(f"atoll.numba.mailbox: room is {room!r}; pass the bytes of the longest message")
    if count is not None and (not isinstance(count, (int, np.integer)) or count < 1):
        raise ValueError(f"atoll.numba.mailbox: count is {count!r}; pass the number of mailboxes, 1 or more")
    n_pes = (team or _atoll.WORLD).n_pes()
    nbytes = mailbox_bytes(n_pes, room)
    return Mailbox(_zeros(nbytes if count is None else (count, nbytes), np.uint8, **where), room)


GPU_OPTIONS = ("max_registers", "launch_bounds")
"""Options of Numba's jit that exist for GPUs only."""


class Kernel:
    """A function that Numba compiles for GPUs when an argument is in their memory, else for the host.

    `.host` is the numba.njit function, `.device` the cuda.jit one; each is made when first used.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], compiler: str | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.by = compiler
        self.options = options
        parameters = inspect.signature(function).parameters.values()
        self.fewest = sum(one.default is one.empty and one.kind != one.VAR_POSITIONAL for one in parameters)
        several = any(one.kind == one.VAR_POSITIONAL for one in parameters)
        self.most = math.inf if several else len(parameters)

    @functools.cached_property
    def host(self):
        options = {name: value for name, value in self.options.items() if name not in GPU_OPTIONS}
        return compiled_once(of_this_atoll(numba.njit(nogil=True, **options)(self.function)))

    @functools.cached_property
    def compiler(self) -> Compiler:
        return compiler(self.by)

    @functools.cached_property
    def device(self):
        return self._for_gpus()

    @functools.cached_property
    def cooperative(self):
        """A second copy of `.device`, for a compiler that cannot launch one kernel both cooperatively and
        otherwise.
        """
        return self._for_gpus()

    def _for_gpus(self):
        return of_this_atoll(self.compiler.cuda.jit(**self.options)(self.function))

    def __call__(self, *arguments):
        raise TypeError(f"{self.__name__} is a kernel: dev.launch({self.__name__}, grid, block)(...)")

    def __getitem__(self, how):
        shown = ", ".join(map(repr, how)) if isinstance(how, tuple) else f"{how!r}, block"
        raise TypeError(f"{self.__name__} is a kernel of Atoll: dev.launch({self.__name__}, {shown})(...)")

    __name__: str


@overload
def kernel(function: Callable[..., Any], *, compiler: str | None = None, **options: Any) -> Kernel: ...


@overload
def kernel(*, compiler: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, *, compiler: str | None = None, **options: Any) -> Any:
    if compiler not in (None, *COMPILERS):
        raise ValueError(
            f"atoll.numba.kernel: compiler is {compiler!r}; it must be one of {', '.join(COMPILERS)}"
        )
    if function is None:
        return lambda function: kernel(function, compiler=compiler, **options)
    if not inspect.isfunction(function):
        raise TypeError(
            f"atoll.numba.kernel: {function!r} is not a Python function; decorate the function itself"
        )
    return Kernel(function, options, compiler)


def _launch_on_host(kernel: Kernel, arguments: list[Any]) -> None:
    try:
        kernel.host(*arguments)
    except NotImplementedError:
        halves = [number for number, x in enumerate(arguments, 1) if getattr(x, "dtype", None) == np.float16]
        if not halves:
            raise
        raise TypeError(
            f"{kernel.__name__}: argument {halves[0]} is of float16, which Numba has on GPUs only; on the host pass "
            "x.view(np.uint16), to move it, or float32"
        ) from None
    except _atoll.NotSymmetric as error:
        raise _atoll.NotSymmetric(f"{kernel.__name__}: {at_fault(str(error), arguments)}: {error}") from None
    except _atoll.ShapeMismatch as error:
        words, nbytes, room = error.args
        raise _atoll.ShapeMismatch(
            f"{kernel.__name__}: {words}: {nbytes} bytes, where dev.mailbox(room) made room for {room}"
        ) from None
    except (_atoll.Error, SystemError) as error:
        # After the kernel's own `except` the error is still set, so Python raises SystemError from it.
        found = error if isinstance(error, _atoll.Error) else error.__cause__ or error
        raise type(found)(f"{kernel.__name__}: {found}") from None


OF_GPUS = {
    "grid": "dev.grid_range(n), a loop over the elements of all threads",
    "gridsize": "dev.grid_range(n), a loop over the elements of all threads",
    "threadIdx": "dev.rank(dev.BLOCK)",
    "blockIdx": "dev.grid_range(n), a loop over the elements of all threads",
    "blockDim": "dev.size(dev.BLOCK)",
    "gridDim": "dev.size(dev.GRID)",
    "syncthreads": "dev.meet(team, dev.BLOCK)",
    "syncwarp": "dev.meet(team, dev.WARP)",
}
"""Names of numba.cuda, and the function of atoll.numba that is right on CPUs, too."""


def _of_cuda(kernel: Kernel, error: Exception) -> Exception | None:
    """Return a short error if a kernel that is compiled for CPUs uses a name of numba.cuda; else None."""
    text = str(error)
    found = re.search(
        r"<intrinsic ([\w.]+)>' for the current target|attribute '(\w+)' of type Module\(.*cuda", text
    )
    if found is None:
        return None
    name = found[1] or found[2]
    instead = f"write {OF_GPUS[name]}, which works on both, or" if name in OF_GPUS else "it cannot use that;"
    line = re.search(r"typing of (?:call|get attribute) at ([^\n]*) \((\d+)\)", text)
    return type(error)(
        f"{kernel.__name__}: cuda.{name} is for GPUs, and the arrays of this kernel are in host memory; "
        f"{instead} make the arrays with device='cuda'" + (f" ({line[1]}, line {line[2]})" if line else "")
    )


def _in_short(kernel: Kernel, error: Exception) -> Exception | None:
    """Return a short error: Atoll's own sentence from a Numba compiler's message, and the line of the kernel.
    None: there is no such sentence.
    """
    if type(error).__name__ not in ("TypingError", "UnsupportedError"):
        return None
    if (of_cuda := _of_cuda(kernel, error)) is not None:
        return of_cuda
    messages = list(dict.fromkeys(re.findall(r"atoll\.numba\.\w+: [^\n]*", str(error))))
    if not messages:
        return None
    here = pathlib.Path(__file__).parent
    inner = (here, here.parent / "_kernels/bodies")
    calls = re.findall(r"typing of call at ([^\n]*) \((\d+)\)", str(error))
    users = [
        f" ({file}, line {line})"
        for file, line in calls
        if not any(one in pathlib.Path(file).parents for one in inner)
    ]
    return type(error)(f"{kernel.__name__}: {messages[-1]}{users[0] if users else ''}")


def launch(
    kernel: Kernel, grid: Any, block: Any, stream: Any = 0, *, shared: int = 0, cooperative: bool = False
) -> Callable[..., None]:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"atoll.numba.launch: {kernel!r} is not a kernel; decorate the function with @dev.kernel"
        )
    check_sizes(kernel.__name__, grid, block, RESIDENT)

    def start(*arguments):
        _check_all(kernel, arguments)
        device = any(on_device(argument) for argument in arguments)
        values = [
            team_for("device" if device else "host", kernel.__name__, argument) for argument in arguments
        ]
        if not device:
            _launch_on_host(kernel, values)
        else:
            if any(map(on_host, arguments)):
                raise TypeError(
                    f"{kernel.__name__}: some of its arrays are on a GPU, and one (a mailbox's, perhaps) is of NumPy, in host "
                    "memory. Make all of them in one memory (device='cuda')"
                )
            with _current(kernel, arguments):
                _launch_on_device(kernel, grid, block, stream, shared, cooperative, values)

    def started(*arguments):
        try:
            start(*arguments)
        except Exception as error:
            if (short := _in_short(kernel, error)) is None:
                raise
            raise short from None

    return started


def _whole_blocks(kernel: Kernel, block: Any, shared: int, values: list[Any]) -> tuple[int, int]:
    """Return the number of the current GPU, and how many such blocks it runs at once."""
    compiler = kernel.compiler
    most = compiler.compiled(kernel.device, values).max_cooperative_grid_blocks(block, shared)
    return int(compiler.cuda.get_current_device().id), int(most)


def most_resident_blocks(kernel: Kernel, block: Any, *arguments: Any, shared: int = 0) -> int:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"atoll.numba.most_resident_blocks: {kernel!r} is not a kernel; decorate the function with @dev.kernel"
        )
    check_sizes(kernel.__name__, 1, block, RESIDENT)
    _check_all(kernel, arguments)
    if not any(on_device(argument) for argument in arguments):
        return 1
    with _current(kernel, arguments):
        values = [team_for("device", kernel.__name__, argument) for argument in arguments]
        gpu, whole = _whole_blocks(kernel, block, shared, values)
        return _atoll._resident_share(gpu, whole)


def _check_all(kernel: Kernel, arguments: tuple[Any, ...]) -> None:
    """Refuse a wrong number of arguments, and those that compiled code would misread."""
    if not kernel.fewest <= len(arguments) <= kernel.most:
        raise TypeError(
            f"{kernel.__name__} takes {inspect.signature(kernel.function)}, and got {len(arguments)} arguments"
        )
    for number, argument in enumerate(arguments, 1):
        check_argument(kernel.__name__, number, argument)


def _current(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Return a context in which the GPU of the arguments is the current one."""
    gpus = {gpu for gpu in map(gpu_of, arguments) if gpu is not None}
    if len(gpus) > 1:
        raise ValueError(f"{kernel.__name__}: its arrays are on several GPUs: {sorted(gpus)}")
    return kernel.compiler.cuda.gpus[gpus.pop()] if gpus else contextlib.nullcontext()


def _launch_on_device(
    kernel: Kernel, grid: Any, block: Any, stream: Any, shared: int, cooperative: bool, values: list[Any]
) -> None:
    compiler = kernel.compiler
    if isinstance(stream, int) and stream != 0:
        stream = compiler.cuda.external_stream(stream)
    blocks = math.prod(grid) if isinstance(grid, tuple) else int(grid)
    threads = math.prod(block) if isinstance(block, tuple) else int(block)
    if grid == RESIDENT or cooperative:
        gpu, whole = _whole_blocks(kernel, block, shared, values)
        if grid == RESIDENT:
            grid = blocks = _atoll._resident_share(gpu, whole)
        check_cooperative(kernel.__name__, blocks, threads, whole, gpu)
    _atoll._note_kernel(kernel.__name__, blocks, threads)
    how = (grid, block, stream, shared)
    if cooperative:
        compiler.cooperatively(kernel, how, values)
    else:
        kernel.device[how](*values)
