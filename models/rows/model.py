"""Softmax, layer norm and argmax of the rows of a matrix of 1,024 x 1,024.

`python -m models.rows.model`, from the top of the repository, writes the modules of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

from models.export import write_module

HERE = Path(__file__).parent
SIZE = 1024


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def argmax(x):
    return jnp.argmax(x, axis=-1)


def main():
    matrix = jax.ShapeDtypeStruct((SIZE, SIZE), jnp.float32)
    row = jax.ShapeDtypeStruct((SIZE,), jnp.float32)
    write_module(HERE / "softmax.mlir", jax.jit(softmax), matrix)
    write_module(HERE / "layer_norm.mlir", jax.jit(layer_norm), matrix, row, row)
    write_module(HERE / "argmax.mlir", jax.jit(argmax), matrix)


if __name__ == "__main__":
    main()
