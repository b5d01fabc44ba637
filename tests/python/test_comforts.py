"""Comforts of the package: teams as containers, output in order, work of one PE, phases, log records, names."""

from __future__ import annotations

import io
import logging
import pkgutil
import re
import sys
import threading
import types
from pathlib import Path

import atoll
import atoll.logging
import pytest
from atoll import arrays
from atoll._names import others
from jobs import python

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.pes([1, 3])
def test_teams_are_containers_of_pes() -> None:
    me, n = atoll.my_pe(), atoll.n_pes()
    assert len(atoll.WORLD) == atoll.WORLD.size == n and atoll.WORLD.rank == me
    assert list(atoll.WORLD) == list(range(n)) and me in atoll.WORLD and n not in atoll.WORLD
    team = atoll.WORLD.split(me % 2)
    assert team is not None and team and [team.world_pe(pe) for pe in team] == list(range(me % 2, n, 2))
    assert (len(team), team.rank) == (team.n_pes(), team.my_pe())


def test_a_team_outside_a_job_is_true_and_has_no_length() -> None:
    code = """if True:
        import atoll
        assert atoll.WORLD
        for ask in (len, iter, lambda team: team.rank, lambda team: 0 in team):
            try:
                ask(atoll.WORLD)
            except atoll.NotInitialized:
                print("not yet")
    """
    assert python(code).stdout == "not yet\n" * 4


@pytest.mark.pes(3)
def test_print_is_in_pe_order(capfd: pytest.CaptureFixture[str]) -> None:
    me, n = atoll.my_pe(), atoll.n_pes()
    for _ in range(10):
        atoll.print("PE", me, sep="-", end=";\n")
    expected = "".join(f"PE-{pe};\n" for pe in range(n)) * 10
    assert capfd.readouterr().out == (expected if me == 0 else "")


@pytest.mark.pes(3)
def test_on_selects_one_pe() -> None:
    assert bool(atoll.on(1)) == (atoll.my_pe() == 1)

    @atoll.on(2)
    def work(x: int) -> int:
        return x + 1

    assert work(1) == (2 if atoll.my_pe() == 2 else None) and work.__name__ == "work"
    with pytest.raises(atoll.PeError, match="pe is 3, but the team has PEs 0 to 2"):
        bool(atoll.on(3))
    with pytest.raises(atoll.InvalidArgument):
        bool(atoll.on("0"))  # type: ignore[arg-type]


@pytest.mark.pes(3)
def test_once_passes_the_result_and_the_exception_to_all() -> None:
    calls = []

    @atoll.once(pe=1)
    def work(x: int) -> int:
        calls.append(x)
        return 10 // x + atoll.my_pe()

    assert work(5) == 3
    assert calls == ([5] if atoll.my_pe() == 1 else [])
    with pytest.raises(ZeroDivisionError):
        work(0)
    assert atoll.once(atoll.my_pe)() == 0

    @atoll.once
    def strange() -> None:
        class Strange(Exception):
            pass

        raise Strange("words")

    with pytest.raises(Exception, match="words"):
        strange()
    atoll.barrier_all()
    with pytest.raises(atoll.PeError):
        atoll.once(atoll.my_pe, pe=7)()


def test_phases_nest_and_are_counted() -> None:
    before = atoll.phase.times().get("outer/inner", (0, 0.0))[0]

    @atoll.phase("inner")
    def work() -> str:
        return atoll._programs.comforts.current_phase()

    with atoll.phase("outer"):
        assert work() == "outer/inner"
        assert in_a_thread(atoll._programs.comforts.current_phase) == ""
    times = atoll.phase.times()
    assert times["outer/inner"][0] == before + 1 and times["outer"][1] >= times["outer/inner"][1] > 0
    with pytest.raises(ZeroDivisionError), atoll.phase("fails"):
        _ = 1 / 0
    assert atoll._programs.comforts.current_phase() == ""
    for name in ("", "a/b", 3):
        with pytest.raises(atoll.InvalidArgument, match="without slashes"):
            atoll.phase(name)  # type: ignore[arg-type]


