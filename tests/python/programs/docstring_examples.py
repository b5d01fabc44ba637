"""Runs the examples in the docstrings of the package, on every PE at once. Prints the number of examples."""

import doctest
import inspect
import platform
import sys

import atoll
import numpy as np

LAUNCHES = {"launch"}  # starts a job, so it is no call of a PE


def documented():
    """Yield the public functions, classes and methods with their names."""
    for name in sorted(set(dir(atoll))):
        value = getattr(atoll, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        yield name, value
        if inspect.isclass(value):
            for member, method in sorted(vars(value).items()):
                if not member.startswith("_"):
                    yield f"{name}.{member}", method


def names_of_examples():
    """Return what the examples presuppose; a part of it is collective."""
    me, n = atoll.my_pe(), atoll.n_pes()
    m = 4
    return {
        "atoll": atoll,
        "np": np,
        "platform": platform,
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


atoll.init()
parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
for name, value in documented():
    text = inspect.getdoc(value) or ""
    if ">>>" not in text or name in LAUNCHES:
        assert "\nExamples\n" not in text or ">>>" in text, name
        continue
    test = parser.get_doctest(text, names_of_examples(), name, None, None)
    assert not any(example.options for example in test.examples), f"{name} leaves an example out"
    atoll.barrier_all()
    runner.run(test, out=sys.stdout.write)
    atoll.barrier_all()
assert runner.failures == 0
print("examples:", runner.tries)
atoll.finalize()
