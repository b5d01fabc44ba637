"""Shadows of a mountain, by tiles that travel: atoll run -n 2 shadows.py [picture.png]. GPUs, PyTorch and
CuTe DSL.

The sun is low in the north, so its rays run along the columns of the elevation model, of which each PE has
some rows. So the mountain is transposed. A block loads a tile into shared memory and puts it, rows for
columns, to the PE that has those rows. Each tile has its own signal. The same kernel follows the rays along
the new rows, and waits for a tile only when it reaches it.
"""

import sys
from pathlib import Path

import atoll
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "09_terrain"))
import elevation

try:
    import atoll.cute as dev
    import cutlass
    import cutlass.cute as cute
    import torch
    from cutlass import Float32
except ImportError as error:
    sys.exit(f"shadows.py: {error}; PyTorch: pip install torch")

TILE, THREADS, BLOCKS = 16, 256, 64


def sideways(tile: cute.Tensor):
    """Return the same memory with rows and columns exchanged."""
    return cute.make_tensor(tile.iterator, cute.select(tile.layout, mode=[1, 0]))


@cute.kernel
def shade(
    team: dev.Team,
    height: cute.Tensor,
    turned: cute.Tensor,
    arrived: cute.Tensor,
    deep: cute.Tensor,
    drop: Float32,
):
    """Set deep[i, j] to the depth of turned[i, j] below the shadow, 0 in the light; turned is the transpose
    of all heights.
    """
    thread, block, blocks = dev.rank(dev.BLOCK), cute.arch.block_idx()[0], cute.arch.grid_dim()[0]
    bands, across = cute.size(height, mode=[0]) // TILE, cute.size(height, mode=[1]) // TILE
    staged = cute.make_tensor(
        cute.arch.alloc_smem(Float32, TILE * (TILE + 1), 16),
        cute.make_layout((TILE, TILE), stride=(TILE + 1, 1)),
    )
    row, column = thread // TILE, thread % TILE
    for number in cutlass.range(block, bands * across, blocks, unroll=1):
        i, j = number % bands, number // bands
        staged[row, column] = cute.local_tile(height, (TILE, TILE), (i, j))[row, column]
        dev.meet(team, dev.BLOCK)
        band, place = j % bands, team.my_pe * bands + i  # its place, on PE j // bands
        to = cute.local_tile(turned, (TILE, TILE), (band, place))
        signal = arrived.iterator + (band * across + place)
        # Consecutive threads take elements down the columns, which are adjacent in the transposed tile: a
        # warp stores them at once.
        dev.put_signal(team, sideways(to), staged, signal, 1, dev.SET, j // bands, scope=dev.BLOCK)
    for band in cutlass.range(block, bands, blocks, unroll=1):
        ray = Float32(-1e30)  # a thread for each row; the highest ground so far, less `drop` a cell
        for place in cutlass.range(across, unroll=1):
            dev.signal_wait_until(
                team, arrived.iterator + (band * across + place), dev.EQ, 1, scope=dev.BLOCK
            )
            if thread < TILE:
                for k in cutlass.range(TILE, unroll=1):
                    ground = turned[band * TILE + thread, place * TILE + k]
                    ray = ray - drop
                    if ground > ray:
                        ray = ground
                    deep[band * TILE + thread, place * TILE + k] = ray - ground


@cute.jit
def run(
    team: dev.Team,
    height: cute.Tensor,
    turned: cute.Tensor,
    arrived: cute.Tensor,
    deep: cute.Tensor,
    drop: Float32,
):
    # All blocks run at once: one that waits for another PE's tile must not block the sending of this PE's
    # tiles.
    shade(team, height, turned, arrived, deep, drop).launch(
        grid=[BLOCKS, 1, 1], block=[THREADS, 1, 1], cooperative=True
    )


def alone(turned: np.ndarray, drop: float) -> np.ndarray:
    """Compute the same by NumPy, for all rows."""
    deep, ray = np.zeros_like(turned), np.full(len(turned), -1e30, np.float32)
    for k in range(turned.shape[1]):
        ray = np.maximum(turned[:, k], ray - np.float32(drop))
        deep[:, k] = ray - turned[:, k]
    return deep


def draw(file: str, height: np.ndarray, deep: np.ndarray, dx: float, dy: float, n: int) -> None:
    """Draw the shadows; `deep` is transposed, as on the PEs."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("shadows.py: a picture needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.colors import LightSource

    ground = LightSource(0, 40).hillshade(height, vert_exag=2, dx=dx, dy=dy)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    rows = len(height) // n
    for tile in range(0, len(height), TILE):
        for across in range(0, len(height), TILE):
            going = across // rows != tile // rows
            color = plt.get_cmap("tab10")(across // rows)
            left.add_patch(
                plt.Rectangle((across, tile), TILE, TILE, fc=color if going else "none", alpha=0.35, lw=0)
            )
    for ax in (left, right):
        ax.imshow(ground, cmap="gray", extent=(0, len(height), len(height), 0))
        ax.set(xticks=[], yticks=[])
    for pe in range(1, n):
        left.axhline(pe * rows, color="white", lw=1, ls=":")
    shadow = np.ma.masked_less_equal(deep.T, 0)
    shown = right.imshow(shadow, cmap="cool", alpha=0.6, extent=(0, len(height), len(height), 0))
    figure.colorbar(shown, ax=right, label="metres below the light", shrink=0.8)
    left.set_title("rows of PEs; tiles that go to another, in its colour")
    right.set_title("in the shadow, the sun 6° high in the north")
    figure.savefig(file, dpi=80)
    print(f"picture: {file}")


def main() -> None:
    picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
    atoll.init()
    me, n = atoll.my_pe(), atoll.n_pes()
    whole, dx, dy = elevation.load(False, 1)
    size = min(whole.shape) // (TILE * n) * TILE * n  # a square of whole tiles, as many rows on each PE
    whole = whole[:size, :size].astype(np.float32)
    rows, drop = size // n, float(np.float32(np.tan(np.radians(6)) * dy))

    height, turned, deep = (
        atoll.zeros((rows_, size), np.float32, device="cuda", xp=torch) for rows_ in (rows,) * 3
    )
    arrived = atoll.zeros((rows // TILE) * (size // TILE), np.int32, device="cuda", xp=torch)
    torch.cuda.set_device(height.device)
    height.copy_(torch.from_numpy(whole[me * rows : (me + 1) * rows]))
    atoll.barrier_all(stream="current")
    arrays = (dev.tensor(x, 16) for x in (height, turned, arrived, deep))
    run(dev.team(atoll.WORLD), *arrays, Float32(drop))
    torch.cuda.synchronize()

    mine = np.ascontiguousarray(whole.T)[me * rows : (me + 1) * rows]
    assert np.array_equal(turned.cpu().numpy(), mine), "a tile is not where it belongs"
    found, expected = deep.cpu().numpy(), alone(mine, drop)
    assert np.allclose(found, expected, atol=1e-3), "not the shadows that NumPy finds"
    everything = atoll.gather(np.ascontiguousarray(found), 0)
    if me == 0:
        tiles = (size // TILE) ** 2
        print(
            f"{n} PEs: {tiles} tiles turned a mountain of {size} x {size} heights; {np.mean(everything > 0):.0%} lie in the shadow"
        )
        if picture:
            draw(picture, whole, everything.reshape(size, size), dx, dy, n)
    atoll.finalize()


if __name__ == "__main__":
    main()
