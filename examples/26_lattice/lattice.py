"""Quarks on a lattice of four dimensions: the Wilson-Dirac operator of SU(3), and a pion's propagator from it.

    atoll run -n 4 lattice.py [length in time] [length in space] [pion.png]

The quark field and the links of the gauge field are distributed arrays with a halo in four directions. The operator is
checked for its two symmetries, then beside the same in NumPy on one PE.
"""

import sys

import atoll
import numpy as np
from atoll import arrays, sparse

MASS, NOISE = 0.4, 0.25  # mass of the quark in units of the lattice; distance of the links from 1

atoll.init()
numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
picture = next((word for word in sys.argv[1:] if word.endswith(".png")), None)
time, space = (numbers + [16, 8][len(numbers) :])[:2]
sites = (time, space, space, space)

# Euclidean gamma matrices in the chiral form, first that of time: gamma_5 is diagonal.
PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
GAMMA = [np.kron([[0, 1], [1, 0]], np.eye(2)), *(np.kron([[0, -1j], [1j, 0]], each) for each in PAULI)]
GAMMA_5 = np.array([1, 1, -1, -1])[:, None]


def field(*inner):
    """Return an array of zeros with numbers at each site, distributed over the sites only."""
    return arrays.zeros(
        (*sites, *inner), complex, grid=grid + (1,) * len(inner), halo=[1] * 4 + [0] * len(inner)
    )


def su3(seed, noise, count):
    """Return `count` random matrices of SU(3) at each site; the same for any number of PEs."""
    made = field(count, 3, 3)
    parts = arrays.random((*sites, count, 3, 3, 2), seed=seed, grid=(*grid, 1, 1, 1, 1)).local - 0.5
    q, r = np.linalg.qr(np.eye(3) + 4 * noise * (parts[..., 0] + 1j * parts[..., 1]))
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    q = q * (diagonal / abs(diagonal))[..., None, :]
    made.local[...] = q / np.linalg.det(q)[..., None, None] ** (1 / 3)
    made.exchange_halo("periodic")
    return made


def times(matrices, psi):
    """Multiply the colours of a field by matrices, one at each site."""
    return np.einsum("...ab,...sb->...sa", matrices, psi)


def dagger(matrices):
    return matrices.conj().swapaxes(-1, -2)


def hop(psi, ahead, behind, links, links_behind, mu):
    """Return the operator's term of one direction, from the neighbours ahead and behind."""
    forward, backward = times(links, ahead), times(dagger(links_behind), behind)
    return ((forward + backward) - np.einsum("st,...tc->...sc", GAMMA[mu], forward - backward)) / 2


def dirac(u, psi):
    """Return the Wilson-Dirac operator of a field: D psi. Needs the neighbours of each site in four directions."""
    psi.exchange_halo("periodic")
    links, x = u.local_with_halo, psi.local_with_halo

    def beside(values, mu, step):
        cut = [slice(1, -1)] * 4
        cut[mu] = slice(1 + step, values.shape[mu] - 1 + step)
        return values[tuple(cut)]

    out = (MASS + 4) * psi.local
    for mu in range(4):
        its = links[..., mu, :, :]
        out = out - hop(
            psi.local, beside(x, mu, 1), beside(x, mu, -1), beside(its, mu, 0), beside(its, mu, -1), mu
        )
    return psi.map_blocks(lambda _: out)


def dirac_alone(u, psi):
    """Return the same for NumPy arrays of the whole lattice."""
    out = (MASS + 4) * psi
    for mu in range(4):
        its = u[..., mu, :, :]
        out = out - hop(psi, np.roll(psi, -1, mu), np.roll(psi, 1, mu), its, np.roll(its, 1, mu), mu)
    return out


def normal(psi):
    """Return D^dagger D psi; D^dagger = gamma_5 D gamma_5."""
    work.local[...] = GAMMA_5 * dirac(u, psi).local
    return GAMMA_5 * dirac(u, work)


grid = arrays.DistArray(sites).grid
u, turn, work = su3(1, NOISE, 4), su3(2, 1, 1), field(4, 3)
phi, chi = field(4, 3), field(4, 3)
for psi, seed in ((phi, 3), (chi, 4)):
    parts = arrays.random((*sites, 4, 3, 2), seed=seed, grid=(*grid, 1, 1, 1)).local
    psi.local[...] = parts[..., 0] + 1j * parts[..., 1]
atoll.barrier_all()

# gamma_5-hermiticity: <chi, gamma_5 D gamma_5 phi> = <D chi, phi>
work.local[...] = GAMMA_5 * phi.local
left, right = np.vdot(chi, GAMMA_5 * dirac(u, work)), np.vdot(dirac(u, chi), phi)
hermiticity = abs(left - right) / abs(left)

# Gauge covariance: other colours at each site turn D phi as they turn phi.
g, there = turn.local[..., 0, :, :], turn.local_with_halo[..., 0, :, :]
turned = field(4, 3, 3)
for mu in range(4):
    ahead = there[tuple(slice(2, None) if axis == mu else slice(1, -1) for axis in range(4))]
    turned.local[..., mu, :, :] = g @ u.local[..., mu, :, :] @ dagger(ahead)
turned.exchange_halo("periodic")
work.local[...] = times(g, phi.local)
expected = dirac(u, phi).map_blocks(lambda part: times(g, part))
covariance = abs(dirac(turned, work) - expected).max()

# A quark from one point: D^dagger D x = D^dagger source. The pion's correlator is the sum of |x|^2 at each time.
source = field(4, 3)
if atoll.my_pe() == 0:
    source[0, 0, 0, 0, 0, 0] = 1
atoll.barrier_all()
source.local[...] *= GAMMA_5
right_side = GAMMA_5 * dirac(u, source)
steps = []
x, info = sparse.cg(normal, right_side, rtol=1e-10, callback=lambda _: steps.append(1))
residual = np.linalg.norm(dirac(u, x) - source) / np.linalg.norm(source)
weight = (x.real**2 + x.imag**2).sum((4, 5))
pion = weight.sum((1, 2, 3))
found, psi, links = dirac(u, phi).to_numpy(), phi.to_numpy(), u.to_numpy()

status = 0
if atoll.my_pe() == 0:
    difference = abs(found - dirac_alone(links, psi)).max()
    right = max(hermiticity, covariance, difference) < 1e-12 and residual < 1e-8 and info == 0
    status = 0 if right and pion[0] > pion[1] > pion[time // 2] else 1
    print(
        f"{' x '.join(map(str, sites))} sites on a grid of {grid}: gamma_5 {hermiticity:.0e}, gauge {covariance:.0e}, "
        f"NumPy {difference:.0e}; {len(steps)} steps of conjugate gradients, residual {residual:.0e}"
    )
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, (a, b) = pyplot.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
        plane = np.roll(weight[:, :, 0, 0], (time // 2, space // 2), (0, 1)).T
        shown = a.imshow(
            np.log10(plane), cmap="magma", aspect="auto", extent=(-time / 2, time / 2, -space / 2, space / 2)
        )
        figure.colorbar(shown, ax=a, label="log10 of the weight")
        a.set(title="A quark from one point", xlabel="time", ylabel="x")
        b.semilogy(pion, "o-")
        b.set(title="The pion's correlator", xlabel="time")
        figure.savefig(picture, dpi=80)
        print(f"picture: {picture}")
atoll.finalize()
sys.exit(status)
