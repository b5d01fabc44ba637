"""Log records that know their PE: a filter, a handler, and one call that sets both up.

>>> import logging, sys
>>> handler = atoll.logging.basicConfig(stream=sys.stdout, pes=[0])
>>> if atoll.my_pe() == 0:
...     logging.getLogger("solver").info("converged")
... else:
...     print("[0] INFO solver: converged")
[0] INFO solver: converged
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import TextIO

from . import _atoll
from ._programs.comforts import current_phase

__all__ = ["FORMAT", "Handler", "PeFilter", "basicConfig"]


def __dir__() -> list[str]:
    return sorted(__all__)


FORMAT = "[%(pe)s] %(levelname)s %(name)s: %(message)s"


class PeFilter(logging.Filter):
    """Add `pe`, `n_pes` and `phase` to log records; pass those of some PEs only.

    Parameters
    ----------
    pes
        The PEs whose records pass; None: all. Outside a job every record passes.

    Notes
    -----
    `pe` and `n_pes` are "-" outside a job. `phase` is the path of atoll.phase, empty outside any.
    """

    def __init__(self, pes: Collection[int] | None = None) -> None:
        super().__init__()
        if isinstance(pes, int):
            raise TypeError(f"pes is {pes}; expected several numbers, such as [{pes}].")
        self.pes = None if pes is None else frozenset(pes)

    def filter(self, record: logging.LogRecord) -> bool:
        """Add `pe`, `n_pes` and `phase` to a record.

        Parameters
        ----------
        record
            A record of the module logging, which is changed.

        Returns
        -------
        bool
            True if the record passes.
        """
        inside = _atoll.is_initialized()
        pe = _atoll.my_pe() if inside else "-"
        record.__dict__.update(pe=pe, n_pes=_atoll.n_pes() if inside else "-", phase=current_phase())
        return self.pes is None or not inside or pe in self.pes


class Handler(logging.StreamHandler[TextIO]):
    """A StreamHandler whose lines begin with the PE's number, as those of `atoll run --label` do.

    Parameters
    ----------
    stream
        The file to write to; None: sys.stderr.
    pes
        The PEs that write; None: all.
    """

    def __init__(self, stream: TextIO | None = None, pes: Collection[int] | None = None) -> None:
        super().__init__(stream)
        self.addFilter(PeFilter(pes))
        self.setFormatter(logging.Formatter(FORMAT))


def basicConfig(
    level: int | str = logging.INFO,
    *,
    stream: TextIO | None = None,
    pes: Collection[int] | None = None,
    format: str = FORMAT,
) -> Handler:
    """Give the root logger a Handler and a level, in place of its other handlers. Local; works before init().

    Parameters
    ----------
    level
        The least level that is written.
    stream, pes
        As for Handler.
    format
        A format of the module logging, which may use %(pe)s, %(n_pes)s and %(phase)s.

    Returns
    -------
    Handler
        The new handler.
    """
    handler = Handler(stream, pes)
    handler.setFormatter(logging.Formatter(format))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    return handler
