"""Arrays of CuPy and tensors of PyTorch in symmetric memory."""

from . import cupy as cupy
from . import torch as torch
