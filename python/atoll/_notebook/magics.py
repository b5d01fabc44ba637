"""The magics of IPython and Jupyter: %load_ext atoll, then %%atoll -n 4 runs a cell on PEs."""

from __future__ import annotations

import argparse
import ast
import contextlib
import shlex
from typing import Any

from IPython import display
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class

from .. import _atoll
from .._launching.failures import LaunchError, pe_ranges
from .._pool.output import labelled
from .._pool.pool import Pool
from .._pool.task import ANSWER_SECONDS, without_pool
from .cells import run_cell
from .pictures import Forms, taken

_USAGE = "%%atoll [-n N] [--timeout SECONDS] before a cell, or %atoll status, restart, report, stop or pool"


class CellError(LaunchError):
    """A cell failed on some PEs; shown as the PEs' own report, without the frames of this process."""

    def _render_traceback_(self) -> list[str]:
        return str(self).rstrip().split("\n")


class CellInterrupt(KeyboardInterrupt):
    """A cell was interrupted; shown as the places at which the PEs were."""

    def _render_traceback_(self) -> list[str]:
        return str(self).rstrip().split("\n")


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(f"{message}. Usage: {_USAGE}")


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of PEs, such as 4") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} PEs; expected 1 or more")
    return number


def _parser() -> _Arguments:
    parser = _Arguments(prog="%%atoll", add_help=False, allow_abbrev=False)
    parser.add_argument("-n", type=_positive, default=None)
    parser.add_argument("--timeout", type=float, default=None)
    return parser


@magics_class
class AtollMagics(Magics):
    """The magic `atoll`, for lines and for cells. Its PEs live on between cells."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.pool: Pool | None = None
        self._cells: dict[int, int] = {}  # by number of the notebook's: those with it

    @line_cell_magic
    def atoll(self, line: str, cell: str | None = None) -> Any:
        """Run a cell on PEs: `%%atoll -n 4`. Without -n on the same ones.

        The cell's names live on in each PE until `%atoll restart`; `atoll` and `np` are there from the start.
        Output is shown by PE in whole lines, as in "[3] ...", then the last expression's value on each PE.

        `%atoll status` shows number, process and state of the PEs. `%atoll restart` starts new ones. `%atoll report`
        shows why they wait. `%atoll stop` ends them. `%atoll pool` returns the atoll.Pool behind the cells.
        """
        if cell is None:
            return self._command(line.strip())
        arguments = _parser().parse_args(shlex.split(line))
        _refuse_magics(cell)
        self._start(arguments.n)
        return self._run(cell, arguments.timeout)

    def _command(self, command: str) -> Any:
        if command not in ("status", "restart", "report", "stop", "pool"):
            raise UsageError(f"%atoll {command}: no such command. Usage: {_USAGE}")
        if self.pool is None:
            print("There are no PEs; %%atoll -n 4 starts some.")
        elif command == "status":
            print(repr(self.pool))
            for number, pid, state in self.pool.status():
                print(f"PE {number}  process {pid}  {state}")
        elif command == "restart":
            self.pool.restart()
            print(f"{self.pool.n_pes} new PEs.")
        elif command == "report":
            print(self.pool.report())
        elif command == "stop":
            self.close()
        else:
            return self.pool
        return None

    def _start(self, n: int | None) -> None:
        """Have the PEs ready: those of the last cell, or new ones."""
        if self.pool is not None and n is not None and n != self.pool.n_pes:
            print(f"New PEs in place of {self.pool.n_pes}: names of earlier cells are gone.")
            self.close()
        if self.pool is None:
            self.pool = Pool(n, label=True)
        elif any(state == "ended" for _, _, state in self.pool.status()):
            print("The PEs had ended. These are new ones: names of earlier cells are gone.")
            self.pool.restart()

    def _run(self, cell: str, timeout: float | None) -> None:
        assert self.pool is not None
        joins = self.pool._joins()
        try:
            shown = self.pool.run(run_cell, cell, self._next_name(), timeout=timeout)
        except (KeyboardInterrupt, Exception) as error:
            self._show_displayed()
            shown_error = _error_of_cell(error)
            if isinstance(shown_error, CellError | CellInterrupt) and (lost := self._lost_text(joins)):
                shown_error.args = (f"{str(shown_error).rstrip()}\n{lost}", *shown_error.args[1:])
            raise shown_error from None
        _display_in_order([displayed for displayed, _ in shown])
        _display({pe: value for pe, (_, value) in enumerate(shown)})

    def _next_name(self) -> str:
        """Return a name for this cell by the notebook's number, In [17]. Cells that it does not count get a further one."""
        # IPython's execution_count is that of this cell or of the next one, by version.
        history = self.shell.history_manager if self.shell is not None else None
        inputs = [""] if history is None else history.input_hist_parsed
        number = len(inputs) - 1
        self._cells[number] = self._cells.get(number, 0) + 1
        again = f".{self._cells[number]}" if self._cells[number] > 1 else ""
        return f"<cell {number}{again} of %%atoll>"

    def _lost_text(self, joins: int) -> str:
        """Return a line on what later cells lack after a failed one; `joins` are those of the pool before it."""
        assert self.pool is not None
        if any(state == "ended" for _, _, state in self.pool.status()):
            return "Names, arrays and teams made before are gone; the next cell starts new PEs."
        if self.pool._joins() > joins:
            return "Symmetric arrays and teams made before are gone: the PEs left the job and joined it again. Names live on."
        return ""

    def _show_displayed(self) -> None:
        """Show the objects that the PEs displayed before their cell failed."""
        assert self.pool is not None
        if any(state == "ended" for _, _, state in self.pool.status()):
            return
        with contextlib.suppress(Exception):  # the cell's own error is raised
            _display_in_order(self.pool.run(taken, None, timeout=ANSWER_SECONDS + 1))

    def close(self) -> None:
        """End the PEs."""
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)
            self.pool = None


