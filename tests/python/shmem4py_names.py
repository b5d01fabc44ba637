"""The names that a module like shmem4py.shmem offers, as JSON: python shmem4py_names.py MODULE.

shmem4py_names.json beside this file was printed once, for the module `shmem4py.shmem` of shmem4py 1.0.0 from PyPI.
Atoll's oshcc had built it, so that numbers of the C header are Atoll's:

    scripts/setup.sh shmem4py
    SHMEM4PY_RC_INITIALIZE=no build/shmem4py-venv/bin/python tests/python/shmem4py_names.py shmem4py.shmem \
        > tests/python/shmem4py_names.json
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import sys
from types import ModuleType
from typing import Any

# cffi's view of the C library, and NumPy: shmem4py's implementation, not a part of its interface.
NOT_OFFERED = {"ffi", "lib", "np"}
SPECIAL = ("__eq__", "__ne__", "__bool__", "__enter__", "__exit__")


def signature(function: Any) -> list[list[str]]:
    """Return the name, kind and default of each parameter, without annotations, which may differ."""
    return [
        [p.name, p.kind.name, "" if p.default is inspect.Parameter.empty else repr(p.default)]
        for p in inspect.signature(function).parameters.values()
    ]


def of_class(kind: type) -> dict[str, Any]:
    if issubclass(kind, enum.Enum):
        family = kind.__mro__[1].__name__.lstrip("_")  # Python 3.10 has no StrEnum of its own
        return {"enum": family, "members": {member.name: member.value for member in kind}}
    methods = {
        name: signature(getattr(kind, name)) for name in sorted(vars(kind)) if not name.startswith("_")
        and callable(getattr(kind, name))
    }  # fmt: skip
    static = sorted(
        name for name, value in vars(kind).items() if isinstance(value, staticmethod) and name[0] != "_"
    )
    special = [name for name in SPECIAL if name in vars(kind)]
    return {"call": signature(kind), "methods": methods, "static": static, "special": special}


def of_module(module: ModuleType) -> dict[str, Any]:
    offered: dict[str, Any] = {}
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_") or name in NOT_OFFERED or isinstance(value, ModuleType):
            continue
        if isinstance(value, type):
            offered[name] = of_class(value)
        elif callable(value):
            offered[name] = {"call": signature(value)}
        elif isinstance(value, enum.Enum):
            offered[name] = repr(value)
        else:
            offered[name] = value if isinstance(value, int | str) else f"a {type(value).__name__}"
    return offered


if __name__ == "__main__":
    found = of_module(importlib.import_module(sys.argv[1]))
    print("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found) + "\n}")
