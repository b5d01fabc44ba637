"""Errors and exit statuses for wrong usage."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["-n", "0", "true"], 2, "-n 0: expected the number of PEs"),
        (["-n", "x", "true"], 2, "-n x: expected the number of PEs"),
        (["-n", "-1", "true"], 2, "-n -1: expected the number of PEs"),
        (["-n", "1.5", "true"], 2, "-n 1.5: expected the number of PEs"),
        (["-n", "99999999999", "true"], 2, "expected the number of PEs"),
        (["-n", "100000", "true"], 2, "-n 100000: expected the number of PEs to start, 1 to 65536"),
        (["-n", "2", "-x", "=1", "true"], 2, "-x =1: expected NAME or NAME=VALUE"),
        (["-n", "2", "-m"], 2, "-m needs the name of a module"),
        (["--hosts", "", "true"], 2, '"" is no host\'s name'),
        (["-n", "2"], 2, "PROGRAM is missing"),
        (["-n"], 2, "-n"),
        (["-n", "2", "--"], 2, "PROGRAM is missing"),
        (["-n", "2", ""], 127, "PROGRAM is empty"),
        (["-n", "2", "no-such-program"], 127, "there is no such program in PATH"),
        (["-n", "2", "./no-such-program"], 127, "there is no such file"),
        (["-n", "2", "no-such.py"], 127, "no-such.py: there is no such file"),
        (["-n", "2", "/tmp"], 126, "/tmp is a directory"),
        (["-n", "2", "/etc/passwd"], 126, "not executable"),
        (["-n", "2", "--heap-size", "lots", "true"], 2, "--heap-size=lots cannot be read"),
        (["-n", "2", "--heap-size", "0", "true"], 2, "--heap-size=0 cannot be read"),
        (["-n", "2", "--env", "NAME", "true"], 2, "--env NAME: expected NAME=VALUE"),
        (["-n", "2", "--env", "=x", "true"], 2, "expected NAME=VALUE"),
        (["-n", "2", "--bind", "socket", "true"], 2, "--bind socket: expected core or none"),
        (["-n", "2", "--timeout", "soon", "true"], 2, "--timeout soon: expected seconds"),
        (["-n", "2", "--timeout", "0", "true"], 2, "--timeout 0: expected seconds"),
        (["-n", "2", "--frobnicate", "true"], 2, "--frobnicate"),
        (["-n", "2", "--pdb=3", "true"], 2, "--pdb takes no value"),
    ],
)
def test_bad_input_is_one_sentence(atoll, arguments, status, said):
    result = atoll("run", *arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert said in result.stderr
    assert result.stderr.startswith("atoll run: ")
    assert result.stderr.count("\n") == 1


def test_file_that_is_not_a_program(atoll, tmp_path):
    file = tmp_path / "file"
    file.write_text("neither a program nor a script\n")
    file.chmod(0o755)
    result = atoll("run", "-n", 3, file)
    assert result.returncode == 126
    assert "cannot be executed" in result.stderr
    assert result.stderr.count("\n") == 1


def test_script_with_a_missing_interpreter(atoll, tmp_path):
    file = tmp_path / "file"
    file.write_text("#!/no/such/interpreter\n")
    file.chmod(0o755)
    result = atoll("run", "-n", 2, file)
    assert result.returncode == 126
    assert "interpreter does not exist" in result.stderr


def test_program_in_the_folder_is_suggested(atoll, tmp_path):
    file = tmp_path / "my-program"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    result = atoll("run", "-n", 1, "my-program", cwd=tmp_path)
    assert result.returncode == 127
    assert "did you mean ./my-program?" in result.stderr
    assert atoll("run", "-n", 1, "./my-program", cwd=tmp_path).returncode == 0


def test_wrong_setting_is_reported_once_before_anything_starts(atoll):
    result = atoll("run", "-n", 4, "echo", "started", env={"ATOLL_HEAP_SIZE": "lots"})
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("ATOLL_HEAP_SIZE=lots cannot be read") == 1


@pytest.mark.parametrize("name", ["ATOLL_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"])
def test_an_empty_heap_is_refused(atoll, name):
    result = atoll("run", "-n", 2, "true", env={name: "0"})
    assert result.returncode == 2 and f"{name}=0 cannot be read: expected a size above 0" in result.stderr


def test_misspelt_setting_is_warned_about_once(atoll):
    result = atoll("run", "-n", 3, "true", env={"ATOLL_HAEP_SIZE": "1g"})
    assert result.returncode == 0
    assert result.stderr.count("did you mean ATOLL_HEAP_SIZE?") == 1


def test_descriptor_limit_too_low(atoll):
    result = subprocess.run(
        ["bash", "-c", 'ulimit -n 64; exec "$@"', "-", atoll.path, "run", "-n", "40", "true"],
        env=atoll.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert "-n 40 needs 200 file descriptors, but the hard limit is 64 (ulimit -Hn)" in result.stderr
    assert "start 6 PEs at most" in result.stderr


def test_descriptor_limit_too_low_for_any_pe(atoll):
    result = subprocess.run(
        ["bash", "-c", 'ulimit -n 30; exec "$@"', "-", atoll.path, "run", "-n", "2", "true"],
        env=atoll.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert result.stderr.endswith("but the hard limit is 30 (ulimit -Hn): raise it\n")


def test_soft_descriptor_limit_is_raised_for_the_launcher_only(atoll):
    result = subprocess.run(
        [
            "bash",
            "-c",
            'ulimit -Sn 64; exec "$@"',
            "-",
            atoll.path,
            "run",
            "-n",
            "40",
            "sh",
            "-c",
            "ulimit -n",
        ],
        env=atoll.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["64"] * 40


def test_commands_and_help(atoll):
    assert atoll().returncode == 2
    assert "atoll run" in atoll("--help").stdout
    assert atoll("--version").stdout.startswith("atoll ")
    commands = re.findall(r"^  atoll (\w+) ", atoll("--help").stdout, re.MULTILINE)
    assert {"run", "info", "bench", "stacks", "new"} <= set(commands)
    for command in commands:
        result = atoll(command, "--help")
        assert (result.returncode, result.stderr) == (0, "")
        assert "sage: atoll " + command in result.stdout
    assert "did you mean run?" in atoll("rnu").stderr


def test_info_lists_the_modules_for_pytorch(atoll, tmp_path):
    environment = {"ATOLL_TORCH_CACHE": str(tmp_path)}
    assert "PyTorch      no module compiled yet" in atoll("info", env=environment).stdout
    (tmp_path / "torch-2.15.0-half").mkdir()  # no module is in it yet
    (tmp_path / "torch-2.11.0").mkdir()
    (tmp_path / "torch-2.11.0" / "_atoll_c10d.cpython-312-x86_64-linux-gnu.so").touch()
    assert json.loads(atoll("info", "--json", env=environment).stdout)["torch_modules"] == ["torch-2.11.0"]
    assert "  PyTorch      torch-2.11.0\n" in atoll("info", env=environment).stdout


def test_info_lists_the_modules_that_a_wheel_brings(atoll, tmp_path):
    """The package is found from the folder of the launcher, as in an environment of Python."""
    package = tmp_path / "lib/python3.12/site-packages/atoll"
    module = package / "_c10d/prebuilt/torch-2.15.0/_atoll_c10d.cpython-312-x86_64-linux-gnu.so"
    for file in (package / "include/shmem.h", package / "lib/libatoll.so", module):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / "bin").mkdir()
    shutil.copy(Path(atoll.path).resolve(), tmp_path / "bin/atoll")
    environment = {**atoll.environment, "ATOLL_TORCH_CACHE": str(tmp_path / "none")}
    info = subprocess.run(
        [tmp_path / "bin/atoll", "info", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(info.stdout)["torch_modules"] == ["torch-2.15.0"], info.stderr


def test_info(atoll):
    text = atoll("info", "-n", 4, env={"ATOLL_CHECK": "all", "SHMEM_SYMMETRIC_SIZE": "64m"})
    assert text.returncode == 0
    assert "with -n 4" in text.stdout
    assert "  ATOLL_CHECK          all  (environment)\n" in text.stdout
    assert "ATOLL_SPIN " not in text.stdout
    assert re.search(r"\natoll info --settings lists the \d\d others, too\.\n$", text.stdout)
    every = atoll("info", "--settings", env={"ATOLL_CHECK": "all"}).stdout
    assert "  ATOLL_CHECK          all  (environment)\n" in every
    assert "  ATOLL_SPIN           -1  (default)\n" in every
    shown = json.loads(
        atoll("info", "--json", env={"ATOLL_CHECK": "all", "SHMEM_SYMMETRIC_SIZE": "64m"}).stdout
    )
    settings = {row["name"]: row for row in shown["settings"]}
    assert settings["ATOLL_CHECK"]["value"] == "all"
    assert settings["ATOLL_CHECK"]["source"] == "environment"
    assert settings["ATOLL_HEAP_SIZE"]["source"] == "SHMEM_SYMMETRIC_SIZE"
    assert all(row["meaning"] for row in settings.values())
    assert "ATOLL_LAUNCHED" not in settings
    assert shown["machine"]["usable_cpus"] >= 1
    assert {transport["name"] for transport in shown["transports"]} == {"window", "ucx", "loopback"}


def test_info_names_the_gpu_part(atoll, tmp_path):
    def said(launcher):
        done = subprocess.run(
            [launcher, "info", "--json"], env=atoll.environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["build"]["cuda"]

    (tmp_path / "bin").mkdir()
    copy = shutil.copy(atoll.path, tmp_path / "bin" / "atoll")
    assert said(copy).startswith("no GPU part here")
    built = Path(atoll.path).parents[1] / "lib" / "libatoll_cuda.so"
    if not built.exists():
        pytest.skip("this build has no GPU part: it needs the CUDA toolkit")
    assert re.fullmatch(rf"CUDA \d+\.\d+, (kernels for .*sm_\d.*|without kernels), {built}", said(atoll.path))
    of_wheel = tmp_path / "lib" / "python3.11" / "site-packages" / "atoll" / "lib"
    of_wheel.mkdir(parents=True)
    shutil.copy(built, of_wheel)
    assert said(copy).endswith(f", {of_wheel / built.name}")
    (of_wheel / built.name).write_text("no library")
    assert "invalid ELF header" in said(copy) or "file too short" in said(copy)


def test_info_shows_a_wrong_setting_instead_of_failing(atoll):
    result = atoll("info", env={"ATOLL_SPIN": "x"})
    assert result.returncode == 0
    assert "ATOLL_SPIN=x cannot be read" in result.stdout


def test_help_takes_a_command(atoll):
    assert atoll("help", "run").stdout == atoll("run", "--help").stdout
    assert atoll("help").stdout == atoll("--help").stdout
    assert atoll("help", "rnu").stderr == 'atoll help: "rnu" is no command of atoll; did you mean run?\n'


def test_bench_without_benchmarks_names_the_folders(atoll, tmp_path):
    copy = tmp_path / "atoll"
    copy.write_bytes(open(atoll.path, "rb").read())  # noqa: SIM115, PTH123
    copy.chmod(0o755)
    result = subprocess.run(
        [copy, "bench"], env=atoll.environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 127
    assert "atoll-bench-core" in result.stderr
    assert str(tmp_path) in result.stderr


def test_bench_runs_the_program_beside_it(atoll, tmp_path):
    copy = tmp_path / "atoll"
    copy.write_bytes(open(atoll.path, "rb").read())  # noqa: SIM115, PTH123
    copy.chmod(0o755)
    core = tmp_path / "atoll-bench-core"
    core.write_text('#!/bin/sh\necho "$@"\n')
    core.chmod(0o755)
    result = subprocess.run(
        [copy, "bench", "put", "get", "-n", "3", "--json", "out.json"],
        env=atoll.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "--json out.json put get\n" * 3
