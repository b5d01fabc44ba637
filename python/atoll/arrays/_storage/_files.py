"""Distributed arrays in .npy files, which PEs write and read in equal shares."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import atoll

from .. import _libraries, _mapped
from .._array import DistArray
from .._axis import block
from .._compared import collective
from .._functions._moves import require_keywords
from .._layout import numbers_of
from .._teams import _current
from .._together import on_first, together

PANEL_BYTES = 16 << 20  # moved at a time
Array = np.ndarray[Any, Any]
Key = tuple[int | slice, ...]


class Header(NamedTuple):
    """The contents of a .npy file: shape, dtype, order of the axes, and where the elements begin."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    start: int


@collective(on_gpus=True, on_copies=True)
def save(path: str | Path, array: DistArray, *, progress: bool = False) -> None:
    """Write an array of any distribution to a .npy file, which `numpy.load` reads. Collective.

    Each PE writes an equal share of the file, consecutive elements. It reads those of other PEs from where they lie.

    Parameters
    ----------
    path
        The file. All PEs see it by the same name, on several hosts too. Unlike `numpy.save` this adds no ".npy".
    array
        The array. What PEs wrote into it before the call is saved. From GPUs it goes through the hosts.
    progress
        Show a bar of all PEs' steps of 16 MB, as `atoll.progress`; for arrays of all PEs.

    Raises
    ------
    OSError
        If a PE cannot write, as on a full disk; then on every PE, with the PE's number. A file that was there before
        is as it was.
    TypeError, ValueError
        If the second argument is no distributed array; if a .npy file cannot have the dtype. If a bar is asked for by a
        smaller team.

    Notes
    -----
    The elements go to `path` with ".part" behind it, which takes the name `path` once it is whole and on the disk. So
    both files need room on the disk. Each PE needs 16 MB of memory besides the array.
    """
    expect_array("save(path, array): the second argument", array)
    expect_path("save", path)
    call, me = f"save({str(path)!r})", _current.my_pe()
    _current.barrier()  # completes what PEs put into the array
    target, part, start = on_first(call, lambda: _begin(path, array))
    try:
        n = sum(1 for _ in panels(array.shape, array.dtype.itemsize))
        with _steps(call, progress, n) as step, together(call):
            _write_share(part, array, start, step)
        with together(call):
            if me == 0:
                replace(part, target)
    except Exception:
        if me == 0:
            with contextlib.suppress(OSError):
                part.unlink()
        raise


def expect_path(call: str, path: Any) -> None:
    """Raise unless an argument names a file."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{call}(): the path is {path!r:.40}; expected a str or a pathlib.Path.")


def expect_array(what: str, array: Any) -> None:
    """Raise unless an argument is a distributed array."""
    if not isinstance(array, DistArray):
        raise TypeError(f"{what} is {type(array).__name__}, not a distributed array.")


def _begin(path: str | Path, array: DistArray) -> tuple[Path, Path, int]:
    """Write the header of a new file; return the full names of the target and of this file, and the header's length."""
    target = Path(os.path.realpath(path))
    part = target.with_name(f"{target.name}.part")
    if target.exists():
        if not target.is_file():
            raise OSError(errno.EINVAL, "it exists and is no ordinary file; choose another name")
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "the file exists and may not be written")
    descr = np.lib.format.dtype_to_descr(array.dtype)
    header: dict[str, Any] = {"descr": descr, "fortran_order": False, "shape": array.shape}
    text = io.BytesIO()
    try:
        np.lib.format.write_array_header_1_0(text, header)
    except ValueError:  # longer than 64 KB
        text = io.BytesIO()
        np.lib.format.write_array_header_2_0(text, header)
    with part.open("wb") as file:
        file.write(text.getvalue())
    return target, part, len(text.getvalue())


@contextlib.contextmanager
def _steps(call: str, is_shown: bool, steps: int) -> Iterator[Callable[[], None]]:
    """Yield a function that counts one of this PE's steps, shown by a bar of all PEs if asked. Collective."""
    if not is_shown:
        yield lambda: None
        return
    if _current.team() != atoll.WORLD:
        raise ValueError(f"{call}: progress=True shows the steps of all PEs, and this is a smaller team.")
    bar: atoll.progress[None] = atoll.progress(total=steps, desc=call, unit="step")
    with bar:
        yield bar.update


def _write_share(path: Path, array: DistArray, start: int, step: Callable[[], None]) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        for first, key in panels(array.shape, array.dtype.itemsize):
            data = _bytes_of(array._on_host(key))
            at = start + first * array.dtype.itemsize
            while len(data):  # a write may end early
                done = os.pwrite(fd, data.data, at)
                data, at = data[done:], at + done
            step()
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(part: Path, target: Path) -> None:
    """Give a file on the disk its name, also there."""
    part.replace(target)
    with contextlib.suppress(OSError):  # some file systems have no folders to synchronize
        fd = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


