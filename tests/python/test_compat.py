"""atoll.compat: programs of other packages, unchanged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HANG_GUARD, environment, launcher, python

PROGRAM = """
import numpy as np
import sys
from shmem4py import shmem
me, n = shmem.my_pe(), shmem.n_pes()
x = shmem.zeros(1, dtype="i8")
shmem.put(x, np.array([me + 1]), (me + 1) % n)
shmem.barrier_all()
print(f"PE {me} of {n} got {x[0]}, {sys.argv[1:]}, {__name__}")
"""
SENTENCE = "atoll: import shmem4py finds atoll.shmem, which has the names of shmem4py 1.0."
BOTH = ["PE 0 of 2 got 2, ['a', '-b'], __main__", "PE 1 of 2 got 1, ['a', '-b'], __main__"]


def run(*command: object, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        env=environment(**changes),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "ring.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    "start", ["file", "python file", "python -u", "python with options", "module", "python -m"]
)
def test_a_program_of_shmem4py_runs_unchanged(program: Path, start: str) -> None:
    command = {
        "file": [program],
        "python file": [sys.executable, program],
        "python -u": [sys.executable, "-u", "-X", "utf8", program],
        "python with options": [
            *(sys.executable, "-Wignore::ImportWarning", "-Xutf8", "-bW", "ignore"),
            *("--check-hash-based-pycs", "default", program),
        ],
        "module": ["-m", "ring"],
        "python -m": [sys.executable, "-m", "ring"],
    }[start]
    arguments = (launcher(), "run", "-n", 2, *command, "a", "-b")
    done = run(*arguments, cwd=program.parent, ATOLL_COMPAT="shmem4py", ATOLL_PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == BOTH
    assert done.stderr.splitlines() == [SENTENCE]  # by one PE


@pytest.mark.parametrize(
    "command", [["env", sys.executable], ["bash", "-c", 'exec "$0" "$1"', sys.executable]]
)
def test_a_program_started_by_another_is_told_how(program: Path, command: list[str]) -> None:
    done = run(launcher(), "run", "-n", 1, *command, program, ATOLL_COMPAT="shmem4py")
    assert done.returncode != 0 and "No module named 'shmem4py'" in done.stderr
    assert done.stderr.count("start the program by python -m atoll.compat shmem4py PROGRAM.py") == 1, (
        done.stderr
    )


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "RANK"])
def test_one_process_of_another_launchers_job_says_it(variable: str) -> None:
    said = [
        run(sys.executable, "-c", "import atoll, shmem4py", ATOLL_COMPAT="shmem4py", **{variable: rank})
        for rank in ("0", "1")
    ]
    assert [done.returncode for done in said] == [0, 0], said
    assert [done.stderr.strip() for done in said] == [SENTENCE, ""]


def test_a_program_of_nvshmem_with_mpi4py_runs_below_atoll_run(tmp_path: Path) -> None:
    (tmp_path / "ring.py").write_text(
        """
from mpi4py import MPI
import nvshmem.core as nv
from cuda.core import Device
comm = MPI.COMM_WORLD
if "uid" in __import__("sys").argv:
    uid = comm.bcast(nv.get_unique_id(empty=comm.Get_rank() != 0) if comm.Get_rank() == 0 else None)
    nv.init(uid=uid, rank=comm.Get_rank(), nranks=comm.Get_size(), initializer_method="uid")
else:
    nv.init(mpi_comm=comm, initializer_method="mpi")
assert (nv.my_pe(), nv.n_pes()) == (comm.Get_rank(), comm.Get_size()) and comm.Get_size() == 2
nv.finalize()
print("right")
"""
    )
    for how in ("mpi", "uid"):
        done = run(
            launcher(),
            "run",
            "-n",
            2,
            tmp_path / "ring.py",
            how,
            ATOLL_COMPAT="nvshmem",
            ATOLL_PYTHON=sys.executable,
        )
        assert (done.returncode, done.stdout) == (0, "right\nright\n"), done.stderr
        assert done.stderr.count("atoll: import nvshmem finds") == 1


@pytest.fixture
def compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def test_another_library_with_nvshmems_names_is_refused(compiler: str, tmp_path: Path) -> None:
    other = tmp_path / "libnvshmem_host.so.3"
    text = "int nvshmem_n_pes(void) { return 7; }"
    subprocess.run([compiler, "-shared", "-fPIC", "-xc", "-", "-o", other], input=text, text=True, check=True)
    home = run(Path(sys.executable).parent / "atoll", "config", "--nvshmem-home").stdout.strip()
    for library, status in ((other, 1), (Path(home) / "lib/libnvshmem_host.so", 0)):
        code = f"import ctypes, atoll; ctypes.CDLL({str(library)!r}, ctypes.RTLD_GLOBAL); import nvshmem.core as nv; nv.init()"
        done = run(sys.executable, "-c", code, ATOLL_COMPAT="nvshmem")
        assert done.returncode == status, done.stderr
        assert (f"is loaded in this process: {other}." in done.stderr) == (status == 1)


BEFORE_INIT = (
    "nvshmem_my_pe()", "nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD)", "nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED)",
    "nvshmem_malloc(8)", "nvshmem_long_p(&x, 1, 0)", "nvshmem_barrier_all()", "nvshmemx_quiet_on_stream(0)",
    "nvshmem_team_translate_pe(0, 0, 1)", "nvshmem_long_sum_reduce(0, &x, &x, 1)",
)  # fmt: skip


def test_calls_of_c_before_init_are_named(compiler: str, tmp_path: Path) -> None:
    cases = " ".join(f"case {i}: (void){call}; break;" for i, call in enumerate(BEFORE_INIT))
    text = f"""#include <nvshmem.h>
