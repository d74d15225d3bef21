"""Factors of matrices, and what JAX makes of them, by calls of LAPACK as JAX prints them for the CPU
and by what it prints for a device without rules of its own.

Signs of vectors are nobody's choice: results do not depend on them.

`python -m tests.models.matrices.model`, from the top of the repository, writes the modules and the
tensors of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import lu, lu_factor, sqrtm

from tests.models.programs import programs_in

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(23)


def normal(*shape):
    return RANDOM.normal(0, 1, shape).astype(np.float32)


def complex_of(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)


def near_identity(*shape):
    return normal(*shape) / shape[-1] + np.eye(shape[-1], dtype=np.float32)


def qr(a):
    return tuple(jnp.linalg.qr(a))


def whole_qr(a):
    return tuple(jnp.linalg.qr(a, mode="complete"))


def qr_gradient(a):
    return jax.grad(lambda a: (jnp.linalg.qr(a)[1] ** 3).sum())(a)


def pivots(a):
    return (*lu_factor(a), *lu(a))


def solve(a, b):
    return jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)


def eigen(a):
    values, vectors = jnp.linalg.eigh(a)
    return values, jnp.abs(vectors), (vectors * values[..., None, :]) @ vectors.conj().mT


def eigen_gradient(a):
    return jax.grad(lambda a: (jnp.linalg.eigh(a)[0] ** 3).sum())(a)


def any_eigen(a):
    values, vectors = jnp.linalg.eig(a)
    scaled = vectors * values[..., None, :]
    return jnp.abs(a @ vectors - scaled), values.sum(-1), jnp.abs(values).sum(-1)


def root(a):
    """Of a positive definite matrix."""
    found = sqrtm(a @ a.T + jnp.eye(len(a)))
    return found @ found


def singular(a):
    u, values, vh = jnp.linalg.svd(a, full_matrices=False)
    whole_u, _, whole_vh = jnp.linalg.svd(a)
    return (
        values,
        (u * values[..., None, :]) @ vh,
        whole_u.conj().mT @ whole_u,
        whole_vh @ whole_vh.conj().mT,
    )


def measures(a):
    return (
        jnp.linalg.norm(a, 2),
        jnp.linalg.norm(a, "nuc"),
        jnp.linalg.cond(a),
        jnp.linalg.matrix_rank(a),
        jnp.linalg.pinv(a),
    )


def least_squares(a, b):
    return jnp.linalg.lstsq(a, b)[0]


def singular_gradient(a):
    return jax.grad(lambda a: (jnp.linalg.svd(a, full_matrices=False)[1] ** 3).sum())(a)


SQUARE = near_identity(2, 6, 6)
BY_LAPACK = {
    "qr": (qr, normal(2, 6, 4)),
    "qr_of_complex": (qr, complex_of(4, 4)),
    "whole_qr": (whole_qr, normal(6, 3)),
    "qr_gradient": (qr_gradient, normal(5, 4)),
    "pivots": (pivots, normal(7, 5)),
    "solve": (solve, SQUARE, normal(2, 6, 3)),
    "solve_of_complex": (solve, complex_of(5, 5), complex_of(5, 2)),
    "eigen": (eigen, normal(2, 7, 7)),
    "eigen_of_complex": (eigen, complex_of(6, 6)),
    "eigen_gradient": (eigen_gradient, normal(5, 5)),
    "singular": (singular, normal(2, 7, 4)),
    "singular_of_complex": (singular, complex_of(3, 5)),
    "singular_gradient": (singular_gradient, normal(5, 4)),
    "measures": (measures, normal(6, 4)),
    "least_squares": (least_squares, normal(8, 3), normal(8)),
    "any_eigen": (any_eigen, normal(2, 6, 6)),
    "any_eigen_of_complex": (any_eigen, complex_of(5, 5)),
    "root": (root, normal(4, 4)),
}
GENERIC = ["qr", "qr_of_complex", "whole_qr", "pivots", "solve"]


def main():
    with programs_in(HERE) as write:
        for name, case in BY_LAPACK.items():
            write(f"{name}_by_lapack", *case, platform="cpu")
        for name in GENERIC:
            write(name, *BY_LAPACK[name])


if __name__ == "__main__":
    main()
