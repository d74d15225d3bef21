"""Conjugate gradients: where a membrane rests under a load, solved to a tolerance.

The matrix of the five-point stencil is never made; a `while_loop` goes on until the residual is small.
`python -m models.conjugate_gradient.model`, from the top of the repository, writes the module and
tensors of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
SIZE = 32
TOLERANCE = 1e-4


def stencil(membrane):
    """Minus the Laplacian; outside of the membrane all is zero."""
    wide = jnp.pad(membrane, 1)
    neighbours = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return 4 * membrane - neighbours


def dot(x, y):
    return (x * y).sum()


@jax.jit
def solve(load):
    """Returns the membrane, the square of the residual, and the number of steps."""
    enough = TOLERANCE**2 * dot(load, load)

    def step(state):
        membrane, residual, direction, square, steps = state
        image = stencil(direction)
        length = square / dot(direction, image)
        membrane = membrane + length * direction
        residual = residual - length * image
        now = dot(residual, residual)
        return membrane, residual, residual + now / square * direction, now, steps + 1

    start = jnp.zeros_like(load), load, load, dot(load, load), 0
    membrane, _, _, square, steps = jax.lax.while_loop(lambda s: s[3] > enough, step, start)
    return membrane, square, steps


def main():
    load = np.random.default_rng(0).normal(0, 1, (SIZE, SIZE)).astype(np.float32)
    write_module(HERE / "solve.mlir", solve, load)
    write_tensors(HERE / "input.h5", numbered("arg", load))
    results = solve(load)
    write_tensors(HERE / "expected.h5", numbered("result", results))
    print(f"{results[2]} steps; {results[1] / (TOLERANCE**2 * (load**2).sum()):.3f} of what is enough")


if __name__ == "__main__":
    main()
