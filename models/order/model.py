"""10,000 numbers sorted, and the 8 largest of 32,000.

`python -m models.order.model`, from the top of the repository, writes the modules of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

from models.export import write_module

HERE = Path(__file__).parent


def sort(x):
    return jnp.sort(x)


def top_k(x):
    return jax.lax.top_k(x, 8)


def main():
    write_module(HERE / "sort.mlir", jax.jit(sort), jax.ShapeDtypeStruct((10_000,), jnp.float32))
    write_module(HERE / "top_k.mlir", jax.jit(top_k), jax.ShapeDtypeStruct((32_000,), jnp.float32))


if __name__ == "__main__":
    main()
