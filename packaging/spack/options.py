"""Prints the options that package.py passes to CMake, one a line, without Spack.

The names of Spack that package.py uses are defined here in their simplest form: variants have their defaults.
"""

from __future__ import annotations

import runpy
import sys
import types
from pathlib import Path

DEFAULTS: dict[str, bool] = {}


class CMakePackage:
    """Spack's base class, as far as package.py calls it."""

    def define(self, name: str, value: bool) -> str:
        """Return the option that sets a variable."""
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"

    def define_from_variant(self, name: str, variant: str) -> str:
        """Return the option that sets a variable as the variant is set."""
        return self.define(name, DEFAULTS[variant])


def variant(name: str, default: bool, description: str) -> None:
    """Note the default of a variant."""
    DEFAULTS[name] = default


def nothing(*_: object, **__: object) -> None:
    """Accept a directive that only Spack's solver reads."""


def main() -> None:
    """Print the options."""
    module = types.ModuleType("spack.package")
    others = dict.fromkeys(("license", "version", "depends_on", "conflicts", "generator"), nothing)
    vars(module).update(others, CMakePackage=CMakePackage, variant=variant)
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": module})
    package = runpy.run_path(str(Path(__file__).parent / "packages/atoll/package.py"))["Atoll"]
    print("\n".join(package().cmake_args()))


if __name__ == "__main__":
    main()
