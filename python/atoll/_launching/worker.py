"""The program of a PE of atoll.launch: python -m atoll._launching.worker PAYLOAD_FD RESULT_FD..."""

from __future__ import annotations

import io
import os
import pickle
import sys
from pathlib import Path
from typing import Any

from .. import _atoll
from .failures import describe
from .wire import dumps


def _leave(fd: int, outcome: dict[str, Any]) -> None:
    with open(fd, "wb", closefd=False) as out:
        out.write(pickle.dumps(outcome))


def main() -> int:
    # Open the file again: all processes that inherited it share its position.
    with Path(f"/proc/self/fd/{sys.argv[1]}").open("rb") as payload:
        sys.path[:] = [*sys.path, *(p for p in pickle.load(payload) if p not in sys.path)]
        rest = payload.read()
    import atoll

    # Lines of several PEs must not mix.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, write_through=False)
    atoll.init()
    own = int(sys.argv[2 + atoll.my_pe()])
    try:
        fn, args, kwargs = pickle.loads(rest)
        outcome = {"result": fn(*args, **kwargs)}
        data = dumps(outcome)
    except (SystemExit, KeyboardInterrupt) as error:
        _leave(own, describe(error))
        raise
    except BaseException as error:
        _leave(own, describe(error))
        sys.stdout.flush()
        return 1
    with open(own, "wb", closefd=False) as out:
        out.write(data)
    try:
        atoll.finalize()
    except _atoll.PeDied as error:
        # The PE that ended reports its own failure in full.
        sys.stderr.write(f"PE {atoll.my_pe()} stopped: PeDied: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    if status != 0:
        # The launcher ends the others now; this one has nothing left to do.
        os._exit(status)