@collective()
def load(
    path: str | Path,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    *,
    progress: bool = False,
    mmap: bool = True,
    **distribution: Any,
) -> DistArray:
    """Return the array of a .npy file, of any number of PEs and any distribution. Collective.

    Each PE maps the file into memory, and copies its part.

    Parameters
    ----------
    path
        The file. All PEs see it by the same name.
    shape, dtype
        What the file must have; by default anything.
    progress
        Show a bar of all PEs' steps of 16 MB, as `atoll.progress`; for arrays of all PEs.
    mmap
        False: each PE reads an equal share of the file, consecutive elements, and puts them where they belong. A mapped
        file that another process cuts short meanwhile ends the job by SIGBUS, and this way raises an error.
    distribution
        grid, dist, halo and team of `DistArray`.

    Returns
    -------
    DistArray
        All PEs see its elements.

    Raises
    ------
    OSError
        If a PE cannot read the file; then on every PE, with the PE's number.
    ValueError
        If it is not a .npy file, is cut short, or has Python objects. If a bar is asked for by a smaller team.
    ShapeMismatch, DtypeMismatch
        If it has another shape or dtype than asked for.

    Notes
    -----
    Each PE needs 16 MB of memory besides the array. Each element is copied once from the mapped file.
    """
    expect_path("load", path)
    require_keywords("load", distribution)
    call = f"load({str(path)!r})"
    header = on_first(call, lambda: _header(path))
    check(call, header.shape, header.dtype, shape, dtype)
    made = DistArray(header.shape, header.dtype.newbyteorder("="), **distribution)
    itemsize = header.dtype.itemsize
    is_mapped = mmap and made._library is _libraries.HOST
    n = _mapped.count(made, PANEL_BYTES) if is_mapped else sum(1 for _ in panels(_in_file(header), itemsize))
    with _steps(call, progress, n) as step, together(call):
        if is_mapped:
            _mapped.read(path, header, made, PANEL_BYTES, step)
        else:
            _read_share(path, header, made, step)
    _current.barrier()
    return made


def _header(path: str | Path) -> Header:
    with Path(path).open("rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            if version not in ((1, 0), (2, 0)):
                raise ValueError(f"it has version {version}; expected 1.0 or 2.0")
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, is_fortran, dtype = read(file)
        except ValueError as error:
            raise ValueError(f"it is not a .npy file: {error}") from None
        if dtype.hasobject:
            raise ValueError(
                "the file has Python objects; a distributed array has numbers and records of them"
            )
        header = Header(shape, dtype, is_fortran, file.tell())
        wanted = header.start + math.prod(shape) * dtype.itemsize
        size = os.fstat(file.fileno()).st_size
        if size < wanted:
            raise ValueError(f"the file is cut short: it has {size} of {wanted} bytes")
    return header


def check(
    call: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    asked: int | Sequence[int] | None,
    asked_dtype: Any,
) -> None:
    """Raise unless a file has the shape and dtype that were asked for, if any."""
    wanted = shape if asked is None else numbers_of(asked)
    if wanted != shape:
        raise atoll.ShapeMismatch(f"{call}: the file has shape {shape}; expected {wanted}.")
    native = dtype.newbyteorder("=")
    if asked_dtype is not None and np.dtype(asked_dtype) != native:
        raise atoll.DtypeMismatch(
            f"{call}: the file has dtype {native}; expected {np.dtype(asked_dtype)}. Load it as it is, and use a.astype()."
        )


def _in_file(header: Header) -> tuple[int, ...]:
    """Return the shape in which the elements of a file are in C order."""
    return header.shape[::-1] if header.is_fortran else header.shape


def _read_share(path: str | Path, header: Header, made: DistArray, step: Callable[[], None]) -> None:
    shape = _in_file(header)
    with Path(path).open("rb", buffering=0) as file:
        for first, key in panels(shape, header.dtype.itemsize):
            box = shape[len(key) :]
            run = key[-1]
            assert isinstance(run, slice)
            values = np.empty((run.stop - run.start, *box), header.dtype)
            file.seek(header.start + first * header.dtype.itemsize)
            _fill(file, _bytes_of(values))
            if header.is_fortran:
                whole = (*key, *(slice(None),) * len(box))
                made.put(whole[::-1], values.T)
            else:
                made.put(key, values)
            step()


def _fill(file: Any, data: Array) -> None:
    done = 0
    while done < len(data):  # a read may end early
        count = file.readinto(data[done:])
        if not count:
            raise ValueError(
                f"the file was cut short while it was read: {len(data) - done} bytes are missing"
            )
        done += count


def _bytes_of(values: Array) -> Array:
    """Return the memory of a contiguous array as bytes."""
    return values.reshape(-1).view(np.uint8) if values.nbytes else np.empty(0, np.uint8)


def panels(shape: tuple[int, ...], itemsize: int, shares: int | None = None) -> Iterator[tuple[int, Key]]:
    """Yield the boxes of this PE's share of a file, each a run of elements in C order of at most PANEL_BYTES.

    Parameters
    ----------
    shape, itemsize
        Of the array in the file.
    shares
        PEs that have a share, the first ones; by default all.

    Yields
    ------
    tuple
        The number of the first element in C order, and an index of the box: integers, then one slice.
    """
    n = _current.n_pes() if shares is None else shares
    if not math.prod(shape) or _current.my_pe() >= n:
        return
    axis, row = 0, math.prod(shape[1:])  # indices of `axis` are counted, each has `row` elements
    while axis < len(shape) - 1 and row * itemsize > PANEL_BYTES:
        axis += 1
        row //= shape[axis]
    lengths = shape[: axis + 1]
    at, stop = block(math.prod(lengths), n).ends(_current.my_pe())
    most = max(1, PANEL_BYTES // max(1, row * itemsize))
    while at < stop:
        *leading, first = (int(i) for i in np.unravel_index(at, lengths))
        count = min(most, lengths[-1] - first, stop - at)
        yield at * row, (*leading, slice(first, first + count))
        at += count
