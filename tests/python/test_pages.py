"""Programs on pages of docs/ run as printed, and print what the page shows; names beside other libraries' exist.

A comment above a program tells how it is started: `<!-- program: 3 PEs -->`, `alone`, `mpiexec` or `torchrun`. Further
words are `options: WORDS` of atoll run, `fails: TEXT` (of the error), `input: LINES`, `connect: LINES` (at the port),
`needs: PACKAGE` or a variable. A program with `gpu` runs on the simulated GPU (tests/simulated), with a CuPy made of NumPy.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jobs import HANG_GUARD, PROGRAMS, ROOT, environment, launcher
from simulated import make_package, plugin

PAGES = sorted(
    path.stem for path in (ROOT / "docs").glob("*.md") if "<!-- program: " in path.read_text(encoding="utf-8")
)
PROGRAM = re.compile(
    r"^<!-- program: (?P<how>[^>]*) -->\n\n```python\n# (?P<name>\w+\.py)[^\n]*\n(?P<text>.*?)^```\n(?P<after>(?:\n(?:    [^\n]*)?)*)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Program:
    """One program of a page, how it is started, and the lines that it prints."""

    page: str
    name: str
    text: str
    how: list[str]
    typed: str
    shown: list[str]


def text_of(page: str) -> str:
    return (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")


def programs(page: str) -> list[Program]:
    """The programs of a page in their order."""
    found = []
    for match in PROGRAM.finditer(text_of(page)):
        lines = [line[4:] for line in match["after"].splitlines() if line.startswith("    ")]
        typed, *shown = lines if lines and lines[0].startswith("$ ") else [""]
        text = f"# {match['name']}\n{match['text']}"
        found.append(Program(page, match["name"], text, match["how"].split(", "), typed, shown))
    return found


EVERY = [program for page in PAGES for program in programs(page)]


@pytest.mark.parametrize("page", PAGES)
def test_every_program_of_a_page_is_found(page: str) -> None:
    """tests/layout/test_site.py lists the other blocks."""
    assert len(programs(page)) == text_of(page).count("<!-- program: ")


@pytest.mark.parametrize("program", EVERY, ids=[f"{program.page}-{program.name}" for program in EVERY])
def test_the_command_of_the_page_is_the_one_that_starts_the_program(program: Program) -> None:
    variables = [word for word in program.how if re.fullmatch(r"[A-Z_]+=\w+", word)]
    options = [option.strip() for option in argument(program, "options")]
    first = program.how[0]
    words = {
        "alone": ["python"],
        "mpiexec": ["mpiexec", "-n", "3", "python"],
        "torchrun": ["torchrun", "--nproc-per-node", "2"],
    }.get(first, ["atoll", "run", "-n", first.split()[0], *options])
    assert program.typed in ("", " ".join(["$", *variables, *words, program.name]))


def command(program: Program, path: Path) -> list[str]:
    """The command that starts a program; skips the test if this machine lacks it."""
    how = program.how[0]
    for package in argument(program, "needs"):
        pytest.importorskip(package.strip(), reason=f"no {package.strip()}: make docs runs this program")
    if how == "alone":
        return [sys.executable, str(path)]
    if how == "torchrun":
        python = ROOT / "build/torch/bin/python"
        if not (ROOT / "build/torch/packages").exists():  # the last file of its installation
            pytest.skip("no build/torch; scripts/setup.sh torch makes it")
        return [
            str(python),
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            "2",
            str(path),
        ]
    if how == "mpiexec":
        pytest.importorskip("mpi4py", reason="mpi4py is not installed: make docs runs this program")
        beside = shutil.which("mpiexec", path=Path(sys.executable).parent)  # make docs installs MPICH there
        mpiexec = beside or shutil.which("mpiexec") or pytest.skip("no MPI is installed")
        is_open_mpi = Path(mpiexec).with_name("ompi_info").exists()
        as_root = ["--allow-run-as-root", "--oversubscribe"] if is_open_mpi else []
        return [mpiexec, *as_root, "-n", "3", sys.executable, str(path)]
    options = [option.strip() for option in argument(program, "options")]
    return [launcher(), "run", "-n", how.split()[0], *options, str(path)]


def argument(program: Program, name: str) -> list[str]:
    """The lines behind `input:`, `connect:`, `fails:` or `needs:`."""
    given = [word.removeprefix(f"{name}: ") for word in joined(program) if word.startswith(f"{name}: ")]
    return [line + "\n" for line in given[0].split(" | ")] if given else []


def joined(program: Program) -> list[str]:
    """Parts of `how`; lines for a debugger may have commas."""
    return re.split(r", (?=options:|fails:|input:|connect:|needs:|[A-Z_]+=)", ", ".join(program.how))


def visit(port: int, lines: list[str]) -> str:
    """Connect to a debugger at a port once it listens, send it lines, and return its answer."""
    until = time.monotonic() + HANG_GUARD
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=HANG_GUARD) as connection:
                connection.sendall("".join(lines).encode())
                return b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def on_simulated_gpu(folder: Path) -> dict[str, str]:
    """Put a CuPy beside a program, and return the setting by which Atoll's GPU is the simulated one."""
    if not plugin().exists():
        pytest.skip("no simulated GPU: build the target atoll_cuda_simulated")
    (folder / "cupy.py").symlink_to(PROGRAMS / "cupy_on_numpy.py")
    return {"PYTHONPATH": str(make_package(folder / "package"))}


