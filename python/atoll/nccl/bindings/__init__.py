"""The two names of NCCL4Py's lower layer that programs take to handle errors."""

from . import nccl as nccl
from .nccl import NCCLError as NCCLError
from .nccl import Result as Result
