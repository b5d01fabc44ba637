"""Python objects between the PEs of the collective call that runs. They do not pair with the program's own exchanges."""

from __future__ import annotations

from typing import Any

import atoll

from ..._objects import exchanged
from . import _current


def gathered(obj: Any, team: atoll.Team | None = None) -> list[Any]:
    """Return the list of all PEs' objects, in PE order, on every PE. Collective.

    Parameters
    ----------
    obj
        This PE's object.
    team
        By default that of the call.

    Raises
    ------
    CollectiveMismatch
        If a PE makes another call, as `allgather_object`. It names both calls and their lines.
    """
    return exchanged(_current.call() or "arrays", obj, team or _current.team())


def from_root(obj: Any, root: int = 0) -> Any:
    """Return one PE's object on every PE; what the others pass is ignored. Collective; errors as for `gathered`."""
    mine = _current.my_pe() == root
    found = gathered(obj if mine else None)[root]
    return obj if mine else found
