"""atoll.arrays: the distributions of an axis, and every operation beside NumPy on 1 to 7 PEs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from atoll import _atoll
from atoll.arrays import _axis, _layout, _ufuncs
from atoll.arrays._axis import Axis, Range
from atoll.arrays._functions import _sorting, _table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jobs import ROOT, Done, Job
from program_checks import Outcomes, checks_of, done_by
from simulated import needs_plugin

# A busy machine is no failure: an example may take longer than 200 ms there.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    length, parts = draw(st.integers(0, 40)), draw(st.integers(1, 6))
    match draw(st.sampled_from(["block", "irregular", "cyclic"])):
        case "block":
            return _axis.block(length, parts)
        case "irregular":
            cuts = sorted(draw(st.lists(st.integers(0, length), min_size=parts - 1, max_size=parts - 1)))
            return _axis.irregular(length, [0, *cuts, length])
        case _:
            return _axis.cyclic(length, parts, draw(st.integers(1, 5)))


@given(axes())
def test_each_index_has_one_owner_and_place(axis: Axis) -> None:
    owners: dict[int, tuple[int, int]] = {}
    for part in range(axis.parts):
        indices = axis.indices(part)
        assert len(indices) == axis.extent(part) <= axis.largest()
        assert list(indices) == sorted(indices)
        for place, index in enumerate(indices):
            owners[int(index)] = (part, place)
    assert sorted(owners) == list(range(axis.length))
    for index, (part, place) in owners.items():
        assert (int(axis.owner(index)), int(axis.local(index))) == (part, place)


@given(axes(), st.data())
def test_segments_are_the_shares_of_a_range(axis: Axis, data: st.DataObject) -> None:
    if axis.length == 0:
        return
    start, step = data.draw(st.integers(0, axis.length - 1)), data.draw(st.integers(1, 7))
    count = data.draw(st.integers(0, len(range(start, axis.length, step))))
    wanted = Range(start, count, step)
    found = {}
    for part in range(axis.parts):
        indices = axis.indices(part)
        for segment in axis.segments(part, wanted):
            assert segment.local.count == segment.target.count > 0
            for local, place in zip(
                range(10**6)[segment.local.slice], range(10**6)[segment.target.slice], strict=True
            ):
                found[place] = int(indices[local])
    assert [found[place] for place in sorted(found)] == list(range(start, start + count * step, step))


def test_a_short_range_visits_few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    common = _axis._common
    monkeypatch.setattr(_axis, "_common", lambda *given: seen.append(given) or common(*given))
    assert len(_axis.cyclic(10**6, 4, 3).segments(1, Range(500_000, 20))) == len(seen) == 2


@given(axes())
def test_owned_ranges_are_the_part(axis: Axis) -> None:
    for part in range(axis.parts):
        found = np.full(axis.extent(part), -1)
        for segment in axis.owned(part):
            found[segment.local.slice] = np.arange(10**4)[segment.target.slice]
        assert list(found) == list(axis.indices(part))


@given(st.lists(axes(), min_size=1, max_size=2), st.data())
def test_near_is_the_general_way_for_one_owner(of: list[Axis], data: st.DataObject) -> None:
    halos = tuple((data.draw(st.integers(0, 2)), 0) if axis.is_contiguous else (0, 0) for axis in of)
    layout = _layout.Layout(tuple(of), halos)
    key = []
    for axis in of:
        if axis.length and data.draw(st.booleans()):
            key.append(data.draw(st.integers(-axis.length, axis.length - 1)))
        else:
            ends = st.none() | st.integers(-axis.length - 1, axis.length + 1)
            key.append(data.draw(st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, 3, -1]))))
    pieces = list(layout.pieces(layout.box(tuple(key))))
    boxes = _atoll._Boxes()
    boxes._set_block(layout.rows, None, None, 0)
    found = boxes._near(tuple(key))
    if found is None:
        plain = all(axis.is_contiguous or isinstance(k, int) for axis, k in zip(of, key, strict=True))
        ascending = all(isinstance(k, int) or (k.step or 1) > 0 for k in key)
        # A range that ends just before another part may still cross its bound.
        assert not (plain and ascending and len(pieces) == 1) or any(isinstance(k, slice) for k in key)
        return
    pe, local = found
    (piece,) = pieces
    block = np.arange(np.prod(layout.block_shape)).reshape(layout.block_shape)
    assert pe == piece.pe
    assert list(np.ravel(block[local])) == list(np.ravel(block[piece.local]))


@pytest.mark.parametrize(
    ("lengths", "pes", "grid"),
    [
        ((100, 100), 4, (2, 2)),
        ((100, 100), 2, (2, 1)),
        ((10, 1000), 4, (1, 4)),
        ((100,), 7, (7,)),
        ((64, 64, 64), 8, (2, 2, 2)),
        ((2, 2, 50), 6, (1, 1, 6)),
    ],
)
def test_the_default_grid_cuts_little(lengths: tuple[int, ...], pes: int, grid: tuple[int, ...]) -> None:
    assert _layout.best_grid(lengths, pes) == grid


@given(
    st.lists(st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf]) | st.floats(), max_size=8), st.integers(0, 99)
)
def test_equal_values_keep_their_order(some: list[float], seed: int) -> None:
    values = np.concatenate([some, np.random.default_rng(seed).random(80)])
    np.random.default_rng(seed).shuffle(values)
    assert list(_sorting._stable_of_random(values)) == list(np.argsort(values, kind="stable"))
    few = values[: len(values) // 8]
    assert list(_sorting._stable_of_random(few)) == list(np.argsort(few, kind="stable"))


# The numbers of PEs, and the arguments: rounds, and others. Programs run once for all of their checks.
RUNS: dict[str, dict[int, tuple[str, ...]]] = {
    "distributed_arrays.py": {1: ("3",), 2: ("6",), 3: ("3",), 4: ("4",), 7: ("2",)},
    "distributed_fft.py": {1: ("6", "scipy"), 2: ("4", "scipy"), 4: ("2", "without-scipy"), 7: ("1", "without-scipy")},
    "distributed_functions.py": {1: ("4",), 3: ("2",), 7: ("1",)},
    "distributed_values.py": {1: ("2",), 3: ("2",), 7: ("1",)},
    "distributed_comforts.py": {1: ("3", "FOLDER"), 2: ("2", "FOLDER"), 3: ("2", "FOLDER"), 7: ("1", "FOLDER")},
    # On 4 and 6 PEs grids have copies along one axis and parts along another one.
    "distributed_more.py": {1: ("2",), 4: ("2",), 6: ("1",)},
    "distributed_everyday.py": {1: ("4",), 3: ("3",), 7: ("1",)},
    "distributed_cheap.py": {1: ("3",), 3: ("2",), 7: ("1",)},
    "distributed_factors.py": {1: ("3",), 2: ("2",), 5: ("2",)},
    "distributed_solving.py": {1: ("3",), 3: ("2",), 7: ("1",)},
    "distributed_ported.py": {1: ("3",), 3: ("2",), 5: ("1",)},
    "distributed_limits.py": {1: ("1",), 3: ("1",)},
    "distributed_composed.py": {1: ("3",), 3: ("2",), 4: ("2",)},
    "distributed_usual.py": {1: ("2",), 2: ("2",), 3: ("1",), 7: ("1",)},
    "distributed_contractions.py": {1: ("4",), 2: ("2",), 3: ("2",), 4: ("2",)},
    "distributed_sparse.py": {1: ("3", "scipy"), 2: ("2", "without-scipy"), 3: ("2", "scipy"), 7: ("1", "without-scipy")},
}  # fmt: skip
# Programs that also run the checks of other programs.
INCLUDED = {"distributed_arrays.py": ["distributed_boxes.py"]}
OUTCOMES = Outcomes()


def outcome_of(job: Job, program: str, n: int, folder: Path) -> Done:
    return done_by(job, program, n, *(word.replace("FOLDER", str(folder)) for word in RUNS[program][n]))


@pytest.mark.parametrize(
    ("program", "n", "check"),
    [
        (program, n, check)
        for program, runs in RUNS.items()
        for n in runs
        for _, check in checks_of(*INCLUDED.get(program, []), program)
    ],
)
def test_check(job: Job, tmp_path: Path, program: str, n: int, check: str) -> None:
    """Operations beside NumPy's, SciPy's and mpi4py-fft's."""
    OUTCOMES.expect(program, n, check, lambda: outcome_of(job, program, n, tmp_path))


