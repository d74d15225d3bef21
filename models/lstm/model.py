"""An LSTM that learns to add: one step of gradient descent through a scan over 32 steps of time.

Each sequence holds numbers and two marks; what is asked for is the sum of the marked numbers.
`python -m models.lstm.model`, from the top of the repository, writes the module and the tensors of
this folder.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
LENGTH = 32
BATCH = 16
WIDTH = 32
CALLS = 4
LEARNING_RATE = 0.1


class Params(NamedTuple):
    inputs: jax.Array  # of the four gates: input, forget, cell, output
    hidden: jax.Array
    bias: jax.Array
    readout: jax.Array


def cell(params, state, x):
    hidden, memory = state
    gates = x @ params.inputs + hidden @ params.hidden + params.bias
    write, keep, new, read = jnp.split(gates, 4, axis=1)
    memory = jax.nn.sigmoid(keep) * memory + jax.nn.sigmoid(write) * jnp.tanh(new)
    hidden = jax.nn.sigmoid(read) * jnp.tanh(memory)
    return (hidden, memory), None


def loss(params, sequences, sums):
    start = jnp.zeros((BATCH, WIDTH))
    (hidden, _), _ = jax.lax.scan(partial(cell, params), (start, start), sequences)
    return jnp.mean((hidden @ params.readout - sums) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(params, sequences, sums):
    value, gradient = jax.value_and_grad(loss)(params, sequences, sums)
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradient), value


def initial_params(random):
    def weights(rows, columns):
        return random.normal(0, 1 / np.sqrt(rows), (rows, columns)).astype(np.float32)

    bias = np.repeat(np.float32([0, 1, 0, 0]), WIDTH)
    return Params(weights(2, 4 * WIDTH), weights(WIDTH, 4 * WIDTH), bias, weights(WIDTH, 1)[:, 0])


def data(random):
    """For each call, sequences [time, batch, (number, mark)] and the sums of what is marked."""
    numbers = random.uniform(0, 1, (CALLS, LENGTH, BATCH)).astype(np.float32)
    marks = np.zeros_like(numbers)
    first, second = random.integers(0, LENGTH // 2, (2, CALLS, 1, BATCH))
    for time in (first, second + LENGTH // 2):
        np.put_along_axis(marks, time, 1, axis=1)
    return np.stack((numbers, marks), axis=-1), (numbers * marks).sum(1)


def main():
    random = np.random.default_rng(0)
    params, (sequences, sums) = initial_params(random), data(random)
    write_module(HERE / "train_step.mlir", train_step, params, sequences[0], sums[0])
    write_tensors(HERE / "train.h5", numbered("arg", (params, sequences, sums)))

    losses = []
    for call in range(CALLS):
        params, value = train_step(params, sequences[call], sums[call])
        losses.append(value)
    write_tensors(HERE / "expected.h5", numbered("result", (params, np.stack(losses))))
    print("losses", *(f"{value:.4f}" for value in losses))


if __name__ == "__main__":
    main()
