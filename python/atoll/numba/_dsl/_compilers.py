"""The compilers of kernels for GPUs, numba-cuda and numba-cuda-mlir, and their ways to launch."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

from ... import _versions


class Compiler:
    """numba-cuda; numba-cuda-mlir has the same names."""

    name, module = "numba-cuda", "numba.cuda"

    def __init__(self):
        _versions.need("atoll.numba on GPUs", self.name)
        self.cuda = importlib.import_module(self.module)

    def compiled(self, dispatcher: Any, values: list[Any]) -> Any:
        """Compile the kernel for arguments of these types."""
        return dispatcher.compile(tuple(dispatcher.typeof_pyval(value) for value in values))

    def cooperatively(self, kernel: Any, how: tuple[Any, ...], values: list[Any]) -> None:
        """Start the kernel so that the driver runs all blocks at once."""
        compiled = self.compiled(kernel.device, values)
        compiled.cooperative = True
        try:
            kernel.device[how](*values)
        finally:
            compiled.cooperative = False  # the next launch of this kernel may not be cooperative


class MlirCompiler(Compiler):
    """numba-cuda-mlir. Our package _mlir uses its private modules, so exactly one version is supported."""

    name, module = "numba-cuda-mlir", "numba_cuda_mlir.cuda"

    def cooperatively(self, kernel: Any, how: tuple[Any, ...], values: list[Any]) -> None:
        """Start the cooperative copy of the kernel: this compiler stores the launch mode with the compiled code."""
        self.compiled(kernel.cooperative, values).cres.metadata["use_cooperative"] = True
        kernel.cooperative[how](*values)


COMPILERS = {one.name: one for one in (Compiler, MlirCompiler)}


@functools.cache
def compiler(name: str | None) -> Compiler:
    """Return the compiler of that name. None: numba-cuda, or numba-cuda-mlir if only that is installed."""
    if name is None:
        only = not installed(Compiler.name) and installed(MlirCompiler.name)
        name = MlirCompiler.name if only else Compiler.name
    return COMPILERS[name]()


def installed(name: str) -> bool:
    return importlib.util.find_spec(name.replace("-", "_")) is not None
