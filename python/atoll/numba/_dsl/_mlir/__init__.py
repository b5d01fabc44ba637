"""The same functions in kernels of numba-cuda-mlir, a compiler with its own types and typing.

It uses the GPU's forms that _registration.py kept. Its types are converted to Numba's, by which those forms
choose, and the LLVM that they build is converted to MLIR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba_cuda_mlir import cuda, extending
from numba_cuda_mlir._mlir import ir as mlir
from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir.lowering_utilities import RangeObject, convert
from numba_cuda_mlir.numba_cuda.typing import templates

from ...._kernels.fixed import FREE, fixing
from ... import _addresses, _moves, _threads, _tiles
from ..._collectives import Meeting
from ..._host import Mailbox
from ..._mailboxes import Inbox, Outbox
from ..._polling import Call
from ..._types import GRID
from .. import _gpu, _gpu_threads, _registration
from .._registration import FORMS, Form
from ._builder import Builder, Context, Value, as_i64, raw, strides
from ._kinds import Named, back, nothing, ours, their_errors, theirs

REGISTRY = extending.typing_registry
OWN: set[Any] = set()
"""Stubs that are registered here by their own implementation, not by their form."""


def register(stub, generic, lowered):
    """Register `stub`: generic returns the signature for types, lowered builds the code."""
    template = type(
        f"Atoll_{stub.__name__}", (templates.AbstractTemplate,), {"key": stub, "generic": generic}
    )
    REGISTRY.register(template)
    REGISTRY.register_global(stub, theirs.Function(template))
    extending.lower_builtin(stub, theirs.VarArg(theirs.Any))(lowered)


def is_text(kind) -> bool:
    return type(kind).__name__ in ("StringLiteral", "UnicodeType")


def implement(stub: Callable[..., Any], generator):
    """Compile one device function for each list of types; extending.overload would compile one for each call."""
    made: dict[Any, Any] = {}
    of_text: Any = getattr(stub, "of_text", None)

    def fixed(kind):
        return of_text(stub.__name__, kind) if is_text(kind) else FREE

    def device_function(kinds, keywords):
        key = (kinds, tuple(keywords.items()))
        if key not in made:
            with their_errors():
                if of_text and any(map(is_text, (*kinds, *keywords.values()))):
                    named = {name: fixed(kind) for name, kind in keywords.items()}
                    made[key] = cuda.jit(device=True)(fixing(stub, [*map(fixed, kinds)], named))
                else:
                    named = {name: ours(kind) for name, kind in keywords.items()}
                    made[key] = cuda.jit(device=True)(generator(*map(ours, kinds), **named))
        return made[key]

    def generic(self, kinds, keywords):
        kept = tuple(kind for kind in kinds if not is_text(kind))
        named = {name: kind for name, kind in keywords.items() if not is_text(kind)}
        found = theirs.Dispatcher(device_function(kinds, keywords)).get_call_type(self.context, kept, named)
        return found.return_type(*kinds, *keywords.values()) if named != keywords or kept != kinds else found

    def lowered(lower, target, arguments, keywords):
        kinds = tuple(lower.get_numba_type(one.name) for one in arguments)
        named = {name: lower.get_numba_type(one.name) for name, one in keywords}
        function = device_function(kinds, named)
        kept = [one for one, kind in zip(arguments, kinds, strict=True) if not is_text(kind)]
        others = [(name, one) for name, one in keywords if not is_text(named[name])]
        lower.store_var(target, lower.build_user_defined_function_call(target, function, kept, others))

    register(stub, generic, lowered)


def emit(stub: Callable[..., Any], generator):
    def generic(self, kinds, keywords):
        with their_errors():
            signature, _ = generator(*map(ours, kinds))
        return back(signature.return_type)(*map(back, signature.args))

    def lowered(lower, target, arguments, keywords):
        kinds = [lower.get_numba_type(one.name) for one in arguments]
        signature, build = generator(*map(ours, kinds))
        values = []
        for one, source, kind in zip(arguments, kinds, map(back, signature.args), strict=True):
            value = lower.load_var(one)
            if isinstance(kind, theirs.Number):
                value = convert(lower.lower_cast(source, kind, value), lower.get_value_type(kind))
            values.append(Value(value) if isinstance(value, mlir.Value) else value)
        found = build(Context, Builder(lower), values)
        lower.store_var(target, found if isinstance(found, tuple) else raw(found))

    register(stub, generic, lowered)


# ---- functions whose form numba-cuda-mlir does not take


def shared_range(lower, target, arguments, keywords):
    """Build grid_range, since a function of numba-cuda-mlir cannot return a range."""
    builder, (n,) = Builder(lower), arguments
    first, step = (raw(make(builder, GRID)) for make in (_gpu_threads.rank_of, _gpu_threads.size_of))
    lower.store_var(target, RangeObject(lower, first, as_i64(lower.load_var(n)), step))


def bytes_along(axis: int):
    def lowered(lower, target, arguments, keywords):
        lower.store_var(target, strides(lower.load_var(arguments[0]), axis))

    return lowered


def type_value(lower, target, arguments, keywords):
    """Build a type as a value, which is a number of that type; a function of numba-cuda-mlir cannot return it."""
    kind = lower.get_numba_type(target.name).dtype
    zero = 0.0 if isinstance(kind, theirs.Float) else 0
    lower.store_var(target, arith.constant(lower.get_mlir_type(kind), zero))


def own(stub, generic, lowered):
    OWN.add(stub)
    register(stub, generic, lowered)


def named_tuple(kind: type) -> None:
    """Build a named tuple from its parts."""

    @extending.lower_builtin(kind, theirs.VarArg(theirs.Any))
    def _(lower, target, arguments, keywords):
        wanted = lower.get_numba_type(target.name).types
        parts = [(lower.load_var(one), to) for one, to in zip(arguments, wanted, strict=True)]
        lower.store_var(
            target,
            tuple(
                nothing() if isinstance(to, Named) else lower._coerce_value_to_numba_type(to, one)
                for one, to in parts
            ),
        )


for each in (Call, Mailbox, Meeting, Inbox, Outbox, _tiles.Rows):
    named_tuple(each)
own(_threads.grid_range, lambda self, kinds, keywords: theirs.range_state64_type(*kinds), shared_range)
own(_addresses.kind_of, lambda self, kinds, keywords: theirs.NumberClass(kinds[0].dtype)(*kinds), type_value)
own(
    _moves.unit_of,
    lambda self, kinds, keywords: theirs.NumberClass(back(_moves.unit(ours(kinds[0].dtype))))(*kinds),
    type_value,
)
for axis, stub in enumerate((_tiles.pitch, _tiles.stride)):
    own(stub, lambda self, kinds, keywords: theirs.int64(*kinds), bytes_along(axis))
for stub, function in _gpu_threads.by_names_of(cuda).items():
    OWN.add(stub)
    implement(stub, _gpu.returns(function))


def register_form(form: Form) -> None:
    if form.stub not in OWN:
        (emit if form.emitted else implement)(form.stub, form.generator)


for form in FORMS:
    register_form(form)
_registration.later = register_form
_registration.registered = extending.refresh_registries
extending.refresh_registries(include_uninitialized_cuda=False)
