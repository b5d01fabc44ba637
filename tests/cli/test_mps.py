"""`atoll run --mps`, with a script in place of MPS's control daemon: which daemon is used, and how a private
one ends.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

# A bound for hangs only; no wait takes this long.
HANG_GUARD = 300
# A daemon is a process whose number is in its pipe directory. Its requests are logged.
CONTROL = r"""#!/bin/sh
pipe=${CUDA_MPS_PIPE_DIRECTORY:-/nonexistent}
if [ "$1" = -d ]; then
    if [ -n "$FAKE_FAILS" ]; then echo "first line"; echo "no GPU in this test" >&2; exit 1; fi
    echo "start $(stat -c %a "$pipe")" >>"$FAKE_LOG"
    setsid sh -c 'echo $$ >"$0/number.part"; mv "$0/number.part" "$0/number"; exec sleep 1000' "$pipe" </dev/null >/dev/null 2>&1 &
    while [ ! -e "$pipe/number" ]; do sleep 0.01; done
    exit 0
fi
read -r asked
echo "$asked" >>"$FAKE_LOG"
if ! kill -0 "$(cat "$pipe/number" 2>/dev/null)" 2>/dev/null; then echo "Cannot find MPS control daemon process"; exit 1; fi
if [ "$asked" = quit ]; then
    [ -z "$FAKE_STAYS" ] || exit 1
    kill "$(cat "$pipe/number")"
fi
exit 0
"""

SHOW = """
import json, os, stat
pipe = os.environ["CUDA_MPS_PIPE_DIRECTORY"]
said = json.dumps([pipe, stat.S_IMODE(os.stat(pipe).st_mode), int(open(pipe + "/number").read())])
os.write(1, (said + "\\n").encode())  # whole
"""


class Fake:
    """The script in PATH, and the requests to it."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.log, self.temporary = folder / "bin", folder / "log", folder / "tmp"
        self.bin.mkdir()
        self.temporary.mkdir()
        self.control = self.bin / "nvidia-cuda-mps-control"
        self.control.write_text(CONTROL)
        self.control.chmod(0o755)
        self.log.touch()
        self.environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "FAKE_LOG": str(self.log),
            "TMPDIR": str(self.temporary),
        }
        self.started: list[int] = []

    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()

    def start_daemon(self, pipe: Path) -> int:
        pipe.mkdir()
        environment = {**os.environ, **self.environment, "CUDA_MPS_PIPE_DIRECTORY": str(pipe)}
        subprocess.run([self.control, "-d"], env=environment, check=True, timeout=HANG_GUARD)
        number = int((pipe / "number").read_text())
        self.started.append(number)
        return number


@pytest.fixture
def fake(tmp_path: Path):
    made = Fake(tmp_path)
    yield made
    for number in made.started:
        if runs(number):
            os.kill(number, signal.SIGKILL)


def runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_ended(number: int, folder: Path) -> None:
    latest = time.monotonic() + HANG_GUARD
    while runs(number) or folder.exists():
        assert time.monotonic() < latest, f"process {number} runs, or {folder} is still there"
        time.sleep(0.01)


@pytest.mark.parametrize("stays", ["", "1"])
def test_a_private_daemon_ends_with_the_job(atoll, fake, tmp_path, stays):
    """The daemon ends even if it does not obey `quit`."""
    program = tmp_path / "show.py"
    program.write_text(SHOW)
    done = atoll("run", "--mps", "-n", 2, program, env={**fake.environment, "FAKE_STAYS": stays})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (pipe, mode, number), second = map(json.loads, done.stdout.splitlines())
    assert second == [pipe, mode, number]
    assert mode == 0o700
    assert Path(pipe).is_relative_to(fake.temporary)
    assert not runs(number)
    assert list(fake.temporary.iterdir()) == []
    assert [word for word in fake.asked() if word != "get_server_list"] == ["start 700", "quit"]


@pytest.mark.parametrize(
    ("n", "named", "expected"), [(2, {}, "8"), (5, {}, "6"), (2, {"CUDA_DEVICE_MAX_CONNECTIONS": "3"}, "3")]
)
def test_pes_divide_the_work_queues(atoll, fake, tmp_path, n, named, expected):
    program = tmp_path / "show.py"
    program.write_text("import os; print(os.environ['CUDA_DEVICE_MAX_CONNECTIONS'])")
    done = atoll("run", "--mps", "-n", n, program, env={**fake.environment, **named})
    assert done.stdout.split() == [expected] * n, done.stderr


