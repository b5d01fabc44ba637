"""Gathers the pages of the site in one folder, and turns their links into links of the site.

Pages keep links that work on GitHub and in an editor. Here a link to a page becomes a link to that page of the site.
A folder or an example's source becomes a page that shows it; other files are copied.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import drawings
import notebooks
import search
import sheet
import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURES = {".png", ".svg", ".jpg"}
# The language of a source file, by its suffix.
LANGUAGES = {
    ".py": "python",
    ".cpp": "cpp",
    ".cu": "cuda",
    ".c": "c",
    ".hpp": "cpp",
    ".h": "c",
    ".sh": "bash",
}
LANGUAGES |= {".txt": "text", ".cuh": "cuda"}
FRONT = "docs/index.md"
COURSE = "docs/course/README.md"
SHEET = "docs/cheat-sheet.md"
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# A link with the page's file as its text. Readers of the site do not know files.
NAMED = re.compile(r"\[([\w/-]+\.md)\]\(([\w./-]+\.md)(#[\w-]+)?\)")
# A name of ours in a table of another library's names.
OURS = re.compile(r"`(atoll\.[\w.]+)`")


@dataclass
class Contents:
    """The table contents.toml: sections with their pages, and pages under pages."""

    sections: list[tuple[str, list[tuple[str, str]]]]
    under: dict[str, list[str]]
    extra: list[str]

    def every(self) -> Iterator[str]:
        """All pages, by their place in the repository; generated ones too."""
        yield FRONT
        for _, pages in self.sections:
            yield from (name for name, _ in pages)
        for names in self.under.values():
            yield from names
        yield from self.extra


def contents() -> Contents:
    """Read the table of pages."""
    read = tomllib.loads((HERE / "contents.toml").read_text())
    sections = [
        (section["title"], [(name, short) for name, short in section["pages"]]) for section in read["section"]
    ]
    under = {
        page: [
            str(path.relative_to(ROOT))
            for path in sorted(ROOT.glob(pattern))
            if str(path.relative_to(ROOT)) != page
        ]
        for page, pattern in read["under"].items()
    }
    return Contents(sections, under, read["extra"]["pages"])


def place(name: str) -> str:
    """The place of a page or picture in the site, from its name in the repository."""
    if name.startswith("generated/"):
        return f"reference/{name.removeprefix('generated/')}"
    if name.startswith("docs/"):
        return name.removeprefix("docs/").replace("README.md", "index.md")
    if "/" not in name:
        return f"project/{name.lower()}"
    return name.replace("README.md", "index.md")


@dataclass
class Site:
    """The folder of the sources of the site, while it is filled."""

    target: Path
    table: Contents
    places: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = {name: place(name) for name in self.table.every()}

    def fill(self) -> None:
        """Write every page of the repository that the table names."""
        for name in list(self.places):
            if not name.startswith("generated/"):
                self.write_page(name, (ROOT / name).read_text(encoding="utf-8"))

    def write_page(self, name: str, text: str) -> None:
        """Write one page, with links of the site, the source of its example and the list of pages under it."""
        path = self.target / self.places[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self.with_links(name, text)
        if ROOT / name in [*notebooks.tutorials(), *notebooks.lessons()]:
            notebooks.write(ROOT / name, path.with_suffix(".ipynb"))
            text = with_download(text, "this notebook", path.with_suffix(".ipynb").name, "open it")
        if name == COURSE:
            notebooks.write_course(path.with_name("atoll-course.zip"))
            text = with_download(text, "all notebooks", "atoll-course.zip", "open them")
        if name == SHEET:
            text = text.replace("\n\n## ", f"\n\n{sheet.link()}\n\n## ", 1)
        text = drawings.drawn(search.in_markdown(name, text))
        text = re.sub(r"^```python\n(?=%[^%])", "```ipython\n", text, flags=re.MULTILINE)
        if name in self.table.extra:
            text = "---\norphan: true\n---\n\n" + text
        if name.startswith("examples/") and name.count("/") == 2:
            text += sources(ROOT / name)
        path.write_text(text + self.trees(name), encoding="utf-8")

    def trees(self, name: str) -> str:
        """Sphinx's lists of the pages that follow a page; they fill the side bar."""
        if name == FRONT:
            return "".join(
                tree([(self.places[page], short) for page, short in pages], title)
                for title, pages in self.table.sections
            )
        inside = self.table.under.get(name, [])
        start = Path(self.places[name]).parent
        return tree([(os.path.relpath(self.places[page], start), "") for page in inside]) if inside else ""

    def with_links(self, name: str, text: str) -> str:
        """The text of a page with links of the site; code keeps what looks like links."""
        lines, fenced = [], False
        for number, line in enumerate(text.split("\n"), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            if fenced or line.startswith("    "):
                lines.append(line)
                continue
            hidden: list[str] = []
            line = NAMED.sub(lambda found: self.titled(name, *found.groups("")), line)
            if name.startswith("docs/from-") and line.startswith("|"):
                line = OURS.sub(r"{py:obj}`\1`", line)
            bare = CODE.sub(lambda found: hidden.append(found[0]) or f"\0{len(hidden) - 1}\0", line)  # noqa: B023
            bare = LINK.sub(lambda found: found[1] + self.link(name, number, found[2]) + found[3], bare)  # noqa: B023
            lines.append(re.sub(r"\0(\d+)\0", lambda found: hidden[int(found[1])], bare))  # noqa: B023
        return "\n".join(lines)

    def titled(self, name: str, text: str, link: str, anchor: str) -> str:
        """A link to a page with the page's title as its text."""
        path = Path(os.path.normpath((ROOT / name).parent / link))
        found = re.search(r"^# (.+)$", path.read_text(), re.MULTILINE) if path.is_file() else None
        return f"[{found[1] if found else text}]({link}{anchor})"

    def link(self, name: str, number: int, link: str) -> str:
        """Return the form that a link of a page has in the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        wanted, _, anchor = link.partition("#")
        found = os.path.normpath((ROOT / name).parent / wanted)
        target = os.path.relpath(found, ROOT)
        if not Path(found).exists():
            self.wrong.append(f"{name}:{number}: the link {link} leads to no file")
            return link
        to = self.place_of(target)
        return os.path.relpath(to, Path(self.places[name]).parent) + (f"#{anchor}" if anchor else "")

    def place_of(self, target: str) -> str:
        """The page or file of the site that shows something of the repository."""
        path = ROOT / target
        for page in (target, f"{target}/README.md", f"{Path(target).parent}/README.md"):
            is_source = page != target and path.is_file() and path.suffix not in LANGUAGES
            if page in self.places and not is_source:
                return self.places[page]
        if target == "docs/decisions":
            return self.places["docs/design.md"]
        if target == "README.md":
            return self.places[FRONT]
        if path.is_dir():
            return self.folder(target)
        is_picture = path.suffix in PICTURES
        copy = place(target) if is_picture else f"files/{target}"
        (self.target / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, self.target / copy)
        return copy

    def folder(self, target: str) -> str:
        """A page that shows the files of a folder without a README."""
        page = self.places[f"{target}/"] = f"files/{target}/index.md"
        path = self.target / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\norphan: true\n---\n\n# {target}\n{listing(ROOT / target, chr(35) * 2)}", encoding="utf-8"
        )
        return page


def with_download(text: str, what: str, file: str, then: str) -> str:
    """The text of a page with a link to a file for Jupyter behind the first paragraph."""
    title, first, rest = text.split("\n\n", 2)
    return f"{title}\n\n{first}\n\n[Download {what}]({file}) and {then} in Jupyter.\n\n{rest}"


def tree(pages: list[tuple[str, str]], caption: str = "") -> str:
    """One hidden toctree in MyST."""
    rows = [f"{short} <{page}>" if short else page for page, short in pages]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [":maxdepth: 1"])]
    return "\n\n```{toctree}\n" + "\n".join([*options, "", *rows]) + "\n```\n"


def sources(readme: Path) -> str:
    """The source files beside the page of an example."""
    shown = listing(readme.parent, "###")
    return f"\n\n## Source\n{shown}" if shown else ""


def listing(folder: Path, mark: str) -> str:
    """All source files of a folder as blocks of code."""
    text = ""
    for path in sorted(folder.iterdir(), key=lambda path: (path.suffix != ".py", path.name)):
        if path.is_file() and (path.suffix in LANGUAGES) and path.name != "README.md":
            language = "cmake" if path.name == "CMakeLists.txt" else LANGUAGES[path.suffix]
            text += (
                f"\n{mark} {path.name}\n\n````{language}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"
            )
    return text
