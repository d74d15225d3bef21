"""Factors of matrices and solutions of triangular systems, as JAX prints them for a device without
rules of its own and for the CPU, where they are calls of LAPACK.

`python -m tests.models.linear_algebra.model`, from the top of the repository, writes the modules and
the tensors of this folder.
"""

from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import cho_solve, solve_triangular

from tests.models.programs import programs_in

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(17)


def positive(*shape, dtype=np.float32):
    n = shape[-1]
    x = RANDOM.normal(0, 1, shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RANDOM.normal(0, 1, shape)
    return (x @ np.swapaxes(x.conj(), -1, -2) / n + np.eye(n)).astype(dtype)


def triangular(*shape, dtype=np.float32):
    """Of both triangles, so that it shows which one is read."""
    n = shape[-1]
    x = RANDOM.normal(0, 1, shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RANDOM.normal(0, 1, shape)
    return (x / n + 2 * np.eye(n)).astype(dtype)


def normal(*shape, dtype=np.float32):
    return RANDOM.normal(0, 1, shape).astype(dtype)


def factors(a):
    return jnp.linalg.cholesky(a), jnp.linalg.cholesky(a, upper=True)


def one_triangle(a):
    return jnp.linalg.cholesky(a, symmetrize_input=False)


def solves(a, b):
    """All ways but those that conjugate."""
    return [
        lax.linalg.triangular_solve(
            a,
            b if left else b.T,
            left_side=left,
            lower=lower,
            transpose_a=transposes,
            unit_diagonal=unit,
        )
        for left, lower, transposes, unit in product([False, True], repeat=4)
    ]


def solve(a, b):
    return solve_triangular(a, b, lower=True)


def adjoint(a, b):
    return lax.linalg.triangular_solve(
        a, b, left_side=True, lower=True, transpose_a=True, conjugate_a=True
    )


def system(a, b):
    return cho_solve((jnp.linalg.cholesky(a), True), b)


def likelihood(a, b):
    """Of a normal distribution with this covariance, and its gradients."""

    def value(a, b):
        factor = jnp.linalg.cholesky(a)
        white = solve_triangular(factor, b, lower=True)
        return 0.5 * (white**2).sum() + jnp.log(jnp.diagonal(factor)).sum()

    return jax.value_and_grad(value, (0, 1))(a, b)


NOT_POSITIVE = positive(3, 6, 6) - np.float32([0, 2, 0])[:, None, None] * np.eye(6, dtype=np.float32)
C64 = np.complex64
CASES = {
    "factors": (factors, positive(16, 16)),
    "factors_of_one": (factors, positive(1, 1)),
    "factors_in_blocks": (factors, positive(70, 70)),
    "factors_of_batches": (factors, positive(2, 3, 9, 9)),
    "factors_complex": (factors, positive(5, 5, dtype=C64)),
    "one_triangle": (one_triangle, triangular(12, 12)),
    "not_positive": (factors, NOT_POSITIVE),
    "solves": (solves, triangular(7, 7), normal(7, 3)),
    "solve_in_blocks": (solve, triangular(70, 70), normal(70, 5)),
    "solve_one_side": (solve, triangular(33, 33), normal(33)),
    "solve_batches": (solve, triangular(3, 9, 9), normal(3, 9, 4)),
    "adjoint": (adjoint, triangular(5, 5, dtype=C64), normal(5, 2, dtype=C64)),
    "system": (system, positive(20, 20), normal(20, 2)),
    "likelihood": (likelihood, positive(12, 12), normal(12)),
}

BY_LAPACK = [
    "factors_of_batches",
    "factors_complex",
    "not_positive",
    "solves",
    "adjoint",
    "likelihood",
]


def main():
    with programs_in(HERE) as write:
        for name, case in CASES.items():
            write(name, *case)
        for name in BY_LAPACK:
            write(f"{name}_by_lapack", *CASES[name], platform="cpu")
        with jax.enable_x64(True):
            write("factors_f64", factors, positive(4, 4, dtype=np.float64))
            write(
                "solve_f64", solve, triangular(4, 4, dtype=np.float64), normal(4, dtype=np.float64)
            )


if __name__ == "__main__":
    main()
