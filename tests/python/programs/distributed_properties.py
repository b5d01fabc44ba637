"""Every function that docs/arrays.md lists beside NumPy, on arrays and distributions that Hypothesis draws."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import atoll
import distributed
import more_properties  # its operations are in the table of `properties`
import numpy as np
from atoll import arrays
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from properties import OPERATIONS, Array, Draw, Drawn

assert more_properties
ERRORS = (TypeError, ValueError, IndexError, ArithmeticError, atoll.Error)
# Relative and absolute bounds; sums of parts are rounded in another order than NumPy's.
CLOSE = {"e": 4e-2, "f": 2e-3, "F": 2e-3, "d": 1e-8, "D": 1e-8}


@st.composite
def distributions(draw: Draw, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return keywords of `from_array`: blocks, cyclic axes, bounds of any kind, copies, halos."""
    kind = draw(st.sampled_from(["words"] * 5 + ["bounds"] * 3 + ["halo", "copies"]))
    if kind == "copies":
        return {"dist": "replicated"}
    if kind == "bounds":
        number, n_pes = draw(st.integers(0, len(shape) - 1)), atoll.n_pes()
        cuts = draw(st.lists(st.integers(0, shape[number]), min_size=n_pes - 1, max_size=n_pes - 1))
        bounds = [0, *sorted(cuts), shape[number]]
        dist = [bounds if i == number else "whole" for i in range(len(shape))]
        return {
            "dist": dist if len(shape) > 1 else bounds,
            "grid": [n_pes if i == number else 1 for i in range(len(shape))],
        }
    if kind == "halo":
        return {"halo": [int(n >= atoll.n_pes()) for n in shape]}
    words = [draw(st.sampled_from(["block", "cyclic", "cyclic(2)", "cyclic(3)", "whole"])) for _ in shape]
    if set(words) == {"whole"}:
        words[0] = "block"
    return {"dist": words}


def plain(found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return [plain(each) for each in found]
    return distributed.plain(found)


def require_equal(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(found, list), type(found)
        for one, other in zip(found, wanted, strict=True):
            require_equal(one, other)
        return
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), f"{found.shape} {found.dtype}"
    bound = CLOSE.get(wanted.dtype.char, 0)
    np.testing.assert_allclose(
        found, wanted, rtol=bound, atol=bound
    ) if bound else np.testing.assert_array_equal(found, wanted)


def unlike(raised: Exception, error: Exception | None) -> str:
    """Return the fault of an error beside NumPy's as a text, or an empty one."""
    if error is None or isinstance(raised, (atoll.CollectiveMismatch, atoll.PeDied)):
        return f"raised {raised!r}; NumPy {'raises nothing' if error is None else repr(error)}"
    if isinstance(error, np.linalg.LinAlgError) and not isinstance(raised, np.linalg.LinAlgError):
        return f"raised {raised!r}; NumPy {error!r}"
    return ""


def problem_of(function: Callable[..., Any], whole: list[Array], made: list[dict[str, Any]]) -> str:
    """Return the difference to NumPy on this PE as a text, or an empty one."""
    wanted = error = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = plain(function(*(x.copy() for x in whole)))
        except ERRORS as raised:
            error = raised
        try:
            with arrays.mixed_operands("redistribute"):
                found = plain(
                    function(*(arrays.from_array(x, **its) for x, its in zip(whole, made, strict=True)))
                )
        except ERRORS as raised:
            is_documented = isinstance(raised, atoll.Unsupported) and "several copies" in str(raised)
            return "" if is_documented else unlike(raised, error)
    if error:
        return f"found {found}; NumPy raises {error!r}"
    try:
        require_equal(found, wanted)
    except (AssertionError, ValueError) as differs:
        return f"{differs}\nfound {found}\nwanted {wanted}"
    return ""


def run(name: str, drawn: Callable[[Draw], Drawn], examples: int, number: int) -> None:
    @seed(number)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def is_numpys(data: st.DataObject) -> None:
        whole, function = drawn(data.draw)
        made = [data.draw(distributions(x.shape)) for x in whole]
        every = atoll.allgather_object(problem_of(function, whole, made))
        for pe, problem in enumerate(every):  # all PEs go on to the same next example
            operands = [(x.tolist(), str(x.dtype), its) for x, its in zip(whole, made, strict=True)]
            assert not problem, f"{name} on PE {pe} of {len(every)}: {problem}\noperands {operands}"

    is_numpys()


if __name__ == "__main__":
    atoll.init()
    for its_name, its_draw in OPERATIONS.items():
        run(its_name, its_draw, int(sys.argv[1]), int(sys.argv[2]))
    if atoll.my_pe() == 0:
        print(*OPERATIONS)
