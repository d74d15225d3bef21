#!/usr/bin/env python3
"""Writes tests/ops/lapack_errors.txt: what LAPACK in f32 is off by, for matrices that are hard.

The matrices are those of tests/ops/hard_matrices.cpp, by the same formulas in double.
    build/python/bin/python tests/ops/lapack_errors.py
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy
from scipy.linalg import lapack

SIZES = [8, 16, 17, 24]


def residues(rows, columns, first=1):
    i, k = np.ogrid[first : first + rows, first : first + columns]
    return (37 * i**2 + 11 * k**3 + 53 * i * k + 29 * i**2 * k) % 97 / 48 - 1


def hilbert(n):
    i, k = np.ogrid[:n, :n]
    return 1 / (i + k + 1)


def covariance(n):
    i, k = np.ogrid[:n, :n]
    return np.exp(-((i - k) ** 2) / 50) + 1e-5 * np.eye(n)


def steps(n, power):
    """From 10^-power to 10^power."""
    return 10 ** (power * (2 * np.arange(n) / (n - 1) - 1))


def general(n):
    nearly = residues(n, n)
    nearly[-1] = nearly[:-1].sum(0) + 1e-6 * nearly[-1]
    return {
        "hilbert": hilbert(n),
        "vandermonde": (np.arange(n)[:, None] / (n - 1)) ** np.arange(n)[::-1],
        "covariance": covariance(n),
        "graded": steps(n, 6)[:, None] * residues(n, n),
        "large": 2.0**80 * residues(n, n),
        "small": 2.0**-80 * residues(n, n),
        "nearly_singular": nearly,
        "rank_deficient": residues(n, n // 2) @ residues(n // 2, n, 2),
    }


def symmetric(n):
    both = residues(n, n) + residues(n, n).T
    gram = residues(n, n // 2) @ residues(n, n // 2).T
    scale = steps(n, 3)
    return {
        "hilbert": hilbert(n),
        "covariance": covariance(n),
        "graded": scale[:, None] * both * scale,
        "large": 2.0**80 * both,
        "small": 2.0**-80 * both,
        "nearly_singular": gram + 1e-6 * np.eye(n),
        "rank_deficient": gram,
    }


def positive(n):
    good = residues(n, n) @ residues(n, n).T / n + 0.1 * np.eye(n)
    scale = steps(n, 3)
    return {
        "hilbert": hilbert(n) + 1e-6 * np.eye(n),
        "covariance": covariance(n),
        "graded": scale[:, None] * good * scale,
        "large": 2.0**80 * good,
        "small": 2.0**-80 * good,
        "nearly_singular": residues(n, n // 2) @ residues(n, n // 2).T + 1e-5 * np.eye(n),
    }


def triangular(n):
    factors = {kind: np.linalg.cholesky(a) for kind, a in positive(n).items()}
    factors["growing"] = np.tril(2 * residues(n, n), -1) + np.eye(n)
    return factors


def size(x):
    return np.linalg.norm(x.astype(complex))


def of_product(product, a):
    return size(product - a) / size(a)


def of_solution(a, x, b):
    """Of the worst column, each of which is a system of its own."""
    return max(np.linalg.norm(a @ x - b, axis=0) / np.linalg.norm(x, axis=0)) / size(a)


def of_orthogonality(q):
    return size(q.conj().T @ q - np.eye(q.shape[1]))


def determinant(a):
    """Of the numbers as they are."""
    a = [[Fraction(float(x)) for x in row] for row in a]
    result = Fraction(1)
    for k in range(len(a)):
        pivot = max(range(k, len(a)), key=lambda i: abs(a[i][k]))
        if a[pivot][k] == 0:
            return Fraction(0)
        if pivot != k:
            a[k], a[pivot], result = a[pivot], a[k], -result
        result *= a[k][k]
        for i in range(k + 1, len(a)):
            factor = a[i][k] / a[k][k]
            a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    return result


def sides(n):
    return residues(n, 2, 5)


def errors_of_positive(a):
    factor = lapack.spotrf(a, lower=1, clean=1)[0].astype(float)
    yield "cholesky", of_product(factor @ factor.T, a.astype(float))


def errors_of_triangular(lower):
    n = len(lower)
    b = sides(n).astype(np.float32)
    for name, a, is_lower, transposes in [
        ("lower", lower, 1, 0),
        ("lower_transposed", lower, 1, 1),
        ("upper", lower.T.copy(), 0, 0),
        ("upper_transposed", lower.T.copy(), 0, 1),
    ]:
        x = lapack.strtrs(a, b, lower=is_lower, trans=transposes)[0].astype(float)
        whole = (a.T if transposes else a).astype(float)
        yield name, of_solution(whole, x, b.astype(float))


def errors_of_symmetric(a):
    values, vectors, _ = lapack.ssyevd(a, lower=1)
    v = vectors.astype(float)
    yield "eigh", of_product(v * values.astype(float) @ v.T, a.astype(float))
    yield "eigh_orthogonality", of_orthogonality(v)


def error_of_determinant(a):
    """The largest one of all rotations of the columns: a single number may be right by luck."""
    n = len(a)
    exact = determinant(a)
    errors = []
    for turn in range(n):
        packed, pivots, _ = lapack.sgetrf(np.roll(a, turn, 1))
        found = Fraction((-1) ** int(turn * (n - 1) + sum(pivots != np.arange(n))))
        for x in np.diag(packed):
            found *= Fraction(float(x))
        errors.append(abs(found - exact) / abs(exact))
    return float(max(errors))


def errors_of_general(a, kind):
    n = len(a)
    whole = a.astype(float)
    packed, pivots, _ = lapack.sgetrf(a)
    order = np.arange(n)
    for k, pivot in enumerate(pivots):
        order[[k, pivot]] = order[[pivot, k]]
    factors = packed.astype(float)
    lu = (np.tril(factors, -1) + np.eye(n)) @ np.triu(factors)
    yield "lu", of_product(lu, whole[order])
    if kind != "rank_deficient":
        for name, b in [("solve", sides(n)), ("inverse", np.eye(n))]:
            right = b.astype(np.float32)
            x = lapack.sgesv(a, right)[2].astype(float)
            yield name, of_solution(whole, x, right.astype(float))
        yield "determinant", error_of_determinant(a)
    packed, taus, _, _ = lapack.sgeqrf(a)
    q = lapack.sorgqr(packed, taus)[0].astype(float)
    yield "qr", of_product(q @ np.triu(packed).astype(float), whole)
    yield "qr_orthogonality", of_orthogonality(q)
    u, values, vh, _ = lapack.sgesdd(a)
    u, vh = u.astype(float), vh.astype(float)
    yield "svd", of_product(u * values.astype(float) @ vh, whole)
    yield "svd_orthogonality", max(of_orthogonality(u), of_orthogonality(vh.T))
    t, _, _, _, z, _, _ = lapack.sgees(lambda x, y: 0, a)
    t, z = t.astype(float), z.astype(float)
    yield "schur", of_product(z @ t @ z.T, whole)
    yield "schur_orthogonality", of_orthogonality(z)
    # This build's sgeev does not multiply the eigenvalues again by what it has divided a matrix of
    # large or small elements by.
    whole = whole / 2.0 ** {"large": 80, "small": -80}.get(kind, 0)
    real, imaginary, left, right, _ = lapack.sgeev(whole.astype(np.float32))
    values = real.astype(float) + 1j * imaginary
    for name, columns, matrix, its_values in [
        ("eig", right, whole, values),
        ("eig_left", left, whole.T, values.conj()),
    ]:
        v = columns.astype(complex)
        for k in np.flatnonzero(imaginary > 0):
            v[:, k], v[:, k + 1] = (
                columns[:, k] + 1j * columns[:, k + 1],
                columns[:, k] - 1j * columns[:, k + 1],
            )
        yield name, size(matrix @ v - v * its_values) / size(whole)


def main():
    lines = [
        "# What LAPACK in f32 is off by, from lapack_errors.py: SciPy "
        f"{scipy.__version__}, NumPy {np.__version__}, {blas()}.",
        "# what it is of, the matrix, its rows, the error",
    ]
    for n in SIZES:
        for matrices, errors in [
            (positive, lambda a, kind: errors_of_positive(a)),
            (triangular, lambda a, kind: errors_of_triangular(a)),
            (symmetric, lambda a, kind: errors_of_symmetric(a)),
            (general, errors_of_general),
        ]:
            for kind, a in matrices(n).items():
                for what, error in errors(a.astype(np.float32), kind):
                    lines.append(f"{what} {kind} {n} {error:.2e}")
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


def blas():
    lapack_of = scipy.show_config(mode="dicts")["Build Dependencies"]["lapack"]
    return f"{lapack_of['name']} {lapack_of['version']}"


if __name__ == "__main__":
    main()
