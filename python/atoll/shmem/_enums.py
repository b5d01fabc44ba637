"""enum.StrEnum, also on Python 3.10."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 11):
    from enum import StrEnum as StrEnum
else:

    class StrEnum(str, enum.Enum):
        """An enumeration whose members are strings, and print like strings."""

        __str__ = str.__str__
