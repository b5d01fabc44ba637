"""Every function that docs/arrays.md lists beside NumPy, on arrays and distributions that Hypothesis draws.

distributed_properties.py EXAMPLES SEED SHARE/SHARES [NAME...]   0/1: all; 1/3: the second of every three
"""

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
from drawn_distributions import Members, distributions, teams
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from properties import OPERATIONS, Draw, Drawn
from rest_properties import MAKERS

assert more_properties
ERRORS = (TypeError, ValueError, IndexError, ArithmeticError, atoll.Error)
# Relative and absolute bounds; sums of parts are rounded in another order than NumPy's.
CLOSE = {"e": 4e-2, "f": 2e-3, "F": 2e-3, "d": 1e-8, "D": 1e-8}


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


def problem_of(wanted_of: Callable[[], Any], found_of: Callable[[], Any]) -> str:
    """Return the difference to NumPy on this PE as a text, or an empty one."""
    wanted = error = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = plain(wanted_of())
        except ERRORS as raised:
            error = raised
        try:
            with arrays.mixed_operands("redistribute"):
                found = plain(found_of())
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


# NumPy's result, the shapes of distributed operands, ours by the keywords of each operand, and a text of the operands.
Example = tuple[Callable[[], Any], list[tuple[int, ...]], Callable[[list[dict[str, Any]]], Any], str]


def operands(drawn: Callable[[Draw], Drawn]) -> Callable[[Draw], Example]:
    """Return a function that draws an example of a function of arrays."""

    def example(draw: Draw) -> Example:
        whole, function = drawn(draw)

        def found(made: list[dict[str, Any]]) -> Any:
            return function(*(arrays.from_array(x, **its) for x, its in zip(whole, made, strict=True)))

        text = ", ".join(f"{x.tolist()} of {x.dtype}" for x in whole)
        return lambda: function(*(x.copy() for x in whole)), [x.shape for x in whole], found, text

    return example


def made_alone(drawn: Callable[[Draw], Any]) -> Callable[[Draw], Example]:
    """Return a function that draws an example of a maker of an array."""

    def example(draw: Draw) -> Example:
        wanted, make = drawn(draw)
        text = f"{wanted.shape} of {wanted.dtype}"
        return lambda: wanted, [wanted.shape], lambda made: make(**made[0]), text

    return example


def run(
    name: str, example: Callable[[Draw], Example], every_team: list[Members], examples: int, number: int
) -> None:
    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def is_numpys(data: st.DataObject) -> None:
        # Hypothesis begins with the simplest values of all, which would be the only example of one.
        assume(data.draw(st.integers(0, 99)))
        wanted, shapes, found, text = example(data.draw)
        team, n_pes = data.draw(st.sampled_from(every_team))
        made = [data.draw(distributions(shape, n_pes)) for shape in shapes]
        over = {} if team == atoll.WORLD and n_pes == atoll.n_pes() else {"team": team}
        problem = problem_of(wanted, lambda: found([{**its, **over} for its in made])) if team else ""
        every = atoll.allgather_object(problem)
        for pe, problem in enumerate(every):  # all PEs go on to the same next example
            of = f"{name} on PE {pe} of {len(every)}, over {n_pes}"
            assert not problem, f"{of}: {problem}\noperands {text}\ndistributions {made}"

    is_numpys()


if __name__ == "__main__":
    atoll.init()
    arrays.reserve(1 << 22)
    its_teams = teams()
    its_examples = {name: operands(drawn) for name, drawn in OPERATIONS.items()}
    its_examples |= {name: made_alone(drawn) for name, drawn in MAKERS.items()}
    its_share, its_shares = map(int, sys.argv[3].split("/"))
    chosen = sys.argv[4:] or list(its_examples)[its_share::its_shares]
    for its_name in chosen:
        run(its_name, its_examples[its_name], its_teams, int(sys.argv[1]), int(sys.argv[2]))
    if atoll.my_pe() == 0:
        print(*chosen)
