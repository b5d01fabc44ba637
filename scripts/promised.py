"""Write the names that this version promises into api/promised.json (docs/versioning.md).

``.venv/bin/python scripts/promised.py``, when a release is made. tests/python/test_deprecation.py reads the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "api/promised.json"


def output(launcher: Path, *words: str) -> str:
    """The standard output of a command of the launcher."""
    done = subprocess.run([launcher, *words], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def names(launcher: Path) -> dict[str, list[str]]:
    """All names that users write, by their kind."""
    import atoll

    commands = re.findall(r"^  atoll (\w+) ", output(launcher, "--help"), re.MULTILINE)
    options = {
        f"{command} {option}"
        for command in commands
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", output(launcher, command, "--help"))
    }
    settings = json.loads(output(launcher, "info", "--json"))["settings"]
    include = ROOT / "include"
    headers = (str(path.relative_to(include)) for path in include.rglob("*.h*") if "detail" not in path.parts)
    return {
        "python": sorted([*atoll.__all__, "print", "logging"]),
        "commands": sorted(commands),
        "options": sorted(options),
        "variables": sorted(row["name"] for row in settings),
        "headers": sorted(headers),
    }


def main() -> None:
    """Replace the entry of this version, and keep those of others."""
    import atoll

    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    known[atoll.__version__] = names(Path(sys.executable).with_name("atoll"))
    FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