def test_random_numbers_have_the_same_bits_on_any_number_of_pes(job: Job, tmp_path: Path) -> None:
    program, seen = "distributed_arrays.py", set()
    for n in RUNS[program]:
        done = OUTCOMES.done(program, n, lambda n=n: outcome_of(job, program, n, tmp_path))
        seen.update(line for line in done.stdout.splitlines() if line.startswith("random"))
    assert len(seen) == 1


@needs_plugin
@pytest.mark.parametrize("n", [1, 3])
def test_arrays_on_a_simulated_gpu(job: Job, package: str, n: int) -> None:
    """By a CuPy made of NumPy, which does each write as late as a GPU may; the program is that for real GPUs."""
    done = job("../../python_gpu/dist_arrays.py", n, "simulated", PYTHONPATH=package)
    assert done.stdout.count("simulated passed") == n


@pytest.mark.parametrize(("n", "rounds"), [(1, 0), (4, 1)])
def test_arrays_over_teams(job: Job, n: int, rounds: int) -> None:
    """Teams of 1 to 4 PEs, apart and with PEs in common."""
    assert "teams are whole" in job("distributed_teams.py", n, str(rounds)).stdout.splitlines()


def test_exchanges_within_calls_pair_with_nothing_else(job: Job) -> None:
    """PE 1 leaves a call early, by an interrupt before its exchange, and makes an exchange of its own."""
    done = job(
        """
        from atoll import arrays
        from atoll.arrays._methods import _halos
        atoll.init()
        a = arrays.ones(30)
        def interrupted(obj):
            raise KeyboardInterrupt
        if atoll.my_pe() == 1:
            _halos.gathered = interrupted
        try:
            try:
                a.map_blocks(lambda part: part)
            except KeyboardInterrupt:
                atoll.allgather_object(1)
        except atoll.CollectiveMismatch as error:
            print(error)
        """,
        3,
    )
    assert len(done.stdout.splitlines()) == 3
    for line in done.stdout.splitlines():
        assert re.match(
            r"PE 1 called allgather_object\(\) at .*:\d+, where PE (?:0,2|0|2) called map_blocks\(\) at .*:\d+: the calls differ",
            line,
        )