def in_a_thread(call: object) -> object:
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))  # type: ignore[operator]
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.pes(2)
def test_log_records_have_pe_and_phase(capfd: pytest.CaptureFixture[str]) -> None:
    atoll.logging.basicConfig(format="%(pe)s of %(n_pes)s in %(phase)s: %(message)s")
    with atoll.phase("assembly"):
        logging.getLogger("solver").info("converged")
    assert capfd.readouterr().err == f"{atoll.my_pe()} of 2 in assembly: converged\n"
    atoll.logging.basicConfig("WARNING", pes=[1])
    logging.getLogger("solver").warning("only one")
    expected = "[1] WARNING solver: only one\n" if atoll.my_pe() == 1 else ""
    assert capfd.readouterr().err == expected


class NoFile(io.StringIO):
    """A text that says whether it is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.pes(3)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_counts_the_steps_of_all_pes(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    me, shown = atoll.my_pe(), NoFile(is_terminal)
    steps = range(10 * (me + 1))
    assert list(atoll.progress(steps, desc="steps", file=shown)) == list(steps)
    lines = shown.getvalue().split("\r")
    if me == 0 and is_terminal:
        assert lines[-1] == "steps: 100% 60/60\n", lines
        counts = [int(line.split()[-1].split("/")[0]) for line in lines[1:]]
        assert counts == sorted(counts)
    else:
        assert lines == [""]


@pytest.mark.pes(2)
def test_a_bar_is_tqdms_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Tqdm] = []

    class Tqdm:
        def __init__(self, **options: object) -> None:
            self.options, self.n, self.closed = options, 0, False
            made.append(self)

        def refresh(self) -> None: ...

        def close(self) -> None:
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Tqdm))
    with atoll.progress(total=5, desc="both", unit="cell") as bar:
        for _ in range(5):
            bar.update()
            if atoll.my_pe() == 1:
                break  # a loop may end early in a with block
    assert len(made) == (1 if atoll.my_pe() == 0 else 0)
    for each in made:
        assert each.options == {"total": 10, "desc": "both", "unit": "cell", "file": sys.stderr}
        assert (each.n, each.closed) == (6, True)


@pytest.mark.pes(1)
def test_a_bar_needs_a_length() -> None:
    with pytest.raises(atoll.InvalidArgument, match=r"a list_iterator has no length; pass total="):
        atoll.progress(iter([1]))
    with pytest.raises(atoll.InvalidArgument, match=r"the iterable is 5; pass range\(5\)"):
        atoll.progress(5)  # type: ignore[arg-type]
    with pytest.raises(atoll.InvalidArgument, match="nothing to count"):
        atoll.progress()
    with pytest.raises(atoll.InvalidArgument, match="total is -1"):
        atoll.progress(total=-1)
    bar = atoll.progress(total=1)
    with pytest.raises(atoll.InvalidArgument, match="nothing to loop over"):
        iter(bar)
    bar.close()
    bar.close()
    assert repr(bar) == "atoll.progress(closed)"


def test_calls_outside_a_job_are_named() -> None:
    calls = {
        "print": "print(1)",
        "on": "on(0).__bool__()",
        "once": "once(int)()",
        "progress": "progress([1])",
    }
    for name, call in calls.items():
        error = python(f"import atoll; atoll.{call}").stderr
        assert f"NotInitialized: {name}() was called before atoll.init()" in error, error


@pytest.mark.pes(1)
def test_wrong_uses_of_comforts_have_a_cure() -> None:
    def work() -> None: ...

    with pytest.raises(TypeError, match=r"on\(work\): expected a PE, as in @atoll.on\(0\)"):
        atoll.on(work)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"on\(0\)\(3\): expected a function"):
        atoll.on(0)(3)  # type: ignore[arg-type]
    with pytest.raises(atoll.InvalidArgument, match=r'the name is missing, as in @atoll.phase\("work"\)'):
        atoll.phase(work)  # type: ignore[arg-type]
    with pytest.raises(atoll.InvalidArgument, match=r"print\(\): team is 3; pass an atoll.Team"):
        atoll.print(1, team=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"pes is 0; expected several numbers, such as \[0\]"):
        atoll.logging.PeFilter(0)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="did you mean 'print'"):
        atoll.pritn  # type: ignore[attr-defined]  # noqa: B018


def test_log_records_outside_a_job() -> None:
    code = "import atoll, logging; atoll.logging.basicConfig(pes=[5]); logging.info('words')"
    assert python(code).stderr == "[-] INFO root: words\n"


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("rank", "atoll.my_pe()"),
        ("Get_rank", "atoll.my_pe()"),
        ("get_world_size", "atoll.n_pes()"),
        ("allreduce", "atoll.sum_reduce(dst, src), or reduce(dst, src, op=...)"),
        ("COMM_WORLD", "atoll.WORLD"),
        ("Wtime", "time.perf_counter()"),
        ("shmem_putmem", "atoll.put(dst, src, pe)"),
        ("Waitall", "atoll.Request.wait(), of each request"),
        ("Iprobe", "atoll.Mailbox(nbytes)"),
        ("Gatherv", "atoll.collect(dst, src), which all PEs get; or put at offsets"),
        ("Scatterv", "atoll.put(dst[begin:end], src, pe), at offsets"),
        ("Isend", "atoll.put_signal_nbi(dst, src, sig, value, op, pe), or send within atoll.group()"),
        (
            "irecv",
            "atoll.signal_wait_until(sig, '>=', value) after a put_signal, or recv within atoll.group()",
        ),
        ("Create_cart", "atoll.WORLD.split_2d(columns)"),
        ("Dup", "atoll.WORLD.split(color)"),
        ("SharedMemory", "atoll.empty(shape, dtype)"),
        ("SymmetricArray", "atoll.empty(shape, dtype)"),
        ("ctx_create", "atoll.Context()"),
        ("Unlock", "atoll.Lock()"),
        ("local_rank", "atoll.HOST.my_pe()"),
        ("nodes", "atoll.HOST, the PEs of this host"),
        ("cswap", "atoll.atomic_compare_swap(dst, cond, value, pe)"),
        ("shmem_int_finc", "atoll.atomic_fetch_inc(dst, pe)"),
        ("shmem_long_atomic_fadd", "atoll.atomic_fetch_add(dst, value, pe)"),
        ("signal_op", "atoll.signal_set(sig, value, pe), signal_add, or put_signal(..., op=)"),
        ("sum", "atoll.sum_reduce(dst, src), over PEs"),
        ("max", "atoll.max_reduce(dst, src), over PEs"),
        ("synchronize", "atoll.barrier_all() for PEs, quiet() for puts"),
        ("arange", "atoll.arrays.arange, for distributed arrays"),
        ("random", "atoll.arrays.random, for distributed arrays"),
    ],
)
def test_names_of_other_libraries_are_known(name: str, ours: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}; Atoll's is {ours}")):
        getattr(atoll, name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("PROC_NULL", "a PE at the edge leaves out its call"),
        ("IN_PLACE", "pass the same array as source and target: atoll.sum_reduce(x, x)"),
        ("Create_vector", "views of NumPy do its work: atoll.put(x[:, 0], column, pe)"),
        ("cpu_count", "os.cpu_count() counts the cores, and atoll.n_pes() the PEs"),
        (
            "Ibarrier",
            "no barrier returns at once; with blocking=False a reduction does: atoll.sum_reduce(dst, src, blocking=False)",
        ),
        ("Semaphore", "atoll.Lock() admits one PE at a time, and nothing admits several"),
        ("Compute_dims", "divmod(atoll.my_pe(), columns) is the place in a grid, see atoll.Team.split_2d"),
        ("Manager", "atoll.bcast_object and atoll.allgather_object give objects to all PEs"),
        (
            "MPI",
            "Atoll has its own calls, such as atoll.send and atoll.sum_reduce; docs/from-mpi4py.md has those for mpi4py's",
        ),
        (
            "start",
            "atoll.init() joins the job, and `atoll run -n 4 program.py` or atoll.launch(fn, 4) starts its PEs",
        ),
        ("sort", "np.sort takes distributed arrays, those of atoll.arrays"),
        ("Reduce", "did you mean 'reduce'?"),
        ("lock", "did you mean 'Lock'?"),
        ("shmem_int_put", "did you mean 'put'?"),
    ],
)
def test_names_without_a_counterpart_get_advice(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}; {advice}") + "$"):
        getattr(atoll, name)


def test_names_of_arrays_exist_there() -> None:
    for name in others._OF_ARRAYS.split():
        assert name in arrays.__all__ and not hasattr(atoll, name)
    for name in others._OF_NUMPY.split():
        assert not hasattr(atoll, name)
        with pytest.raises(AttributeError, match=f"takes distributed arrays: np.{name}$"):
            getattr(arrays, name)


def test_a_team_is_made_by_split() -> None:
    said = python("import atoll\natoll.init()\natoll.Team(3)\n").stderr
    assert "TypeError: Team() makes no teams; split one, as in team = atoll.WORLD.split(color)." in said


def test_a_module_that_is_not_imported_is_named() -> None:
    code = """if True:
        import atoll
        for name in ("torch", "sparse", "nccl"):
            try:
                getattr(atoll, name)
            except AttributeError as error:
                print(error)
    """
    names = ("torch", "sparse", "nccl")
    assert python(code).stdout.splitlines() == [
        f"module 'atoll' has no attribute {name!r}; this is a module: first `import atoll.{name}`"
        for name in names
    ]


def test_a_team_knows_them_too() -> None:
    for name, ours in (
        ("Get_rank", "my_pe() or .rank"),
        ("allreduce", "atoll.sum_reduce(dst, src, team=team)"),
        ("Alltoallv", "atoll.alltoall_object(objs), or put with offsets"),
        ("Reduce_scatter", "atoll.reduce_scatter(..., team=team)"),
        ("Scan", "atoll.sum_inscan(dst, src); pass the team as team="),
        ("Iallreduce", "atoll.sum_reduce(dst, src)"),
        ("Dup", "split(color, key)"),
        ("Send", "atoll.send(..., team=team)"),
        (
            "Isend",
            "atoll.put_signal_nbi(dst, src, sig, value, op, pe), or send within atoll.group(); pass the team as team=",
        ),
        ("Gatherv", "atoll.collect(dst, src, team=team), which all PEs get; or atoll.put at offsets"),
        ("local_rank", "atoll.HOST.my_pe()"),
    ):
        with pytest.raises(AttributeError, match=re.escape(f"'atoll.Team' object has no attribute {name!r}; Atoll's is {ours}")):  # fmt: skip
            getattr(atoll.WORLD, name)
    with pytest.raises(AttributeError, match=r"no attribute 'Split'; did you mean 'split'\?$"):
        _ = atoll.WORLD.Split
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = atoll.WORLD.nonsense


def test_arrays_know_numpys_names() -> None:
    for name in ("zeros_like", "sort", "concatenate", "where", "sin"):
        text = f"no attribute {name!r}; NumPy's own takes distributed arrays: np.{name}"
        with pytest.raises(AttributeError, match=re.escape(text) + "$"):
            getattr(arrays, name)
    for name, text in (("array", "; Atoll's is from_array(array)"), ("zeross", "; did you mean 'zeros'")):
        with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}{text}")):
            getattr(arrays, name)
    for name in ("bmat", "_array_"):  # NumPy's, which takes no distributed arrays, and a name of no library
        with pytest.raises(AttributeError, match=f"no attribute {name!r}$"):
            getattr(arrays, name)
    assert set(dir(arrays)) <= set(arrays.__all__)
    assert not {"At", "Chosen", "mixed_operands", "api", "warnings"} & set(dir(arrays))


def test_shown_errors_about_methods_name_ours() -> None:
    programs = {
        "atoll.Lock().unlock": "Atoll's is release()",
        "atoll.Mailbox(8).send": "Atoll's is post(src, pe)",
        "atoll.sum_reduce(atoll.zeros(1), blocking=False).result": "Atoll's is wait()",
        "atoll.Context().put": "a context is an argument: atoll.put(..., ctx=context)",
        "atoll.arrays.zeros(4).update_halo": "Atoll's is exchange_halo()",
        "atoll.sum_reduce(atoll.zeros(1), blocking=False).Wait": "did you mean 'wait'?",
        "atoll.WORLD.Split": "did you mean 'split'?",
    }
    for code, text in programs.items():
        said = python(f"import atoll\natoll.init()\n{code}\n").stderr
        assert said.rstrip().endswith(f"{code.rpartition('.')[2]!r}; {text}"), said
    with atoll.Pool(1) as pool:
        with pytest.raises(AttributeError, match=re.escape("no attribute 'starmap'; Atoll's is map(fn, *iterables)")):  # fmt: skip
            _ = pool.starmap  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match=re.escape("'unlock'; Atoll's is release()")):
            pool.run(_unlock)


def _unlock() -> None:
    _ = atoll.Lock().unlock  # type: ignore[attr-defined]


def test_tables_of_names_have_no_name_of_ours_or_twice() -> None:
    for kind, table in others._METHODS.items():
        theirs, members = " ".join(table.values()).split(), dir(getattr(atoll, kind))
        assert len(theirs) == len(set(theirs)) and not set(theirs) & set(members), kind
        assert all(re.split(r"[(,]", text)[0] in members for text in table), kind
    for table, ours in ((others._PACKAGE, dir(atoll)), (others._TEAM, dir(atoll.Team))):
        theirs = " ".join(table.values()).split()
        assert len(theirs) == len(set(theirs)), sorted(n for n in theirs if theirs.count(n) > 1)
        assert not set(theirs) & set(ours)
        for text in table:
            first = re.split(r"[(,. ]", text.removeprefix("atoll."))[0]
            assert hasattr(atoll, first) or hasattr(atoll.Team, first) or first in ("time", "arrays"), first


def test_rare_names_are_in_modules_of_their_groups_and_aliases_remain() -> None:
    grouped: set[str] = set()
    for group in atoll._GROUPS:
        module = getattr(atoll, group)
        assert isinstance(module, types.ModuleType) and group not in atoll.__all__
        assert all(getattr(module, name) is getattr(atoll, name) for name in module.__all__)
        assert any(atoll._is_rare(name) for name in module.__all__)
        grouped |= set(module.__all__)
    alone = {name for name in atoll.__all__ if atoll._is_rare(name)} - grouped
    start = {"rc", "team_init", "get_unique_id", "get_team_unique_id"}
    assert alone == start | {
        "include_dir",
        "global_exit",
        "pe_quiet",
        "pe_accessible",
        "addr_accessible",
        "check_kernels",
        "Block",
    }


def test_no_module_has_the_name_of_a_function() -> None:
    modules = {module.name for module in pkgutil.iter_modules(atoll.__path__)}
    assert not modules & (set(atoll.__all__) | {"print"})


def test_completion_shows_a_curated_set() -> None:
    names = dir(atoll)
    assert {"put", "zeros", "barrier_all", "WORLD", "Pool", "launch", "print", "logging", "PeDied"} <= set(
        names
    )
    sheet = (ROOT / "docs/cheat-sheet.md").read_text()
    assert set(re.findall(r"atoll\.(\w+)", sheet)) - {"py"} <= set(names)
    assert {"arrays", "InvalidArgument"} <= set(names)
    assert not {"atomic_fetch_xor_nbi", "EQ", "ibput", "wait_until_some_vector"} & set(names)
    shown = {"print", "logging", "arrays", "__version__", *atoll._GROUPS}
    assert len(names) < 125 and set(names) - shown <= set(atoll.__all__)
    assert "print" not in atoll.__all__  # `from atoll import *` must not replace the built-in
