"""States of a communicator, and the error of calls that failed."""

from .._errors import NCCLError as NCCLError
from .._errors import Result as Result

__all__ = ["NCCLError", "Result"]


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"nccl.bindings.nccl has no attribute {name!r}: Atoll's form has Result and NCCLError; use nccl.core for calls"
    )
