"""Methods that bring a distributed array out of the job: into files and pictures."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .._array import DistArray


class Outputs:
    """Ways into a distributed array from outside, and out of it."""

    @staticmethod
    def from_array(array: Any = None, root: int | None = None, **more: Any) -> DistArray:
        """Return a distributed copy of an array. Collective; see `atoll.arrays.from_array`.

        Parameters
        ----------
        array, root
            As for `atoll.arrays.from_array`.
        **more
            Its `local`, and grid, dist, halo, team, device and xp of `DistArray`.

        Returns
        -------
        DistArray
            All PEs see its elements.

        Raises
        ------
        ValueError
            As for `atoll.arrays.from_array`.
        """
        from .._makers import from_array

        return from_array(array, root, **more)

    @staticmethod
    def from_function(
        function: Callable[..., Any], shape: int | Sequence[int], dtype: Any = None, **distribution: Any
    ) -> DistArray:
        """Return an array whose elements are a function of their global indices. Collective.

        Parameters
        ----------
        function, shape, dtype
            As for `atoll.arrays.from_function`.
        **distribution
            grid, dist, halo, team, device and xp of `DistArray`.

        Returns
        -------
        DistArray
            All PEs see its elements.
        """
        from .._makers import from_function

        return from_function(function, shape, dtype, **distribution)

    @staticmethod
    def load(path: str | Path, **more: Any) -> DistArray:
        """Return the array of a .npy file. Collective; see `atoll.arrays.load`.

        Parameters
        ----------
        path
            The file. All PEs see it by the same name.
        **more
            As for `atoll.arrays.load`.

        Returns
        -------
        DistArray
            All PEs see its elements.

        Raises
        ------
        OSError, ValueError, ShapeMismatch, DtypeMismatch
            As for `atoll.arrays.load`.
        """
        from .._storage._files import load

        return load(path, **more)

    def save(self, path: str | Path, *, progress: bool = False) -> None:
        """Write the array to a .npy file, each PE an equal share. Collective; see `atoll.arrays.save`.

        Parameters
        ----------
        path
            The file. All PEs see it by the same name.
        progress
            Show a bar of all PEs' steps; for arrays of all PEs.

        Raises
        ------
        OSError, TypeError, ValueError
            As for `atoll.arrays.save`.
        """
        from .._storage._files import save

        save(path, cast("DistArray", self), progress=progress)

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
        If there are more than two axes, the two with the most parts are drawn, at the middle of the others. Only the first
        24 blocks of a cyclic axis are drawn. Complex numbers are drawn by their absolute values.
        """
        from .._drawing import plot

        return plot(cast("DistArray", self), path)

    def _repr_html_(self) -> str:
        """Return a table of the properties and a picture of the owners, for notebooks. Reads no elements."""
        from .._drawing import in_html

        array = cast("DistArray", self)
        return in_html(array) if array._memory.exists else html.escape(repr(array))
