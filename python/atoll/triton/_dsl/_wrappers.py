"""Functions of Triton that are written around others when the package is imported."""

# mypy: ignore-errors
from __future__ import annotations

import inspect
import linecache

import triton.language as tl
from triton import jit


def around(function, name, how, text, names):
    """Return a function with the parameters of another one, which its source calls `inner`.

    `text` returns the source, given the parameters as they are declared and as they are passed on. `names` are its
    further names, and `how` tells such functions of one name apart.
    """
    parameters = inspect.signature(getattr(function, "fn", function)).parameters
    names = {"__name__": f"{__name__}.{how}", "tl": tl, "inner": function, **names}

    def default(key, value):
        """Return the text of a default. A constant is a name for Triton."""
        if isinstance(value, int):
            return repr(value)
        names[f"default_{key}"] = value
        return f"default_{key}"

    declared = [
        key
        + (": tl.constexpr" if "constexpr" in str(one.annotation) else "")
        + ("" if one.default is one.empty else f"={default(key, one.default)}")
        for key, one in parameters.items()
    ]
    source = text(declared, list(parameters))
    # Triton reads the text of a function, so it is kept like that of a file.
    file = f"<atoll.triton.{name}, {how}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return jit(names[name])
