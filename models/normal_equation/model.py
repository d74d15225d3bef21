"""Least squares by the normal equation: a polynomial through noisy points, by `jnp.linalg.solve`.

`python -m models.normal_equation.model`, from the top of the repository, writes the module and tensors
of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
POINTS = 512
TERMS = 12


def chebyshev(x):
    """Chebyshev's polynomials of x, a column each: nearly orthogonal, so that f32 is enough."""
    return jnp.cos(jnp.arange(TERMS) * jnp.arccos(x)[:, None])


@jax.jit
def fit(x, y):
    """Returns the coefficients and the mean of the squared errors."""
    columns = chebyshev(x)
    coefficients = jnp.linalg.solve(columns.T @ columns, columns.T @ y)
    return coefficients, jnp.mean((columns @ coefficients - y) ** 2)


def main():
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, POINTS).astype(np.float32)
    y = (np.exp(-4 * x**2) + random.normal(0, 0.05, POINTS)).astype(np.float32)
    write_module(HERE / "fit.mlir", fit, x, y)
    write_tensors(HERE / "input.h5", numbered("arg", (x, y)))
    coefficients, error = fit(x, y)
    write_tensors(HERE / "expected.h5", numbered("result", (coefficients, error)))
    print(f"error {np.sqrt(error):.4f}")


if __name__ == "__main__":
    main()
