"""atoll.numba: kernels on host arrays, at several PE counts; compiled kernels are cached from one run to the
next.
"""

from __future__ import annotations

import pickle
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hanging import Start
from jobs import ROOT, Job
from kernel_pythons import with_kept_kernels
from program_checks import Outcomes, checks_of, conformance_programs

pytest.importorskip("numba", reason="Numba is not installed (pip install numba)")
import atoll.numba as dev


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("numba")


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes()


@pytest.fixture
def quick_job(job: Job, cache: Path) -> Job:
    """`job`, whose Numba compiles without LLVM's optimisations, and keeps its kernels."""
    return partial(job, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(cache))


@pytest.fixture
def quick_kept_job(kept_job: Job, cache: Path) -> Job:
    """The same in PEs that have run other programs. An error inside a kernel keeps its arrays, so it needs a new job."""
    return partial(kept_job, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(cache))


@pytest.mark.timeout(2000)  # the first one compiles them, slowly: docs/measurements/2026-11-24-constants.md
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(("program", "check"), checks_of(conformance_programs("numba")[0]))
def test_every_function(job: Job, outcomes: Outcomes, program: str, check: str, n: int, cache: Path) -> None:
    outcomes.expect(
        program, n, check, lambda: job(program, n, ok=False, timeout=1900, NUMBA_CACHE_DIR=str(cache))
    )


def test_operations_are_pickled_by_name() -> None:
    """A kernel that a Pool sends to its PEs must find the operations that Numba knows."""
    names = [
        name for name in dir(dev) if callable(getattr(dev, name)) and not isinstance(getattr(dev, name), type)
    ]
    assert {"put", "p", "atomic_add", "signal_wait_until"} <= set(names)
    for name in names:
        assert pickle.loads(pickle.dumps(getattr(dev, name))) is getattr(dev, name), name


def test_elements_of_distributed_arrays(quick_kept_job: Job) -> None:
    assert quick_kept_job("distributed_kernels.py", 2, "numba").stdout == "done\n" * 2


def test_a_wait_that_never_ends_is_an_exception(quick_job: Job) -> None:
    done = quick_job("kernel_ends.py", 2, "host", ATOLL_WAIT_TIMEOUT="2")
    assert done.stdout.count("timed out as it should") == 2


def test_waits_are_named_as_they_were_called(quick_job: Job) -> None:
    done = quick_job("numba_reports.py", 2, ATOLL_WAIT_TIMEOUT="1.5")
    assert "all waits are named" in done.stdout


HANGS = {
    "a kernel of dev.launch": "dev.launch(dev.kernel(wait), 1, 1)(atoll.WORLD, flag)",
    "a function of njit": "numba.njit(wait)(atoll.WORLD.device('host'), flag)",
}


@pytest.mark.parametrize("call", HANGS)
def test_a_hang_in_kernels_is_reported_as_in_calls_of_the_host(
    hanging: Start, cache: Path, call: str
) -> None:
    code = f"""
        import numba, numpy as np, atoll.numba as dev
        atoll.init()
        flag = atoll.zeros(2, np.uint64)
        def wait(team, flag):
            dev.signal_wait_until(team, flag[1:], dev.GE, 3)
        {HANGS[call]}
    """
    job = hanging(code, 2, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(cache))
    named = (
        r"PE 0,1 wait in signal_wait_until on element 1 of the uint64 array of shape \(2,\) allocated at program.py:\d+: "
        r"found 0, waiting for >= 3, at program.py:\d+"
    )
    line = job.first_line()
    assert re.search(named, line), line
    assert "every PE waits and nothing has moved" in job.next_line()


