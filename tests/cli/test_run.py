"""The surroundings of a PE: its program, arguments, environment, standard streams, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def lines(result) -> list[str]:
    assert (result.returncode, result.stderr) == (0, "")
    return sorted(result.stdout.splitlines())


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_every_pe_gets_its_number(atoll, n):
    result = atoll("run", "-n", n, "sh", "-c", 'echo "$ATOLL_LAUNCHED" | cut -d: -f1-3')
    assert lines(result) == sorted(f"1:{pe}:{n}" for pe in range(n))


def test_256_pes(atoll):
    assert len(lines(atoll("run", "-n", 256, "echo", "here"))) == 256


@pytest.mark.parametrize("spelling", [["-np", "2"], ["-n2"], ["--np", "2"], ["--np=2"], ["-n", "2", "--"]])
def test_spellings_of_the_count(atoll, spelling):
    assert lines(atoll("run", *spelling, "echo", "x")) == ["x", "x"]


def test_all_behind_the_program_is_its_own(atoll):
    result = atoll("run", "-n", 1, "printf", "%s\n", "-n", "--label", "--help", "-np", "a b", "")
    assert result.stdout == "-n\n--label\n--help\n-np\na b\n\n"


def test_python_files_are_run_by_python(atoll, program):
    path = program("pe.say(' '.join([str(pe.number), sys.executable, *sys.argv[1:]]))")
    assert lines(atoll("run", "-n", 2, path, "a", "-n")) == [f"{pe} {sys.executable} a -n" for pe in range(2)]


def test_python_beside_the_launcher_is_preferred(atoll, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/atoll").symlink_to(Path(atoll.path).resolve())
    python = tmp_path / "bin/python"
    python.write_text('#!/bin/sh\necho beside "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "script.py"
    script.touch()
    environment = {k: v for k, v in atoll.environment.items() if k != "ATOLL_PYTHON"}
    result = subprocess.run(
        [tmp_path / "bin/atoll", "run", "-n", "1", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.stdout == f"beside {script}\n"


def environment_folder(place: Path, *, has_atoll: bool) -> Path:
    """Make a fake virtual environment. Its Python reports that, and can tell whether it has Atoll."""
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").touch()
    python = place / "bin/python"
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit {int(not has_atoll)}\necho {place.name} "$@"\n')
    python.chmod(0o755)
    return place


def run_in_environment(atoll, tmp_path, active: Path, by: str = "VIRTUAL_ENV", **options):
    """Run a script by the launcher of the environment "own", while `active` is the active one."""
    own = environment_folder(tmp_path / "own", has_atoll=True)
    (own / "bin/atoll").symlink_to(Path(atoll.path).resolve())
    environment = {
        k: v for k, v in atoll.environment.items() if k not in ("ATOLL_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")
    }
    environment[by] = f"{active}/bin:{environment['PATH']}" if by == "PATH" else str(active)
    script = tmp_path / "script.py"
    script.touch()
    return subprocess.run(
        [own / "bin/atoll", "run", "-n", "1", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


@pytest.mark.parametrize("by", ["VIRTUAL_ENV", "CONDA_PREFIX", "PATH"])
@pytest.mark.parametrize("has_atoll", [True, False])
def test_python_of_another_active_environment(atoll, tmp_path, by, has_atoll):
    active = environment_folder(tmp_path / "active", has_atoll=has_atoll)
    result = run_in_environment(atoll, tmp_path, active, by)
    assert result.stdout == f"{'active' if has_atoll else 'own'} {tmp_path / 'script.py'}\n"
    said = (
        f"atoll run: {tmp_path}/own/bin/python runs the program: {active}/bin/python, which is active, "
        "has no atoll\n"
    )
    assert result.stderr == ("" if has_atoll else said)


@pytest.mark.parametrize("place", ["current folder", "search path"])
def test_a_folder_named_atoll_is_not_that_environments_atoll(atoll, tmp_path, place):
    active = environment_folder(tmp_path / "active", has_atoll=True)
    # A real Python that has no site-packages and so no Atoll.
    (active / "bin/python").write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} -S "$@"\necho active\n'
    )
    (tmp_path / "elsewhere/atoll").mkdir(parents=True)
    if place == "current folder":
        (tmp_path / "elsewhere/atoll/__init__.py").touch()
    else:
        atoll.environment["PYTHONPATH"] = str(tmp_path / "elsewhere")
    folder = tmp_path / "elsewhere" if place == "current folder" else tmp_path
    result = run_in_environment(atoll, tmp_path, active, cwd=folder)
    assert result.stdout == f"own {tmp_path / 'script.py'}\n"
    assert "which is active, has no atoll" in result.stderr


def test_an_active_environment_is_asked_where_children_are_ignored(atoll, tmp_path):
    active = environment_folder(tmp_path / "active", has_atoll=True)
    result = run_in_environment(
        atoll, tmp_path, active, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    )
    assert (result.stdout, result.stderr) == (f"active {tmp_path / 'script.py'}\n", "")


def test_without_a_count_each_core_has_a_pe(atoll):
    cores = json.loads(atoll("info", "--json").stdout)["machine"]["usable_cpus"]
    result = atoll("run", "sh", "-c", "echo x")
    assert (result.returncode, result.stdout) == (0, "x\n" * cores)
    assert result.stderr.startswith(f"atoll run: {cores} PE") and result.stderr.count("\n") == 1


def test_modules_are_run_by_python(atoll, tmp_path):
    (tmp_path / "own_module.py").write_text("import sys; print(__name__, sys.argv[1:])\n")
    result = atoll("run", "-n", 2, "-m", "own_module", "-n", "--label", cwd=tmp_path)
    assert lines(result) == ["__main__ ['-n', '--label']"] * 2


THREADS = 'echo "$OMP_NUM_THREADS,$OPENBLAS_NUM_THREADS,$MKL_NUM_THREADS,$NUMBA_NUM_THREADS"'


def threads(atoll, n: int, *options: object, **env: str) -> str:
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA"):
        atoll.environment.pop(f"{name}_NUM_THREADS", None)
    atoll.environment.pop("SLURM_CPUS_PER_TASK", None)
    (line,) = set(lines(atoll("run", "-n", n, *options, "sh", "-c", THREADS, env=env)))
    return line


def test_threads_of_libraries_share_the_cores(atoll):
    cores = json.loads(atoll("info", "--json").stdout)["machine"]["usable_cpus"]
    for n in (2, 3, 2 * cores + 1):
        each = str(max(cores // n, 1))
        assert threads(atoll, n) == ",".join([each] * 4)


def test_thread_settings_of_the_user_are_kept(atoll):
    cores = json.loads(atoll("info", "--json").stdout)["machine"]["usable_cpus"]
    assert threads(atoll, 1) == ",,,"
    assert threads(atoll, 2, MKL_NUM_THREADS="5") == ",,5,"
    assert threads(atoll, 2, SLURM_CPUS_PER_TASK="2") == ",,,"
    if cores > 1:
        assert threads(atoll, 2, "--bind", "core") == ",,,"


def test_info_prints_the_libraries_numbers_of_threads(atoll):
    cores = json.loads(atoll("info", "--json").stdout)["machine"]["usable_cpus"]
    threads(atoll, 2)  # sets nothing
    result = atoll("run", "-n", 2, "true", env={"ATOLL_INFO": "1"})
    assert f"OMP_NUM_THREADS={max(cores // 2, 1)} and its relatives" in result.stderr


def test_environment_and_heap_size(atoll):
    result = atoll(
        "run",
        "-n",
        2,
        "--env",
        "A=1=2",
        "--env",
        "B=",
        "--heap-size",
        "64m",
        "sh",
        "-c",
        'echo "$A,$B,$ATOLL_HEAP_SIZE"',
    )
    assert lines(result) == ["1=2,,64m"] * 2


def test_descriptors_are_those_of_the_protocol_only(atoll, program):
    path = program(
        "fds = sorted(int(fd) for fd in os.listdir('/proc/self/fd'))\n"
        "known = {0, 1, 2, pe.launcher.fileno(), pe._board, pe.heap}\n"
        "pe.say([os.readlink(f'/proc/self/fd/{fd}') for fd in fds if fd not in known and os.path.exists(f'/proc/self/fd/{fd}')])\n"
    )
    # The memory map's copy of the board's descriptor remains, which Python keeps.
    assert all(line == "['/memfd:atoll-board (deleted)']" for line in lines(atoll("run", "-n", 3, path)))


def test_binding_gives_each_pe_one_core(atoll):
    program = "import os; os.write(1, b'%d\\n' % len(os.sched_getaffinity(0)))"
    cores = len(os.sched_getaffinity(0))
    assert lines(atoll("run", "-n", cores, "--bind", "core", sys.executable, "-c", program)) == ["1"] * cores
    shared = atoll("run", "-n", cores + 1, "--bind", "core", sys.executable, "-c", program)
    assert shared.stdout == "1\n" * (cores + 1)
    assert f"--bind core: {cores + 1} PEs share {cores} core" in shared.stderr
    everything = str(cores)
    assert lines(atoll("run", "-n", 3, "--bind", "none", sys.executable, "-c", program)) == [everything] * 3


def test_standard_input_goes_to_pe_0(atoll):
    result = atoll("run", "-n", 3, "sh", "-c", "cat; echo done", stdin=None, input="some\ninput\n")
    assert lines(result) == ["done", "done", "done", "input", "some"]


def test_closed_standard_streams_are_accepted(atoll):
    result = subprocess.run(
        ["sh", "-c", '"$@" <&- 2>&-', "-", atoll.path, "run", "-n", "2", "sh", "-c", "cat; echo ok"],
        env=atoll.environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stdout) == (0, "ok\nok\n")


def test_jobs_within_a_job_are_their_own(atoll):
    inner = f'"{atoll.path}" run -n 2 sh -c \'echo "$ATOLL_LAUNCHED" | cut -d: -f2-3\''
    assert lines(atoll("run", "-n", 2, "sh", "-c", inner)) == ["0:2", "0:2", "1:2", "1:2"]


@pytest.mark.parametrize(
    "number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGWINCH, signal.SIGINT, signal.SIGTERM]
)
def test_signals_reach_every_pe(atoll, program, number):
    path = program(
        "def caught(number, frame):\n"
        "    pe.say(f'{pe.number} caught {number}')\n"
        "    os._exit(0)\n"
        f"signal.signal({int(number)}, caught)\n"
        "pe.say('ready')\n"
        "while True: time.sleep(0.1)\n"
    )
    job = atoll.start("run", "-n", 3, path)
    for _ in range(3):
        assert job.stdout.readline() == "ready\n"
    job.send_signal(number)
    out, err = job.communicate(timeout=60)
    assert sorted(out.splitlines()) == [f"{pe} caught {int(number)}" for pe in range(3)]
    assert (job.returncode, err) == (0, "")


def test_signal_masks_and_actions_are_the_defaults(atoll, program):
    path = program(
        "pe.say([s.name for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])])\n"
        "pe.say(signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)\n"
    )
    assert lines(atoll("run", "-n", 2, path)) == ["True", "True", "[]", "[]"]


def test_stop_and_continue(atoll, program):
    path = program(
        "signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))\npe.say('ready')\nwhile True: time.sleep(0.1)\n"
    )
    job = atoll.start("run", "-n", 2, path)
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    job.send_signal(signal.SIGCONT)
    job.send_signal(signal.SIGTERM)
    job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGTERM


def test_second_interrupt_kills(atoll, program, witness):
    path = program(
        "signal.signal(signal.SIGINT, lambda *_: pe.say('not yet'))\npe.say('ready')\nwhile True: time.sleep(0.1)\n"
    )
    job = atoll.start("run", "-n", 2, path, pass_fds=witness.pass_fds())
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.send_signal(signal.SIGINT)
    assert [job.stdout.readline() for _ in range(2)] == ["not yet\n"] * 2
    time.sleep(0.8)  # earlier, it would count as the same signal, as timeout(1) sends it
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 130
    assert "second SIGINT" in err
    assert witness.all_gone()


def test_the_same_signal_of_one_sender_counts_once(atoll):
    """timeout(1) signals its child, and then the group that contains both; PEs that need a moment to end get
    that moment.
    """
    ends = "trap 'sleep 0.3; echo ended; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    job = atoll.start("run", "-n", 2, "sh", "-c", ends)
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.send_signal(signal.SIGTERM)
    job.send_signal(signal.SIGTERM)
    out, err = job.communicate(timeout=60)
    assert out == "ended\n" * 2 and "second" not in err, err


def test_interrupt_is_not_a_crash(atoll):
    job = atoll.start("run", "-n", 2, "sh", "-c", "echo ready; exec sleep 1000")
    assert [job.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 130
    assert err.startswith("atoll run: the job was interrupted by SIGINT")
    assert err.count("\n") == 1
