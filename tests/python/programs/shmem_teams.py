"""atoll.shmem: contexts, teams and collectives, by shmem4py's rules."""

from __future__ import annotations

import atoll
import numpy as np
from atoll import shmem
from checks import COMPLEX, FLOATS, INTEGERS, equal, run, sample

me, n = shmem.my_pe(), shmem.n_pes()
NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
odd = shmem.TEAM_WORLD.split_strided(1, 2) if n > 1 else shmem.Team()
TEAMS = [None, shmem.TEAM_WORLD, shmem.TEAM_SHARED] + ([odd] if odd else [])


def members(team: shmem.Team | None) -> list[int]:
    """Return the world numbers of a team's PEs."""
    return [(team or shmem.TEAM_WORLD).translate_pe(pe) for pe in range((team or shmem.TEAM_WORLD).n_pes())]


def check_contexts() -> None:
    default, invalid = shmem.CTX_DEFAULT, shmem.CTX_INVALID
    assert default and not invalid and default != invalid and default == default and default != 1
    assert shmem.Ctx() == shmem.Ctx(None) == invalid and shmem.Ctx(default) == default
    alias = shmem.Ctx(default)
    alias.destroy()
    assert alias == invalid and default.get_team() == shmem.TEAM_WORLD
    with default as same:
        assert same is default
    assert default
    for options in (0, shmem.CTX_PRIVATE, shmem.CTX_SERIALIZED | shmem.CTX_NOSTORE):
        made = shmem.Ctx.create(options)
        assert made and made != default and shmem.Ctx(made.ob_ctx) == made == shmem.Ctx(made)
        assert made.get_team() == shmem.TEAM_WORLD
        made.fence()
        made.quiet()
        made.destroy()
        assert made == invalid
    with shmem.TEAM_SHARED.create_ctx() as made:
        assert made.get_team() == shmem.TEAM_SHARED
    assert not made
    invalid.fence()
    shmem.quiet(invalid)


def check_teams() -> None:
    world, shared, invalid = shmem.TEAM_WORLD, shmem.TEAM_SHARED, shmem.TEAM_INVALID
    assert world and shared and not invalid and world != shared and world != 0
    assert shmem.Team() == invalid and shmem.Team(world) == world
    alias = shmem.Team(shared)
    for team in (world, shared, invalid, alias):
        team.destroy()
    assert world and shared and not alias
    assert (world.my_pe(), world.n_pes()) == (me, n)
    assert world.translate_pe() == me == world.translate_pe(me, world)
    config = {"num_contexts": 2}
    all_pes = world.split_strided(config=config)
    assert all_pes.n_pes() == n and all_pes.get_config() == config == shmem.Team(all_pes).get_config()
    assert world.split_strided(num_contexts=3).get_config() == {"num_contexts": 3}
    assert world.get_config() == {"num_contexts": 0}
    first = world.split_strided(0, 1, 1)
    assert bool(first) == (me == 0) and (first == invalid) == (me != 0)
    assert bool(odd) == (me % 2 == 1)
    if odd:
        assert odd.my_pe() == me // 2 and odd.translate_pe() == me and members(odd) == list(range(1, n, 2))
        assert world.translate_pe(me, odd) == me // 2
        odd.sync()
    shmem.sync()
    shmem.sync(all_pes)
    alias = shmem.Team(all_pes)
    all_pes.destroy()
    assert all_pes == invalid and alias != invalid
    with world.split_strided() as made:
        made.sync()
    assert made == invalid


def check_a_teams_context_counts_its_pes() -> None:
    x = shmem.zeros(1, int)
    if odd:
        with odd.create_ctx() as ctx:
            shmem.put(x, np.array([me]), (odd.my_pe() + 1) % odd.n_pes(), ctx=ctx)
    shmem.barrier_all()
    if odd:
        assert x[0] == members(odd)[(odd.my_pe() - 1) % odd.n_pes()]