def test_a_wait_of_njit_raises_the_error_itself(quick_job: Job) -> None:
    """It is that of a wait of the host, with the tag."""
    done = quick_job(
        """
        import numba, numpy as np, atoll.numba as dev
        atoll.init()
        x, flag = atoll.zeros(2, np.uint64), atoll.zeros(1, np.uint64)
        @numba.njit
        def kernel(team, flag, value):
            dev.signal_wait_until(team, flag, dev.GE, value, tag=7, bound_ns=50_000_000)
        @numba.njit
        def to_nobody(team, x):
            dev.put(team, x, x, 5)
        @numba.njit
        def of_ordinary(team, x):
            dev.put(team, x, x, 0)
        team = atoll.WORLD.device("host")
        for call in (lambda: kernel(team, flag, 1), lambda: to_nobody(team, x), lambda: of_ordinary(team, np.zeros(2))):
            try:
                call()
            except atoll.Error as error:
                print(type(error).__name__, error)
        atoll.barrier_all()
        """,
        1,
    )
    wait, nobody, ordinary = done.stdout.splitlines()
    assert re.match(
        r"Timeout Timed out after 0.05 s in signal_wait_until on the uint64 array of shape \(1,\) allocated at .*: "
        r"found 0, waiting for >= 1, tag 7. Give this wait more time, or find out",
        wait,
    ), wait
    assert nobody.startswith("PeError No such PE, in put for team PE 5"), nobody
    assert ordinary.startswith("NotSymmetric Not symmetric, in put at 0x"), ordinary


def test_names_of_numba_cuda_are_refused_with_what_to_write(quick_job: Job) -> None:
    done = quick_job(
        """
        from numba import cuda
        import atoll.numba as dev
        atoll.init()
        x = atoll.zeros(8)
        @dev.kernel
        def grid(team, x):
            x[cuda.grid(1)] = 1
        @dev.kernel
        def meets(team, x):
            cuda.syncthreads()
        @dev.kernel
        def index(team, x):
            x[cuda.threadIdx.x] = 1
        for kernel in (grid, meets, index):
            try:
                dev.launch(kernel, 1, 8)(atoll.WORLD, x)
            except Exception as error:
                print(error)
        for call in (lambda: grid[2, 8], lambda: grid[4]):
            try:
                call()
            except TypeError as error:
                print(error)
        """,
        1,
    )
    for line, name, instead in zip(
        done.stdout.splitlines(),
        ("grid: cuda.grid ", "meets: cuda.syncthreads ", "index: cuda.threadIdx "),
        ("dev.grid_range(n)", "dev.meet(team, dev.BLOCK)", "dev.rank(dev.BLOCK)"),
        strict=False,
    ):
        assert line.startswith(name) and instead in line and "device='cuda'" in line, done.stdout
        assert re.search(r"program\.py, line \d+\)$", line), done.stdout
    assert done.stdout.splitlines()[3:] == [
        "grid is a kernel of Atoll: dev.launch(grid, 2, 8)(...)",
        "grid is a kernel of Atoll: dev.launch(grid, 4, block)(...)",
    ]


def test_the_simulator_of_numba_is_named(job: Job) -> None:
    done = job(
        """
        import atoll.numba as dev
        try:
            dev.put(1, 2, 3, 4)
        except TypeError as error:
            print(error)
        """,
        1,
        NUMBA_ENABLE_CUDASIM="1",
    )
    assert "does not run in Numba's simulator" in done.stdout and "Unset NUMBA_ENABLE_CUDASIM" in done.stdout


def test_cached_kernels_belong_to_one_atoll(job: Job, cache: Path) -> None:
    """A kernel is compiled once, and again after an update of Atoll."""
    code = """
        import atoll.numba as dev, atoll.numba._dsl._kept as kept
        atoll.init()
        if len(sys.argv) > 1: kept.fingerprint = lambda _: sys.argv[1]
        @dev.kernel(cache=True)
        def one(team, x):
            dev.p(team, x, 1, 0)
        dev.launch(one, 1, 1)(atoll.WORLD, atoll.zeros(1))
        print("compiled", sum(one.host.stats.cache_misses.values()))
        """
    said = [
        job(code, 1, *more, NUMBA_CACHE_DIR=str(cache)).stdout for more in ((), (), ("new",), ("new",), ())
    ]
    assert [text.split()[-1] for text in said] == ["1", "0", "1", "0", "0"]


