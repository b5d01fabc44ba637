"""Distributed arrays in HDF5 and Zarr, by the packages h5py and zarr."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._array import DistArray
from .._compared import collective
from .._optional import required
from .._teams import _current
from .._teams._exchange import from_root
from .._together import together
from ._files import check, expect_array, panels

Key = tuple[int | slice, ...]


@collective(on_gpus=True)
def save_hdf5(path: str | Path, name: str, array: DistArray) -> None:
    """Write an array as a data set of an HDF5 file, in place of one of that name. Collective; needs h5py.

    PE 0 writes, and reads what others own 16 MB at a time, since HDF5 has one writer.

    Parameters
    ----------
    path
        The file, made if it is missing. Its other data sets stay.
    name
        The data set.
    array
        The array. What PEs wrote into it before the call is saved.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        If h5py is missing, the file cannot be written, or HDF5 has no such dtype; on every PE. The file may then have a
        part of the array.
    """
    expect_array("save_hdf5(): the array", array)
    _current.barrier()
    with together(f"save_hdf5({str(path)!r})"):
        if _current.my_pe() == 0:
            with required("it", "h5py").File(path, "a") as file:
                if name in file:
                    del file[name]
                target = file.create_dataset(name, array.shape, array.dtype)
                for _, key in panels(array.shape, array.dtype.itemsize, 1):
                    target[key] = array._on_host(key)


@collective()
def load_hdf5(
    path: str | Path,
    name: str,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    **distribution: Any,
) -> DistArray:
    """Return a data set of an HDF5 file. Collective; needs h5py.

    Each PE reads an equal share of the elements, 16 MB at a time, and puts them where they belong.

    Parameters
    ----------
    path, name
        The file, which all PEs see by the same name, and the data set.
    shape, dtype, distribution
        As for `load`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    ImportError, OSError, ValueError
        If h5py is missing, a PE cannot read the file, or it has no such data set; on every PE, with the PE's number.
    ShapeMismatch, DtypeMismatch
        As for `load`.
    """
    call = f"load_hdf5({str(path)!r})"
    with together(call):
        file = required("it", "h5py").File(path, "r")
    with file:
        with together(call):
            source = file.get(name)
            if not hasattr(source, "dtype"):
                raise ValueError(f"it has no data set {name!r}; it has {', '.join(file) or 'nothing'}")
        return _read(call, source, panels_of(source), shape, dtype, distribution)


@collective(on_gpus=True)
def save_zarr(path: str | Path, array: DistArray, chunks: Sequence[int] | None = None) -> None:
    """Write an array as a Zarr array in a folder, in place of one there. Collective; needs zarr from 3.0 on.

    Each PE writes every n-th chunk, and reads what others own of it.

    Parameters
    ----------
    path
        The folder, which all PEs see by the same name.
    array
        The array. What PEs wrote into it before the call is saved.
    chunks
        The shape of a chunk; by default zarr chooses. A PE needs memory for one chunk.

    Raises
    ------
    ImportError, OSError, TypeError, ValueError
        If zarr is missing, a PE cannot write, or Zarr has no such dtype; on every PE, with the PE's number. The folder
        may then have a part of the array.
    """
    expect_array("save_zarr(): the array", array)
    if chunks is not None and (len(chunks) != array.ndim or min(chunks) < 1):
        raise ValueError(
            f"save_zarr(): chunks are {chunks!r}; expected a length from 1 on for each of {array.ndim} axes."
        )
    call = f"save_zarr({str(path)!r})"
    _current.barrier()
    with together(call):
        zarr = required("it", "zarr")
        if _current.my_pe() == 0:
            zarr.create_array(
                str(path),
                shape=array.shape,
                dtype=array.dtype,
                chunks="auto" if chunks is None else tuple(chunks),
                overwrite=True,
            )
    with together(call):
        target = zarr.open_array(str(path), mode="r+")
        for key in chunks_of(target):
            target[key] = array._on_host(key)


@collective()
def load_zarr(
    path: str | Path, shape: int | Sequence[int] | None = None, dtype: Any = None, **distribution: Any
) -> DistArray:
    """Return a Zarr array. Collective; needs zarr from 3.0 on.

    Each PE reads every n-th chunk and puts it where it belongs, so that each chunk is read once.

    Parameters
    ----------
    path
        The folder, which all PEs see by the same name.
    shape, dtype, distribution
        As for `load`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    ImportError, OSError, ValueError
        If zarr is missing, or a PE cannot read the array; on every PE, with the PE's number.
    ShapeMismatch, DtypeMismatch
        As for `load`.
    """
    call = f"load_zarr({str(path)!r})"
    with together(call):
        source = required("it", "zarr").open_array(str(path), mode="r")
    return _read(call, source, chunks_of(source), shape, dtype, distribution)


def _read(
    call: str,
    source: Any,
    boxes: Iterator[Key],
    shape: int | Sequence[int] | None,
    dtype: Any,
    distribution: dict[str, Any],
) -> DistArray:
    its, kind = from_root((tuple(source.shape), np.dtype(source.dtype)))
    check(call, its, kind, shape, dtype)
    if kind.hasobject:
        raise ValueError(f"{call}: elements of {kind} are Python objects; a distributed array has numbers.")
    made = DistArray(its, kind.newbyteorder("="), **distribution)
    with together(call):
        for key in boxes:
            made.put(key, source[key])
    _current.barrier()
    return made


def panels_of(source: Any) -> Iterator[Key]:
    """Yield the boxes of this PE's share of a data set."""
    return (key for _, key in panels(tuple(source.shape), source.dtype.itemsize))


def chunks_of(source: Any) -> Iterator[Key]:
    """Yield every n-th chunk of a Zarr array."""
    starts = (range(0, n, max(1, size)) for n, size in zip(source.shape, source.chunks, strict=True))
    corners = itertools.product(*starts)
    for corner in itertools.islice(corners, _current.my_pe(), None, _current.n_pes()):
        ends = zip(corner, source.chunks, source.shape, strict=True)
        yield tuple(slice(at, min(at + size, n)) for at, size, n in ends)
