"""A perceptron 64-32-10 that learns handwritten digits: one epoch of training, then its accuracy.

`python -m models.digits_mlp.model`, from the top of the repository, writes the modules and
tensors of this folder.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
BATCH = 32
TEST_IMAGES = 360
LEARNING_RATE = 0.5


class Params(NamedTuple):
    w1: jax.Array
    b1: jax.Array
    w2: jax.Array
    b2: jax.Array


def logits(params, pixels):
    hidden = jax.nn.relu(pixels @ params.w1 + params.b1)
    return hidden @ params.w2 + params.b2


def cross_entropy(params, pixels, labels):
    log_probabilities = jax.nn.log_softmax(logits(params, pixels))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 10) * log_probabilities, axis=1))


@partial(jax.jit, donate_argnums=0)
def train_step(params, pixels, labels):
    loss, gradient = jax.value_and_grad(cross_entropy)(params, pixels, labels)
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, params, gradient), loss


@jax.jit
def accuracy(params, pixels, labels):
    # An image is read correctly if no class scores above its label: unlike argmax, which reduces
    # pairs of score and index, this needs only sums and maxima.
    scores = logits(params, pixels)
    score_of_label = jnp.sum(jax.nn.one_hot(labels, 10) * scores, axis=1)
    return jnp.mean(score_of_label == jnp.max(scores, axis=1))


def initial_params():
    rng = np.random.default_rng(0)

    def weights(rows, columns):
        return rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32)

    def zeros(count):
        return np.zeros(count, np.float32)

    return Params(weights(64, 32), zeros(32), weights(32, 10), zeros(10))


def data():
    """Returns the batches to train with and the images to test: pixels in [0, 1], and labels."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    pixels = (digits.data[order] / 16).astype(np.float32)
    labels = digits.target[order].astype(np.int32)
    steps = (len(labels) - TEST_IMAGES) // BATCH
    used = slice(0, steps * BATCH)
    train = pixels[used].reshape(steps, BATCH, 64), labels[used].reshape(steps, BATCH)
    test = pixels[-TEST_IMAGES:], labels[-TEST_IMAGES:]
    return train, test


def main():
    params = initial_params()
    train, test = data()
    write_module(HERE / "train_step.mlir", train_step, params, train[0][0], train[1][0])
    write_module(HERE / "accuracy.mlir", accuracy, params, *test)
    write_tensors(HERE / "train.h5", numbered("arg", (params, train)))
    write_tensors(HERE / "test.h5", numbered("arg", test, first=len(params)))

    losses = []
    for pixels, labels in zip(*train):
        params, loss = train_step(params, pixels, labels)
        losses.append(loss)
    fraction = accuracy(params, *test)
    write_tensors(HERE / "expected.h5", numbered("result", (params, np.stack(losses))))
    write_tensors(HERE / "expected_accuracy.h5", {"result0": fraction})
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}, test accuracy {fraction:.1%}")


if __name__ == "__main__":
    main()