def test_one_pe_compiles_a_kept_kernel_and_the_others_load_it(job: Job, tmp_path: Path) -> None:
    """Also where the kernels of PEs have other types, which Numba keeps in one index."""
    code = """
        import atoll.numba as dev, numpy as np
        atoll.init()
        @dev.kernel(cache=True)
        def one(team, x):
            dev.p(team, x, 1, 0)
        arrays = [atoll.zeros(1), atoll.zeros(1, np.int32)]
        for x in arrays[:: 1 if atoll.my_pe() == 0 else -1]:
            dev.launch(one, 1, 1)(atoll.WORLD, x)
        print(sum(one.host.stats.cache_misses.values()), "compiled")
        """
    compiled = [
        sum(
            map(
                int,
                re.findall(
                    r"(\d+) compiled", job(code, 3, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path)).stdout
                ),
            )
        )
        for _ in range(2)
    ]
    assert compiled == [2, 0]


def test_kept_kernels_are_of_any_number_of_pes(job: Job, tmp_path: Path) -> None:
    for n, how in ((2, "first"), (1, ""), (3, "")):
        done = job("kept_kernels.py", n, how, NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path))
        assert how or done.stdout.count("found 2 kernels") == n, done.stdout


def test_compile_errors_have_one_line(quick_kept_job: Job) -> None:
    done = quick_kept_job(
        """
        import atoll.numba as dev, numba
        from numba.core.errors import TypingError
        atoll.init()
        @dev.kernel
        def adds(team, x):
            dev.atomic_add(team, x, 1, 0)
        @dev.kernel
        def sums(team, x):
            dev.reduce(team, x, x, dev.SUM)
        @dev.kernel
        def scope(team, x):
            dev.put(team, x, x, 0, 3)
        @dev.kernel
        def another(team, x):
            x[0] = of_nowhere
        @dev.kernel
        def in_a_function_of_ones_own(team, x):
            stores(team, x)
        @dev.kernel
        def rows(team, x):
            dev.iput(team, x, x, 1, 1, 2, 0)
        @dev.kernel
        def barrier(team, x):
            dev.barrier(team, scope=dev.BLOCK, bound_ns=0.5)
        @numba.njit
        def stores(team, x):
            dev.p(team, x, "a", 0)
        complex_numbers, reals = atoll.zeros(4, np.complex128), atoll.zeros(4)
        records, fixed = atoll.zeros(2, [("a", np.int32), ("b", np.int32)]), reals[:]
        fixed.flags.writeable = False
        for kernel, x, words, line in (
            (adds, complex_numbers, "atoll.numba.atomic_add: dst is of complex128; it must be of int32, int64, uint32, uint64, ", 8),
            (sums, complex_numbers, "SUM of complex128; reductions take integers, and float32 and float64", 11),
            (scope, reals, "it must be one of dev.THREAD, dev.WARP, dev.BLOCK, dev.GRID", 14),
            (rows, records, "it must be of integers, floats, complex numbers or bool", 23),
            (rows, fixed, "dst is read-only (readonly array(float64, 1d, C)); pass an array that may", 23),
            (barrier, reals, "atoll.numba.barrier: bound_ns is float64; it must be an integer, nanoseconds", 26),
            (in_a_function_of_ones_own, reals, "atoll.numba.p: value is unicode_type; the word is of float64", None),
        ):
            try:
                dev.launch(kernel, 1, 1)(atoll.WORLD, x)
            except TypingError as error:
                text = str(error).strip()
                assert text.startswith(kernel.__name__ + ": ") and words in text and text.count("\\n") == 0, text
                assert error.__suppress_context__ and (line is None or f"line {line})" in text), text
            else:
                raise AssertionError(kernel.__name__)
        try:
            dev.launch(another, 1, 1)(atoll.WORLD, reals)
        except TypingError as error:
            assert "of_nowhere" in str(error)  # which is not about Atoll: Numba's own words
        print("done")
        """,
        1,
    )
    assert "done" in done.stdout


