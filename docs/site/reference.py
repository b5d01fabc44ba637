"""Writes the pages of the reference: Python's names by topic, and the command line."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
from pathlib import Path
from typing import Any

import manual
import search
import tomllib
from pages import HERE, ROOT


def table() -> dict[str, Any]:
    """Read names.toml."""
    return tomllib.loads((HERE / "names.toml").read_text())


# ---- Python ----------------------------------------------------------------------------------------------------------


def directive(kind: str, name: str, *options: str, body: str = "") -> str:
    """One directive of reStructuredText, in a page of Markdown, for a name with its module."""
    module = re.match(r"[\w.]+(?=\.\w+)", name)[0]  # type: ignore[index]
    lines = [
        f".. py:currentmodule:: {module}",
        "",
        f".. {kind}:: {name.removeprefix(module + '.') if kind.startswith('py:') else name}",
        *(f"   :{option}:" for option in options),
    ]
    if body:
        lines += ["", *(f"   {line}".rstrip() for line in body.splitlines())]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```\n"


def entry(module: Any, name: str) -> str:
    """The directive for a name of a module."""
    value, full = getattr(module, name), f"{module.__name__}.{name}"
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return directive("autoexception", full, "members", "show-inheritance")
        inherited = ["inherited-members"] if has_hidden_bases(module, value) else []
        return directive("autoclass", full, "members", "undoc-members", *inherited)
    if callable(value) and hasattr(value, "__name__"):
        return directive("autofunction", full)
    return directive("py:data", full, body=constant(module.__name__, name, value))


def has_hidden_bases(module: Any, value: type) -> bool:
    """True for a class whose methods come from private classes of the same package."""
    return any(
        base.__module__.startswith(f"{module.__name__}.") and base.__name__ not in public_names(module)
        for base in value.__mro__[1:]
    )


def constant(module: str, name: str, value: Any) -> str:
    """The text of a name that is neither a function nor a class: its own line in the sources, else its value."""
    known = {
        "WORLD": "The team of all PEs.",
        "HOST": "The team of the PEs on this PE's host.",
        "SHARED": "The team of the PEs that load and store each other's memory.",
        "RAIL": "The team of the PEs that have this PE's number within their host.",
        "rc": "Options that are read by `import atoll` and `init`; " + first_sentence(value),
    }
    if module == "atoll" and name in known:
        return known[name]
    owner = type(value).__name__
    if hasattr(value, "name") and hasattr(value, "value"):
        return f"``{module}.{owner}.{value.name}``, whose value is {int(value.value)}."
    if isinstance(value, int | float | str | tuple):
        return f"The value is ``{value!r}``."
    return first_sentence(value) or f"An object of the type {owner}."


def first_sentence(value: Any) -> str:
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return text.split(". ")[0].rstrip(".") + "." if text else ""


def places() -> dict[str, str]:
    """The place in the site of the page of each name of `atoll`."""
    return {name: f"reference/python/{page['file']}" for page in table()["page"] for name in page["names"]}


def python_page(page: dict[str, Any]) -> str:
    """A page of names of `atoll`."""
    import atoll

    # An entry of the index leads to the text behind it.
    entries = [search.entries("names", name) + "\n" + entry(atoll, name) for name in page["names"]]
    return f"# {page['title']}\n\n{page['about']}\n\n{links('atoll', page['names'])}\n\n" + "\n".join(entries)


def links(module: str, names: list[str]) -> str:
    """Links to the entries of names."""
    return ", ".join(f"{{py:obj}}`~{module}.{name}`" for name in names)


def public_names(module: Any) -> list[str]:
    """The names of a module for its users."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = (name for name in dir(module) if not name.startswith("_"))
    return [name for name in own if getattr(getattr(module, name), "__module__", None) == module.__name__]


