"""The methods of a distributed array that exchange halos, or map a function over parts with halos."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import atoll

from .. import _halo, _ufuncs
from .._compared import collective, compared
from .._dtypes import agreed_dtype, converted
from .._layout import Width
from .._parts import Parts
from .._teams._exchange import gathered
from .._together import before_barrier

if TYPE_CHECKING:
    from .._array import DistArray

Array = np.ndarray[Any, Any]


class Halos(Parts):
    """The halos of an array: copies of rows of the neighbouring parts."""

    _exchange: _halo.Exchange | None = None  # once the halo was exchanged

    def exchange_halo(
        self, border: _halo.Kind | Sequence[_halo.Kind] | None = None, stream: Any = None
    ) -> None:
        """Fill the halo of every part with the neighbours' elements, corners included.

        Collective over the team, but each PE waits for its neighbours only. PEs compare the call for the first exchange of
        an array, and with ATOLL_CHECK=all for each.

        Parameters
        ----------
        border
            What the halo has beyond the array's ends, one of these or one for each axis. "fixed": what it had.
            "periodic": the elements of the other end. As in `numpy.pad`, "reflect": the elements mirrored at the first
            one, which is not repeated; "symmetric": mirrored with the first one; "edge": the first one. A number: that
            number. By default that of the array's first exchange, or "fixed"; an array keeps its border.
        stream
            For arrays on GPUs: enqueue the exchange on this stream of CuPy or PyTorch, or on the "current" one, and return
            at once. None waits for it. A CUDA graph may capture it after the first exchange.

        Raises
        ------
        ValueError
            If the array has no halo, or a word is not known. If its dtype does not hold the number. If it is on hosts, and a stream is given.
        """
        self.start_halo(border, stream)
        cast("_halo.Exchange", self._exchange).finish(is_at_once=True)

    def start_halo(self, border: _halo.Kind | Sequence[_halo.Kind] | None = None, stream: Any = None) -> None:
        """Send the neighbours their halo. Until `finish_halo`, do not read this PE's halo.

        On hosts `local` may change meanwhile, unless a border repeats elements of the array: the neighbours get what it had. On GPUs, change it on
        the same stream.

        With a stream it enqueues that, and `finish_halo` continues on the same stream.

        Parameters
        ----------
        border, stream
            As for `exchange_halo`.

        Raises
        ------
        ValueError
            As for `exchange_halo`.
        """
        _ = self._block
        if stream is not None and not self._library.on_gpu:
            raise ValueError(
                f"exchange_halo(stream=...): this array is {self._library.text}; leave the stream out."
            )
        if self._exchange is None:
            if not self._layout.has_halo:
                raise ValueError("this array has no halo; make it with halo=1, or wider.")
            self._exchange = _halo.Exchange(self._layout, self._team, self._memory.raw, self._library)
        elif self._exchange.is_compared:
            compared("exchange_halo", (self,), {}, lambda: None, self._team)
        self._exchange.start(border, stream)

    def finish_halo(self) -> None:
        """Wait until this PE's halo has arrived.

        Raises
        ------
        ValueError
            If `start_halo` was not called before.
        """
        if self._exchange is None:
            raise ValueError("finish_halo() without start_halo().")
        self._exchange.finish()

    @collective(on_gpus=True, on_copies=True)
    def map_blocks(
        self,
        function: Callable[..., Array],
        *others: DistArray,
        halo: bool | int | Sequence[int | Width] = False,
        border: _halo.Kind | Sequence[_halo.Kind] | None = None,
        **keywords: Any,
    ) -> DistArray:
        """Return an array whose parts are a function of these parts. Collective.

        Parameters
        ----------
        function
            Takes this PE's part, then those of the other arrays, and returns an array of the same shape.
        *others
            Arrays of the same distribution, whose parts the function gets, too. They may have other halos.
        halo
            A width, as for `DistArray`: exchange halos of that width, and pass the part with its halo. True: pass parts
            with the halos that the arrays have. `exchange_halo` must have filled them.
        border
            With a width, as for `exchange_halo`. With "fixed" the halo has zeros beyond the ends of the array.
        **keywords
            Passed to the function.

        Returns
        -------
        DistArray
            Of the same distribution and halo as this array.

        Raises
        ------
        ShapeMismatch
            If the function returns another shape on any PE; then on every PE. If another array is distributed in another
            way.
        TypeError
            If one of the others is no distributed array.
        ValueError
            If a width is more than a part has. If there is a border without a width.
        Exception
            If the function raises one on any PE; then on every PE, with the number of that PE.

        Notes
        -----
        The dtype is one that has the results of all parts with elements. With a width, each array is copied once with its
        halo. Its own halo stays as it is.
        """
        from .._array import DistArray

        its = self._library
        for other in others:
            if not isinstance(other, DistArray):
                raise TypeError(
                    f"map_blocks: {type(other).__name__} is no distributed array; pass it by name."
                )
        _ufuncs._common_layout("map_blocks", [cast("DistArray", self), *others], strict=True)
        blocks = [each._block_for(halo, border) for each in (self, *others)]
        with before_barrier():
            result = its.array(function(*blocks, **keywords))
        has, expected = tuple(result.shape), tuple(self.local.shape)
        problem = None
        if has != expected:
            problem = (
                f"map_blocks: the function returned shape {has} on PE {self._me}, whose part has "
                f"{expected}; expected the shape of the part."
            )
        every = gathered((problem, its.dtype(result), math.prod(has)))
        for found, _, _ in every:
            if found is not None:
                raise atoll.ShapeMismatch(found)
        dtype = agreed_dtype([(dtype, size) for _, dtype, size in every])
        return DistArray._from_part(self._layout, converted(result, dtype, its))

    def _block_for(
        self, halo: bool | int | Sequence[int | Width], border: _halo.Kind | Sequence[_halo.Kind] | None
    ) -> Array:
        """Return this PE's part as `map_blocks` passes it. Collective if `halo` is a width."""
        from .._array import DistArray

        if isinstance(halo, bool):
            if border is not None:
                raise ValueError("map_blocks: a border needs a width, such as halo=1.")
            return self.local_with_halo if halo else self.local
        made = DistArray._of(self._layout.with_halo(halo), self.dtype)
        made.local[...] = self.local
        if made._layout.has_halo:
            made.exchange_halo(border)
        return made.local_with_halo