def test_a_message_longer_than_its_mailbox_is_an_exception(quick_job: Job) -> None:
    done = quick_job(
        """
        import atoll.numba as dev
        atoll.init()
        me, n = atoll.my_pe(), atoll.n_pes()
        @dev.kernel(cache=True)
        def posts(team, box, x, pe):
            dev.post(team, box, x, pe)
        @dev.kernel(cache=True)
        def receives(team, box, x, pe):
            dev.receive(team, box, x, pe)
        box = dev.mailbox(16)
        long, short = np.arange(3.0), np.arange(2.0)
        for kernel in (posts, receives):
            try:
                dev.launch(kernel, 1, 1)(atoll.WORLD, box, long, (me + 1) % n)
            except atoll.ShapeMismatch as error:
                assert f"{kernel.__name__}: a message is longer" in str(error) and "24 bytes" in str(error), error
                assert "made room for 16" in str(error), error
            else:
                raise AssertionError("a message that the mailbox has no room for was taken")
        atoll.barrier_all()
        dev.launch(posts, 1, 1)(atoll.WORLD, box, short + me, (me + 1) % n)
        dev.launch(receives, 1, 1)(atoll.WORLD, box, long[:2], (me - 1) % n)
        assert (long[:2] == short + (me - 1) % n).all()
        print("done")
        """,
        2,
    )
    assert done.stdout.count("done") == 2


def test_a_pe_outside_the_team_is_an_exception(quick_job: Job) -> None:
    done = quick_job("kernel_ends.py", 2, "host-pe")
    assert done.stdout.count("refused as it should") == 2


def test_peer_and_ptr_of_a_pe_outside_the_team(quick_job: Job) -> None:
    done = quick_job(
        """
        import atoll.numba as dev
        atoll.init()
        x = atoll.zeros(4)
        @dev.kernel(cache=True)
        def far(team, x):
            dev.peer(team, x, 900)[0] = 1
        @dev.kernel(cache=True)
        def address(team, x):
            dev.ptr(team, x, -1)
        for kernel, pe in (far, 900), (address, -1):
            try:
                dev.launch(kernel, 1, 1)(atoll.WORLD, x)
            except atoll.PeError as error:
                assert f"in peer for team PE {pe}; the team has PEs 0 to 1" in str(error), error
                print("refused")
        """,
        2,
    )
    assert done.stdout.count("refused") == 4


def test_arrays_that_a_kernel_refuses(quick_kept_job: Job) -> None:
    """An ordinary array in place of a symmetric one, freed ones, those of an earlier job, integers too long."""
    done = quick_kept_job(
        """
        import atoll.numba as dev
        @dev.kernel
        def one(team, x, value):
            dev.p(team, x, value, (team.my_pe + 1) % team.n_pes)
        @dev.kernel
        def alone(team, x):
            x[0] = team.my_pe
        def said(kind, words, *arguments):
            try:
                dev.launch(one, 1, 1)(atoll.WORLD, *arguments)
            except kind as error:
                assert words in str(error), error
            else:
                raise AssertionError(words)
        atoll.init()
        x, ordinary = atoll.zeros(4), np.zeros(4)
        said(atoll.NotSymmetric, "one: argument 2 is ordinary memory: ", ordinary, 1.0)
        said(TypeError, "one takes (team, x, value), and got 2 arguments", x)
        dev.launch(alone, 1, 1)(atoll.WORLD, ordinary)
        dev.launch(alone, 1, 1)(atoll.WORLD, ordinary[2:])
        assert ordinary[2] == atoll.my_pe()
        @dev.kernel
        def moved(team, x):
            dev.put(team, x[:1], x[1:], 0)
        try:
            dev.launch(moved, 1, 1)(atoll.WORLD, atoll.zeros(2, np.float16))
        except TypeError as error:
            assert "moved: argument 2 is of float16, which Numba has on GPUs only" in str(error), error
        else:
            raise AssertionError("float16 on the host")
        gone = atoll.zeros(4)
        atoll.free(gone)
        said(atoll.UseAfterFree, "one: argument 2, an array of shape (2,), was freed", gone[2:], 1.0)
        box = dev.mailbox(8)
        atoll.free(box.block)
        said(atoll.UseAfterFree, "one: argument 2, a mailbox: its block, an array of shape ", box, 1.0)
        said(OverflowError, "one: argument 3 is 1180591620717411303424, which does not fit 64 bits", atoll.zeros(1, int), 2**70)
        atoll.finalize()
        atoll.init()
        said(atoll.UseAfterFree, "a job that was finalized", x, 1.0)
        dev.launch(one, 1, 1)(atoll.WORLD, atoll.zeros(4), 1.0)
        print("done")
        """,
        2,
    )
    assert done.stdout.count("done") == 2