def module_page(module: dict[str, Any]) -> str:
    """A page of one further module; its names come from the module, or from its sources if it cannot be imported."""
    head = f"# {module['title']}\n\n{module['about']}\n\n"
    if "source" in module:
        return head + "\n".join(parsed(module))
    import importlib

    imported = importlib.import_module(module["name"])
    names = [name for name in public_names(imported) if not is_kernel_operation(imported, name)]
    return head + "\n".join(entry(imported, name) for name in names)


def is_kernel_operation(module: Any, name: str) -> bool:
    """Operations of kernels have their own page, written from api/kernels.toml."""
    return module.__name__ == "atoll.numba" and name not in KERNEL_HOST_NAMES


KERNEL_HOST_NAMES = {
    "Kernel",
    "Mailbox",
    "kernel",
    "launch",
    "mailbox",
    "most_resident_blocks",
}


def parsed(module: dict[str, Any]) -> list[str]:
    """Entries of public functions and classes, read from source files without an import."""
    entries = []
    for source in module["source"]:
        tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or not is_shown(node, module):
                continue
            body = docstring(node)
            if isinstance(node, ast.ClassDef):
                body += "".join(
                    f"\n\n.. py:method:: {one.name}{signature(one, 1)}\n\n" + indented(docstring(one))
                    for one in node.body
                    if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
                )
                made = directive("py:class", f"{module['name']}.{node.name}", body=body)
            else:
                made = directive("py:function", f"{module['name']}.{node.name}{signature(node)}", body=body)
            entries.append(made)
    return entries


def is_shown(node: ast.FunctionDef | ast.ClassDef, module: dict[str, Any]) -> bool:
    if "names" in module:
        return node.name in module["names"]
    listed = re.search(
        r"^__all__ = \[(.*?)\]", (ROOT / module["source"][0]).read_text(encoding="utf-8"), re.M | re.S
    )
    if listed:
        return f'"{node.name}"' in listed[1]
    return not node.name.startswith("_") and bool(ast.get_docstring(node))


def docstring(node: ast.FunctionDef | ast.ClassDef) -> str:
    """A docstring in reStructuredText."""
    from sphinx.ext.napoleon import Config, NumpyDocstring

    text = ast.get_docstring(node) or ""
    return str(NumpyDocstring(in_restructured_text(text), Config(**NAPOLEON)))


def indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())


def signature(node: ast.FunctionDef, skipped: int = 0) -> str:
    """The arguments of a function, without the first ones, and its result."""
    arguments = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
    arguments.args = arguments.args[skipped:]
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){result}"


# Settings of napoleon, also for conf.py. Arguments with one text stay in one row.
NAPOLEON = {"napoleon_use_rtype": False, "napoleon_use_param": False}
MARK = re.compile(r"(``.*?``|`.*?`(?:__)?)|(?<!\\)(\*(?! )|(?<=\w)_(?!\w))", re.DOTALL)


def in_restructured_text(text: str) -> str:
    """A docstring of the project, ready for napoleon."""
    return without_overloads(without_emphasis(with_page_links(text)))


def without_emphasis(text: str) -> str:
    """Stars and underlines of docstrings belong to names and products, never to emphasis; code keeps them."""
    text, *examples = re.split(r"(?=^Examples\n-+$)", text, flags=re.MULTILINE)
    text = MARK.sub(lambda found: found[1] or "\\" + found[2], text)
    return text + "".join(examples)


OVERLOAD = re.compile(r"^\d+\. ``(.*)``$", re.MULTILINE)


def without_overloads(text: str) -> str:
    """nanobind numbers the forms of a call; here each is its signature, and then its text."""
    if "Overloaded function." not in text:
        return text
    from sphinx.ext.napoleon import Config, NumpyDocstring

    _, *forms = OVERLOAD.split(text)
    parts = [
        f"``{form}``\n\n{NumpyDocstring(body.strip(), Config(**NAPOLEON))}"
        for form, body in zip(forms[::2], forms[1::2], strict=True)
    ]
    return "\n\n".join(parts)


PAGE_NAMED = re.compile(r'"([^"]+)"\s+in\s+docs/([\w-]+)\.md')