def check_broadcast() -> None:
    for team in TEAMS:
        pes = members(team)
        for dtype in [*NUMBERS, "c32"]:
            target, root = np.zeros(5, dtype), len(pes) - 1
            shmem.broadcast(target, sample(3, dtype, me), root, team=team)
            equal(target[:3], sample(3, dtype, pes[root]))
            assert not target[3:].any()
        square = np.zeros((2, 2), order="F")
        shmem.broadcast(square, np.arange(4.0) + me, 0, 3, team)
        assert square.T.reshape(-1).tolist() == [pes[0], pes[0] + 1, pes[0] + 2, 0]


def check_collect() -> None:
    for team in TEAMS:
        pes = members(team)
        for dtype in NUMBERS:
            want = np.concatenate([sample(pe + 1, dtype, pe) for pe in pes])
            target = np.zeros(want.size + 2, dtype)
            shmem.collect(target, sample(me + 1, dtype, me), team=team)
            equal(target[:-2], want)
            target = np.zeros(2 * len(pes) + 1, dtype)
            shmem.fcollect(target, np.full((2, 1), me, dtype), team=team)
            equal(target[:-1], np.repeat(np.array(pes, dtype), 2))
        few = np.zeros(2 * len(pes), int)
        shmem.collect(few, np.array([me, 7]), size=me % 2, team=team)
        assert few[: len(pes)].tolist() == [pe for pe in pes if pe % 2] + [0] * sum(pe % 2 == 0 for pe in pes)
        shmem.fcollect(few, np.array([[me, 7]]), 1, team)
        assert few[: len(pes)].tolist() == pes


def check_alltoall() -> None:
    for team in TEAMS:
        pes = members(team)
        mine = pes.index(me)
        source = np.array([100 * me + pe for pe in pes]).repeat(2)
        target = np.zeros((len(pes), 2), int)
        shmem.alltoall(target, source, team=team)
        assert target.tolist() == [[100 * pe + me] * 2 for pe in pes]
        target = np.zeros(2 * len(pes), int)
        shmem.alltoall(target, source[::2].copy(), 1, team)
        assert target.tolist() == [100 * pe + me for pe in pes] + [0] * len(pes)
        for dtype in ("i2", "f8", "c16"):
            spread = np.zeros(3 * len(pes), dtype)
            shmem.alltoalls(spread, np.arange(mine, mine + 2 * len(pes)).astype(dtype), 3, 2, team=team)
            equal(spread[::3], np.array([2 * mine + k for k in range(len(pes))], dtype))
            assert not spread[1::3].any()


def check_reductions() -> None:
    calls = {op: getattr(shmem, f"{op}_reduce") for op in shmem.OP}
    for team in TEAMS:
        pes = members(team)
        for dtype in NUMBERS:
            parts = np.array([(np.arange(4) + pe + 1).astype(dtype) for pe in pes])
            wanted = {shmem.OP_SUM: parts.sum(0, dtype), shmem.OP_PROD: parts.prod(0, dtype)}
            if dtype not in COMPLEX:
                wanted |= {shmem.OP_MIN: parts.min(0), shmem.OP_MAX: parts.max(0)}
            if dtype in INTEGERS:
                for op in (shmem.OP_AND, shmem.OP_OR, shmem.OP_XOR):
                    wanted[op] = getattr(np, f"bitwise_{op}").reduce(parts, 0).astype(dtype)
            for op, want in wanted.items():
                source, target = (np.arange(4) + me + 1).astype(dtype).reshape(2, 2), np.zeros(5, dtype)
                calls[op](target, source, team=team)
                equal(target[:4], want)
                shmem.reduce(target, source, str(op).upper(), 2, team)
                equal(target, np.append(want, np.zeros(1, dtype)))
        x = np.full(1, me)
        shmem.reduce(x, x, team=team)
        assert x[0] == sum(pes)


def check_symmetric_collectives() -> None:
    target, source = shmem.zeros(n), shmem.full(1, me, float)
    shmem.fcollect(target, source)
    shmem.sync_all()
    assert target.tolist() == list(range(n))
    shmem.max_reduce(target[::-1], np.arange(2.0 * n)[::2])
    shmem.sync_all()
    assert target.tolist() == [2.0 * (n - 1 - pe) for pe in range(n)]
    shmem.sum_reduce(source, source)
    assert source[0] == n * (n - 1) / 2 == atoll.sum_reduce(float(me))


run(globals())
