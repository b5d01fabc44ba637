"""Outputs of distributed arrays: files by other distributions, whole checkpoints, errors on every PE, and pictures."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import atoll
import numpy as np
from atoll import arrays
from atoll.arrays import _drawing
from atoll.arrays._storage import _files
from distributed import check, equal, main, some_array

FOLDER = Path(sys.argv[2])
HAS_CONTAINERS = bool(find_spec("h5py") and find_spec("zarr"))


def some_path(rng: random.Random, suffix: str = ".npy") -> Path:
    return FOLDER / f"{atoll.n_pes()}-{rng.randint(0, 10**9)}{suffix}"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def raised(kind: type[Exception], function: Callable[[], Any], *texts: str) -> Exception:
    """Check that a call raises an error with some texts on this PE."""
    try:
        function()
    except kind as error:
        for text in texts:
            assert text in str(error), f"{error!r} does not have {text!r}"
        return error
    raise AssertionError(f"nothing was raised; expected {texts}")


@contextmanager
def small_panels(size: int) -> Iterator[None]:
    was, _files.PANEL_BYTES = _files.PANEL_BYTES, size
    try:
        yield
    finally:
        _files.PANEL_BYTES = was


@check
def files_hold_the_array(rng: random.Random) -> None:
    a, whole = some_array(rng)
    path = some_path(rng)
    with small_panels(rng.choice([8, 40, 200, 16 << 20])):
        a.save(path)
        if atoll.my_pe() == 0:
            equal(np.load(path), whole)
        dist = rng.choice(["block", "cyclic", "cyclic(2)"])
        found = arrays.load(path, whole.shape, whole.dtype, dist=dist, mmap=rng.random() < 0.7)
        equal(found.to_numpy(), whole)
        assert found._layout.axes[0].kind == dist or found.grid[0] == 1
        if atoll.my_pe() == 0:
            np.save(path, np.asfortranarray(whole[::-1].astype(whole.dtype.newbyteorder(">"))))
        atoll.barrier_all()
        equal(arrays.load(path, mmap=rng.random() < 0.7).to_numpy(), whole[::-1])


@check
def records_and_empty_arrays_have_files(rng: random.Random) -> None:
    path = some_path(rng)
    records = np.zeros((5, 3), [("name", "U4"), ("when", "M8[s]"), ("x", "f8", 2)])
    records["x"] = np.arange(30).reshape(5, 3, 2)
    arrays.from_array(records).save(path)
    equal(arrays.load(path, dist=["cyclic", "whole"]).to_numpy(), records)
    arrays.from_array(records["when"]).save(path)
    equal(arrays.load(path).to_numpy(), records["when"])
    arrays.zeros((4, 0)).save(path)
    assert arrays.load(path).shape == (4, 0)
    many = np.zeros(3, [(f"a_long_name_of_a_field_{i}", "i1") for i in range(2500)])
    arrays.from_array(many).save(path)  # its header is longer than version 1.0 allows
    with path.open("rb") as file:
        assert np.lib.format.read_magic(file) == (2, 0)


@check
def shares_are_equal_and_panels_small(rng: random.Random) -> None:
    shape = tuple(rng.randint(1, 12) for _ in range(rng.randint(1, 4)))
    size = rng.choice([1, 5, 8, 30, 1000])
    with small_panels(size):
        mine = list(_files.panels(shape, 1))
    numbers = np.arange(np.prod(shape)).reshape(shape)
    elements = []
    for first, key in mine:
        run = numbers[key].ravel()
        assert len(run) <= size and list(run) == list(range(first, first + len(run)))
        elements += list(run)
    every = atoll.allgather_object(elements)
    assert [number for each in every for number in each] == list(range(numbers.size))
    if numbers.size <= size:  # else PEs share indices of a later axis
        rows = [len(each) // (numbers.size // shape[0]) for each in every]
        assert max(rows) - min(rows) <= 1


@check
def a_file_that_does_not_fit_is_refused(rng: random.Random) -> None:
    path = some_path(rng)
    a = arrays.ones((6, 4))
    a.save(path)
    raised(ValueError, lambda: arrays.load(path, (4, 6)), "the file has shape (6, 4); expected (4, 6)")
    raised(
        atoll.DtypeMismatch,
        lambda: arrays.load(path, dtype="f4"),
        "the file has dtype float64; expected float32",
        "a.astype()",
    )
    size = path.stat().st_size
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        os.truncate(path, size - 1)
    atoll.barrier_all()
    raised(
        ValueError,
        lambda: arrays.load(path),
        f"PE 0: the file is cut short: it has {size - 1} of {size} bytes",
    )
    atoll.barrier_all()
    cases: list[tuple[bytes, str]] = [
        (b"", "not a .npy file"),
        (b"\x93NUMPY\x01\x00v\x00{'de", "not a .npy file"),
    ]
    cases += [
        (b"PK\x03\x04 and more of it", "not a .npy file"),
        (b"\x93NUMPY\x09\x00v\x00{}", "version (9, 0)"),
    ]
    for contents, text in cases:
        if atoll.my_pe() == 0:
            path.write_bytes(contents)
        atoll.barrier_all()
        raised(ValueError, lambda: arrays.load(path), "PE 0: ", text)
    if atoll.my_pe() == 0:
        np.save(path, np.array([None]), allow_pickle=True)
    atoll.barrier_all()
    raised(ValueError, lambda: arrays.load(path), "PE 0: the file has Python objects")
    raised(FileNotFoundError, lambda: arrays.load(FOLDER / "missing.npy"), "PE 0: No such file")
    raised(OSError, lambda: arrays.load(FOLDER), "PE 0: Is a directory")
    raised(FileNotFoundError, lambda: a.save(FOLDER / "missing" / "x.npy"), "PE 0: No such file")
    raised(OSError, lambda: a.save(FOLDER), "PE 0: it exists and is no ordinary file")
    raised(TypeError, lambda: arrays.save(a, path), "the second argument is")  # type: ignore[arg-type]


@contextmanager
def no_room(pe: int, name: str = "pwrite") -> Iterator[None]:
    """Let a call of the system fail on one PE, as on a full disk."""
    was = getattr(os, name)

    def fails(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if atoll.my_pe() == pe:
        setattr(os, name, fails)
    try:
        yield
    finally:
        setattr(os, name, was)


@check
def one_pe_that_fails_is_named_by_all(rng: random.Random) -> None:
    path, last = some_path(rng), atoll.n_pes() - 1
    a, b = arrays.ones(100), arrays.zeros(100)
    a.save(path)
    for name in ("pwrite", "fsync"):
        with no_room(last, name):
            error = raised(OSError, lambda: b.save(path), f"PE {last}: No space left on device")
        assert isinstance(error, OSError) and error.errno == errno.ENOSPC
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if atoll.my_pe() == last:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    raised(OSError, lambda: b.save(path), f"PE {last}: File too large")
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    equal(arrays.load(path).to_numpy(), np.ones(100))  # the earlier content
    assert not Path(f"{path}.part").exists()
    fill = _files._fill

    def cut_short(file: Any, data: Any) -> None:
        file.seek(0, os.SEEK_END)
        fill(file, data)

    if atoll.my_pe() == last:
        _files._fill = cut_short  # has the effect of another program that cuts the file
    raised(
        ValueError,
        lambda: arrays.load(path, mmap=False),
        f"PE {last}: the file was cut short while it was read",
    )
    _files._fill = fill


@check
def a_checkpoint_is_replaced_as_a_whole(rng: random.Random) -> None:
    folder, last = some_path(rng, ""), atoll.n_pes() - 1
    raised(FileNotFoundError, lambda: arrays.load_checkpoint(folder), "PE 0: No such file")
    u, whole = some_array(rng)
    v = arrays.arange(20, dist="cyclic")
    arrays.save_checkpoint(folder, u=u, v=v, step=np.int64(3), names=["a"])
    state = arrays.load_checkpoint(folder, v={"dist": "cyclic(3)"})
    assert state["step"] == 3 and state["names"] == ["a"] and list(state) == ["u", "v", "step", "names"]
    equal(state["u"].to_numpy(), whole)
    equal(state["v"].to_numpy(), np.arange(20))
    assert last == 0 or state["v"]._layout.axes[0].kind == "cyclic(3)"
    before = names_in(folder)
    atoll.barrier_all()
    with no_room(last):
        raised(OSError, lambda: arrays.save_checkpoint(folder, u=u, v=v, step=4), f"PE {last}: No space left")
    with no_room(0, "replace"):
        raised(OSError, lambda: arrays.save_checkpoint(folder, step=4), "PE 0: No space left")
    assert arrays.load_checkpoint(folder)["step"] == 3
    raised(ValueError, lambda: arrays.load_checkpoint(folder, w={}), "it has no array w; it has u, v")
    raised(
        TypeError,
        lambda: arrays.load_checkpoint(folder, u={"foo": 1}),
        "u={'foo': 1}; expected a dictionary with",
    )
    raised(TypeError, lambda: arrays.save_checkpoint(folder, step=3j), "PE 0: step is complex")
    raised(ValueError, lambda: arrays.save_checkpoint(folder, **{"a/b": 1}), "'a/b' is no name")
    if last:
        given = {"x" if atoll.my_pe() == last else "y": 1}
        raised(ValueError, lambda: arrays.save_checkpoint(folder, **given), f"PE {last} x with arrays")
    assert names_in(folder) == before or atoll.my_pe()  # PE 0 has removed what is left of the failures
    atoll.barrier_all()
    arrays.save_checkpoint(folder, u=u, step=5)
    assert arrays.load_checkpoint(folder)["step"] == 5
    assert names_in(folder) == ["checkpoint.json", "u.generation2.npy"]
    atoll.barrier_all()
    if atoll.my_pe() == 0:
        (folder / "checkpoint.json").write_text(json.dumps({"arrays": {}}))
    atoll.barrier_all()
    raised(
        ValueError,
        lambda: arrays.load_checkpoint(folder),
        "PE 0: checkpoint.json is not that of a checkpoint",
    )


@check
def hdf5_and_zarr_hold_the_array(rng: random.Random) -> None:
    a, whole = some_array(rng)
    path = some_path(rng, "")
    if not HAS_CONTAINERS:
        for call in (
            lambda: arrays.save_hdf5(path, "a", a),
            lambda: arrays.load_hdf5(path, "a"),
            lambda: arrays.save_zarr(path, a),
            lambda: arrays.load_zarr(path),
        ):
            raised(ImportError, call, "PE 0: it needs the package", "is not installed: pip install")
        return
    with small_panels(rng.choice([8, 100])):
        arrays.save_hdf5(path, "a", a)
        arrays.save_hdf5(path, "b", arrays.arange(3))
        arrays.save_hdf5(path, "a", a)
        equal(arrays.load_hdf5(path, "a", whole.shape, whole.dtype, dist="cyclic").to_numpy(), whole)
    raised(ValueError, lambda: arrays.load_hdf5(path, "c"), "PE 0: it has no data set 'c'; it has a, b")
    raised(ValueError, lambda: arrays.load_hdf5(path, "a", (77,)), "expected (77,)")
    raised(OSError, lambda: arrays.load_hdf5(FOLDER / "missing", "a"), "PE 0: ")
    raised(OSError, lambda: arrays.save_hdf5(FOLDER / "missing" / "x", "a", a), "PE 0: ")
    atoll.barrier_all()
    folder = path.with_suffix(".zarr")
    for chunks in (None, [2] * a.ndim):
        arrays.save_zarr(folder, a, chunks)
        equal(arrays.load_zarr(folder, dist="cyclic(2)").to_numpy(), whole)
    raised(OSError, lambda: arrays.load_zarr(FOLDER / "missing"), "PE 0: ")
    raised(TypeError, lambda: arrays.save_zarr(folder, whole), "the array is ndarray")


class Chunked:
    """An array with what `from_dask` uses of Dask."""

    def __init__(self, whole: Any, chunks: Any) -> None:
        self._whole, self.chunks, self.blocks = whole, chunks, self
        self.shape, self.dtype = whole.shape, whole.dtype

    def __getitem__(self, number: tuple[int, ...]) -> Chunked:
        box = (slice(sum(n[:i]), sum(n[: i + 1])) for n, i in zip(self.chunks, number, strict=True))
        return Chunked(self._whole[tuple(box)], ())

    def compute(self, scheduler: Any) -> Any:
        assert scheduler == "synchronous"
        return self._whole


@check
def an_array_of_dask_is_taken(rng: random.Random) -> None:
    _, whole = some_array(rng)
    chunks = tuple((1,) * (n // 2) + (n - n // 2,) for n in whole.shape)
    given: Any = Chunked(whole, chunks)
    if find_spec("dask"):
        import dask.array

        given = dask.array.from_array(whole, chunks)
    for dist in ("cyclic", "block"):
        equal(arrays.from_dask(given, dist=dist).to_numpy(), whole)
    last = atoll.n_pes() - 1
    other = given if atoll.my_pe() < last else whole
    raised(TypeError, lambda: arrays.from_dask(other), f"PE {last} passed ndarray; expected an array of Dask")
    if last:
        other = Chunked(np.zeros(whole.shape, "f2"), chunks) if atoll.my_pe() == last else given
        raised(ValueError, lambda: arrays.from_dask(other), f"PE {last} ", "of float16; make the same array")
    broken = Chunked(whole, chunks)
    if atoll.my_pe() == 0:
        broken.compute = lambda scheduler: 1 / 0  # type: ignore[method-assign]
        kept, Chunked.__getitem__ = Chunked.__getitem__, lambda self, _: broken  # type: ignore[method-assign]
    raised(
        ZeroDivisionError,
        lambda: arrays.from_dask(broken),
        "from_dask(): PE 0: division by zero",
    )
    if atoll.my_pe() == 0:
        Chunked.__getitem__ = kept  # type: ignore[method-assign]
    unknown = Chunked(whole, chunks)
    unknown.shape = (float("nan"),)
    raised(ValueError, lambda: arrays.from_dask(unknown), "call array.compute_chunk_sizes()")


@check
def pictures_show_the_owners(rng: random.Random) -> None:
    a, whole = some_array(rng)
    atoll.barrier_all()
    shown = _drawing.axes_to_draw(a)
    covered = np.zeros([a.shape[number] for number in shown], int)
    for pe, top, bottom, left, right in _drawing.cells(a, shown):
        index = [n // 2 for n in a.shape]
        for row, column in ((top, left), (bottom - 1, right - 1)):
            index[shown[-1]] = column
            index[shown[0]] = row if len(shown) == 2 else column
            assert a.owner(index) == pe
        covered[(slice(top, bottom), slice(left, right))[-len(shown) :]] += 1
    assert (covered == 1).all()
    was, _drawing.MOST_POINTS = _drawing.MOST_POINTS, 4
    found, steps = _drawing.some_elements(a, shown)
    _drawing.MOST_POINTS = was
    assert max(found.shape) <= 4
    key = [slice(None, None, steps[shown.index(k)]) if k in shown else n // 2 for k, n in enumerate(a.shape)]
    equal(found, np.abs(whole[tuple(key)]) if whole.dtype.kind == "c" else whole[tuple(key)])
    long = arrays.zeros(1000, [("x<y", "f8")], dist="cyclic(2)")
    for given in (a, long, arrays.zeros((3, 0))):
        text = "".join(ElementTree.fromstring(given._repr_html_()).itertext())
        assert f"part of PE {atoll.my_pe()}" in text and str(given.dtype) in text
    assert atoll.n_pes() == 1 or "owners: indices 0:48 of 1000 along axis 0" in long._repr_html_()
    if atoll.n_pes() == 1:  # the others would spin while one PE draws
        for number, given in enumerate((a, long)):
            given.plot(FOLDER / f"{number}.png")
            assert (FOLDER / f"{number}.png").read_bytes().startswith(b"\x89PNG")
        raised(FileNotFoundError, lambda: a.plot(FOLDER / "missing" / "x.png"))
    raised(ValueError, lambda: arrays.zeros((3, 0)).plot(), "has no elements to draw")
    sys.modules["matplotlib.pyplot"], kept = None, sys.modules.get("matplotlib.pyplot")  # type: ignore[assignment]
    raised(ImportError, lambda: a.plot(), "pip install matplotlib")
    del sys.modules["matplotlib.pyplot"]
    if kept is not None:
        sys.modules["matplotlib.pyplot"] = kept


def end_within_a_checkpoint() -> None:
    """Save a checkpoint, and die while the second array of the next one is written."""
    atoll.init()
    whole = np.arange(35.0).reshape(5, 7)
    arrays.save_checkpoint(FOLDER / "run", u=arrays.from_array(whole), v=arrays.arange(9), step=1)
    write, count = os.pwrite, 0

    def dies(*given: Any) -> int:
        nonlocal count
        count += 1
        if count == 2:
            os._exit(7)
        return write(*given)

    if atoll.my_pe() == 0:  # another PE's end would let PE 0 remove what it has written
        os.pwrite = dies
    arrays.save_checkpoint(FOLDER / "run", u=arrays.from_array(-whole), v=arrays.arange(9) + 1, step=2)


@check
def a_checkpoint_outlives_its_job(rng: random.Random) -> None:
    if not (FOLDER / "run").exists():
        return
    state = arrays.load_checkpoint(FOLDER / "run", u={"dist": ["whole", "cyclic"]})
    assert state["step"] == 1
    equal(state["u"].to_numpy(), np.arange(35.0).reshape(5, 7))
    equal(state["v"].to_numpy(), np.arange(9))
    if atoll.my_pe() == 0:
        print("the checkpoint of an ended job is whole")


if sys.argv[1] == "end":
    end_within_a_checkpoint()
else:
    main(int(sys.argv[1]))
