"""%%atoll in a Jupyter kernel: cells on PEs that live on, their output, values, exceptions and interrupts."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import ROOT

pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")

from cells import Notebook, by_pe, shown, started


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with started(str(tmp_path_factory.mktemp("notebook"))) as made:
        assert made.run("%load_ext atoll") == ""
        yield made
        made.run("%atoll stop")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and text of each fenced block of a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def test_the_pages_cells_show_what_the_page_shows(notebook: Notebook) -> None:
    found = blocks(ROOT / "docs" / "notebooks.md")
    assert found[0] == ("python", "%load_ext atoll\n")  # the fixture has run this cell
    cells = [i for i, (_, text) in enumerate(found) if text.startswith("%%atoll")]
    assert len(cells) == 2
    for i in cells:
        out = notebook.run(found[i][1].rstrip())
        assert by_pe(out) == by_pe(found[i + 1][1]), out


def test_values_and_names_live_on(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 1\n1")
    assert notebook.run("%%atoll -n 2\nkept = atoll.my_pe() + 5\nkept;").endswith(
        "names of earlier cells are gone.\n"
    )
    assert by_pe(notebook.run("%%atoll\nkept, _ if '_' in globals() else None")) == [
        "[0] (5, None)",
        "[1] (6, None)",
    ]
    assert notebook.run("'kept' in globals()") == "False\n"
    assert by_pe(notebook.run("%%atoll\nprint('one\\ntwo', end='')")) == [
        "[0] one",
        "[0] two",
        "[1] one",
        "[1] two",
    ]
    html = "%%atoll\nclass Rich:\n    def __repr__(self): return 'plain'\n    def _repr_html_(self): return '<b>rich</b>'\nRich()"
    assert notebook.run(html) == "[0-1]\nplain\n"


def test_equal_exceptions_are_shown_once(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\npass")
    out = notebook.run("%%atoll\nx = 1\nx / 0")
    assert out.count("ZeroDivisionError: division by zero") == 2  # the heading and the traceback
    assert out.startswith("error PE 0-1 raised ZeroDivisionError") and "    x / 0" in out
    assert "_pool" not in out and "run_cell" not in out
    out = notebook.run("%%atoll\nif atoll.my_pe() == 1: raise KeyError('one')\natoll.barrier_all()")
    assert out.startswith("error PE 1 raised KeyError: 'one'"), out
    assert (
        "Symmetric arrays and teams made before are gone: the PEs left the job and joined it again." in out
    ), out
    assert by_pe(notebook.run("%%atoll\natoll.sum_reduce(np.array([x]))")) == [
        "[0] array([2])",
        "[1] array([2])",
    ]
    assert "SyntaxError" in notebook.run("%%atoll\nx = = 1")


def test_an_interrupt_of_the_kernel_reaches_the_pes(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nx = 3")

    def interrupt_when_both_wait(cell: Any) -> None:
        pause = threading.Event()
        while shown(cell).count("waits") < 2:
            pause.wait(0.02)
        notebook.interrupt()

    out = notebook.run(
        "%%atoll\nimport threading\nprint('waits')\nthreading.Event().wait()", interrupt_when_both_wait
    )
    assert "PE 0-1 raised KeyboardInterrupt" in out and "threading.Event().wait()" in out, out
    assert "_pool" not in out and "output.py" not in out, out
    assert by_pe(notebook.run("%%atoll\nx")) == ["[0] 3", "[1] 3"]


def test_cells_may_await(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nimport asyncio")
    cell = "%%atoll\nlater = asyncio.create_task(asyncio.sleep(0, 5))\nawait later + atoll.my_pe()"
    assert by_pe(notebook.run(cell)) == ["[0] 5", "[1] 6"]
    out = notebook.run("%%atoll\nsum_of = atoll.sum_reduce(np.ones(1), blocking=False)\nawait sum_of")
    assert by_pe(out) == ["[0] array([2.])", "[1] array([2.])"]
    assert by_pe(notebook.run("%%atoll\nfor _ in range(2): await asyncio.sleep(0)\n7;")) == []
    assert "SyntaxError" in notebook.run("%%atoll\ndef f(): await 3")


@pytest.mark.parametrize("line", ["%time sum(range(3))", "!echo hi", "  %matplotlib inline"])
def test_magics_within_cells_are_named(notebook: Notebook, line: str) -> None:
    out = notebook.run(f"%%atoll -n 2\nx = 3\n{line}")
    assert f"line 2 of the cell, `{line.strip()}`, is for IPython" in out, out


def test_a_dead_pe_is_named_and_the_next_cell_has_new_pes(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nx = 3")
    out = notebook.run("%%atoll\nimport os\nif atoll.my_pe() == 1: os._exit(4)\natoll.barrier_all()")
    assert out.startswith("error PeDied: PE 1 "), out
    assert "Names, arrays and teams made before are gone; the next cell starts new PEs." in out, out
    out = notebook.run("%%atoll\n'x' in globals()")
    assert "names of earlier cells are gone" in out and by_pe(out)[1:] == ["[0] False", "[1] False"], out


def test_cells_have_the_number_of_the_notebook(notebook: Notebook) -> None:
    notebook.run("1 + 1")
    out = notebook.run("%%atoll -n 1\nw = atoll.zeros(1)\ndef f(): return 1 / 0\nf()")
    numbers = set(re.findall(r"<cell (\S+) of %%atoll>", out))
    assert numbers == {str(notebook.count())}, out


def test_an_array_of_before_a_failure_tells_why_it_is_gone(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nw = atoll.zeros(1)")
    notebook.run("%%atoll\nif atoll.my_pe() == 1: raise KeyError('one')\natoll.barrier_all()")
    out = notebook.run("%%atoll\natoll.put(w, 1.0, 0)")
    assert "UseAfterFree" in out and "the pool's PEs leave their job after a call that failed" in out, out


def test_the_time_of_a_cell_is_bounded(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\npass")
    out = notebook.run("%%atoll --timeout 1\natoll.wait_until(atoll.zeros(1, int), '==', 1)")
    assert "error Timeout:" in out and "wait_until" in out.partition("error Timeout")[2], out


def pictures(out: Any) -> list[str]:
    """Return the kinds of outputs in their order; of text, the text."""
    found = []
    for output in out:
        if output.output_type == "stream":
            found += output.text.splitlines()
        else:
            kinds = [kind for kind in output.data if kind != "text/plain"]
            found += kinds or output.data["text/plain"].splitlines()
    return found


@pytest.mark.parametrize(
    ("cell", "shows"),
    [
        ("from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))\nHTML('<b>y</b>')", ["[0-1]", "text/html"] * 2),
        ("display(Told()); display(atoll.my_pe(), 'b')", ["[0-1]", "text/html", "[0] 0", "[1] 1", "[0] 'b'", "[1] 'b'"]),
        ("if atoll.my_pe() == 1: display(Told())\n3", ["[1]", "text/html", "[0] 3", "[1] 3"]),
        ("display({'text/html': '<i>raw</i>'}, raw=True)", ["[0-1]", "text/html"]),
        ("Told(), 3", ["[0] (told, 3)", "[1] (told, 3)"]),
        ("Told('_repr_latex_')", ["[0-1]", "text/latex"]),
        ("Bundle()", ["[0-1]", "application/json"]),
        ("5", ["[0] 5", "[1] 5"]),
    ],
)  # fmt: skip
def test_objects_that_pes_show(notebook: Notebook, cell: str, shows: list[str]) -> None:
    notebook.run(
        "%%atoll -n 2\nclass Told:\n    _repr_html_ = lambda self: '<b>told</b>'\n    __repr__ = lambda self: 'told'\n"
        "    def __new__(cls, kind=None):\n"
        "        made = type('Kind', (), {kind: lambda self: '$x$'}) if kind else cls\n        return object.__new__(made)\n"
        "class Bundle:\n    def _repr_mimebundle_(self, **_): return {'application/json': {'a': 1}}\n"
    )
    assert pictures(notebook.outputs("%%atoll\n" + cell)) == shows


@pytest.mark.parametrize(
    ("cell", "shows", "error"),
    [
        ("\nprint('p')\ndisplay(1)\n1 / 0", ["[0] p", "[1] p", "[0] 1", "[1] 1"], "PE 0-1 raised ZeroDivisionError"),
        ("\ndisplay(1)\nif atoll.my_pe() == 1: 1 / 0\natoll.barrier_all()", ["[0] 1", "[1] 1"], "PE 1 raised ZeroDiv"),
        ("\ndisplay(1)\ntype('Bad', (), {'__repr__': lambda self: 1 / 0})()", ["[0] 1", "[1] 1"], "PE 0-1 raised"),
        (" --timeout 1\ndisplay(1)\natoll.wait_until(atoll.zeros(1, int), '==', 1)", ["[0] 1", "[1] 1"], "Timeout: this cell"),
    ],
)  # fmt: skip
def test_a_cell_that_fails_shows_what_it_displayed_before(
    notebook: Notebook, cell: str, shows: list[str], error: str
) -> None:
    notebook.run("%%atoll -n 2\npass")
    *before, last = notebook.outputs("%%atoll" + cell)
    lines = [
        line for line in pictures(before) if line.startswith("[")
    ]  # a report of the hang may be beside these
    assert sorted(lines) == sorted(shows)
    assert last.output_type == "error" and "\n".join(last.traceback).startswith(error)
    assert notebook.run("%%atoll\npass") == ""  # nothing is shown again


@pytest.mark.parametrize(
    ("cell", "shows"),
    [
        ("plt.plot([1, 2])\nplt.show()\n7", ["[0-1]", "image/png", "[0] 7", "[1] 7"]),
        ("plt.plot([1, 2]);", ["[0-1]", "image/png"]),
        ("plt.plot([1, atoll.my_pe()])\nNone", ["[0]", "image/png", "[1]", "image/png"]),
        ("fig, axes = plt.subplots()\nfig", ["[0-1]", "image/png"]),
        ("if atoll.my_pe() == 1: plt.plot([3]); plt.show()", ["[1]", "image/png"]),
        ("display(fig)", ["[0-1]", "image/png"]),
    ],
)
def test_figures_are_shown(notebook: Notebook, cell: str, shows: list[str]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install matplotlib")
    notebook.run("%%atoll -n 2\nimport matplotlib.pyplot as plt")
    if cell == "display(fig)":
        notebook.run("%%atoll\nfig, axes = plt.subplots()")
    assert pictures(notebook.outputs("%%atoll\n" + cell)) == shows


def test_a_pe_that_leaves_a_cell_early_ends_it(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nx = 3")
    out = notebook.run("%%atoll\nif atoll.my_pe() == 1:\n    from atoll import arrays\n    arrays.zeros(10)")
    assert out.startswith(
        "error CollectiveMismatch: this cell: PE 0 returned, and a collective call needs all PEs of its team.\n"
        "PE 0 is between calls of the pool, and PE 1 waits for it in "
    ), out
    assert "at <cell" in out and "atoll run:" not in out, out
    assert by_pe(notebook.run("%%atoll\nx")) == ["[0] 3", "[1] 3"]


def test_line_commands(notebook: Notebook) -> None:
    notebook.run("%%atoll -n 2\nx = 3")
    lines = notebook.run("%atoll status").splitlines()
    assert lines[0] == "<atoll.Pool of 2 PEs, idle>"
    assert re.fullmatch(r"PE 1  process \d+  idle", lines[2])
    assert notebook.run("%atoll restart") == "2 new PEs.\n"
    assert notebook.run("%%atoll\n'x' in globals()").count("False") == 2
    assert notebook.run("pool = %atoll pool\npool.run(pow, 2, 3)") == "[8, 8]\n"
    assert "PE 0" in notebook.run("%atoll report")
    assert "no such command. Usage:" in notebook.run("%atoll nonsense")
    assert "'many' is no number of PEs, such as 4. Usage:" in notebook.run("%%atoll -n many\n1")
    refused = notebook.run("%%atoll -n 0\n1")
    assert "0 PEs; expected 1 or more" in refused and "New PEs" not in refused, refused
    assert notebook.run("%atoll stop") == ""
    assert "There are no PEs" in notebook.run("%atoll status")
    notebook.run("%%atoll -n 2\npass")
    assert notebook.run("%unload_ext atoll") == ""
    assert notebook.run("%load_ext atoll") == ""
    assert "There are no PEs" in notebook.run("%atoll status")