#include <nvshmemx.h>
int main(int n, char** given) {{
    long x = 0;
    (void)n;
    switch (atoi(given[1])) {{ {cases} }}
    return 0;
}}
"""
    flags = run(Path(sys.executable).parent / "atoll", "config", "--nvshmem").stdout.split()
    command = [
        compiler,
        "-DATOLL_NVSHMEM_WITHOUT_CUDA",
        "-xc",
        "-",
        "-xnone",
        *flags,
        "-o",
        tmp_path / "program",
    ]
    subprocess.run(command, input=text, text=True, check=True)
    for i, call in enumerate(BEFORE_INIT):
        done = run(tmp_path / "program", i)
        name = call.partition("(")[0]
        assert done.returncode == 1, call
        assert (
            f"atoll: {name}: NVSHMEM is not initialized in this process; call nvshmem_init first"
            in done.stderr
        )


def test_the_command_runs_a_program(program: Path) -> None:
    done = run(sys.executable, "-m", "atoll.compat", "shmem4py", program, "a", "-b")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "PE 0 of 1 got 1, ['a', '-b'], __main__\n"
    assert done.stderr == SENTENCE + "\n"


def test_import_atoll_reads_the_variable() -> None:
    code = "import atoll; from shmem4py import shmem; print(shmem.__name__, shmem.n_pes())"
    done = python(code, ATOLL_COMPAT="shmem4py")
    assert (done.stdout, done.returncode) == ("atoll.shmem 1\n", 0), done.stderr


def test_without_it_imports_are_as_before(program: Path) -> None:
    done = run(launcher(), "run", "-n", 1, sys.executable, program)
    assert done.returncode != 0
    assert "No module named 'shmem4py'" in done.stderr


def test_settings_are_read_before_the_job_is_joined() -> None:
    code = (
        "import atoll, atoll.compat; atoll.compat.install('shmem4py'); import shmem4py, shmem4py.shmem as s; "
        "print(shmem4py.rc is atoll.rc, shmem4py.__version__, s is atoll.shmem, s.__spec__.name)"
    )
    done = python(code, SHMEM4PY_RC_INITIALIZE="no")
    assert (done.stdout, done.returncode) == ("True 1.0.0 True atoll.shmem\n", 0), done.stderr
    code = (
        "import atoll, atoll.compat; atoll.compat.install('shmem4py'); from shmem4py import rc; rc.initialize = False; "
        "from shmem4py import shmem; print(atoll.is_initialized())"
    )
    assert python(code).stdout == "False\n"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (
            "atoll.compat.install('mpi')",
            "ValueError: atoll.compat has no package 'mpi'; it has: nbshmem, nccl, nvshmem, shmem4py.",
        ),
        ("atoll.compat.install('mpi4py')", "ValueError: Atoll has no form of mpi4py. Port the program"),
        (
            "import types; sys.modules['shmem4py'] = types.ModuleType('shmem4py'); atoll.compat.install('shmem4py')",
            "RuntimeError: shmem4py itself is already imported, from this process; call",
        ),
        (
            "atoll.compat.install('shmem4py'); import shmem4py.api",
            "ImportError: shmem4py.api does not exist in Atoll's form of shmem4py: it is shmem4py's layer of C",
        ),
        ("atoll.compat.install('shmem4py'); import shmem4py.nothing", "No module named 'shmem4py.nothing'"),
    ],
)
def test_mistakes_are_named(code: str, wanted: str) -> None:
    done = python("import sys, atoll.compat; " + code)
    assert done.returncode == 1
    assert wanted in done.stderr


def test_a_wrong_variable_is_named() -> None:
    done = python("import atoll", ATOLL_COMPAT="shmem4py,nothing")
    assert "ValueError: ATOLL_COMPAT=shmem4py,nothing: atoll.compat has no package 'nothing'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], "usage: python -m atoll.compat PACKAGE"),
        (["shmem4py"], "usage: python -m atoll.compat PACKAGE"),
        (["shmem4py", "-m"], "usage: python -m atoll.compat PACKAGE"),
        (["nothing", "program.py"], "atoll.compat has no package 'nothing'"),
        (["shmem4py", "nowhere.py"], "nowhere.py cannot be read: No such file or directory"),
    ],
)
def test_the_command_explains_its_usage(arguments: list[str], wanted: str) -> None:
    done = run(sys.executable, "-m", "atoll.compat", *arguments)
    assert done.returncode != 0
    assert wanted in done.stderr


def test_a_program_of_mpi4py_is_sent_to_its_page(tmp_path: Path) -> None:
    """One line from the command and from the variable, without a traceback through runpy."""
    (program := tmp_path / "program.py").write_text("print('ran')")
    text = (
        "Atoll has no form of mpi4py. Port the program by the table of docs/from-mpi4py.md, or start it by mpiexec and call "
        "atoll.init(comm=MPI.COMM_WORLD) in it.\n"
    )
    done = run(sys.executable, "-m", "atoll.compat", "mpi4py", program)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", text)
    done = run(launcher(), "run", "-n", 2, sys.executable, program, ATOLL_COMPAT="mpi4py")
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert f"ATOLL_COMPAT=mpi4py: {text}" in done.stderr


def test_installing_twice_changes_nothing() -> None:
    code = (
        "import atoll.compat as c, sys; c.install('shmem4py'); import shmem4py; c.install('shmem4py'); "
        "print(c.installed(), len([f for f in sys.meta_path if type(f).__module__ == 'atoll.compat']))"
    )
    done = python(code)
    assert (done.stdout, done.returncode) == ("('shmem4py',) 1\n", 0), done.stderr
