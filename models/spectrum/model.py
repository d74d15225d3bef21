"""Fourier transforms of 1,024 rows of 1,024 complex numbers.

`python -m models.spectrum.model`, from the top of the repository, writes the module of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

from models.export import write_module

HERE = Path(__file__).parent
SIZE = 1024


def spectrum(x):
    return jnp.fft.fft(x)


def main():
    rows = jax.ShapeDtypeStruct((SIZE, SIZE), jnp.complex64)
    write_module(HERE / "fft.mlir", jax.jit(spectrum), rows)


if __name__ == "__main__":
    main()