def test_launches_that_cannot_be() -> None:
    def nothing(team: object, x: object) -> None:
        pass

    one = dev.kernel(nothing)
    for grid, block, words in (
        (0, 1, "grid is 0; pass a number from 1 on"),
        (1, 0, "block is 0"),
        ("all", 1, "grid is 'all'"),
        (1, (1, 1, 1, 1), "block is (1, 1, 1, 1)"),
        ((2, -1), 1, "or dev.RESIDENT"),
        (1, dev.RESIDENT, "block is -1"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            dev.launch(one, grid, block)
    dev.launch(one, (1, 2, np.int64(3)), 4)
    dev.launch(one, dev.RESIDENT, 4)
    with pytest.raises(TypeError, match="is not a Python function"):
        dev.kernel(one)
    with pytest.raises(ValueError, match="room is 'a'; pass the bytes"):
        dev.mailbox("a")  # type: ignore[arg-type]


def test_an_argument_that_is_not_a_team_is_named(quick_kept_job: Job) -> None:
    done = quick_kept_job(
        """
        import atoll.numba as dev
        @dev.kernel
        def one(team, x):
            dev.p(team, x, 1.0, 0)
        atoll.init()
        try:
            dev.launch(one, 1, 1)(3, atoll.zeros(1))
        except Exception as error:
            assert "atoll.numba.p: team is int64; pass dev.launch(…)(…) an atoll.Team" in str(error), error
            print("done")
        """,
        1,
    )
    assert "done" in done.stdout


@pytest.mark.parametrize("status", [7, 0])
def test_a_pe_that_ends_ends_the_wait_of_another(job: Job, status: int) -> None:
    done = job(
        f"""
        import atoll.numba as dev
        atoll.init()
        @dev.kernel
        def late(team, flag):
            dev.wait_until(team, flag, dev.NE, 0)
        flag = atoll.zeros(1, np.int64)
        if atoll.my_pe() == 1:
            sys.exit({status})
        try:
            dev.launch(late, 1, 1)(atoll.WORLD, flag)
        except atoll.PeDied as error:
            print(error)
            raise
        """,
        2,
        ok=False,
    )
    if status:
        assert done.returncode == status and "PE 1" in done.stderr, done.stderr
    else:
        assert (
            "PE 1 left the job without finalize, so this cannot end: wait_until on the int64 array"
            in done.stdout
        ), done.stderr


def test_a_kernel_that_catches_the_end_of_its_wait_ends_by_it(job: Job) -> None:
    done = job(
        """
        import atoll.numba as dev
        atoll.init()
        @dev.kernel
        def late(team, flag):
            try:
                dev.wait_until(team, flag, dev.NE, 0)
            except Exception:
                flag[0] = 5
        flag = atoll.zeros(1, np.int64)
        try:
            dev.launch(late, 1, 1)(atoll.WORLD, flag)
        except atoll.Timeout as error:
            print(error)
        atoll.barrier_all()
        print(flag[0])
        """,
        1,
        ATOLL_WAIT_TIMEOUT="0.1",
    )
    assert (
        "late: Timed out after 0.1 s in wait_until on the int64 array" in done.stdout
        and "\n5\n" in done.stdout
    )


def test_the_guides_program(quick_kept_job: Job) -> None:
    page = (ROOT / "docs/kernels.md").read_text()
    program = re.search(r"```python\n# ring.py[^\n]*\n(.*?)```", page, re.S)
    assert program is not None
    text = program[1].replace("sys.argv[1] if len(sys.argv) > 1 else ", "")
    done = quick_kept_job(with_kept_kernels(text), 2)
    assert "PE 0 is done" in done.stdout and "PE 1 is done" in done.stdout
