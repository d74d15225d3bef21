"""A perceptron 784-512-512-10, as often trained on MNIST, with synthetic images.

`python -m models.mnist_mlp.model`, from the top of the repository, writes train_step.mlir. With
`--write DIR` it also writes train.h5 and expected.h5, too large to keep, to that folder.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
SIZES = 784, 512, 512, 10
BATCH = 128
STEPS = 8
LEARNING_RATE = 0.01  # at 0.1 one activation near 0 decides how the steps after it go


class Layer(NamedTuple):
    w: jax.Array
    b: jax.Array


def logits(layers, pixels):
    *hidden, last = layers
    for layer in hidden:
        pixels = jax.nn.relu(pixels @ layer.w + layer.b)
    return pixels @ last.w + last.b


def cross_entropy(layers, pixels, labels):
    log_probabilities = jax.nn.log_softmax(logits(layers, pixels))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 10) * log_probabilities, axis=1))


@partial(jax.jit, donate_argnums=0)
def train_step(layers, pixels, labels):
    loss, gradient = jax.value_and_grad(cross_entropy)(layers, pixels, labels)
    return jax.tree.map(lambda p, g: p - LEARNING_RATE * g, layers, gradient), loss


def inputs():
    """Returns initial layers, images (noisy copies of one random pattern a digit) and labels."""
    rng = np.random.default_rng(0)

    def layer(rows, columns):
        w = rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32)
        return Layer(w, np.zeros(columns, np.float32))

    layers = [layer(*sizes) for sizes in zip(SIZES, SIZES[1:])]
    patterns = rng.uniform(0, 1, (10, SIZES[0]))
    labels = rng.integers(0, 10, (STEPS, BATCH), dtype=np.int32)
    noise = rng.uniform(0, 1, (STEPS, BATCH, SIZES[0]))
    pixels = ((patterns[labels] + noise) / 2).astype(np.float32)
    return layers, pixels, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path, metavar="DIR", help="write inputs and results too")
    directory = parser.parse_args().write

    layers, pixels, labels = inputs()
    write_module(HERE / "train_step.mlir", train_step, layers, pixels[0], labels[0])
    if directory is None:
        return
    directory.mkdir(parents=True, exist_ok=True)
    write_tensors(directory / "train.h5", numbered("arg", (layers, pixels, labels)))
    losses = []
    for batch in zip(pixels, labels):
        layers, loss = train_step(layers, *batch)
        losses.append(loss)
    write_tensors(directory / "expected.h5", numbered("result", (layers, np.stack(losses))))
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
