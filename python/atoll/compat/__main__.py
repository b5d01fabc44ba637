"""python -m atoll.compat PACKAGE[,PACKAGE...] (PROGRAM | -m MODULE) [ARGUMENT...]: runs a program of those packages
on Atoll."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from . import install, names_in
from ._packages import ABSENT

USAGE = "usage: python -m atoll.compat PACKAGE[,PACKAGE...] (PROGRAM | -m MODULE) [ARGUMENT...]"


def run(program: str, arguments: list[str]) -> None:
    """Run a file in the module __main__, which then holds its names, so that they can be pickled."""
    try:
        text = Path(program).read_bytes()
    except OSError as error:
        sys.exit(f"python -m atoll.compat: {program} cannot be read: {error.strerror}")
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    code = compile(text, program, "exec")
    names = sys.modules["__main__"].__dict__
    builtins = names["__builtins__"]
    names.clear()
    names.update(
        __name__="__main__", __file__=program, __builtins__=builtins, __spec__=None, __package__=None
    )
    exec(code, names)


def main() -> None:
    """Read the command line and run the program."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return
    if len(arguments) < 2 or (arguments[1] == "-m" and len(arguments) < 3):
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    names, program, *rest = arguments
    try:
        install(*names_in(names))
    except ValueError as error:
        is_usage = not set(names_in(names)) & set(ABSENT)
        print(f"{error}\n{USAGE}" if is_usage else error, file=sys.stderr)
        sys.exit(2)
    if program == "-m":
        sys.argv = rest
        sys.path[0] = str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        run(program, rest)


main()
