"""A transformer encoder with layers of equal shapes, which JAX prints one after the other.

`python -m models.encoder.model`, from the top of the repository, writes the module and tensors of
this folder. `python -m models.encoder.model FOLDER LAYERS WIDTH HEADS LENGTH f16|f32 forward|train`
writes those of another size into FOLDER.
"""

import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
LEARNING_RATE = 0.01


class Layer(NamedTuple):
    gain1: jax.Array
    bias1: jax.Array
    heads: jax.Array
    heads_bias: jax.Array
    joined: jax.Array
    joined_bias: jax.Array
    gain2: jax.Array
    bias2: jax.Array
    wide: jax.Array
    wide_bias: jax.Array
    narrow: jax.Array
    narrow_bias: jax.Array


def normalized(x, gain, bias):
    y = x.astype(jnp.float32)
    mean = y.mean(-1, keepdims=True)
    variance = ((y - mean) ** 2).mean(-1, keepdims=True)
    return ((y - mean) * jax.lax.rsqrt(variance + 1e-5)).astype(x.dtype) * gain + bias


def attention(x, layer, heads):
    length, width = x.shape
    depth = width // heads
    parts = (x @ layer.heads + layer.heads_bias).reshape(length, 3, heads, depth)
    query, key, value = parts.transpose(1, 2, 0, 3)
    scores = (query @ key.transpose(0, 2, 1)).astype(jnp.float32) / np.sqrt(depth)
    mixed = jax.nn.softmax(scores, -1).astype(x.dtype) @ value
    return mixed.transpose(1, 0, 2).reshape(length, width) @ layer.joined + layer.joined_bias


def encode(heads, layers, x):
    for layer in layers:
        x = x + attention(normalized(x, layer.gain1, layer.bias1), layer, heads)
        y = normalized(x, layer.gain2, layer.bias2)
        y = jax.nn.gelu(y @ layer.wide + layer.wide_bias)
        x = x + y @ layer.narrow + layer.narrow_bias
    return x


def train(heads, layers, x, target):
    def loss(layers):
        error = (encode(heads, layers, x) - target).astype(jnp.float32)
        return (error**2).mean()

    value, gradient = jax.value_and_grad(loss)(layers)
    rate = jnp.asarray(LEARNING_RATE, x.dtype)
    return jax.tree.map(lambda p, g: p - rate * g, layers, gradient), value


def initial_layers(rng, count, width, dtype):
    def weights(rows, columns):
        return rng.normal(0, 1 / np.sqrt(rows), (rows, columns)).astype(dtype)

    def zeros(size):
        return np.zeros(size, dtype)

    def ones(size):
        return np.ones(size, dtype)

    return [
        Layer(
            *(ones(width), zeros(width), weights(width, 3 * width), zeros(3 * width)),
            *(weights(width, width), zeros(width), ones(width), zeros(width)),
            *(weights(width, 4 * width), zeros(4 * width), weights(4 * width, width), zeros(width)),
        )
        for _ in range(count)
    ]


def write(folder, count, width, heads, length, dtype, kind):
    rng = np.random.default_rng(0)
    layers = initial_layers(rng, count, width, dtype)
    x = rng.normal(0, 1, (length, width)).astype(dtype)
    arguments = (layers, x)
    function = jax.jit(partial(encode, heads))
    if kind == "train":
        arguments += (rng.normal(0, 1, (length, width)).astype(dtype),)
        function = jax.jit(partial(train, heads), donate_argnums=0)
    folder.mkdir(parents=True, exist_ok=True)
    write_module(folder / "encoder.mlir", function, *arguments)
    write_tensors(folder / "input.h5", numbered("arg", arguments))
    write_tensors(folder / "expected.h5", numbered("result", function(*arguments)))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write(HERE, 8, 16, 2, 8, np.float32, "forward")
    else:
        folder, count, width, heads, length, dtype, kind = sys.argv[1:]
        dtypes = {"f16": np.float16, "f32": np.float32}
        write(Path(folder), int(count), int(width), int(heads), int(length), dtypes[dtype], kind)
