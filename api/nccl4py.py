"""NCCL4Py's public names beside those of atoll.nccl.

    python3 api/nccl4py.py names FOLDER    prints the names that the package in FOLDER offers, as JSON
    python3 api/nccl4py.py page            prints docs/nccl4py-coverage.md

nccl4py_names.json was printed once, from the sources of nccl4py 0.6.0 of PyPI (pip download --no-deps). Both packages are
read as text, so that neither needs a GPU. Values of an enumeration and fields
of a dataclass are the entry of the class; methods and properties have entries of their own.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent))

from package_names import Names, as_json, offered, parameters

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "python/atoll/nccl"
NAMES = ROOT / "api/nccl4py_names.json"
MODULES = ("typing", "constants", "communicator", "team", "resources", "group", "utils", "buffer", "params")
INTEROP = ("cupy", "torch")
ENUMS = {"IntEnum", "IntFlag"}

Classes = dict[str, ast.ClassDef]


def classes_of(core: Path) -> Classes:
    """Return the classes of all modules of a package, by name."""
    files = [*core.glob("*.py"), *(core / "bindings").glob("*.py")]
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def lines_of(name: str, classes: Classes) -> Iterator[ast.ClassDef]:
    """Yield a class and the classes that it inherits from, as far as they are in the package."""
    yield classes[name]
    for base in classes[name].bases:
        known = ast.unparse(base).rpartition(".")[2]
        if known in classes:
            yield from lines_of(known, classes)


def default(value: ast.expr) -> str:
    """Return a field's default as a text."""
    if isinstance(value, ast.Call):
        value = next((word.value for word in value.keywords if word.arg == "default"), value)
    return ast.unparse(value)


def fields(node: ast.ClassDef) -> list[str] | None:
    """Return the values of an enumeration or the fields of a dataclass; nothing for another class."""
    if ENUMS & {ast.unparse(base).rpartition(".")[2] for base in node.bases}:
        return [
            ast.unparse(line).replace(" ", "")
            for line in node.body
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]).isidentifier()
        ]
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return None
    return [
        ast.unparse(line.target) + ("" if line.value is None else f"={default(line.value)}")
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    ]


def members(name: str, classes: Classes) -> Names:
    """Return a class's public methods and properties, with those that it inherits."""
    found: Names = {}
    for node in reversed(list(lines_of(name, classes))):
        for line in node.body:
            if isinstance(line, ast.FunctionDef) and not line.name.startswith("_"):
                is_property = any(ast.unparse(x) == "property" for x in line.decorator_list)
                found[f"{name}.{line.name}"] = None if is_property else parameters(line)
            elif isinstance(line, ast.Assign) and ("_refuse" in ast.unparse(line.value)):
                target = ast.unparse(line.targets[0])
                is_property = ast.unparse(line.value).startswith("property")
                found[f"{name}.{target}"] = None if is_property else ["self"]
    return found


def of_package(core: Path) -> dict[str, Names]:
    """Return the names of nccl.core with the members of its classes, and of its modules for other libraries."""
    classes, merged = classes_of(core), dict[str, Any]()
    for module in MODULES:
        for name, given in offered(core / f"{module}.py").items():
            merged[name] = fields(classes[name]) if name in classes else given
            if name in classes:
                merged.update(members(name, classes))
    found = {"nccl.core": merged}
    for module in INTEROP:
        found[f"nccl.core.{module}"] = offered(core / f"interop/{module}.py")
    return {module: dict(sorted(names.items())) for module, names in found.items()}


def read() -> tuple[dict[str, Names], dict[str, Names], dict[str, dict[str, str]]]:
    """Return NCCL4Py's names, ours, and the table of differences."""
    table: dict[str, dict[str, str]] = tomllib.loads((ROOT / "api/nccl4py.toml").read_text())
    return json.loads(NAMES.read_text()), of_package(OURS), table


def reason(table: dict[str, dict[str, str]], kind: str, name: str) -> str | None:
    """Return the table's text about a name or about the class that has it."""
    return table[kind].get(name) or table[kind].get(name.rpartition(".")[0])


def qualified(theirs: dict[str, Names]) -> list[str]:
    """Return all names with their modules."""
    return [f"{module}.{name}" for module, names in theirs.items() for name in names]


def counts() -> tuple[int, int, int, int]:
    """Return the numbers of names that work as in NCCL4Py, work with a difference, are refused, and serve kernels only."""
    theirs, _, table = read()
    names = qualified(theirs)
    kernels = sum(reason(table, "kernels", name) is not None for name in names)
    refused, differs = (sum(name in table[kind] for name in names) for kind in ("refused", "differs"))
    return len(names) - kernels - refused - differs, differs, refused, kernels


def page() -> str:
    """Return docs/nccl4py-coverage.md."""
    theirs, _, table = read()
    same, differs, refused, kernels = counts()
    total = same + differs + refused
    lines = [
        "# NCCL4Py's names on Atoll",
        "",
        f"Of the {total} names of `nccl.core` for the host, members of classes included, {100 * (same + differs) / total:.0f} % work: {same} as",
        f"there, {differs} with a difference. The other {refused} raise NcclInvalid with the reason. Another {kernels} names serve",
        "kernels only, and raise NcclInvalid too: kernels have these operations by Atoll's names.",
        "",
        "[From NCCL4Py](from-nccl4py.md) tells how to run its programs. The names are those of NCCL4Py 0.6.0:",
        "`python3 api/nccl4py.py page` prints this page from `api/nccl4py.toml` and `api/nccl4py_names.json`.",
        "",
        "| name | here |",
        "|---|---|",
    ]
    for name in qualified(theirs):
        why = table["refused"].get(name) or reason(table, "kernels", name)
        text = f"Refused. {why}" if why else table["differs"].get(name, "")
        lines.append(f"| `{name.removeprefix('nccl.core.')}` | {text} |")
    lines += ["", "| module | why it cannot be imported |", "|---|---|"]
    lines += [f"| `{module}` | {why} |" for module, why in table["modules"].items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Run a command of the module's docstring."""
    if arguments[:1] == ["names"] and len(arguments) == 2:
        found = of_package(Path(arguments[1]) / "nccl/core")
        print(as_json(found))
    elif arguments == ["page"]:
        print(page(), end="")
    else:
        sys.exit("usage: python3 api/nccl4py.py (names FOLDER | page)")


if __name__ == "__main__":
    main(sys.argv[1:])
