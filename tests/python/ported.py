"""The programs of docs/from-nvshmem4py.md, whose first lines tell how to start them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/from-nvshmem4py.md"
_found = re.findall(r"^```python\n# (\w+\.py): ([^\n]*)\n(.*?)^```$", PAGE.read_text(), re.S | re.M)

PROGRAMS: dict[str, str] = {name: code for name, _, code in _found}
STARTED_BY: dict[str, str] = {name: how.split()[0] for name, how, _ in _found}