def test_arrays_in_place_over_a_smaller_team(job: Job) -> None:
    """PEs have other numbers in it than in the world team. Once it is destroyed, calls name that."""
    done = job(
        """
        import numpy as np
        from atoll import arrays
        atoll.init()
        arrays.reserve(1 << 20)
        team = atoll.WORLD.split(color=int(atoll.my_pe() > 0))
        a = arrays.zeros(6, team=team)
        a += np.arange(6.0)
        c = arrays.from_array(np.arange(6.0), team=team, dist="cyclic")
        with arrays.mixed_operands("redistribute"):
            a += c
        np.add(a, 1, out=a)
        assert (a.to_numpy() == 2 * np.arange(6.0) + 1).all(), a.to_numpy()
        team.destroy()
        assert a.local.sum() > 0 and a.team is team and "destroyed team" in repr(a)
        far = (c.owner(0) == c._me) * 1  # the element of another PE
        calls = [lambda: c.sum(), lambda: c + c, lambda: c.at[[0, 1]].get(), lambda: c.at[[0]].add(1), lambda: c.barrier()]
        if len(a.local) < 6:
            calls += [lambda: c[far], lambda: c.put(far, 1), lambda: c[::-1], lambda: c.accumulate(far, 1)]
            calls += [lambda: c.fetch_add(far, 1), lambda: list(c), lambda: c.get_nbi(slice(0, 6), np.empty(6))]
        for call in calls:
            try:
                call()
            except atoll.UseAfterFree as error:
                assert "was destroyed" in str(error) and "arrays.redistribute(a, team=t)" in str(error), error
            else:
                raise AssertionError("nothing was raised")
        """,
        3,
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("op", "before"), [("sum", "pass"), ("sum", "a.fetch_add((me, 0), 0.0)"), ("max", "pass")]
)
def test_a_loop_of_accumulate_notices_a_killed_pe(job: Job, op: str, before: str) -> None:
    """Each PE adds to its own row, so that none waits: under locks, by atomic operations, and one by one."""
    done = job(
        f"""
        import signal
        from atoll import arrays
        atoll.init()
        me = atoll.my_pe()
        a, x = arrays.zeros((3, 4096), dist=["block", "whole"]), np.ones(4096)
        begun = atoll.signal(1)
        {before}
        atoll.barrier_all()
        a.accumulate(me, x, op={op!r})
        if me == 1:
            atoll.signal_wait_until(begun, atoll.EQ, 2)
            os.kill(os.getpid(), signal.SIGKILL)
        atoll.signal_add(begun, 1, 1)
        try:
            while True:
                a.accumulate(me, x, op={op!r})
        except atoll.PeDied as error:
            print(error)
        """,
        3,
        ok=False,
    )
    assert done.returncode == 137 and "PE 1 was killed by SIGKILL" in done.stderr
    seen = done.stdout.splitlines()
    assert len(seen) == 2 and all(line.startswith("PE 1 was killed by SIGKILL") for line in seen), done
    assert all(line.endswith("(noticed in accumulate)") for line in seen)


