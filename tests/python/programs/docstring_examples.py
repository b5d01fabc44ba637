"""Runs the examples of docstrings on every PE at once; the arguments are names such as atoll.arrays:DistArray.

Prints the number of examples.
"""

import builtins
import contextlib
import doctest
import functools
import importlib
import inspect
import logging
import platform
import shutil
import sys
import tempfile

import atoll
import numpy as np
from atoll.arrays._teams import _regions


def value_of(name):
    """Return the module or the object of a name."""
    module, _, within = name.partition(":")
    return functools.reduce(getattr, filter(None, within.split(".")), importlib.import_module(module))


def names_of_examples(folder):
    """Return the names that the examples use. Collective, since it allocates."""
    me, n = atoll.my_pe(), atoll.n_pes()
    m = 4
    return {
        "atoll": atoll,
        "np": np,
        "platform": platform,
        "folder": folder,
        "x": atoll.zeros(8),
        "y": np.zeros(8),
        "data": np.arange(8.0),
        "sig": atoll.signal(),
        "right": (me + 1) % n,
        "left": (me - 1) % n,
        "counter": atoll.zeros(1, np.int64),
        "histogram": atoll.zeros(m, np.int64),
        "keys": np.arange(3 * m * n) % (m * n),
        "m": m,
    }


@contextlib.contextmanager
def restored():
    """Undo what examples change in the process: the finders of imports and the handlers of the root logger."""
    finders, root = list(sys.meta_path), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        for finder in sys.meta_path:
            if finder not in finders:
                finder.names.clear()
        sys.meta_path[:], root.handlers[:] = finders, handlers
        root.setLevel(level)


atoll.init()
folder = atoll.bcast_object(tempfile.mkdtemp() if atoll.my_pe() == 0 else None)
parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
for name in sys.argv[1:]:
    text = inspect.getdoc(value_of(name))
    test = parser.get_doctest(text, names_of_examples(folder), name, None, None)
    assert test.examples, f"{name} has no example"
    assert not any(example.options for example in test.examples), f"{name} leaves an example out"
    atoll.barrier_all()
    with restored():
        runner.run(test, out=sys.stdout.write)
    vars(builtins).pop("_", None)  # an example's last value, which may keep the heap
    atoll.barrier_all()
if atoll.my_pe() == 0:
    shutil.rmtree(folder)
assert runner.failures == 0
print("examples:", runner.tries)
atoll.finalize()
_regions.current_regions()  # the memory of arrays.reserve would remain until the next job reserves some
