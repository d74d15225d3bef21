"""Fits y = w x + b to points of y = 2x - 1 by gradient descent.

`python -m models.linear_regression.model`, from the top of the repository, writes the modules and
tensors of this folder.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
STEPS = 1000
LEARNING_RATE = 0.01


class Params(NamedTuple):
    w: jax.Array
    b: jax.Array


def mean_squared_error(params, x, y):
    return jnp.mean((params.w * x + params.b - y) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    loss, gradient = jax.value_and_grad(mean_squared_error)(params, x, y)
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradient), loss


def main():
    params = Params(np.float32(0), np.float32(0))
    x = np.linspace(-2, 2, 64, dtype=np.float32)
    y = 2 * x - 1
    write_module(HERE / "train_step.mlir", train_step, params, x, y)
    write_tensors(HERE / "train.h5", numbered("arg", (params, x, y)))

    losses = []
    for _ in range(STEPS):
        params, loss = train_step(params, x, y)
        losses.append(loss)
    write_tensors(HERE / "expected.h5", numbered("result", (params, np.stack(losses))))
    print(f"y = {params.w:.6f} x + {params.b:.6f}, loss {losses[0]:.3g} to {losses[-1]:.3g}")


if __name__ == "__main__":
    main()