def with_page_links(text: str) -> str:
    """Docstrings name sections of pages, which become links in the reference."""

    def linked(found: re.Match[str]) -> str:
        heading = " ".join(found[1].split())
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        return f"`{heading} <../../{found[2]}.html#{anchor}>`__"

    return PAGE_NAMED.sub(linked, text)


def write_python(target: Path) -> None:
    """Write all pages of Python's reference."""
    read = table()
    (target / "python").mkdir(parents=True, exist_ok=True)
    rows, files = [], []
    for page in read["page"]:
        files.append(f"python/{page['file']}.md")
        (target / files[-1]).write_text(python_page(page), encoding="utf-8")
        rows.append(
            f"## {page['title']}\n\n{page['about'].replace('](../../', '](../')}\n\n{links('atoll', page['names'])}\n"
        )
    for module in read["module"]:
        files.append(f"python/{module['name'].replace('.', '-')}.md")
        text = search.in_markdown(f"generated/{files[-1]}", module_page(module))
        (target / files[-1]).write_text(text, encoding="utf-8")
        rows.append(
            f"## {module['name']}\n\n{module['about'].replace('](../../', '](../')} [All names]({files[-1]}).\n"
        )
    tree = "```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(files) + "\n```\n"
    about = (
        "All public names by topic; each leads to its arguments, errors and examples. The search finds them too. "
        "`help(atoll.put)` shows the same text.\n"
    )
    (target / "python.md").write_text(
        f"# Python\n\n{about}\n" + "\n".join(rows) + "\n" + tree, encoding="utf-8"
    )


# ---- command line ----------------------------------------------------------------------------------------------------


def help_of(atoll: Path, *words: str) -> str:
    """The help of a command."""
    done = subprocess.run([atoll, *words, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.rstrip()


ROW = re.compile(r"^  (\S(?:.*?\S)?) {2,}(.*)$")


def in_tables(text: str) -> str:
    """Help of a command with its rows of options as tables; other lines are paragraphs."""
    if "\nOptions:" not in text:
        return f"```text\n{text}\n```"
    parts, rows = [], list[str]()
    for line in [*text.splitlines(), ""]:
        row = ROW.match(line)
        if row:
            rows += [] if rows else ["| argument | meaning |", "|---|---|"]
            rows.append("| `{}` | {} |".format(*(cell.replace("|", "\\|") for cell in row.groups())))
        elif line.strip() and not line.endswith(":"):
            parts.append(f"`{line}`" if line.startswith("Usage: ") else line.strip().replace("\\", "\\\\"))
        if rows and not row:
            parts.append("\n".join(rows))
            rows = []
    return "\n\n".join(parts)


def write_command_line(target: Path, atoll: Path) -> None:
    """Write the page of the launcher's commands from their own help."""
    target.mkdir(parents=True, exist_ok=True)
    whole = help_of(atoll)
    commands = re.findall(r"^  atoll (\w+) +(.*)$", whole, re.MULTILINE)
    assert len(commands) > 5, whole
    text = "# Command line\n\n`atoll run -n 4 program.py` starts a job. Every command prints its options by `--help`, "
    text += "which this page repeats. [The launcher](../launcher.md) explains `atoll run`.\n\n"
    text += "| command | purpose |\n|---|---|\n"
    text += "".join(f"| [`atoll {name}`](#atoll-{name}) | {purpose} |\n" for name, purpose in commands)
    text += "| [`oshcc`, `oshc++`, `oshCC`](#oshcc) | compile and link OpenSHMEM programs |\n"
    text += "| `oshrun`, `nvshmrun` | other names of `atoll run`, for programs of OpenSHMEM and NVSHMEM |\n"
    text += "\nEach has a page of man, as in `man atoll-run`.\n"
    for name, _ in commands:
        text += f"\n## atoll {name}\n\n{in_tables(help_of(atoll, name))}\n"
    text += f"\n## oshcc\n\n{in_tables(manual.help_of_compiler())}\n"
    (target / "command-line.md").write_text(text, encoding="utf-8")
