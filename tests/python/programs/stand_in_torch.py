"""A module in PyTorch's place, once this is imported: enough of it for the pools of atoll.torch. It makes no
tensors.
"""

import contextlib
import sys
import types
from typing import Any

torch: Any = types.ModuleType("torch")
sys.modules["torch"] = torch
allocator = types.SimpleNamespace(allocator=lambda: None)
torch.Tensor = type("Tensor", (), {})
torch.cuda = types.SimpleNamespace(
    set_device=lambda number: None,
    MemPool=lambda allocator: object(),
    memory=types.SimpleNamespace(CUDAPluggableAllocator=lambda *names: allocator),
    use_mem_pool=lambda pool: contextlib.nullcontext(),
)
operator = types.SimpleNamespace(register_fake=lambda function: None)
torch.library = types.SimpleNamespace(custom_op=lambda *what, mutates_args: operator)
