"""Writes the page of error messages: each class with the text of a real error, and cures from errors.toml."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import search
import tomllib
from pages import HERE

# Runs on two PEs: the programs in their order, then those that fail once the job has ended.
RUN = """
import json, sys
import atoll, numpy as np

def output_of(program):
    try:
        exec(program, {"atoll": atoll, "np": np})
    except atoll.Error as error:
        return [type(error).__name__, str(error)]
    return ["", "no error"]

programs, after = json.loads(sys.argv[1])
atoll.init()
me = atoll.my_pe()
texts = {name: output_of(program) for name, program in programs.items()}
atoll.finalize()
texts |= {name: output_of(program) for name, program in after.items()}
if me == 0:
    print(json.dumps(texts))
"""
AFTER_THE_JOB = {"NotInitialized"}
# A mismatch leaves the team of all PEs unusable, so finalize would fail.
ALONE = {"CollectiveMismatch"}


def table() -> dict[str, dict[str, Any]]:
    """Read errors.toml."""
    return tomllib.loads((HERE / "errors.toml").read_text(encoding="utf-8"))


def classes() -> dict[str, str]:
    """The error classes and the first paragraphs of their texts."""
    import atoll

    values = {name: getattr(atoll, name) for name in atoll.__all__}
    return {
        name: " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
        for name, value in values.items()
        if inspect.isclass(value) and issubclass(value, atoll.Error) and value is not atoll.Error
    }


def texts(launcher: Path) -> dict[str, str]:
    """The text of the error that each program of the table raises; an error of another class is an AssertionError."""
    programs = {name: row["program"] for name, row in table().items() if "program" in row}
    groups = [
        (
            {name: text for name, text in programs.items() if name not in AFTER_THE_JOB | ALONE},
            {name: programs[name] for name in sorted(AFTER_THE_JOB)},
        ),
        *(({name: programs[name]}, {}) for name in sorted(ALONE)),
    ]
    found: dict[str, str] = {}
    environment = {**os.environ, "ATOLL_HEAP_SIZE": "1G"}  # the text of a full heap has it
    for group in groups:
        command = [launcher, "run", "-n", "2", sys.executable, "-c", RUN, json.dumps(group)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=280, check=False, env=environment
        )
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        for name, (kind, text) in json.loads(done.stdout).items():
            assert kind == name, f"errors.toml: the program of {name} ends with {kind}: {text}"
            found[name] = text
    return found


def write(target: Path, launcher: Path) -> None:
    """Write the page."""
    rows, real = table(), texts(launcher)
    text = """# Error messages and their cures

Errors of Atoll are classes below `atoll.Error`. The text of each says what happened, what was expected and what to do.
This page has the usual causes and cures, with the text of a real error on two PEs.

"""
    for name, about in classes().items():
        text += f"## {name}\n\n{about.rstrip('.')}. {{py:obj}}`Reference <atoll.{name}>`\n\n"
        if name in real:
            text += f"```python\n{rows[name]['program'].replace('; ', chr(10))}\n```\n\n```text\n{real[name]}\n```\n\n"
        text += "".join(f"- {cure}\n" for cure in rows[name]["cures"]) + "\n"
    (target / "errors.md").write_text(search.in_markdown("generated/errors.md", text), encoding="utf-8")
