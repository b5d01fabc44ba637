"""Every public name is documented; `help` alone is enough to call it."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
import textwrap
import types

import atoll
import atoll.shmem
from atoll import _atoll
from jobs import ROOT, Job
from numpydoc_form import sections
from page_blocks import block_with, blocks, wrong_uses

PUBLIC = atoll.__all__


def test_every_function_is_documented() -> None:
    for name in PUBLIC:
        value = getattr(atoll, name)
        if callable(value):
            assert inspect.getdoc(value), f"{name} has no documentation"


def test_the_list_of_public_names_is_complete() -> None:
    """`from atoll import *` must not replace the built-in print."""
    for name in atoll._LATE:
        getattr(atoll, name)
    present = {name for name, value in vars(atoll).items() if not isinstance(value, types.ModuleType)}
    hidden = {
        "print",
        "load_ipython_extension",
        "unload_ipython_extension",
        "DistArray",
    }  # the last of atoll.arrays
    assert {name for name in present if not name.startswith("_")} - hidden == set(PUBLIC)
    assert len(set(PUBLIC)) == len(PUBLIC)
    names = set(dir(_atoll)) | {"init", "zeros", "launch", "LaunchError", "bcast_object"}
    assert {name for name in names if not name.startswith("_")} <= set(atoll.__all__)


def test_help_of_the_package_shows_every_function_and_nothing_else() -> None:
    text = pydoc.plain(pydoc.render_doc(atoll))
    functions = re.findall(r"^    (\w+)(?: lambda)?\(", text[text.index("\nFUNCTIONS\n") :], re.MULTILINE)
    callables = {name for name in PUBLIC if inspect.isroutine(getattr(atoll, name))}
    assert callables <= set(functions) and not any(name.startswith("_") for name in functions)
    for name in PUBLIC:
        if inspect.isclass(getattr(atoll, name)):
            assert re.search(rf"^    class {name}\(", text, re.MULTILINE), name


def test_the_packages_own_text_has_every_name() -> None:
    text = atoll.__doc__ or ""
    assert "ATOLL_CHECK=all" in text
    words = set(re.findall(r"\w+", text))
    assert len(text.splitlines()) < 60
    for name in PUBLIC:
        parts = {
            name,
            name.removeprefix("atomic_").removesuffix("_nbi"),
            name.split("_")[0] + "_",
            name.split("_until")[0],
        }
        assert parts & words or name.startswith(("test_", "wait_until_")) or name == "Block", name


def test_signatures_can_be_asked_for() -> None:
    assert str(inspect.signature(atoll.put)) == "(dst, src, pe, *, ctx=None, team=None, stream=None)"
    for name in _atoll.__signatures__:
        inspect.signature(getattr(_atoll, name))


def test_one_sided_calls_say_errors_order_and_source() -> None:
    for name in ("put", "get", "put_signal", "atomic_add", "wait_until", "quiet", "sum_reduce", "broadcast"):
        text = inspect.getdoc(getattr(atoll, name)) or ""
        assert "OpenSHMEM 1.6, section 9" in text, name
        assert re.search(r"\b[Ll]ocal|[Cc]ollective|Never waits|this PE", text), name
        assert name == "quiet" or "Raises" in text, name


def test_collectives_say_when_they_compare() -> None:
    """Calls that allocate or make teams always do."""
    said = 0
    for module in (atoll, atoll.shmem):
        for name in dir(module):
            value = getattr(module, name)
            text = inspect.getdoc(value) or "" if inspect.isroutine(value) else ""
            if "CollectiveMismatch" in text and "9.3" not in text and "OutOfMemory" not in text:
                assert "ATOLL_CHECK=none" in text, name
                said += 1
    assert said > 20


def test_documentation_names_the_parameters_of_waits() -> None:
    for name in PUBLIC:
        if not name.startswith(("wait_until", "test")):
            continue
        text = inspect.getdoc(getattr(atoll, name)) or ""
        assert "\n\n\n" not in text, name
        told = re.findall(r"^([a-z]+)\n    ", sections(text)["Parameters"], re.MULTILINE)
        assert told == list(inspect.signature(getattr(atoll, name)).parameters), name
        assert ("contiguous" in text) == ("ivars" in text), name


def test_classes_document_their_methods() -> None:
    for kind in (atoll.Team, atoll.Context, atoll.Lock, atoll.Mailbox):
        assert inspect.getdoc(kind)
        for name, method in vars(kind).items():
            if not name.startswith("_"):
                assert method.__doc__, f"{kind.__name__}.{name}"


def test_the_table_of_errors_agrees_with_the_classes() -> None:
    """docs/python.md has a row for each class of errors: its name, its built-in bases and its docstring."""
    kinds = [getattr(atoll, name) for name in PUBLIC]
    errors = [
        kind
        for kind in kinds
        if inspect.isclass(kind) and issubclass(kind, atoll.Error) and kind is not atoll.Error
    ]
    assert len(errors) > 15
    wanted = set()
    for kind in errors:
        also = ", ".join(f"`{base.__name__}`" for base in kind.__bases__ if base is not atoll.Error)
        said = " ".join((kind.__doc__ or "").split("\n\n")[0].split()).removesuffix(".")
        wanted.add(f"| `{kind.__name__}` | {also} | {said} |")
    page = (ROOT / "docs" / "python.md").read_text()
    table = page[page.index("<!-- errors:") :].split("\n\n")[1]
    rows = table.splitlines()[2:]
    assert set(rows) == wanted and len(rows) == len(wanted), "\n".join(sorted(wanted ^ set(rows)))


def test_importing_is_light() -> None:
    """Modules that are not needed at once are not loaded at once."""
    code = "import sys, numpy; before = set(sys.modules); import atoll; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"subprocess", "numpy.typing", "torch", "cupy", "mpi4py", "cloudpickle"} & set(loaded), loaded


def test_blocks_of_the_page_of_python_use_names_and_arguments_that_exist() -> None:
    """They are parts of programs, and all but the first need a GPU, so they are read and not run."""
    found = blocks("python")
    assert len(found) == 4
    for block in found:
        assert "atoll." in block and not wrong_uses(block, {"atoll": atoll}), block


def test_the_block_of_requests(job: Job) -> None:
    block = block_with("python", "blocking=False")
    start = "import asyncio\natoll.init()\nsrc, dst, compute = atoll.zeros(3), atoll.zeros(3), lambda: None\nsrc[:] = 2\n"
    program = f"async def main():\n{textwrap.indent(block, '    ')}    print(dst.tolist(), total.tolist())\n"
    done = job(f"{start}{program}asyncio.run(main())", 2)
    assert done.stdout == "[4.0, 4.0, 4.0] [4.0, 4.0, 4.0]\n" * 2
