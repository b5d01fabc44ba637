"""QR, singular values and least squares of distributed matrices beside NumPy."""

from __future__ import annotations

import random
import sys
from typing import Any

import distributed
import numpy as np
from atoll import arrays
from atoll.arrays import DistArray
from distributed import check, main, plain, refused


def some_matrix(rng: random.Random) -> tuple[DistArray, Any]:
    """Return a matrix, and NumPy's with the dtype that LAPACK takes."""
    shape = rng.choice([(40, 4), (5, 5), (4, 30), (7, 1), (1, 1), (2, 3)])
    numbers = np.random.default_rng(rng.randrange(1000)).normal(size=(2, *shape)) * 10
    dtype = rng.choice(["f4", "f8", "c8", "c16", "i8"])
    whole = (numbers[0] + 1j * numbers[1]).astype(dtype) if dtype[0] == "c" else numbers[0].astype(dtype)
    dist: Any = rng.choice(["block", "cyclic", ("whole", "block"), ("block", "block"), "replicated"])
    return arrays.from_array(whole, dist=dist), whole.astype("f8") if dtype == "i8" else whole


def close(found: Any, wanted: Any) -> None:
    distributed.close(found, wanted, **allowed(np.asarray(wanted).dtype))


def allowed(dtype: Any) -> dict[str, float]:
    return {"atol": 1e-3, "rtol": 1e-2} if dtype.char in "fF" else {"atol": 1e-9, "rtol": 1e-9}


@check
def factors_multiply_to_the_matrix(rng: random.Random) -> None:
    a, whole = some_matrix(rng)
    q, r = np.linalg.qr(a)
    wanted = np.linalg.qr(whole)
    assert (q.shape, q.dtype, r.shape, r.dtype) == (
        wanted.Q.shape,
        wanted.Q.dtype,
        wanted.R.shape,
        wanted.R.dtype,
    )
    close(q @ r, whole)
    close(plain(q).conj().T @ plain(q), np.eye(q.shape[1], dtype=q.dtype))
    assert not np.tril(r, -1).any()
    np.testing.assert_array_equal(np.linalg.qr(a, "r"), r)


@check
def singular_values_and_vectors(rng: random.Random) -> None:
    a, whole = some_matrix(rng)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    wanted = np.linalg.svd(whole, full_matrices=False)
    close(s, wanted.S)
    assert (u.shape, vh.shape) == (wanted.U.shape, wanted.Vh.shape)
    close((u * s) @ vh, whole)
    for vectors in (plain(u), plain(vh).conj().T):
        close(vectors.conj().T @ vectors, np.eye(len(s), dtype=whole.dtype))
    close(np.linalg.svd(a, compute_uv=False), wanted.S)
    close(np.linalg.svdvals(a), wanted.S)
    assert np.linalg.matrix_rank(a) == np.linalg.matrix_rank(whole)
    close(np.linalg.cond(a), np.linalg.cond(whole))
    assert np.linalg.matrix_rank(a * 0) == 0 and np.linalg.cond(a * 0) == np.inf


@check
def least_squares(rng: random.Random) -> None:
    a, whole = some_matrix(rng)
    if a.shape[0] < a.shape[1]:
        refused([(lambda: np.linalg.lstsq(a, np.ones(a.shape[0])), "at least as many rows as columns")])
        return
    right = (
        np.random.default_rng(1).normal(size=rng.choice([(a.shape[0],), (a.shape[0], 3)])).astype(whole.dtype)
    )
    given: Any = rng.choice([right, arrays.from_array(right, dist="cyclic")])
    wanted = np.linalg.lstsq(whole, right, rcond=None)
    found = np.linalg.lstsq(a, given)
    close(found[0], wanted[0])
    close(found[1], wanted[1])
    assert found[2] == wanted[2]
    close(found[3], wanted[3])
    doubled = np.concatenate([whole, whole], axis=1)
    if doubled.shape[0] >= doubled.shape[1]:  # columns that depend on others
        close(
            np.linalg.lstsq(arrays.from_array(doubled), right)[0],
            np.linalg.lstsq(doubled, right, rcond=None)[0],
        )


@check
def bad_calls(rng: random.Random) -> None:
    a = arrays.zeros((5, 3))
    refused(
        [
            (lambda: np.linalg.svd(a), "would make 5 x 5 numbers; pass full_matrices=False"),
            (lambda: np.linalg.qr(a, "complete"), "expected 'reduced' or 'r'"),
            (lambda: np.linalg.qr(arrays.zeros(5)), "expected two axes"),
            (
                lambda: np.linalg.qr(arrays.zeros((5, 3), np.float16)),
                "elements of float16; LAPACK takes float32",
            ),
            (lambda: np.linalg.cond(a, 1), "expected None, 2 or -2"),
            (
                lambda: np.linalg.lstsq(np.ones((3, 3)), arrays.zeros(3)),
                "only b is distributed; pass b.to_numpy()",
            ),
            (lambda: np.linalg.lstsq(a, np.ones(4)), "as many rows in b"),
            (lambda: np.linalg.svd(a + np.nan, compute_uv=False), "did not converge"),
            (lambda: np.linalg.eig(a), "numpy.linalg.eig does not work on distributed arrays"),
        ]
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
