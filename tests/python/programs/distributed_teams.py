"""Distributed arrays over teams: the checks of arrays over all PEs by two teams at once, several teams, and the way between them."""

from __future__ import annotations

import random
import sys
from typing import Any

import atoll
import distributed
import distributed_arrays  # noqa: F401  registers its checks
import distributed_sparse  # noqa: F401
import numpy as np
from atoll import arrays, sparse
from atoll.arrays import DistArray, _compared
from atoll.sparse import csgraph
from distributed import equal, refused

ROOM = 1 << 20
PIECE = ROOM // 8
NOT_OF_TEAMS = {"freed_arrays_are_refused"}  # by atoll.free, which takes what all PEs have


def all_checks(team: atoll.Team, rounds: int) -> None:
    """Run the checks of arrays over all PEs in a team, which takes the place of all PEs."""
    patched: dict[str, Any] = {
        "my_pe": team.my_pe,
        "n_pes": team.n_pes,
        "barrier_all": team.barrier,
        "allgather_object": lambda value, team=team: gather(value, team=team),
    }
    gather, team_of = atoll.allgather_object, _compared.team_of

    def inner(*given: Any) -> atoll.Team:
        found = team_of(*given)
        return team if found == atoll.WORLD else found

    before = {name: getattr(atoll, name) for name in patched}
    _compared.team_of = inner
    for name, function in patched.items():
        setattr(atoll, name, function)
    try:
        for check in distributed.CHECKS:
            for turn in range(rounds if check.__name__ not in NOT_OF_TEAMS else 0):
                check(random.Random(f"{check.__name__} {turn} {team.world_pe(0)}"))
                team.barrier()
    finally:
        _compared.team_of = team_of
        for name, function in before.items():
            setattr(atoll, name, function)


def numbers_are_those_of_the_team(half: atoll.Team, none: atoll.Team) -> None:
    """The team's order is reversed, so its PE 0 is the last one of the job."""
    color = atoll.my_pe() % 2
    backwards = half.split(0, -half.my_pe())
    a = arrays.from_function(lambda i: 10 * i + color, 3 * half.size, int, team=backwards)
    me = backwards.my_pe()
    assert a.team == backwards and a.bounds() == ((3 * me, 3 * me + 3),)
    assert a.bounds(0) == ((0, 3),) and a.owner(3 * half.size - 1) == half.size - 1
    assert backwards.world_pe(0) == max(pe for pe in range(atoll.n_pes()) if pe % 2 == color)
    whole = 10 * np.arange(3 * half.size) + color
    equal(a[...], whole)
    equal(a.sum(), whole.sum())
    end = half.size - 1
    found = a.gather(end)
    assert (found is None) == (me != end)
    if found is not None:
        equal(found, whole)
    if half.size < atoll.n_pes():
        assert f"PE {me} of a team of {half.size} owns [{3 * me}:{3 * me + 3}]" in repr(a)
    cases = [(lambda: arrays.zeros(4, team="all"), "expected an atoll.Team")]
    if not none:
        cases.append((lambda: arrays.zeros(4, team=none), "this PE is not a member of the team"))
    if half.size < atoll.n_pes():
        b = arrays.ones(3, team=atoll.WORLD)
        cases.append((lambda: np.concatenate([a, b]), "belong to different teams"))
        cases.append((lambda: a.bounds(half.size), f"the array's team has PEs 0 to {end}"))
    refused(cases)
    a.free()
    refused([(lambda: a.local, "freed by a.free()"), (lambda: a[0], "freed by a.free()")])