@pytest.mark.parametrize("hosts", ["a", "a,b"])
def test_a_box_of_long_rows_is_added(job: Job, hosts: str) -> None:
    """A row is more than is added at once, and two rows of a box do not lie behind each other."""
    done = job(
        """
        from atoll import arrays
        atoll.init()
        a, x, me = arrays.zeros((4, 140000), dist=["block", "whole"]), np.arange(140000.0).reshape(2, -1), atoll.my_pe()
        a.accumulate((slice(2 * me, 2 * me + 2), slice(0, 70000)), x)
        a.barrier()
        assert (a.local[:, :70000] == x).all() and not a.local[:, 70000:].any()
        print("added")
        """,
        2,
        ATOLL_HOST_ID=hosts,
    )
    assert done.stdout == "added\n" * 2


@pytest.mark.parametrize("hosts", ["a", "a,b,a"])
def test_a_matrix_is_kept_over_jobs(job: Job, hosts: str) -> None:
    """The plan by which owners put entries is of one job."""
    done = job(
        """
        from atoll import arrays, sparse
        from atoll.sparse import _entries
        _entries.LEAST = 0
        atoll.init()
        own, n = np.arange(2) + 2 * atoll.my_pe(), 2 * atoll.n_pes()
        a = sparse.from_triplets(own, (own + 2) % n, np.ones(2), (n, n))
        for turn in range(3):
            for _ in range(2):
                assert ((a @ arrays.arange(n)).to_numpy() == np.roll(np.arange(n), -2)).all()
            atoll.finalize()
            if turn < 2:
                atoll.init()
        print("multiplied")
        """,
        3,
        ATOLL_HOST_ID=hosts,
    )
    assert done.stdout == "multiplied\n" * 3


def test_infinities_of_exact_sums_and_means(job: Job) -> None:
    done = job(
        """
        import numpy as np
        from atoll import arrays
        atoll.init()
        z = arrays.from_array(np.array([1 + 0j, complex(2, np.inf), 3]))
        assert z.sum(reproducible=True) == complex(6, np.inf)
        for x in ([1e308, 1e308, -np.inf], [1e308, -np.inf, 1e308]):
            assert arrays.from_array(np.array(x)).sum(reproducible=True) == -np.inf
        x = arrays.from_array(np.array([1.0, np.inf, 3.0]))
        assert np.average(x, weights=np.ones(3)) == np.inf
        for wrong in (
            lambda: np.average(x, weights=np.zeros(3)),
            lambda: arrays.from_array(np.ones(3), local=np.ones(1) if atoll.my_pe() == 1 else None),
        ):
            try:
                wrong()
            except (ZeroDivisionError, ValueError) as error:
                if atoll.my_pe() == 0:
                    print(type(error).__name__)
        """,
        3,
    )
    assert done.stdout == "ZeroDivisionError\nValueError\n"


def test_files_checkpoints_and_pictures(job: Job, tmp_path: Path) -> None:
    """A job dies while it writes its second checkpoint; jobs of other numbers of PEs find the first."""
    assert job("distributed_files.py", 2, "end", str(tmp_path), ok=False).returncode != 0
    left = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert "u.generation2.npy" in left and "v.generation2.npy.part" in left
    for n, rounds in ((1, 1), (3, 1)):
        said = job("distributed_files.py", n, str(rounds), str(tmp_path)).stdout.splitlines()
        checks = [f"passed: {name}" for _, name in checks_of("distributed_files.py")]
        assert [line for line in said if line in checks] == checks
        assert [line for line in said if line not in checks] == [
            "the checkpoint of an ended job is whole"
        ] * rounds


PAGE = (ROOT / "docs/arrays.md").read_text()


GROUPS = "elementwise: [a-z, ]+|statistical|searching|sorting, sets|utility|indexing|dtypes|manipulation|creation|linear algebra"
ROWS = re.findall(rf"^\| (?:{GROUPS}) \| (.*) \|(.*)\|$", PAGE, re.M)
EXIST, MISSING = (
    {name for row in ROWS for name in re.findall(r"`(?:linalg\.)?(\w+)`", row[column])} for column in (0, 1)
)