def _error_of_cell(error: BaseException) -> BaseException:
    """Return the error that the notebook shows: the report of the PEs, without the frames of this process."""
    if isinstance(error, KeyboardInterrupt):
        return CellInterrupt(str(error.__cause__ or "The cell was interrupted."))
    report = error if isinstance(error, LaunchError) else error.__cause__
    if isinstance(report, LaunchError):
        return CellError(str(report), report.pe)
    if isinstance(error, _atoll.Timeout | _atoll.PeDied | _atoll.CollectiveMismatch):
        text = without_pool(str(error), run_cell.__name__, "this cell")  # the next cell starts new PEs
        return CellError(f"{type(error).__name__}: {text}")
    return error


def _refuse_magics(cell: str) -> None:
    """Name the magic of a cell that PEs would call invalid syntax; they run plain Python."""
    try:
        ast.parse(cell)
        return
    except SyntaxError as error:
        lines, number = cell.splitlines(), error.lineno or 0
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    if line.startswith("%matplotlib"):
        raise UsageError(
            f"line {number} of the cell, `{line}`, is for IPython. PEs show figures without it: remove it."
        )
    if line.startswith(("%", "!")):
        raise UsageError(
            f"line {number} of the cell, `{line}`, is for IPython, and PEs run plain Python. Put it into a cell without "
            "%%atoll, or use time.perf_counter() for %time and subprocess.run() for !."
        )


def _display_in_order(shown: list[list[Forms]]) -> None:
    """Show the objects of each PE: the first ones of all PEs, then the second ones, and so on."""
    for i in range(max(map(len, shown))):
        _display({pe: displayed[i] for pe, displayed in enumerate(shown) if i < len(displayed)})


def _display(shown: dict[int, Forms]) -> None:
    """Show an object of each PE: text in one output, pictures and HTML below their PE's number, equal ones once."""
    plain = {pe: forms["text/plain"] for pe, forms in shown.items() if forms.keys() == {"text/plain"}}
    if plain:
        text = "".join(labelled(pe, value) for pe, value in plain.items()).rstrip("\n")
        _show({"text/plain": text})
    rich: dict[str, tuple[Forms, list[int]]] = {}
    for pe, forms in shown.items():
        if forms and pe not in plain:
            picture = {
                kind: data for kind, data in forms.items() if kind != "text/plain"
            }  # an address is in many texts
            rich.setdefault(repr(picture), (forms, []))[1].append(pe)
    for forms, pes in rich.values():
        print(f"[{pe_ranges(pes)}]")
        _show(forms)


def _show(forms: Forms) -> None:
    show: Any = display.display
    show(forms, raw=True)


def load_ipython_extension(shell: Any) -> None:
    """Register the magics: %load_ext atoll."""
    magics = AtollMagics(shell)
    shell.register_magics(magics)
    shell.atoll_magics = magics


def unload_ipython_extension(shell: Any) -> None:
    """End the PEs: %unload_ext atoll."""
    shell.atoll_magics.close()
