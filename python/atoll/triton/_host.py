"""The host's part of Triton's kernels: checks of arguments, names in errors, and the number of programs that
run at once.
"""

# mypy: ignore-errors
from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import triton
from triton.errors import TritonError

from .. import _atoll
from .._kernels.arguments import check_argument, check_cooperative, on_gpu_of_tensors
from .._kernels.resident import current_gpu, most_blocks, whole_blocks

THREADS_OF_WARP = 32
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def _constants(function: Any) -> set[Any]:
    """Return the parameters that are tl.constexpr, by number and by name."""
    parameters = enumerate(inspect.signature(function).parameters.values(), 1)
    return {key for number, x in parameters if "constexpr" in str(x.annotation) for key in (number, x.name)}


def _check(name: str, constants: set[Any], arguments: dict[Any, Any]) -> None:
    """Refuse an argument that a kernel must not have; the error has its number or name."""
    for which, x in arguments.items():
        if which in constants:
            continue
        if isinstance(x, np.ndarray) and not INTERPRETED:
            raise TypeError(
                f"{name}: argument {which} is an array of NumPy, in host memory; pass a tensor of PyTorch in GPU memory: "
                "atoll.zeros(..., device='cuda', xp=torch)"
            )
        if isinstance(x, np.ndarray) and x.dtype.kind == "c":
            raise TypeError(
                f"{name}: argument {which} is of {x.dtype}, which Triton does not have; pass x.view() of its real type"
            )
        check_argument(name, which, x)


def _as_argument(x: Any) -> Any:
    """Convert an argument for Triton: a Team to its fields, NumPy's arrays to what the interpreter takes."""
    if isinstance(x, _atoll.Team):
        return x.device("host" if INTERPRETED else "device")
    if INTERPRETED and isinstance(x, np.ndarray):
        from ._dsl._interpreted import HostArray

        return HostArray(x)
    return x


def _in_short(made: Any, error: Exception, arguments: dict[Any, Any] | None = None) -> Exception | None:
    """Return a short error: Atoll's own sentence from Triton's message, and the line of the kernel. None:
    there is no such sentence.
    """
    arguments = arguments or {}
    inner: BaseException | None = error
    while inner is not None and isinstance(inner.__cause__, Exception):  # one for each nested function call
        inner = inner.__cause__
    if isinstance(inner, _atoll.NotSymmetric):
        ordinary = [
            f"argument {which}" for which, x in arguments.items()
            if isinstance(x, np.ndarray) and not _atoll.is_symmetric(x)
        ]  # fmt: skip
        are = "are" if len(ordinary) > 1 else "is"
        return type(inner)(
            f"{made.fn.__name__}: {' and '.join(ordinary) or 'an address'} {are} ordinary memory: {inner}"
        )
    if isinstance(inner, _atoll.Error):
        return type(inner)(f"{made.fn.__name__}: {inner}")
    messages = re.findall(r"^atoll\.triton[.:][^\n]*", str(inner), re.M)
    if not messages:
        return None
    line = getattr(getattr(error, "node", None), "lineno", None)  # counted from `def`, below the decorators
    above = (
        next((k for k, text in enumerate(made.raw_src) if text.lstrip().startswith("def ")), 0) if line else 0
    )
    file = made.fn.__code__.co_filename
    site = f" ({file}, line {made.starting_line_number + above + line - 1})" if line else ""
    return TypeError(f"{made.fn.__name__}: {messages[-1]}{site}")


def named(made: Any) -> Any:
    """Change the kernel so that its launches check their arguments and are noted, for errors that name it.

    An argument that it must not have is refused, and a compile error is cut to one line. This concerns this
    kernel only: no hook is set.
    """
    start, name, constants = made.run, made.fn.__name__, _constants(made.fn)

    def run(*arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(arguments, 1)), **keywords}
        _check(name, constants, given)
        try:
            arguments = tuple(map(_as_argument, arguments))
            keywords = {key: _as_argument(x) for key, x in keywords.items()}
            with nullcontext() if INTERPRETED else on_gpu_of_tensors((*arguments, *keywords.values())):
                if keywords.get("launch_cooperative_grid") and not warmup and not INTERPRETED:
                    _check_resident(made, start, grid, arguments, keywords)
                compiled = start(*arguments, grid=grid, warmup=warmup, **keywords)
        except TritonError as error:
            if (short := _in_short(made, error, given)) is None:
                raise
            raise short from None
        if not warmup and hasattr(compiled, "metadata"):
            blocks = 0 if callable(grid) else math.prod(grid)  # 0: any number
            _atoll._note_kernel(name, blocks, THREADS_OF_WARP * compiled.metadata.num_warps)
        return compiled

    made.run = run
    return made


def most_resident_blocks(kernel: Any, *arguments: Any, **options: Any) -> int:
    return most_blocks(*_size_of(kernel.warmup(*arguments, grid=(1,), **options)))


most_resident_programs = most_resident_blocks
"""most_resident_blocks under another name, since Triton calls a block a program."""


def _size_of(compiled: Any) -> tuple[int, int, int]:
    """Return a compiled kernel's function, and the threads and bytes of shared memory of a program."""
    compiled._init_handles()  # loads the kernel
    facts = compiled.metadata
    return compiled.function, THREADS_OF_WARP * facts.num_warps, facts.shared


def _check_resident(made: Any, start: Any, grid: Any, arguments: Any, keywords: dict[str, Any]) -> None:
    """Refuse a cooperative grid that is too large beside other PEs on the GPU. The driver does not count these.

    Raises ValueError.
    """
    gpu = current_gpu()
    if _atoll._pes_at_once(gpu) == 1:
        return  # the driver's own check is the same
    function, threads, shared = _size_of(start(*arguments, grid=(1,), warmup=True, **keywords))
    sizes = (
        grid({**dict(zip(made.arg_names, arguments, strict=False)), **keywords}) if callable(grid) else grid
    )
    check_cooperative(
        made.fn.__name__, math.prod(sizes), threads, whole_blocks(function, threads, shared), gpu
    )


def kernel(function: Callable[..., Any]) -> Any:
    return named(triton.jit(function, do_not_specialize=["team"]))
