"""Methods that bring a distributed array out of the job: into files and pictures."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ._array import DistArray


class Outputs:
    """Outputs of a distributed array that no PE has as a whole."""

    def save(self, path: str | Path) -> None:
        """Write the array to a .npy file, each PE an equal share. Collective; see `atoll.arrays.save`.

        Parameters
        ----------
        path
            The file. All PEs see it by the same name.

        Raises
        ------
        OSError, TypeError, ValueError
            As for `atoll.arrays.save`.
        """
        from ._files import save

        save(path, cast("DistArray", self))

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the PEs that own the parts, and beside them some of the elements. Needs matplotlib.

        Not collective: one PE draws, and reads at most 200 x 200 elements from the PEs that own them. Before it, a
        barrier makes them visible.

        Parameters
        ----------
        path
            A file for the picture, by its ending PNG, PDF or SVG.

        Returns
        -------
        matplotlib.figure.Figure or None
            The figure; None if it was saved.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the array has no elements.
        OSError
            If the file cannot be written.

        Notes
        -----
        Of more than two axes the two with the most parts are drawn, at the middle of the others. Of a cyclic axis
        the first 24 blocks are drawn. Complex numbers are drawn by their absolute values.
        """
        from ._drawing import plot

        return plot(cast("DistArray", self), path)

    def _repr_html_(self) -> str:
        """Return a table of the properties and a picture of the owners, for notebooks. Reads no elements."""
        from ._drawing import in_html

        array = cast("DistArray", self)
        return in_html(array) if array._memory.exists else html.escape(repr(array))
