"""Running cells in a Jupyter kernel, and the text that they show."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import nbclient
import nbformat
from jobs import HANG_GUARD, environment


class Notebook:
    """A kernel that runs one cell after another."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, source: str, while_it_runs: Callable[[Any], None] | None = None) -> str:
        """Run a cell; return all that it shows. The text of an error begins with "error"."""
        return shown(self._run(source, while_it_runs))

    def count(self) -> int:
        """Return the number that the notebook shows at the last cell, as In [3]."""
        return int(self._client.nb.cells[-1].execution_count)

    def outputs(self, source: str) -> list[Any]:
        """Run a cell; return its outputs."""
        found: list[Any] = self._run(source, None).outputs
        return found

    def _run(self, source: str, while_it_runs: Callable[[Any], None] | None) -> Any:
        cell = nbformat.v4.new_code_cell(source)
        cells = self._client.nb.cells
        cells.append(cell)
        if while_it_runs is not None:
            threading.Thread(target=while_it_runs, args=(cell,), daemon=True).start()
        self._client.execute_cell(cell, len(cells) - 1)
        return cell

    def interrupt(self) -> None:
        """Do what the button does; the manager's own method is for its event loop only."""
        self._client.km.provisioner.process.send_signal(signal.SIGINT)


@contextmanager
def started(folder: str) -> Iterator[Notebook]:
    """A new kernel, which ends with the block."""
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=HANG_GUARD,
        startup_timeout=HANG_GUARD,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
    )
    with client.setup_kernel(env=environment(IPYTHONDIR=folder)):
        yield Notebook(client)


def shown(cell: Any) -> str:
    """The text that a cell printed, its value, and its error."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append("error " + "\n".join(output.traceback) + "\n")
        else:
            parts.append(output.data["text/plain"] + "\n")
    return "".join(parts)


def by_pe(text: str) -> list[str]:
    """Sort lines by PE, keeping the order of each."""
    return sorted(text.splitlines(), key=lambda line: line.split("]")[0])
