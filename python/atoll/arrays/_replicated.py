"""Arrays of which several PEs have the same elements: most calls take blocks of them instead, which moves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import atoll

from ._teams import _current

if TYPE_CHECKING:
    from ._array import DistArray

exist = False  # set with the first such array; without one no call checks its arguments


def note(has_copies: bool) -> None:
    """Note that an array is made."""
    global exist
    exist = exist or has_copies


def in_blocks(value: Any) -> Any:
    """Return an array without copies, of which each PE takes a share of its own part; lists of arrays, too. Collective.

    Anything else is returned as it is.
    """
    from ._array import DistArray

    if isinstance(value, (list, tuple)) and any(isinstance(each, DistArray) for each in value):
        made = [in_blocks(each) for each in value]
        return made if isinstance(value, list) else tuple(made)
    if not isinstance(value, DistArray) or not value._layout.has_copies:
        return value
    blocks = DistArray._of(value._layout.without_copies().without_halo(), value.dtype, zero=False)
    for local, box in value._layout.owned(_current.my_pe()):
        blocks._write(box, value._block[local])
    _current.barrier()
    return blocks


def blocks_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by name without copies, but for `out`: a result in another array would be lost."""
    return {name: value if name == "out" else in_blocks(value) for name, value in keywords.items()}


def refuse_updates(call: str, array: Any) -> None:
    """Raise for an atomic update of an array with copies, which several PEs would see in different orders."""
    if cast("DistArray", array)._layout.has_copies:
        raise atoll.Unsupported(
            f"a.{call}(): a is {array!r}, and no update of several copies is atomic. Update an array in blocks, and "
            "redistribute it: b.redistribute('replicated')."
        )
