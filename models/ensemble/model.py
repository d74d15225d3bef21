"""Eight small convolutional networks that learn side by side: one SGD step of all, by `vmap`.

Each member has parameters of its own and sees the same images of handwritten digits. `python -m
models.ensemble.model`, from the top of the repository, writes the module and tensors of this folder.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from sklearn.datasets import load_digits

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
MEMBERS = 8
SIZE = 8
CHANNELS = 8
CLASSES = 10
BATCH = 16
STEPS = 4
LEARNING_RATE = 0.1


class Params(NamedTuple):
    kernel: jax.Array
    bias: jax.Array
    dense: jax.Array
    dense_bias: jax.Array


def logits(params, images):
    layout = ("NHWC", "HWIO", "NHWC")
    sums = lax.conv_general_dilated(
        images, params.kernel, (1, 1), "SAME", dimension_numbers=layout
    )
    hidden = jax.nn.relu(sums + params.bias)
    hidden = lax.reduce_window(hidden, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return hidden.reshape(len(images), -1) @ params.dense + params.dense_bias


def cross_entropy(params, images, labels):
    log_probabilities = jax.nn.log_softmax(logits(params, images))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, CLASSES) * log_probabilities, axis=1))


@partial(jax.jit, donate_argnums=0)
def train_step(params, images, labels):
    """Returns the parameters of all members and the loss of each."""

    def step(params):
        loss, gradient = jax.value_and_grad(cross_entropy)(params, images, labels)
        return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradient), loss

    return jax.vmap(step)(params)


def main():
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))[: STEPS * BATCH]
    images = (digits.images[order] / 16).astype(np.float32)
    images = images.reshape(STEPS, BATCH, SIZE, SIZE, 1)
    labels = digits.target[order].astype(np.int32).reshape(STEPS, BATCH)
    random = np.random.default_rng(1)

    def weights(*shape):
        scale = np.sqrt(2 / np.prod(shape[:-1]))
        return random.normal(0, scale, (MEMBERS, *shape)).astype(np.float32)

    params = Params(
        weights(3, 3, 1, CHANNELS),
        np.zeros((MEMBERS, CHANNELS), np.float32),
        weights(CHANNELS * (SIZE // 2) ** 2, CLASSES),
        np.zeros((MEMBERS, CLASSES), np.float32),
    )
    write_module(HERE / "train_step.mlir", train_step, params, images[0], labels[0])
    write_tensors(HERE / "train.h5", numbered("arg", (params, images, labels)))
    losses = []
    for batch in zip(images, labels):
        params, loss = train_step(params, *batch)
        losses.append(loss)
    write_tensors(HERE / "expected.h5", numbered("result", (params, np.stack(losses))))
    print(f"losses {np.round(losses[0], 2)} to {np.round(losses[-1], 2)}")


if __name__ == "__main__":
    main()
