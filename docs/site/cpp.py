"""Writes the reference of C++ and C: Doxygen reads the headers, and Breathe shows what it found.

cpp.toml has the pages and their headers. A page has all public names of its headers, so none is listed by hand. The
names of shmem.h come from api/openshmem.toml.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import Any

import openshmem
import tomllib
from pages import HERE, ROOT

INCLUDE = ROOT / "include"
NAMESPACES = ("atl", "atl::device")
# Headers whose functions are members of Context; it inherits them from a class for the library's own use.
INHERITED = {"atoll/rma.hpp": "RmaOps", "atoll/atomics.hpp": "AtomicOps", "atoll/waits.hpp": "WaitOps"}
DIRECTIVES = {"typedef": "typedef", "variable": "variable", "enum": "enum", "define": "define"}


def table() -> dict[str, Any]:
    """Read cpp.toml."""
    return tomllib.loads((HERE / "cpp.toml").read_text())


def run_doxygen(target: Path) -> Path:
    """Write Doxygen's XML below a folder; return its folder. A warning is an error."""
    target.mkdir(parents=True, exist_ok=True)
    settings = (HERE / "Doxyfile").read_text()
    settings += f'INPUT = "{INCLUDE}"\nSTRIP_FROM_PATH = "{INCLUDE}"\nOUTPUT_DIRECTORY = "{target}"\n'
    xml = target / "xml"
    shutil.rmtree(xml, ignore_errors=True)
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    for path in xml.glob("*.xml"):  # every template is inline: the word tells nothing
        path.write_text(
            path.read_text(encoding="utf-8").replace(' inline="yes"', ' inline="no"'), encoding="utf-8"
        )
    return xml


