"""The binding uses only names of CPython's stable ABI, for which one wheel of a release is compiled.

That compilation (scripts/wheels.sh) is no part of CI. This test reads the headers instead, and takes a second.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# In the stable ABI since 3.12, and so not where these headers are older.
SINCE_3_12 = {"PyObject_VectorcallMethod", "PY_VECTORCALL_ARGUMENTS_OFFSET"}
# Used only in modules of one Python (PyMutex: without the GIL), as the sources' conditions state.
ELSEWHERE = {"PyGILState_Check", "Py_GIL_DISABLED", "Py_LIMITED_API", "PyMutex_Lock", "PyMutex_Unlock"}


def declared() -> set[str]:
    """The names in Python.h for the stable ABI."""
    command = [
        "g++",
        "-E",
        "-dD",
        "-x",
        "c++",
        "-DPy_LIMITED_API=0x030C0000",
        "-include",
        "Python.h",
        "/dev/null",
    ]
    include = sysconfig.get_path("include")
    text = subprocess.run([*command, f"-I{include}"], capture_output=True, text=True, check=True).stdout
    # The body of a macro may name what is not declared.
    text = re.sub(r"^(#define \w+).*", r"\1", text, flags=re.MULTILINE)
    return set(re.findall(r"\w+", text))


def used(text: str) -> set[str]:
    """The names of CPython in a source, without those of NumPy."""
    code = re.sub(r'//[^\n]*|"[^"\n]*"', "", text)
    names = set(re.findall(r"\b_?(?:Py[A-Za-z]*|PY)_\w+|\btp_\w+|\bob_(?:type|refcnt|size|item)\b", code))
    return {name for name in names if not re.match(r"Py(Array|DataType|TypeNum)|PY_ARRAY", name)}


def test_the_binding_keeps_to_the_stable_abi() -> None:
    there = declared()
    assert "PyEval_SaveThread" in there
    absent = {"tp_dict", "PyFrame_GetBack", "PyTuple_GET_ITEM"}
    assert used("type->tp_dict; PyFrame_GetBack(f); PyTuple_GET_ITEM(t, 0);") - there == absent
    for path in sorted((ROOT / "python/src").rglob("*.?pp")):
        wrong = used(path.read_text()) - there - SINCE_3_12 - ELSEWHERE
        assert not wrong, f"{path.relative_to(ROOT)} uses {sorted(wrong)}, which the stable ABI lacks"
