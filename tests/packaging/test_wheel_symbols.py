"""The check of a wheel's symbols finds what an older system lacks."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("wheel_symbols", ROOT / "scripts/wheel_symbols.py")
assert _spec and _spec.loader
wheel_symbols = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wheel_symbols)

# Output of objdump -p, shortened.
HEADERS = """
Dynamic Section:
  NEEDED               libatoll.so
  NEEDED               libstdc++.so.6
  NEEDED               ld-linux-x86-64.so.2
  RUNPATH              $ORIGIN/lib

Version References:
  required from libstdc++.so.6:
    0x0297f869 0x00 09 GLIBCXX_3.4.29
    0x0297f861 0x00 12 GLIBCXX_3.4.9
    0x0bafd179 0x00 04 CXXABI_1.3.9
  required from libc.so.6:
    0x069691b4 0x00 03 GLIBC_2.34
    0x09691a75 0x00 02 GLIBC_2.2.5
"""
LIMITS = wheel_symbols.NEWEST["manylinux_2_34"]


def test_the_newest_version_of_each_library() -> None:
    assert wheel_symbols.newest(HEADERS) == {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.9"}
    assert wheel_symbols.faults("x.so", HEADERS, LIMITS) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("GLIBC_2.34", "GLIBC_2.38", "x.so needs GLIBC_2.38, newer than GLIBC_2.34"),
        ("GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "x.so needs GLIBCXX_3.4.30, newer than GLIBCXX_3.4.29"),
        ("libatoll.so", "libucp.so.0", "x.so needs libucp.so.0, which a system may lack"),
        ("$ORIGIN/lib", "/home/me/lib", "x.so looks for libraries in /home/me/lib, a folder of the machine that built it"),
    ],
)  # fmt: skip
def test_a_broken_promise_is_named(old: str, new: str, fault: str) -> None:
    assert wheel_symbols.faults("x.so", HEADERS.replace(old, new), LIMITS) == [fault]


def test_a_tag_without_a_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = {
        tag: tmp_path / f"atoll-0.1.0-cp311-cp311-{tag}_x86_64.whl" for tag in ("manylinux_2_17", "linux")
    }
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("atoll/__init__.py", "")
    monkeypatch.setattr(wheel_symbols.sys, "argv", ["", str(wheels["linux"])])
    assert wheel_symbols.main() == 0
    monkeypatch.setattr(wheel_symbols.sys, "argv", ["", str(wheels["manylinux_2_17"])])
    assert wheel_symbols.main() == 1
