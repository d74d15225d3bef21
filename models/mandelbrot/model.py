"""The Mandelbrot set in complex64: steps until a point leaves, until all have left or had enough.

`python -m models.mandelbrot.model`, from the top of the repository, writes the module and tensors of
this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
ROWS, COLUMNS = 48, 72
ENOUGH = 60


@jax.jit
def mandelbrot(c):
    """Returns for each point after how many steps |z| was more than 2."""

    def unfinished(state):
        _, inside, _, step = state
        return jnp.any(inside) & (step < ENOUGH)

    def iterate(state):
        z, inside, steps, step = state
        z = jnp.where(inside, z * z + c, z)
        inside = inside & (jnp.abs(z) <= 2)
        return z, inside, steps + inside, step + 1

    start = jnp.zeros_like(c), jnp.ones(c.shape, bool), jnp.zeros(c.shape, jnp.int32), 0
    return jax.lax.while_loop(unfinished, iterate, start)[2]


def main():
    real, imaginary = np.linspace(-2, 0.6, COLUMNS), np.linspace(-1.2, 1.2, ROWS)
    c = (real + 1j * imaginary[:, None]).astype(np.complex64)
    write_module(HERE / "mandelbrot.mlir", mandelbrot, c)
    write_tensors(HERE / "input.h5", numbered("arg", c))
    steps = np.asarray(mandelbrot(c))
    write_tensors(HERE / "expected.h5", numbered("result", steps))
    for row in steps[::4]:
        print("".join(" .:-=+*%#@"[min(9, int(np.log2(1 + n) * 1.6))] for n in row))
    print(f"{(steps == ENOUGH).mean():.1%} of the points stay for {ENOUGH} steps")


if __name__ == "__main__":
    main()