def memory_is_shared_by_teams_that_overlap(left: atoll.Team, right: atoll.Team) -> None:
    """A block is free once all PEs of its team dropped it, also for a team that lacks one of them."""
    n, me = atoll.n_pes(), atoll.my_pe()
    a = arrays.full(PIECE // 8 * left.size, 1.0, team=left) if left else None
    if me:
        del a
    b = arrays.full(PIECE // 8 * right.size, 2.0, team=right) if right else None
    atoll.barrier_all()
    if me == 0:
        assert a is not None and (a[...] == 1).all()
        del a
    for turn in range(12):  # the region holds eight, less those in use
        if left:
            kept = arrays.full(PIECE // 8 * left.size, float(turn), team=left)
            assert kept[-1] == turn
            view = kept.local
            del kept
            other = arrays.full(PIECE // 8 * left.size, -1.0, team=left)
            assert (view == turn).all() and other[0] == -1  # NumPy's view keeps the memory
            del view, other
    if right:
        assert b is not None and (b[...] == 2).all()
    if left and left.size < n:
        refused([(lambda: arrays.zeros(ROOM * left.size, team=left), "in one piece")])
    atoll.barrier_all()


def arrays_go_from_team_to_team(teams: list[tuple[atoll.Team, atoll.Team]]) -> None:
    """Each pair is tried both ways; a PE passes what it has."""
    whole = np.arange(7 * 9).reshape(7, 9)
    for source, target in teams:
        a = arrays.from_array(whole, team=source, dist=["block", "cyclic"]) if source else None
        b = arrays.redistribute(a, team=target, dist=["cyclic(2)", "block"])
        assert (b is not None) == bool(target)
        if b is not None:
            assert b.team == target
            equal(b[...], whole)
            target.barrier()
            b[2] = -1
        c = arrays.redistribute(b, team=source)
        if c is not None:
            whole_now = whole.copy()
            whole_now[2] = -1
            equal(c.to_numpy(), whole_now)
        atoll.barrier_all()


def matrices_are_those_of_the_team(half: atoll.Team, none: atoll.Team) -> None:
    """Each team has its own matrix, a circle of another length, and solves and searches by itself."""
    color = atoll.my_pe() % 2
    n = 12 + 3 * color
    x = arrays.from_function(lambda i: i % 4 + color, n, float, team=half)
    i = x.global_indices(0)
    triplets = (np.tile(i, 2), np.concatenate([i, (i + 1) % n]), np.repeat([3.0, 1.0], len(i)))
    a = sparse.from_triplets(*triplets, (n, n), team=half)
    whole = 3 * np.eye(n) + np.roll(np.eye(n), 1, axis=1)
    v = np.arange(n) % 4.0 + color
    for found, wanted in ((a @ x, whole @ v), (a.T @ x, whole.T @ v), (a.diagonal(), np.full(n, 3.0))):
        assert found.team == half
        equal(found.to_numpy(), wanted)
    solution, info = sparse.bicgstab(a, x, rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(solution.to_numpy(), np.linalg.solve(whole, v), rtol=1e-9)
    levels, parents = csgraph.breadth_first(a, color)
    equal(levels.to_numpy(), (np.arange(n) - color) % n)
    assert parents.team == half and csgraph.connected_components(a)[0] == 1
    ranks, _ = csgraph.pagerank(a)
    np.testing.assert_allclose(ranks.to_numpy(), 1 / n, rtol=1e-9)
    cases, b = [], arrays.ones(12)
    if half.size < atoll.n_pes():
        assert f"PE {half.my_pe()} of a team of {half.size} has rows" in repr(a)
        cases.append((lambda: a @ b, "belong to different teams"))
        cases.append((lambda: sparse.cg(a, b), "belong to different teams"))
        cases.append((lambda: sparse.cg(lambda x: a @ x, b), "belongs to another team"))
    if not none:
        cases.append((lambda: sparse.from_triplets(*triplets, (n, n), team=none), "this PE is not a member"))
    refused(cases)


def what_does_not_fit_is_refused_on_every_pe(half: atoll.Team) -> None:
    a: DistArray | None = arrays.ones(4, team=half)
    mine = atoll.my_pe() == 0
    refused(
        [
            (lambda: arrays.redistribute(None, team=half), "no PE passed an array"),
            (lambda: arrays.redistribute(arrays.ones(3), team=None), "no PE passed a team"),
            (
                lambda: arrays.redistribute(arrays.ones(3), team=atoll.WORLD, grid=99),
                "grid (99,) has 99 places",
            ),
        ]
    )
    if atoll.n_pes() > 2:
        refused(
            [
                (lambda: arrays.redistribute(a, team=half), "passed different arrays"),
                (lambda: arrays.redistribute(a if mine else None, team=half), "and PE 0 passed it"),
            ]
        )


atoll.init()
n, me = atoll.n_pes(), atoll.my_pe()
halves = atoll.WORLD.split(me % 2)
if halves.size < n:
    refused([(lambda: arrays.zeros(3, team=halves), "no memory is reserved for it")])
arrays.reserve(ROOM)
last = atoll.WORLD.split_strided(n - 1, 1, 1)
numbers_are_those_of_the_team(halves, last)
left, right = (atoll.WORLD.split_strided(start, 1, max(n - 1, 1)) for start in (0, min(1, n - 1)))
memory_is_shared_by_teams_that_overlap(left, right)
evens, odds = (atoll.WORLD.split_strided(start, 2, (n + 1 - start) // 2) for start in (0, min(1, n - 1)))
arrays_go_from_team_to_team(
    [(evens, odds), (left, right), (atoll.WORLD, right), (evens, atoll.WORLD), (last, left)]
)
what_does_not_fit_is_refused_on_every_pe(halves)
arrays.reserve(16 * ROOM)
matrices_are_those_of_the_team(halves, last)
all_checks(halves, int(sys.argv[1]))
atoll.barrier_all()
if me == 0:
    print("teams are whole")
