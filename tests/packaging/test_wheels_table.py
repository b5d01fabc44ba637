"""packaging/wheels.tsv, by which a release's wheels are made, agrees with the page of wheels."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "packaging/wheels.tsv").read_text().splitlines()
ROWS = [line.split("\t") for line in LINES if not line.startswith("#")]


# The page's names of Debian's suites.
NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13", "forky": "Debian testing"}


def test_the_page_lists_each_wheel() -> None:
    page = (ROOT / "docs/install.md").read_text()
    cells = re.findall(r"^\| `(cp\S+)` \| .* \| (x86-64|aarch64) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    listed = [[tag, machine.replace("-", "_"), untested] for tag, machine, _, untested in cells]
    assert listed == [[tag, machine, untested] for tag, machine, _, _, _, untested in ROWS]
    for (_, _, places, _), (_, _, _, _, tried, _) in zip(cells, ROWS, strict=True):
        named = [
            re.sub(r"(?:(CPython 3\.\d+)\.\d+| \([\d.]+\))$", r"\1", place) for place in places.split(", ")
        ]
        assert named == [NAMES.get(place, place.replace("python", "CPython ")) for place in tried.split(",")]


def test_the_symbols_of_the_tag_are_checked() -> None:
    spec = importlib.util.spec_from_file_location("wheel_symbols", ROOT / "scripts/wheel_symbols.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (platform,) = re.findall(r"^platform=(\w+)$", (ROOT / "scripts/wheels.sh").read_text(), re.MULTILINE)
    assert module.NEWEST[platform]["GLIBC"] == platform.removeprefix("manylinux_").replace("_", ".")


def test_modules_for_pytorch_are_those_of_pythons_that_the_wheel_takes() -> None:
    for tag, machine, _, modules, *_ in ROWS:
        oldest = re.fullmatch(r"cp3(\d+)-(abi3|cp3\d+t?)", tag)
        assert oldest, tag
        for name in modules.split(",") if modules != "-" else []:
            minor = re.fullmatch(r"(?:\w+/)?python3\.(\d+)(t?)", name)
            assert minor, name
            if oldest[2] == "abi3":
                taken = int(minor[1]) >= int(oldest[1]) and not minor[2]
            else:
                taken = f"cp3{minor[1]}{minor[2]}" == oldest[2]
            assert taken, (tag, machine, name)
