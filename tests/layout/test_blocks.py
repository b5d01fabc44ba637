"""Every block of code on the site's pages is run by a test, which this file names; new blocks need a row or a comment."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import pages  # noqa: E402

FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:\A|\n\n)((?:    .*\n)+)")
# A statement of Python, C or C++ that opens or ends a line.
STATEMENT = re.compile(
    r"^    \s*(import \w|from \w+ import|#include|@\w+\.|(with|for|def|if) \S.*:$|\w+ = \w+[.(].*$|[^|$\n]*\w\(.*\);$)",
    re.MULTILINE,
)
# The tests of all blocks of a page without such a comment, for which test_pages.py looks by itself.
RUN_BY = {
    "README.md": ["tests/python/test_pages.py", "tests/packaging/test_packaging.py"],
    "docs/arrays.md": [
        "tests/python/test_arrays.py", "tests/python/test_page_parts.py", "tests/torch/array_cases.py",
        "tests/packaging/test_packaging.py",
    ],
    "docs/from-nvshmem.md": ["tests/packaging/test_packaging.py", "tests/cli/test_config.py"],
    "docs/from-nvshmem4py.md": ["tests/python/ported.py"],
    "docs/guide.md": ["tests/packaging/test_packaging.py", "tests/packaging/test_device_headers.py"],
    "docs/hangs.md": ["tests/python/test_page_parts.py"],
    "docs/kernels.md": ["tests/python/test_kernel_page.py"],
    "docs/notebooks.md": ["tests/python/test_notebook.py", "tests/python/test_pages.py"],
    "docs/python.md": ["tests/python/test_documentation.py"],
    "docs/slow.md": [
        "tests/python/test_page_parts.py", "tests/python/test_kernel_page.py", "tests/device/traced_test.cpp",
    ],
    "docs/testing.md": ["tests/python/test_pytest_plugin.py"],
    "docs/torch.md": ["tests/torch/blocks.py"],
    "docs/torch-triton.md": ["tests/torch/blocks.py"],
    "docs/tutorial.md": ["tests/python/test_examples.py", "tests/packaging/test_packaging.py"],
}  # fmt: skip
# How a test names a page: "docs/slow.md", "slow.md", or "slow" as an argument.
NAMED = r"{stem}\.md|\"{stem}\"|TraceRange"
# A file for docker, which this machine lacks. The page says that it has not been run.
UNTESTED = {"docs/containers.md"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def written() -> list[str]:
    """The pages that people write; notebooks are run cell by cell (tests/python/test_tutorials.py)."""
    notebooks = ("docs/tutorials/", "docs/course/", "generated/")
    return sorted(
        {name for name in pages.contents().every() if not name.startswith(notebooks)} | {"README.md"}
    )


def loose_blocks(text: str) -> list[str]:
    """The first lines of fenced blocks in a language without such a comment."""
    found = []
    for block in FENCED.finditer(text):
        if block[2] not in ("", "mermaid") and not re.search(
            r"<!-- program: [^>]* -->\n\n\Z", text[: block.start()]
        ):
            found.append(block[3].splitlines()[0])
    return found


def hidden_programs(text: str) -> list[str]:
    """The first lines of indented blocks that are programs, not output or commands."""
    text = FENCED.sub("", text)
    blocks = [block for block in INDENTED.findall(text) if not re.match(r"    (\$|>>>|atoll run:) ?", block)]
    return [block.splitlines()[0] for block in blocks if STATEMENT.search(block)]


def test_programs_that_no_test_sees_are_found() -> None:
    seen = "<!-- program: alone -->\n\n```python\n# a.py\n```\n"
    assert loose_blocks(f"{seen}\n```cpp\nint x;\n```\n\n```\nout\n```\n") == ["int x;"]
    shown = "a\n\n    $ atoll run -n 2 a.py\n    x = f(1)\n\nb\n\n    PE 0: put(dst) of 3\n\n"
    for program in ("with a.b():\n        c\n", "int x = f(1);\n", "import atoll\n", "y = np.zeros(3)\n"):
        assert hidden_programs(f"{shown}c\n\n    {program}") == [f"    {program.splitlines()[0]}"]
    assert hidden_programs(shown) == []


@pytest.mark.parametrize("name", written())
def test_blocks_of_a_page_are_run(name: str) -> None:
    text = text_of(name)
    assert hidden_programs(text) == [], "put a program into a fenced block with its language, and test it"
    loose = loose_blocks(text)
    assert bool(loose) == (name in RUN_BY or name in UNTESTED), f"{loose}: see RUN_BY in {__file__}"
    for test in RUN_BY.get(name, []):
        assert re.search(NAMED.format(stem=Path(name).stem), text_of(test)), f"{test} does not read {name}"
    assert name not in UNTESTED or "have not been run" in text.replace("\n", " ")


def test_commands_of_the_examples_start_programs_that_exist() -> None:
    """tests/python/test_examples.py, test_numba_examples.py and tests/torch run the programs."""
    started = 0
    for readme in sorted((ROOT / "examples").glob("*/README.md")):
        for line in re.findall(
            r"^    ((?:\w+=\w+ )?(?:atoll run|torchrun) .*)$", readme.read_text(), re.MULTILINE
        ):
            (program,) = re.findall(r"(?<= )(?:\w+\.py|build/release/examples/\w+)", line.partition("#")[0])
            made = readme.with_name(Path(program).stem + ".cpp")
            assert made.is_file() or readme.with_name(program).is_file(), f"{readme}: {line}"
            started += 1
    assert started > 40
