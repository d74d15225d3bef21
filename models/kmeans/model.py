"""K-means to convergence: ten clusters of handwritten digits, until no image changes its cluster.

`python -m models.kmeans.model`, from the top of the repository, writes the module and tensors of
this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
IMAGES = 256
CLUSTERS = 10


def nearest(points, centers):
    """The center nearest to each point: |p - c|^2 without |p|^2, the same for all centers."""
    return jnp.argmin((centers**2).sum(1) - 2 * points @ centers.T, axis=1)


def means(points, cluster, centers):
    """The mean of each cluster; one without points stays where it is."""
    sums = jax.ops.segment_sum(points, cluster, len(centers))
    sizes = jnp.zeros(len(centers)).at[cluster].add(1)[:, None]
    return jnp.where(sizes > 0, sums / jnp.maximum(sizes, 1), centers)


@jax.jit
def kmeans(points, centers):
    """Returns the centers, the cluster of each point, and the number of steps."""

    def step(state):
        centers, cluster, _, steps = state
        centers = means(points, cluster, centers)
        now = nearest(points, centers)
        return centers, now, jnp.any(now != cluster), steps + 1

    start = centers, nearest(points, centers), True, 0
    centers, cluster, _, steps = jax.lax.while_loop(lambda state: state[2], step, start)
    return centers, cluster, steps


def main():
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))[:IMAGES]
    points = (digits.data[order] / 16).astype(np.float32)
    arguments = points, points[:CLUSTERS]
    write_module(HERE / "kmeans.mlir", kmeans, *arguments)
    write_tensors(HERE / "input.h5", numbered("arg", arguments))

    results = kmeans(*arguments)
    write_tensors(HERE / "expected.h5", numbered("result", results))
    _, cluster, steps = results
    labels = digits.target[order]
    most = sum(np.bincount(labels[cluster == c]).max() for c in range(CLUSTERS))
    print(f"{steps} steps; {most} of {IMAGES} images are in a cluster of mostly their digit")


if __name__ == "__main__":
    main()
