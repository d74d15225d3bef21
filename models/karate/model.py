"""A graph convolutional network that learns how Zachary's karate club fell apart.

Of 34 members only the two who quarrelled have a label. Messages go along the edges, gathered by their
sources and added up by their targets. `python -m models.karate.model`, from the top of the repository,
writes the module and tensors of this folder.
"""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
HIDDEN = 16
STEPS = 50
LEARNING_RATE = 1.0
# Who met outside of the club, from W. W. Zachary, An information flow model for conflict and fission in
# small groups, Journal of Anthropological Research 33 (1977): for each member the later ones.
MET = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    1: [2, 3, 7, 13, 17, 19, 21, 30],
    2: [3, 7, 8, 9, 13, 27, 28, 32],
    3: [7, 12, 13],
    4: [6, 10],
    5: [6, 10, 16],
    6: [16],
    8: [30, 32, 33],
    9: [33],
    13: [33],
    14: [32, 33],
    15: [32, 33],
    18: [32, 33],
    19: [33],
    20: [32, 33],
    22: [32, 33],
    23: [25, 27, 29, 32, 33],
    24: [25, 27, 31],
    25: [31],
    26: [29, 33],
    27: [33],
    28: [31, 33],
    29: [32, 33],
    30: [32, 33],
    31: [32, 33],
    32: [33],
}
MEMBERS = 34
INSTRUCTOR, PRESIDENT = 0, 33
WITH_INSTRUCTOR = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21]


class Params(NamedTuple):
    first: jax.Array
    second: jax.Array


def spread(edges, features):
    """Adds to each member what its neighbours have, itself too, less of those who have many."""
    sources, targets = edges
    degrees = jax.ops.segment_sum(jnp.ones(targets.shape), targets, MEMBERS)
    scale = jax.lax.rsqrt(degrees)[:, None]
    return scale * jax.ops.segment_sum((scale * features)[sources], targets, MEMBERS)


def logits(params, edges):
    # Without features of their own members are told apart by who they are: the first product is by 1.
    hidden = jnp.tanh(spread(edges, params.first))
    return spread(edges, hidden @ params.second)


def loss(params, edges):
    log_probabilities = jax.nn.log_softmax(logits(params, edges))
    return -(log_probabilities[INSTRUCTOR, 0] + log_probabilities[PRESIDENT, 1])


@jax.jit
def train(params, edges):
    """Returns the loss of each step, and at the end everyone's logits and side."""

    def step(params, _):
        value, gradient = jax.value_and_grad(loss)(params, edges)
        return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradient), value

    params, losses = jax.lax.scan(step, params, length=STEPS)
    after = logits(params, edges)
    return losses, after, jnp.argmax(after, axis=1).astype(jnp.int32)


def main():
    pairs = np.array([(one, other) for one, others in MET.items() for other in others], np.int32)
    itself = np.repeat(np.arange(MEMBERS, dtype=np.int32)[:, None], 2, axis=1)
    edges = np.concatenate([pairs, pairs[:, ::-1], itself]).T
    random = np.random.default_rng(0)
    shapes = Params((MEMBERS, HIDDEN), (HIDDEN, 2))
    params = Params(*(random.normal(0, 0.3, shape).astype(np.float32) for shape in shapes))
    arguments = params, (edges[0], edges[1])
    write_module(HERE / "train.mlir", train, *arguments)
    write_tensors(HERE / "input.h5", numbered("arg", arguments))
    losses, after, side = train(*arguments)
    write_tensors(HERE / "expected.h5", numbered("result", (losses, after, side)))
    right = (side == 0) == np.isin(np.arange(MEMBERS), WITH_INSTRUCTOR)
    print(f"{len(pairs)} edges; loss {losses[0]:.3f} to {losses[-1]:.4f}")
    print(f"{right.sum()} of {MEMBERS} on their side, not {np.flatnonzero(~right)}")
    print(f"the closest has logits {abs(after[:, 0] - after[:, 1]).min():.3f} apart")


if __name__ == "__main__":
    main()
