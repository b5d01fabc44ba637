"""Breadth-first search, ranks and components of a scale-free graph, whose edges are drawn and kept by all PEs."""

import sys

import atoll
import numpy as np
from atoll import arrays, sparse
from atoll.sparse import csgraph

atoll.init()
scale = int(sys.argv[1]) if len(sys.argv) > 1 else 12  # 2^scale vertices
n, n_edges = 2**scale, 16 * 2**scale

# An edge falls into a quadrant of the matrix, then into a quadrant of that, and so on: the model R-MAT. Each bit of its
# row and column takes one random number; a PE draws those of its own edges.
u = arrays.random((scale, n_edges), seed=1, grid=(1, atoll.n_pes())).local
powers = 2 ** np.arange(scale)
rows = powers @ (u >= 0.76)
columns = powers @ (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
rows, columns = ((v * 2654435761) % n for v in (rows, columns))  # spreads the hubs over the vertices
graph = sparse.from_triplets(
    np.append(rows, columns), np.append(columns, rows), np.ones(2 * len(rows)), (n, n)
)

degrees = graph @ arrays.ones(n)
source = int(degrees.argmax())
levels, parents = csgraph.breadth_first(graph, source)
counts = np.bincount(levels + 1)  # those that are not reached, then those of each level
n_components, labels = csgraph.connected_components(graph)
ranks, _ = csgraph.pagerank(graph)

# Each PE checks its edges: their ends are both reached or both not, and at most one level apart.
ends = levels.at[rows].get(), levels.at[columns].get()
is_right = bool(((ends[0] < 0) == (ends[1] < 0)).all() and (np.abs(ends[0] - ends[1]) <= 1).all())
are_right = atoll.allgather_object(is_right)
sizes = np.bincount(degrees.astype(int))
if atoll.my_pe() == 0:
    print(
        f"{n} vertices, {graph.nnz} directed edges, {n_components} components; vertex {source} has the most edges"
    )
    print(
        f"{n - counts[0]} vertices are {len(counts) - 2} or fewer edges from it; by distance: {counts[1:].tolist()}"
    )
    print(f"its rank is {ranks[source] * n:.1f} times the mean")
    if len(sys.argv) > 2:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.2), layout="constrained")
        left.loglog(np.flatnonzero(sizes), sizes[sizes > 0], ".", markersize=4)
        left.set(title="A few hubs, many leaves", xlabel="edges of a vertex", ylabel="vertices")
        right.bar(range(len(counts) - 1), counts[1:])
        right.set(
            title="Breadth-first search", xlabel="edges from the largest hub", ylabel="vertices", yscale="log"
        )
        fig.savefig(sys.argv[2], dpi=80, bbox_inches="tight")
atoll.finalize()
sys.exit(0 if all(are_right) else 1)