def test_the_page_lists_what_exists() -> None:
    """Functions under "are missing" are refused. Every name of the standard is in one column."""
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    known = {*_ufuncs._METHODS, *_ufuncs._ELEMENTWISE, *_table.FUNCTIONS}
    assert not {name for name in MISSING if getattr(np, name, None) in known}
    others = {"ArrayAPIStrictFlags", "Device", "ModuleType", "bool"}
    names = {name for name in dir(strict) if callable(getattr(strict, name)) and name not in others}
    names = {name for name in names if not name.startswith("_") and "flags" not in name}
    names -= {name for name in names if re.fullmatch(r"(u?int|float|complex)\d+", name)}
    assert names - EXIST - MISSING == set()
    assert not EXIST & MISSING
    assert EXIST - names <= {"vector_norm", "outer"}


@pytest.mark.parametrize("n", [1, 3])
def test_functions_are_those_of_array_api_strict(job: Job, n: int) -> None:
    pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    names = sorted(EXIST - {"linalg"})
    assert job("distributed_standard.py", n, *names).stdout == f"{len(names)} functions\n"


@pytest.mark.parametrize(
    ("n", "examples", "share"),
    [
        *((1, 4, "0/1"), (2, 2, "0/1"), (3, 1, "0/1"), (4, 1, "0/1")),
        *(
            (5, 1, "0/3"),
            (6, 1, "1/3"),
            (7, 1, "2/3"),
        ),  # many PEs on few cores take long: each operation on one of them
    ],
)
def test_operations_on_arrays_that_hypothesis_draws(job: Job, n: int, examples: int, share: str) -> None:
    """All functions of the page, on shapes, dtypes, axes and distributions of every kind, beside NumPy's."""
    done = job("distributed_properties.py", n, str(examples), str(n), share)
    drawn = {name.split(".")[-1] for name in done.stdout.split()}
    every = EXIST | {function.__name__ for function in _table.FUNCTIONS}
    assert every - drawn == set() if share == "0/1" else len(drawn) > len(every) // 4


def test_operations_take_the_memory_that_the_page_states(job: Job) -> None:
    assert job("distributed_memory.py", 3).stdout == "227 operations\n"


BLOCKS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.S | re.M))


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_programs_of_the_page_run(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "kernel.py":
        pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(BLOCKS[name])
    done = job(str(tmp_path / name), 2)
    if name in ("graph.py", "fit.py"):
        assert f"    {done.stdout}" in PAGE
    elif name == "first.py":
        for line in done.stdout.splitlines():
            assert f"    {line}\n" in PAGE
        assert len(done.stdout.splitlines()) == 6
    elif name == "plate.py":
        assert done.stdout == "True True\n"
    elif name == "restart.py":
        assert sorted(done.stdout.splitlines()) == ["(60, 80)", "30", "30"]
    elif name == "teams.py":
        for line in ("team 0: 0 on 1 of 2 PEs", "team 1: 24 on 1 of 2 PEs", "all: 24"):
            assert line in done.stdout.splitlines() and f"    {line}\n" in PAGE
    elif name in ("kernel.py", "poisson.py"):
        assert done.stdout == "True\nTrue\n"
    else:
        said = done.stdout.splitlines()
        assert "(60, 80): smooth" in said and len(set(said)) == 2


def test_calls_that_pes_make_differently_are_named(job: Job, tmp_path: Path) -> None:
    done = job("distributed_mismatches.py", 3, str(tmp_path))
    assert done.stdout.count("34 calls named") == 3


def test_nothing_is_compared_if_checks_are_off(job: Job) -> None:
    done = job(
        """
        from atoll import arrays
        atoll.init()
        u = arrays.ones((4, 4))
        print(u.sum(axis=0 if atoll.my_pe() else 1))
        """,
        2,
        ATOLL_CHECK="none",
    )
    assert len(done.stdout.splitlines()) == 2  # a wrong result, since no check was asked for


def test_all_checks_compare_each_exchange_of_halos(job: Job) -> None:
    done = job(
        """
        from atoll import arrays
        atoll.init()
        a = arrays.ones(12, halo=1)
        a.exchange_halo("edge")
        for _ in range(2):
            a.start_halo() if atoll.my_pe() else a.exchange_halo()  # one meaning
            a.finish_halo() if atoll.my_pe() else None
        try:
            a.sum() if atoll.my_pe() else a.exchange_halo()
        except atoll.CollectiveMismatch as error:
            assert "sum()" in str(error) and "exchange_halo()" in str(error), error
            print("named")
        """,
        2,
        ATOLL_CHECK="all",
    )
    assert done.stdout.count("named") == 2


def test_the_number_of_a_gpu_is_not_compared() -> None:
    """Each PE passes the number of its own GPU."""
    from atoll.arrays._compared import _text

    assert _text("cuda:1") == _text("cuda:0") == _text("cuda") != _text("cpu")
