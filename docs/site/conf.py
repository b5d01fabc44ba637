"""Sphinx's settings. build.py gathers the sources and runs Sphinx."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import pages  # noqa: E402
import reference  # noqa: E402
import search  # noqa: E402
from docutils import nodes  # noqa: E402

project = "Atoll"
copyright = "the authors of Atoll, Apache-2.0"
version = release = re.search(  # type: ignore[union-attr]
    r"project\(atoll VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()
)[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "breathe"]
root_doc = "index"
exclude_patterns = ["files/**/*.py"]
highlight_language = "text"
default_role = "code"
smartquotes_action = "qe"  # dashes of options stay

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 80
napoleon_google_docstring = False
globals().update(reference.NAPOLEON)
add_module_names = False
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True

breathe_projects = {"atoll": str(ROOT / "build/docs/doxygen/xml")}
breathe_default_project = "atoll"
cpp_id_attributes = ["__host__", "__device__"]

html_theme = "furo"
html_title = f"Atoll {release}"
html_static_path = [str(HERE / "static")]
templates_path = [str(HERE / "templates")]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(HERE / "static/scorer.js")
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def stub_signatures() -> dict[str, tuple[str, str | None]]:
    """Arguments and results of the functions and methods of the built module, from its stubs."""
    found = {}
    for node in ast.parse((ROOT / "python/atoll/_atoll.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, of(node))
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef):
                    found.setdefault(f"{node.name}.{one.name}", of(one))
    return found


def of(node: ast.FunctionDef) -> tuple[str, str | None]:
    node.args.args = [each for each in node.args.args if each.arg != "self"]
    return f"({ast.unparse(node.args)})", ast.unparse(node.returns) if node.returns else None


SIGNATURES = stub_signatures()


def better_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Signatures of the built module come from its stubs, which have the types."""
    arguments = readable(arguments) if arguments else arguments
    short = name.removeprefix("atoll.")
    if what == "class":
        return SIGNATURES.get(f"{short}.__init__", (arguments, None))[0], None
    if what == "method" and not hasattr(obj, "__code__"):
        return SIGNATURES.get(short, (arguments, result))
    if what == "function" and not hasattr(obj, "__code__"):
        return arguments, result or SIGNATURES.get(short, (arguments, None))[1]
    return arguments, result


def readable(arguments: str) -> str:
    """Arguments of a function, with `...` and Any for those that its own function argument decides."""
    if "~Parameters" in arguments:
        arguments = re.sub(r"~(?:[\w.]*\.)?~?(\w+)", r"\1", arguments).replace("[[Parameters], ", "[..., ")
        arguments = arguments.replace(": Parameters", ": Any")
    return arguments.replace("[[...], ", "[..., ")


def better_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Names of pages become links, and a line with several errors becomes a list of them."""
    lines[:] = reference.in_restructured_text("\n".join(lines)).split("\n")


def with_dashes(app: Any, doctree: nodes.document) -> None:
    """A dash between an argument, result or error and its text; an error without a text has no dash."""
    for body in doctree.findall(nodes.field_body):
        for paragraph in body.findall(nodes.paragraph):
            for place, child in enumerate(paragraph.children):
                if isinstance(child, nodes.Text) and child.astext().startswith(" -- "):
                    text = child.astext().removeprefix(" -- ")
                    after = paragraph.children[place + 1 :]
                    has_text = text.strip() or any(each.astext().strip() for each in after)
                    paragraph[place] = nodes.Text(f" – {text}" if has_text else "")
                    break


def without_entries(app: Any, doctree: nodes.document) -> None:
    """Names of C++ are not in the table of contents, which every page of the site repeats."""
    for signature in doctree.findall(lambda node: node.tagname == "desc_signature"):
        if signature.parent["domain"] == "cpp":
            signature["_toc_name"] = ""


def with_words(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Pages with words of search.toml are read again with any other: Sphinx drops their entries from its search else."""
    return (
        sorted(search.expected(pages.place, reference.places()).values()) if added | changed | removed else []
    )


def setup(app: Any) -> None:
    """Register the hooks; docstrings are changed before napoleon reads them."""
    app.connect("env-get-outdated", with_words)
    app.connect("doctree-read", with_dashes)
    app.connect("doctree-read", without_entries, priority=1)
    app.connect("autodoc-process-signature", better_signature)
    app.connect("autodoc-process-docstring", better_docstring, priority=1)
    os.environ.setdefault("ATOLL_INFO", "0")
