"""A small convolutional network that learns images of the size of MNIST's: one step of Adam.

Two convolutions with a max pooling behind each, then a dense layer. `python -m models.cnn.model`,
from the top of the repository, writes the module and tensors of this folder. The images are
synthetic: noisy copies of one pattern a class.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
SIZE = 28
CHANNELS = 8, 16
CLASSES = 10
BATCH = 32
STEPS = 2
LEARNING_RATE, DECAY, DECAY_OF_SQUARES, EPSILON = 1e-3, 0.9, 0.999, 1e-8


class Params(NamedTuple):
    kernel1: jax.Array
    bias1: jax.Array
    kernel2: jax.Array
    bias2: jax.Array
    dense: jax.Array
    bias: jax.Array


class State(NamedTuple):
    params: Params
    means: Params
    squares: Params
    step: jax.Array


def convolution(images, kernel, bias):
    layout = ("NHWC", "HWIO", "NHWC")
    sums = lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=layout)
    return jax.nn.relu(sums + bias)


def max_pool(images):
    return lax.reduce_window(images, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def logits(params, images):
    hidden = max_pool(convolution(images, params.kernel1, params.bias1))
    hidden = max_pool(convolution(hidden, params.kernel2, params.bias2))
    return hidden.reshape(len(images), -1) @ params.dense + params.bias


def cross_entropy(params, images, labels):
    log_probabilities = jax.nn.log_softmax(logits(params, images))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, CLASSES) * log_probabilities, axis=1))


@partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels):
    loss, gradient = jax.value_and_grad(cross_entropy)(state.params, images, labels)
    step = state.step + 1
    means = jax.tree.map(lambda m, g: DECAY * m + (1 - DECAY) * g, state.means, gradient)
    squares = jax.tree.map(
        lambda s, g: DECAY_OF_SQUARES * s + (1 - DECAY_OF_SQUARES) * g * g, state.squares, gradient
    )
    rate = LEARNING_RATE * jnp.sqrt(1 - DECAY_OF_SQUARES**step) / (1 - DECAY**step)
    params = jax.tree.map(
        lambda p, m, s: p - rate * m / (jnp.sqrt(s) + EPSILON), state.params, means, squares
    )
    return State(params, means, squares, step), loss


def inputs():
    """Returns the initial state, images of 16 shades and labels."""
    rng = np.random.default_rng(0)

    def weights(*shape):
        scale = np.sqrt(2 / np.prod(shape[:-1]))
        return rng.normal(0, scale, shape).astype(np.float32)

    features = CHANNELS[1] * (SIZE // 4) ** 2
    params = Params(
        weights(3, 3, 1, CHANNELS[0]),
        np.zeros(CHANNELS[0], np.float32),
        weights(3, 3, CHANNELS[0], CHANNELS[1]),
        np.zeros(CHANNELS[1], np.float32),
        weights(features, CLASSES),
        np.zeros(CLASSES, np.float32),
    )
    zeros = jax.tree.map(np.zeros_like, params)
    coarse = rng.integers(0, 4, (CLASSES, SIZE // 4, SIZE // 4))
    patterns = np.kron(coarse, np.ones((4, 4), np.int64))
    labels = rng.integers(0, CLASSES, (STEPS, BATCH), dtype=np.int32)
    noise = rng.integers(0, 4, (STEPS, BATCH, SIZE, SIZE))
    images = ((patterns[labels] * 4 + noise) / 16).astype(np.float32)[..., None]
    return State(params, zeros, zeros, np.float32(0)), images, labels


def main():
    state, images, labels = inputs()
    write_module(HERE / "train_step.mlir", train_step, state, images[0], labels[0])
    write_tensors(HERE / "train.h5", numbered("arg", (state, images, labels)))
    losses = []
    for batch in zip(images, labels):
        state, loss = train_step(state, *batch)
        losses.append(loss)
    write_tensors(HERE / "expected.h5", numbered("result", (state, np.stack(losses))))
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
