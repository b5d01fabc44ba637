"""Registration of one Python function for both of Numba's targets: host CPUs and, with numba-cuda, GPUs."""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
from numba import extending
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing import templates

from ... import _versions
from ..._device import DeviceTeam
from ..._kernels import ptx
from .._checks import check
from .._types import Kind


class Target(NamedTuple):
    extending: Any
    name: str
    templates: Any


HOST = Target(extending, "cpu", templates)
DEVICE: Target | None = None
numba_cuda: Any = None


def mlir_is_known() -> bool:
    """Return whether numba-cuda-mlir is installed in the version that _mlir is written for: it uses inner
    modules.
    """
    there = importlib.util.find_spec("numba_cuda_mlir") is not None
    return there and _versions.unknown("atoll.numba", "numba-cuda-mlir") is None


MLIR = mlir_is_known()
if importlib.util.find_spec("numba_cuda") is not None and importlib.util.find_spec("numba.cuda.typing"):
    import numba.cuda
    import numba.cuda.extending
    import numba.cuda.typing.templates

    numba_cuda = numba.cuda
    DEVICE = Target(numba.cuda.extending, "cuda", numba.cuda.typing.templates)
elif MLIR:
    DEVICE = Target(
        None, "cuda", None
    )  # Numba itself has no such target; FORMS keeps the forms for the folder _mlir
TARGETS = [HOST] if DEVICE is None else [HOST, DEVICE]


class CheckedTeam(DeviceTeam):
    """The type of a team in kernels that check addresses (ATOLL_CHECK=all).

    A separate type, so that such processes alone find the kernels that they cached, also those of
    @cuda.jit(cache=True).
    """


class TracedTeam(DeviceTeam):
    """The same for kernels that write a trace (ATOLL_TRACE)."""


class CheckedTracedTeam(DeviceTeam):
    """The same for kernels that do both."""


TEAMS = {(True, False): CheckedTeam, (False, True): TracedTeam, (True, True): CheckedTracedTeam}
TEAM = TEAMS.get((ptx.CHECKS_ADDRESSES, ptx.TRACES))


def special_team(value, context):
    return types.NamedUniTuple(types.int64, len(DeviceTeam._fields), TEAM)


if TEAM is not None:
    for target in TARGETS:
        if target.extending is not None:
            target.extending.typeof_impl.register(DeviceTeam)(special_team)


class Form(NamedTuple):
    """The GPU implementation of a function, kept for another compiler (the folder _mlir)."""

    emitted: bool
    stub: Callable[..., Any]
    generator: Callable[..., Any]


FORMS: list[Form] = []


later: Callable[[Form], None] = FORMS.append
"""Takes each form. _mlir replaces it by a function that registers the form at once."""


def registered() -> None:
    """Make functions known that another module of the package has registered. _mlir replaces this function."""


F = TypeVar("F", bound=Callable[..., Any])


def outside_kernels(name: str, kernels: str) -> str:
    """Return the text of the error of a call by Python. `kernels`: the decorators that compile it."""
    if getattr(numba.config, "ENABLE_CUDASIM", 0):
        return (
            f"{name} does not run in Numba's simulator, which executes kernels as Python. Unset NUMBA_ENABLE_CUDASIM; "
            f"numba.njit compiles it for CPUs"
        )
    return f"{name} is for kernels ({kernels})"


def vocabulary(generator: F) -> F:
    """Make a function of this name for kernels. `generator` takes types and returns the function to compile
    for them.
    """

    @functools.wraps(generator)
    def outside(*arguments, **keywords):
        name = f"atoll.numba.{generator.__name__}"
        raise TypeError(outside_kernels(name, "@dev.kernel, numba.njit, cuda.jit"))

    signature = inspect.signature(generator)

    def checked(*kinds: Kind, **keywords: Kind):
        try:
            given = signature.bind(*kinds, **keywords).arguments
        except TypeError as error:
            raise TypingError(f"atoll.numba.{generator.__name__}: {error}; {_shown(signature)}") from None
        check(generator.__name__, given)
        return generator(*kinds, **keywords)

    for target in TARGETS:
        implement(target, outside)(checked)
    return outside  # type: ignore[return-value]


def operation(function: F) -> F:
    """Make an operation for kernels, which is compiled as it is written once its arguments were checked.

    In a job with a trace its event is around it.
    """
    at_home(function)
    compiled: Any = function
    if ptx.TRACES and "team" in inspect.signature(function).parameters and function.__module__ != _ADDRESSES:
        from .._tracing import traced  # imported here, since _tracing imports this module and _addresses

        compiled = traced(function)
    return vocabulary(functools.wraps(function)(lambda *kinds, **keywords: compiled))  # type: ignore[return-value]


_PORT = __package__.rpartition(".")[0]
_ADDRESSES = f"{_PORT}._addresses"


def at_home(function: Callable[..., Any]) -> None:
    """Name a function of _kernels/bodies as one of the port's module, by which it is pickled."""
    if "._kernels.bodies." in function.__module__:
        function.__module__ = f"{_PORT}.{function.__module__.rpartition('.')[2]}"
        function.__qualname__ = function.__name__


def _shown(signature: inspect.Signature) -> str:
    """Return the text of an error that lists a function's parameters."""
    parameters = [
        name if one.default is one.empty else f"{name}={str(one.default).replace('atoll.numba.', 'dev.')}"
        for name, one in signature.parameters.items()
    ]
    return f"it takes ({', '.join(parameters)})"


def helper(function: F) -> F:
    """Make a function that is compiled unchanged for either target; the functions above use it."""
    at_home(function)
    for target in TARGETS:
        implement(target, function)(lambda *arguments, **keywords: function)
    return function


def implement(target: Target, stub: Callable[..., Any]) -> Callable[[F], F]:
    """Implement `stub` on one target: generator takes types and returns a function to be compiled."""

    def register(generator: F) -> F:
        if target is DEVICE:
            later(Form(False, stub, generator))
        if target.extending is None:
            return generator
        # Python never calls these functions, and wrappers for it would be a tenth of the time of compiling.
        options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} if target is HOST else {}
        target.extending.overload(stub, options, strict=False, target=target.name)(generator)
        return generator

    return register


def emit(target: Target, stub: Callable[..., Any]) -> Callable[[F], F]:
    """Implement `stub` on one target by LLVM, without a call.

    generator takes types and returns the signature and build(context, builder, values), which returns the
    value.
    """

    def register(generator: F) -> F:
        if target is DEVICE:
            later(Form(True, stub, generator))
        if target.templates is None:
            return generator

        def typed(typing, *kinds):
            signature, build = generator(*kinds)
            return signature, lambda context, builder, sig, values: build(context, builder, values)

        shown = inspect.signature(stub)
        first = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = shown.replace(parameters=[first, *shown.parameters.values()])  # type: ignore[attr-defined]
        template = target.templates.make_intrinsic_template(stub, typed, stub.__name__)
        target.templates.infer(template)
        target.templates.infer_global(stub, types.Function(template))
        return generator

    return register


def build(target: Target, stub: Callable[..., Any], signature: Any) -> Callable[[F], F]:
    """Implement `stub`, which has one signature, by the LLVM of the decorated build function."""

    def register(function: F) -> F:
        emit(target, stub)(lambda *_: (signature, function))  # type: ignore[arg-type]
        return function

    return register


def compile_as(target: Target, stub: Callable[..., Any]) -> Callable[[F], F]:
    """Implement `stub` on one target by the decorated function, which is compiled for every type."""

    def register(function: F) -> F:
        implement(target, stub)(lambda *_: function)  # type: ignore[arg-type]
        return function

    return register