@pytest.mark.parametrize("program", EVERY, ids=[f"{program.page}-{program.name}" for program in EVERY])
def test_program(program: Program, tmp_path: Path) -> None:
    path, port = tmp_path / program.name, free_port()
    packages = on_simulated_gpu(tmp_path) if "gpu" in program.how else {}
    path.write_text(program.text.replace("4444", str(port)))
    variables = dict(word.split("=") for word in program.how if re.fullmatch(r"[A-Z_]+=\w+", word))
    started = subprocess.Popen(
        command(program, path),
        cwd=tmp_path,
        env={
            **environment(**variables, **packages, ATOLL_PYTHON=sys.executable),
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            # Ray else writes a token into the home folder, and reports its use.
            "RAY_AUTH_MODE": "disabled",
            "RAY_USAGE_STATS_ENABLED": "0",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = argument(program, "connect")
    answered = visit(port, lines) if lines else ""
    out, err = started.communicate("".join(argument(program, "input")), timeout=HANG_GUARD)
    fails = argument(program, "fails")
    assert (started.returncode != 0) == bool(fails), out + err
    assert not fails or fails[0].strip() in err, err
    if lines:
        assert "(Pdb) 10\n" in answered, answered
    elif argument(program, "input"):
        # The page shows what was typed behind a prompt; the program's output has the answer there.
        answers = {re.sub(r"^.*\((?:Pdb|PE \d)\) ", "", line) for line in out.splitlines()}
        shown = {line for line in program.shown if not re.match(r"\((Pdb|PE \d)\) |-?> ", line)}
        assert shown and shown <= answers, out + err
    elif fails:
        for line in program.shown:
            assert line.strip().replace('File "', "") in err.replace(f"{tmp_path}/", "").replace(
                'File "', ""
            ), err
    elif program.how[0] == "torchrun":  # it starts `python -u`, which writes a line's end by itself
        for line in program.shown:
            assert line in out, out + err
            out = out.replace(line, "", 1)
        assert not out.strip(), out
    elif program.shown:
        assert sorted(out.splitlines()) == sorted(program.shown), out + err


def test_the_program_of_the_readme(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    program, shown = re.findall(r"^```(?:python)?\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[:2]
    (tmp_path / "ring.py").write_text(program)
    command, *lines = shown.splitlines()
    done = subprocess.run(
        [launcher(), *command.split()[2:]],
        cwd=tmp_path,
        env=environment(ATOLL_PYTHON=sys.executable),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=True,
    )
    assert sorted(done.stdout.splitlines()) == sorted(lines)


def test_the_pool_of_the_page_of_notebooks(tmp_path: Path) -> None:
    section = text_of("notebooks").split("## The same in programs: atoll.Pool")[1].split("\n### ")[0]
    program, shown = re.findall(r"^```\w*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    path = tmp_path / "pool.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_GUARD,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, shown), done.stdout + done.stderr


def test_the_tutorial_on_two_hosts_of_one(tmp_path: Path) -> None:
    (program,) = programs("laptop-to-cluster")
    (tmp_path / program.name).write_text(program.text)
    found = re.findall(
        r"^    \$ (ATOLL_HOST_ID)=(\S+) (atoll .*)\n((?:    .*\n)+)", text_of("laptop-to-cluster"), re.M
    )
    assert len(found) == 2
    for name, value, words, shown in found:
        arguments = [launcher() if word == "atoll" else word for word in words.split()]
        variables = {name: value, "ATOLL_PYTHON": sys.executable, "ATOLL_CHECK": "args"}
        done = subprocess.run(
            arguments,
            cwd=tmp_path,
            env=environment(**variables),
            capture_output=True,
            text=True,
            timeout=HANG_GUARD,
            check=False,
        )
        if "UCX, which was not found" in done.stderr:
            pytest.skip("no UCX: scripts/setup.sh test installs it")
        assert done.returncode == 0, done.stderr
        for line in textwrap.dedent(shown).splitlines():
            assert re.search(rf"^{re.escape(line.removesuffix('…'))}", done.stdout, re.M), done.stdout


def test_the_report_shows_the_hot_spot_of_the_page(tmp_path: Path) -> None:
    program = next(program for program in programs("slow") if program.name == "hot.py")
    (tmp_path / program.name).write_text(program.text)
    command = re.search(r"`atoll (run [^`]*hot\.py)`", text_of("slow"))
    assert command
    subprocess.run(
        [launcher(), *command[1].split()], cwd=tmp_path, env=environment(), timeout=HANG_GUARD, check=True
    )
    report = subprocess.run(
        [launcher(), "report", "hot.pftrace"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    shown = text_of("slow").split("## A hot spot")[1].split("mean:\n\n")[1].split("\n\n")[0]
    assert textwrap.dedent(shown) in report.stdout, report.stdout


# ---- names -------------------------------------------------------------------------------------------------------------


def table(page: str) -> list[list[str]]:
    """The cells of the table of names of a page, without its head."""
    rows = text_of(page).split("<!-- names:")[1].split("\n\n")[1].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def look_up(name: str, start: Any) -> Any:
    for part in name.split("."):
        start = getattr(start, part)
    return start


@pytest.mark.parametrize("page", ["from-mpi4py", "from-multiprocessing", "from-global-arrays"])
def test_our_names_exist(page: str) -> None:
    import atoll.arrays

    assert len(table(page)) > 10
    for cells in table(page):
        assert len(cells) == 2, cells
    names = re.findall(r"`atoll\.([\w.]*\w)", text_of(page))
    for name in names:
        if name != "Allreduce":  # shown as an error
            look_up(name, atoll)


def test_the_error_for_a_name_of_mpi4py_is_the_one_of_the_page() -> None:
    import atoll

    with pytest.raises(AttributeError) as error:
        atoll.Allreduce  # noqa: B018
    told = re.search(r'`atoll\.Allreduce` answers\s+"(.*?)"', text_of("from-mpi4py"))
    assert told and told[1] in str(error.value), error.value


def test_names_of_mpi4py_exist() -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: make docs looks these up")
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # mpi4py without an MPI
        pytest.skip(f"no MPI is installed: {error}")
    for left, _ in table("from-mpi4py"):
        for name in re.findall(r"`([A-Z]\w+(?:\.\w+)+)`", left):
            look_up(name.removeprefix("MPI."), mpi)


def test_names_of_multiprocessing_exist() -> None:
    import multiprocessing
    import multiprocessing.pool
    from concurrent import futures

    short = {"Pool": multiprocessing.pool.Pool, "Executor": futures.Executor}
    for left, _ in table("from-multiprocessing"):
        for name in re.findall(r"`([\w.]+)`", left):
            module, _, rest = name.rpartition(".")
            if module in short:
                look_up(rest, short[module])
            elif module == "shared_memory":
                look_up(rest, importlib.import_module("multiprocessing.shared_memory"))
            else:
                look_up(rest, importlib.import_module(module))
