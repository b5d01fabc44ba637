"""Functions on the host that only kernels call: each is linked into its callers, and has no machine code of its own.

Numba makes machine code of each function that it compiles, with all functions that it calls. Only the kernel's is ever
run. The others' is a large part of the time in which a kernel is compiled.
docs/measurements/2026-11-27-ci-cpu.md has the figures.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core import codegen, compiler, ir, typed_passes
from numba.core.compiler_machinery import register_pass


class LinkedLibrary(codegen.JITCodeLibrary):
    """The code of such a function: optimised, and not given to the engine that makes machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


def _not_executable(library: Any, fndesc: Any, env: Any) -> Any:
    """Return the key by which callers find the function: one that Python cannot call, as without a wrapper before."""
    library._ensure_finalized()
    name = fndesc.qualname.split(".")[-1]
    return _dynfunc.make_function(fndesc.lookup_module(), name, "linked into its callers", 0, env, (library,))


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(typed_passes.NativeLowering):
    _name = "atoll_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        # Numba gives a function's environment, by which it makes such an error, to machine code alone.
        lines = (line for block in state.func_ir.blocks.values() for line in block.body)
        if any(isinstance(line, (ir.DynamicRaise, ir.DynamicTryRaise)) for line in lines):
            return super().run_pass(state)
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        context, state.targetctx = state.targetctx, state.targetctx.subtarget(get_executable=_not_executable)
        try:
            return super().run_pass(state)
        finally:
            state.targetctx = context


class LinkedCompiler(compiler.Compiler):
    def define_pipelines(self) -> Any:
        managers = super().define_pipelines()
        for manager in managers:
            manager.passes = [
                (LinkedLowering if one is typed_passes.NativeLowering else one, text)
                for one, text in manager.passes
            ]
            manager.finalize()
        return managers


INNER = ("_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols")
OPTIONS = (
    {"pipeline_class": LinkedCompiler} if all(hasattr(codegen.JITCodeLibrary, name) for name in INNER) else {}
)
"""Options of Numba's jit for such functions. A Numba without these inner functions makes machine code of all."""