def found_names(xml: Path) -> dict[str, list[tuple[int, str]]]:
    """The directives of all public names by header, each with its line."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for compound in ET.parse(xml / "index.xml").getroot():
        kind, name = compound.get("kind"), compound.findtext("name") or ""
        if kind in ("class", "struct", "concept") and is_public(name):
            root = ET.parse(xml / f"{compound.get('refid')}.xml").getroot()
            options = [] if kind == "concept" else ["members", "undoc-members"]
            add(found, root.find("compounddef"), f"doxygen{kind}", name, *options)
        if kind == "file" or (kind == "namespace" and name in NAMESPACES):
            root = ET.parse(xml / f"{compound.get('refid')}.xml").getroot()
            for member in root.iter("memberdef"):
                add_member(found, member, f"{name}::" if kind == "namespace" else "")
    return found


def is_public(name: str) -> bool:
    """True for a class that belongs to a namespace of users, and to no other class; C has no namespace."""
    return name.rpartition("::")[0] in ("", *NAMESPACES) and "<" not in name and name != "atoll"


def add_member(found: dict[str, list[tuple[int, str]]], member: ET.Element, before: str) -> None:
    """Add a function, type, variable or macro."""
    name = before + (member.findtext("name") or "")
    if member.get("kind") == "function":
        add(found, member, "doxygenfunction", name + (member.findtext("argsstring") or ""))
    elif member.get("kind") in DIRECTIVES and "@" not in name and not name.endswith("_H"):
        add(found, member, f"doxygen{DIRECTIVES[str(member.get('kind'))]}", name)


def add(
    found: dict[str, list[tuple[int, str]]], node: ET.Element | None, directive: str, name: str, *options: str
) -> None:
    """Add one directive to the header in which its name is declared."""
    place = node.find("location") if node is not None else None
    assert place is not None, name
    lines = [f".. {directive}:: {name}", *(f"   :{option}:" for option in options), ""]
    entry = (int(place.get("line", "0")), "\n".join(lines))
    if entry not in found[place.get("file", "")]:
        found[place.get("file", "")].append(entry)


def opening(header: Path) -> str:
    """The comment with which a header begins, as Markdown; its code remains code."""
    lines = header.read_text(encoding="utf-8").splitlines()
    if lines[0].startswith("/*"):
        last = next(i for i, line in enumerate(lines) if "*/" in line)
        taken = [re.sub(r"^ *(/\*+|\*/|\*) ?|^   | *\*/$", "", line) for line in lines[: last + 1]]
    else:
        count = next(i for i, line in enumerate(lines) if not line.startswith("//"))
        taken = [re.sub(r"^///? ?", "", line) for line in lines[:count]]
    text = "\n".join(f"  {line}" if line.startswith("  ") else line for line in taken)
    return re.sub(r"<(\w+\.hpp|\w+\.h)>", r"`<\1>`", text)


def inherited(xml: Path, header: str) -> str:
    """Links to the members of Context that a header declares."""
    root = ET.parse(xml / f"classatl_1_1detail_1_1{INHERITED[header]}.xml").getroot()
    names = []
    for member in root.iter("memberdef"):
        place, name = member.find("location"), member.findtext("name")
        if place is not None and place.get("file") == header and member.get("kind") == "function":
            names += [name] if member.get("prot") == "public" and name not in names else []
    return (
        "Members of `Context`: "
        + ", ".join(f"{{cpp:func}}`~atl::Context::{name}`" for name in names)
        + ".\n\n"
    )


def section(xml: Path, header: str, title: str, entries: list[tuple[int, str]]) -> str:
    """The part of a page for one header."""
    text = f"## {title}\n\n```cpp\n#include <{header}>\n```\n\n{opening(INCLUDE / header)}\n\n"
    text += inherited(xml, header) if header in INHERITED else ""
    if entries:
        text += "```{eval-rst}\n" + "\n".join(one for _, one in sorted(entries)) + "```\n\n"
    return text


def functions_of_the_job() -> str:
    """The names of ops.hpp that forward to the current job."""
    names = re.findall(
        r'^ *ATOLL_(CONTEXT|TEAM)_FUNCTION\((\w+), "', (INCLUDE / "atoll/ops.hpp").read_text(), re.MULTILINE
    )
    by = {
        kind: ", ".join(f"`{name}`" for which, name in names if which == kind) for kind in ("CONTEXT", "TEAM")
    }
    return f"- By its default [context](cpp/contexts.md): {by['CONTEXT']}.\n- By its world [team](cpp/jobs.md): {by['TEAM']}.\n"


def state(xml: Path) -> str:
    """A comment that differs if Doxygen found anything else, so that Sphinx then reads the pages again."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(xml.glob("*.xml"))))
    return f"% {digest.hexdigest()}\n"


def write(target: Path, scratch: Path) -> None:
    """Write all pages of C++ and C below a folder; Doxygen's own files go to another one."""
    xml = run_doxygen(scratch)
    found = found_names(xml)
    folder = target / "cpp"
    folder.mkdir(parents=True, exist_ok=True)
    rows, files = [], []
    for page in table()["page"]:
        files.append(f"cpp/{page['file']}.md")
        parts = [section(xml, header, title, found[header]) for header, title in page["headers"]]
        text = f"# {page['title']}\n\n{page['about']}\n\n" + "".join(parts) + state(xml)
        (folder / f"{page['file']}.md").write_text(text, encoding="utf-8")
        rows.append(f"- [{page['title']}]({files[-1]}). {page['about'].replace('](../../', '](../')}\n")
    files.append("cpp/c-openshmem.md")
    (folder / "c-openshmem.md").write_text(openshmem.page(), encoding="utf-8")
    rows.append(f"- [{openshmem.TITLE}]({files[-1]}). {openshmem.ABOUT}\n")
    tree = "```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(files) + "\n```\n"
    text = (
        "# C++ and C\n\nThe library is in `namespace atl`. Programs write `atoll::`, a class that has the names of `atl` and "
        "[functions on the current job](#functions-on-the-current-job).\n\n## Pages\n\n"
        + "".join(rows)
        + f"\n## Functions on the current job\n\n{functions_of_the_job()}\n{tree}"
    )
    (target / "cpp.md").write_text(text, encoding="utf-8")
