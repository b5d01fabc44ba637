"""The compilers of kernels for GPUs, numba-cuda and numba-cuda-mlir, and what each wants for a launch."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

from .. import _versions


class Compiler:
    """numba-cuda, whose names the other one has, too."""

    name, module = "numba-cuda", "numba.cuda"

    def __init__(self) -> None:
        _versions.need("atoll.numba on GPUs", self.name)
        self.cuda = importlib.import_module(self.module)

    def compiled(self, dispatcher: Any, values: list[Any]) -> Any:
        """The kernel for arguments of these types."""
        return dispatcher.compile(tuple(dispatcher.typeof_pyval(value) for value in values))

    def cooperatively(self, kernel: Any, how: tuple[Any, ...], values: list[Any]) -> None:
        """Start it so that the driver has all blocks run at once."""
        compiled = self.compiled(kernel.device, values)
        compiled.cooperative = True
        try:
            kernel.device[how](*values)
        finally:
            compiled.cooperative = False  # the next launch of this kernel may be another


class MlirCompiler(Compiler):
    """numba-cuda-mlir: of its inner modules _mlir makes use, so that one version is known."""

    name, module = "numba-cuda-mlir", "numba_cuda_mlir.cuda"

    def cooperatively(self, kernel: Any, how: tuple[Any, ...], values: list[Any]) -> None:
        """How a kernel is started it keeps with what it compiled; so there is another of each kernel for this."""
        self.compiled(kernel.cooperative, values).cres.metadata["use_cooperative"] = True
        kernel.cooperative[how](*values)


COMPILERS = {one.name: one for one in (Compiler, MlirCompiler)}


@functools.cache
def compiler(name: str | None) -> Compiler:
    """The one of that name; None: numba-cuda, or numba-cuda-mlir where only that is installed."""
    if name is None:
        only = not installed(Compiler.name) and installed(MlirCompiler.name)
        name = MlirCompiler.name if only else Compiler.name
    return COMPILERS[name]()


def installed(name: str) -> bool:
    return importlib.util.find_spec(name.replace("-", "_")) is not None
