"""Writes the pages of man in src/cli/man from the help of the launcher's commands and of oshcc.

    python3 docs/site/manual.py [LAUNCHER]

LAUNCHER is build/release/bin/atoll by default. tests/cli/test_shell.py compares the pages with the help.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^  (\S(?:.*?\S)?) {2,}(.*)$")
HEADING = re.compile(r"\w+:$")
STARTERS = (("oshrun", "OpenSHMEM"), ("nvshmrun", "NVSHMEM"))
COMMAND = re.compile(r"^  atoll (\w+) +(.*)$", re.MULTILINE)


def help_of(atoll: Path, *words: str) -> str:
    """The help of a command."""
    done = subprocess.run([atoll, *words, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.rstrip()


def escaped(text: str) -> str:
    """Text in which troff finds no commands of its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name: str, purpose: str, body: list[str]) -> str:
    """A page of section 1. It has no date, so that equal help makes equal pages."""
    title = name.upper()
    head = [
        f'.TH "{title}" 1 "" "Atoll" "Commands of Atoll"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(purpose)}",
    ]
    return "\n".join([*head, *body]) + "\n"


def usage_of(text: str, name: str) -> list[str]:
    """The lines of usage, without what follows them."""
    found = re.findall(r"^(?:[Uu]sage: | {7})(atoll .*)$", text, re.MULTILINE)
    assert found, f"atoll {name} prints no usage: {text}"
    return found


def of_command(name: str, purpose: str, text: str) -> str:
    """The page of one command: its usage, its options and the remarks of its help."""
    usage = usage_of(text, name)
    body = [".SH SYNOPSIS", "\n.br\n".join(map(escaped, usage))]
    options, remarks = list[str](), list[str]()
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            options += [".TP", f".B {escaped(row[1])}", escaped(row[2])]
        elif line.strip() and not HEADING.match(line) and not line.endswith(tuple(usage)):
            remarks += [".PP", escaped(line.strip())]
    if options:
        body += [".SH OPTIONS", *options]
    if remarks:
        body += [".SH DESCRIPTION", *remarks[1:]]
    body += [".SH SEE ALSO", "atoll(1)"]
    return page(f"atoll-{name}", purpose, body)


def pages(atoll: Path) -> dict[str, str]:
    """All pages by their file names."""
    commands = COMMAND.findall(help_of(atoll))
    body = [".SH SYNOPSIS", "atoll COMMAND [ARGUMENTS...]", ".SH COMMANDS"]
    for name, purpose in commands:
        body += [".TP", f".B atoll {name}", escaped(purpose)]
    body += [".SH ENVIRONMENT", "atoll info --settings lists the variables, their values and meanings."]
    body += [".SH SEE ALSO", ", ".join(f"atoll\\-{name}(1)" for name, _ in commands)]
    made = {"atoll.1": page("atoll", "one symmetric memory over the processes of a job", body)}
    for name, purpose in commands:
        made[f"atoll-{name}.1"] = of_command(name, purpose, help_of(atoll, name))
    made["oshcc.1"] = of_compiler()
    made |= {f"{name}.1": of_starter(name, kind) for name, kind in STARTERS}
    return made


def help_of_compiler() -> str:
    """The help of oshcc, the same on machines with other compilers."""
    done = subprocess.run(
        [ROOT / "cmake/oshcc", "--help"],
        env=os.environ | {"SHMEM_CC": "cc"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.rstrip()


def of_compiler() -> str:
    """The page of oshcc, which is the one of oshc++ and oshCC, too."""
    about, usage, *lists = help_of_compiler().split("\n\n")
    forms = [usage.removeprefix("Usage: ").replace("oshcc", name) for name in ("oshcc", "oshc++", "oshCC")]
    body = [".SH SYNOPSIS", "\n.br\n".join(map(escaped, forms)), ".SH DESCRIPTION"]
    body += [escaped(line) for line in about.replace(" cc,", " cc or c++,").splitlines()]
    for found in lists:
        heading, *rows = found.splitlines()
        body.append(f".SH {heading.rstrip(':').upper()}")
        for row in map(ROW.match, rows):
            assert row, found
            body += [".TP", f".B {escaped(row[1])}", escaped(row[2])]
    body += [".SH SEE ALSO", "oshrun(1), atoll\\-config(1)"]
    return page("oshcc", "compile and link OpenSHMEM programs in C and C++", body)


def of_starter(name: str, kind: str) -> str:
    """The page of a name under which `atoll run` starts the programs of another library."""
    body = [".SH SYNOPSIS", f"{name} [OPTIONS] PROGRAM [ARGUMENTS...]", ".SH DESCRIPTION"]
    body += [f"Starts {kind} programs. It is atoll run, whose options it takes: see atoll\\-run(1)."]
    body += [".SH SEE ALSO", "atoll\\-run(1)" + (", oshcc(1)" if name == "oshrun" else "")]
    return page(name, f"start {kind} programs", body)


def main() -> None:
    """Write the pages, and remove those of commands that are gone."""
    atoll = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release/bin/atoll"
    folder = ROOT / "src/cli/man"
    folder.mkdir(exist_ok=True)
    made = pages(atoll)
    for path in folder.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