def test_a_daemon_of_this_user_is_used_and_left(atoll, fake, tmp_path):
    pipe = tmp_path / "pipe"
    number = fake.start_daemon(pipe)
    program = tmp_path / "show.py"
    program.write_text(SHOW)
    environment = {**fake.environment, "CUDA_MPS_PIPE_DIRECTORY": str(pipe)}
    done = atoll("run", "--mps", "-n", 1, program, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[2] == number
    assert runs(number)
    assert fake.asked().count("quit") == 0
    assert len([word for word in fake.asked() if word.startswith("start")]) == 1
    shown = json.loads(atoll("info", "--json", env=environment).stdout)
    assert shown["gpus"]["mps"] == f"of this user, {pipe}"


def test_a_killed_launcher_leaves_no_daemon(atoll, fake, tmp_path):
    program = tmp_path / "wait.py"
    program.write_text(SHOW + "import time; time.sleep(1000)\n")
    job = atoll.start("run", "--mps", "-n", 1, program, env=fake.environment)
    pipe, _, number = json.loads(job.stdout.readline())
    assert runs(number)
    job.kill()
    wait_until_ended(number, Path(pipe).parent)
    assert fake.asked()[-1] == "quit"


def test_the_variable_asks_for_the_same(atoll, fake, tmp_path):
    program = tmp_path / "show.py"
    program.write_text(SHOW)
    done = atoll("run", "-n", 1, program, env={**fake.environment, "ATOLL_MPS": "1"})
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)[0]).is_relative_to(fake.temporary)
    assert fake.asked()[-1] == "quit"


def of_another_user(pipe: Path) -> int:
    """Make a pipe directory whose control file belongs to another user; return that user's number."""
    pipe.mkdir()
    control = pipe / "control"
    if os.geteuid() != 0:
        control.symlink_to("/etc/passwd")
        return 0
    control.touch()
    os.chown(control, 12345, -1)
    return 12345


def test_another_users_daemon_is_refused(atoll, fake, tmp_path):
    pipe = tmp_path / "theirs"
    user = of_another_user(pipe)
    environment = {**fake.environment, "CUDA_MPS_PIPE_DIRECTORY": str(pipe)}
    done = atoll("run", "--mps", "-n", 1, "true", env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"an MPS of user {user} ({pipe}) runs here" in done.stderr
    assert "without --mps" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(fake.temporary.iterdir()) == []
    assert json.loads(atoll("info", "--json", env=environment).stdout)["gpus"]["mps"].startswith(
        f"of user {user}"
    )


def test_leftovers_of_another_users_daemon_are_ignored(atoll, fake, tmp_path):
    pipe = tmp_path / "theirs"
    of_another_user(pipe)
    ended = subprocess.Popen(["true"])
    ended.wait(timeout=HANG_GUARD)
    (pipe / "nvidia-cuda-mps-control.pid").write_text(f"{ended.pid}\n")
    environment = {**fake.environment, "CUDA_MPS_PIPE_DIRECTORY": str(pipe)}
    done = atoll("run", "--mps", "-n", 1, "true", env=environment)
    assert done.returncode == 0, done.stderr


def test_a_daemon_that_does_not_start_is_reported(atoll, fake):
    done = atoll("run", "--mps", "-n", 1, "true", env={**fake.environment, "FAKE_FAILS": "1"})
    assert done.returncode == 2
    assert done.stderr == ("atoll run: --mps: nvidia-cuda-mps-control does not start: no GPU in this test\n")
    latest = time.monotonic() + HANG_GUARD
    while list(fake.temporary.iterdir()):
        assert time.monotonic() < latest
        time.sleep(0.01)


def test_a_machine_without_mps_is_reported(atoll, tmp_path):
    done = atoll("run", "--mps", "-n", 1, shutil.which("true"), env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "needs nvidia-cuda-mps-control, which is not in PATH" in done.stderr
    assert done.stderr.count("\n") == 1
