"""The checks of a program as test cases: the program runs once, and each of its checks is a case."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable

import pytest
from jobs import PROGRAMS, ROOT, Done, Job


def conformance_programs(language: str) -> list[str]:
    """Return the programs that api/kernels.toml lists for a language of kernels."""
    table = json.loads((ROOT / "python/atoll/_kernels/operations.json").read_text())
    return list(table["languages"][language]["programs"])


def checks_of(*programs: str) -> list[tuple[str, str]]:
    """Return each program with each of its checks, in the order in which they run.

    A check is a function whose name begins with `check_`, or that has the decorator `check`.
    """
    return [
        (program, node.name)
        for program in programs
        for node in ast.parse((PROGRAMS / program).read_text()).body
        if isinstance(node, ast.FunctionDef) and (node.name.startswith("check_") or _is_registered(node))
    ]


def _is_registered(function: ast.FunctionDef) -> bool:
    return any(isinstance(name, ast.Name) and name.id == "check" for name in function.decorator_list)


def done_by(run: Job, program: str, n: int, *arguments: str, **changes: str) -> Done:
    """Run a program; the text of a failed one is the output of a program that ended with 1."""
    try:
        return run(program, n, *arguments, **changes)
    except pytest.fail.Exception as failure:
        return Done(program, 1, str(failure), str(failure))


class Outcomes:
    """The results of programs, each of which runs once for each number of PEs."""

    def __init__(self) -> None:
        self._done: dict[tuple[str, int], Done] = {}

    def done(self, program: str, n: int, run: Callable[[], Done]) -> Done:
        """Return the result of a program, which `run` runs at the first call."""
        if (program, n) not in self._done:
            self._done[program, n] = run()
        return self._done[program, n]

    def expect(self, program: str, n: int, check: str, run: Callable[[], Done]) -> None:
        """Fail unless the check passed. `run` runs the program, if it has not run yet."""
        done = self.done(program, n, run)
        lines = done.stdout.splitlines()
        if f"passed: {check}" not in lines:
            why = "failed" if f"{check} failed" in done.stderr else "did not run, since an earlier one failed"
            pytest.fail(f"{check} {why}\n{done.stdout}\n{done.stderr}", pytrace=False)
        if done.returncode != 0 and check == checks_of(program)[-1][1]:
            pytest.fail(
                f"{program} ended with {done.returncode}\n{done.stdout}\n{done.stderr}", pytrace=False
            )
