"""Checkpoints: several distributed arrays and values in a folder, of which one whole set always exists."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._array import DistArray
from .._compared import collective
from .._functions._moves import KEYWORDS
from .._teams import _current
from .._together import first_difference, on_first, together
from ._files import load, replace, save

CONTENTS = "checkpoint.json"
FILE = re.compile(rf"\w+\.generation\d+\.npy(\.part)?|{re.escape(CONTENTS)}\.part")


@collective("**")  # its own comparison names what differs
def save_checkpoint(folder: str | Path, /, **values: Any) -> None:
    """Save arrays and values by name in a folder, in place of the checkpoint that it had. Collective.

    Parameters
    ----------
    folder
        Made if it is missing. All PEs see it by the same name.
    values
        Distributed arrays; and numbers, texts, lists and dictionaries that JSON can have, of which PE 0's are saved.
        Every PE passes the same names.

    Raises
    ------
    OSError
        If a PE cannot write, as on a full disk; then on every PE, with the PE's number.
    TypeError, ValueError
        If a value is of another kind; if the PEs pass different names.

    Notes
    -----
    Each array becomes a .npy file with a new name. Then `checkpoint.json`, which names the files, is replaced in one
    step. At any end before it the last checkpoint is whole. Afterwards its files are removed, so for a while the
    disk needs room for both. Each PE needs 16 MB of memory besides the arrays.

    Examples
    --------
    >>> from atoll import arrays
    >>> u = arrays.ones((4, 6))
    >>> arrays.save_checkpoint(folder, u=u, step=10)
    >>> state = arrays.load_checkpoint(folder, u={"halo": 1})
    >>> state["step"], float(state["u"].sum())
    (10, 24.0)
    """
    call = f"save_checkpoint({str(folder)!r})"
    arrays = {name: value for name, value in sorted(values.items()) if isinstance(value, DistArray)}
    _compare_names(call, sorted(values), list(arrays))
    root, contents = on_first(call, lambda: _begin(folder, arrays, values))
    try:
        for name, array in arrays.items():
            save(root / contents["arrays"][name]["file"], array)
        with together(call):
            if _current.my_pe() == 0:
                _publish(root, contents)
    finally:
        if _current.my_pe() == 0:
            _clean(root)


def _compare_names(call: str, names: list[str], arrays: list[str]) -> None:
    if difference := first_difference((names, arrays)):
        pe, first, found = difference
        raise ValueError(
            f"{call}: PE 0 passed {', '.join(first[0])} with arrays {', '.join(first[1])}, PE {pe} "
            f"{', '.join(found[0])} with arrays {', '.join(found[1])}; pass the same on every PE."
        )


def _begin(
    folder: str | Path, arrays: Mapping[str, DistArray], values: Mapping[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """Make the folder; return its full name and the contents of the new checkpoint."""
    others = {}
    for name, value in values.items():
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name; expected letters, digits and _, as for a variable")
        if name not in arrays:
            others[name] = _plain(name, value)
    root = Path(os.path.realpath(folder))
    root.mkdir(parents=True, exist_ok=True)
    generation = 1
    if (root / CONTENTS).exists():
        generation += _contents(root)["generation"]
    files = {
        name: {"file": f"{name}.generation{generation}.npy", "shape": array.shape}
        for name, array in arrays.items()
    }
    return root, {"generation": generation, "arrays": files, "values": others}


def _plain(name: str, value: Any) -> Any:
    """Return a value as one that JSON can have."""
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        json.dumps(plain)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} is {type(value).__name__}; expected a distributed array, or what JSON can have: numbers, texts, lists "
            "and dictionaries"
        ) from None
    return plain


def _publish(root: Path, contents: dict[str, Any]) -> None:
    part = root / f"{CONTENTS}.part"
    with part.open("w", encoding="utf8") as file:
        json.dump(contents, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    replace(part, root / CONTENTS)


def _clean(root: Path) -> None:
    """Remove files of checkpoints that are not the last whole one, as far as possible."""
    try:
        kept = {entry["file"] for entry in _contents(root)["arrays"].values()}
    except FileNotFoundError:
        kept = set()
    except (OSError, ValueError):
        return
    with contextlib.suppress(OSError):
        for path in root.iterdir():
            if FILE.fullmatch(path.name) and path.name not in kept:
                path.unlink()


def _contents(root: Path) -> dict[str, Any]:
    path = root / CONTENTS
    try:
        found = json.loads(path.read_text(encoding="utf8"))
        {name: (entry["file"], entry["shape"]) for name, entry in found["arrays"].items()}
        _ = found["generation"] + 1, found["values"].keys()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{CONTENTS} is not that of a checkpoint ({type(error).__name__}: {error}); remove it to start again"
        ) from None
    return dict(found)


@collective()
def load_checkpoint(folder: str | Path, /, **layouts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays and values of a checkpoint by their names. Collective; any number of PEs.

    Parameters
    ----------
    folder
        As for `save_checkpoint`.
    layouts
        For names of arrays: a dictionary of grid, dist, halo and team of `DistArray`. Other arrays become blocks.

    Returns
    -------
    dict
        Distributed arrays, and values as JSON has them: a tuple is a list.

    Raises
    ------
    FileNotFoundError
        There is no checkpoint. Every PE raises it, so all can start from the beginning.
    OSError, ValueError, ShapeMismatch
        If a file cannot be read, is cut short, or has another shape than when it was saved.

    Notes
    -----
    The distributions may differ from those of the arrays that were saved. Each PE needs 16 MB of memory besides the
    arrays.
    """
    call = f"load_checkpoint({str(folder)!r})"

    def found_in() -> tuple[Path, dict[str, Any]]:
        root = Path(os.path.realpath(folder))
        return root, _contents(root)

    root, contents = on_first(call, found_in)
    files = contents["arrays"]
    if unknown := sorted(set(layouts) - set(files)):
        raise ValueError(
            f"{call}: it has no array {', '.join(unknown)}; it has {', '.join(files) or 'none'}."
        )
    for name, its in layouts.items():
        if not isinstance(its, Mapping) or set(its) - set(KEYWORDS):
            raise TypeError(
                f"{call}: {name}={its!r:.80}; expected a dictionary with some of {', '.join(KEYWORDS)}, as for DistArray."
            )
    found = {
        name: load(root / entry["file"], entry["shape"], **layouts.get(name, {}))
        for name, entry in files.items()
    }
    return {**found, **contents["values"]}
