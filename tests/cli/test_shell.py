"""atoll new, atoll completion, and the pages of man."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import manual  # noqa: E402

# ---- completion --------------------------------------------------------------------------------------------------------


def completed(atoll, folder: Path, *words: str) -> set[str]:
    """The words that bash offers for the last word."""
    script = """
        source <(atoll completion bash)
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _atoll "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words],
        env={**atoll.environment, "PATH": f"{Path(atoll.path).parent}:{os.environ['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr, done.stderr
    words = done.stdout.split()
    assert len(words) == len(set(words)), words
    return set(words)


def test_commands_and_options_are_completed(atoll, tmp_path):
    commands = completed(atoll, tmp_path, "atoll", "")
    assert {"run", "info", "new", "completion", "top", "--help"} <= commands
    assert completed(atoll, tmp_path, "atoll", "re") == {"record", "report"}
    assert {"--np", "-n", "--pdb", "--tmux", "--hosts", "--heap-size"} <= completed(
        atoll, tmp_path, "atoll", "run", "-"
    )
    assert completed(atoll, tmp_path, "atoll", "run", "-n", "4", "--tm") == {"--tmux"}
    assert completed(atoll, tmp_path, "atoll", "run", "--bind", "") == {"core", "none"}
    assert {"--cxx", "--shmem", "--libs"} <= completed(atoll, tmp_path, "atoll", "config", "--")
    assert completed(atoll, tmp_path, "atoll", "completion", "f") == {"fish"}


def test_words_behind_the_program_are_the_programs(atoll, tmp_path):
    assert completed(atoll, tmp_path, "atoll", "run", "solve.py", "--") == set()
    assert completed(atoll, tmp_path, "atoll", "run", "-m", "solve", "--") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_reads_its_script(atoll, tmp_path, shell):
    script = atoll("completion", shell).stdout
    assert "atoll" in script
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script)
    checked = subprocess.run([found, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_fish_completes_commands_and_options(atoll, tmp_path):
    fish = shutil.which("fish") or pytest.skip("fish is not installed")

    def offered(line: str) -> set[str]:
        done = subprocess.run(
            [fish, "-c", f"atoll completion fish | source; complete -C '{line}'"],
            env={
                **atoll.environment,
                "PATH": f"{Path(atoll.path).parent}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    assert {"record", "report"} <= offered("atoll re")
    assert "--tmux" in offered("atoll run --tm")
    assert not {"--tmux"} & offered("atoll run x.py --tm")


def test_other_shells_are_refused(atoll):
    result = atoll("completion", "tcsh")
    assert result.returncode == 2 and "for bash, zsh and fish" in result.stderr
    assert atoll("completion").returncode == 2


# ---- pages of man ------------------------------------------------------------------------------------------------------


def test_the_pages_of_man_have_the_help_of_the_commands(atoll):
    made = manual.pages(Path(atoll.path))
    folder = ROOT / "src/cli/man"
    assert {path.name for path in folder.iterdir()} == set(made)
    for name, text in made.items():
        assert (folder / name).read_text() == text, "write them anew: python3 docs/site/manual.py"
    assert {"atoll.1", "atoll-run.1", "atoll-new.1", "atoll-config.1"} <= set(made)


def test_man_shows_a_page_without_warnings():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for page in sorted((ROOT / "src/cli/man").iterdir()):
        shown = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=False
        )
        assert (shown.returncode, shown.stderr) == (0, ""), page
        assert "SYNOPSIS" in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", shown.stdout)  # bold letters


# ---- new projects ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Heat", "2d", "a-b", "atoll", "numpy", "übung", "class", "queue", "test"])
def test_names_that_are_not_modules_are_refused(atoll, tmp_path, name):
    result = atoll("new", name, cwd=tmp_path)
    assert result.returncode == 2 and f'"{name}"' in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_alone(atoll, tmp_path):
    (tmp_path / "heat").mkdir()
    result = atoll("new", "heat", cwd=tmp_path)
    assert result.returncode == 2 and "heat exists already" in result.stderr
    assert not list((tmp_path / "heat").iterdir())


def test_a_new_project_runs_and_passes_its_tests(atoll, tmp_path):
    pytest.importorskip("atoll", reason="this Python has no atoll: scripts/install.sh")
    made = atoll("new", "work/heat", cwd=tmp_path)
    assert made.returncode == 0 and "cd work/heat" in made.stdout, made.stderr
    folder = tmp_path / "work/heat"
    environment = {k: v for k, v in atoll.environment.items() if k != "PYTHONPATH"}
    ran = subprocess.run(
        [atoll.path, "run", "-n", "3", "-m", "heat", "1000"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "pi is 3.141593, by 3 PEs\n"), ran.stderr
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0 and "3 passed" in tested.stdout, tested.stdout + tested.stderr
    assert "NAME" not in "".join(
        path.read_text() for path in folder.rglob("*") if path.suffix in (".py", ".toml", ".md")
    )


def test_a_new_project_in_cpp_has_its_files(atoll, tmp_path):
    """tests/packaging builds it."""
    made = atoll("new", "--cpp", "heat", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert {path.name for path in (tmp_path / "heat").iterdir()} == {
        "CMakeLists.txt",
        "main.cpp",
        "README.md",
        ".gitignore",
    }
    assert "add_test(NAME heat.${pes} COMMAND" in (tmp_path / "heat/CMakeLists.txt").read_text()
