"""Functions of JAX's modules that are seldom used."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from jax.scipy.interpolate import RegularGridInterpolator
from jax.scipy.spatial.transform import Rotation, Slerp

from case import (
    Cases,
    complex_normal,
    dominant,
    integers,
    key,
    normal,
    positive_definite,
    uniform,
)

CASES = Cases()
add, add_names = CASES.add, CASES.add_names

# jax.numpy.
real, other, positive = normal(3, 5), normal(3, 5), uniform(0.3, 4, 3, 5)
add_names("numpy.equality", jnp, "allclose array_equal array_equiv isclose", real, other)
add("numpy.isclose_nan", lambda x: jnp.isclose(x / x, x * 0 + 1, equal_nan=True), real)
add("numpy.argpartition", lambda x: jnp.sort(x[jnp.argpartition(x, 4)[:4]]), normal(9))
add("numpy.broadcasts", lambda x, y: jnp.broadcast_arrays(x, y[:, None]), normal(5), normal(3))
add("numpy.copies", lambda x: (jnp.copy(x), jnp.ones_like(x), jnp.empty_like(x).shape), real)
add("numpy.concat", lambda x: jnp.concat([x, x], axis=1), real)
add(
    "numpy.cumulative",
    lambda x: (jnp.cumulative_sum(x, axis=1, include_initial=True), jnp.cumulative_prod(x, axis=0)),
    real,
)
add(
    "numpy.diagonals",
    lambda x: (x[jnp.diag_indices(4)], x[jnp.tril_indices(4)], x[jnp.triu_indices(4, 1)]),
    normal(4, 4),
)
add(
    "numpy.splits",
    lambda x: (jnp.hsplit(x, 2), jnp.vsplit(x, 2), jnp.dsplit(x, 2), jnp.unstack(x)),
    normal(4, 4, 2),
)
add(
    "numpy.expand",
    lambda x: (
        jnp.expand_dims(x, (0, 2)),
        jnp.atleast_2d(x[0]),
        jnp.permute_dims(x, (1, 0)),
        jnp.matrix_transpose(x),
    ),
    real,
)
add(
    "numpy.histogram_edges",
    lambda x: (jnp.histogram_bin_edges(x, 5), jnp.histogram(x, 5, density=True)),
    normal(30),
    times=3,
)
add(
    "numpy.histogramdd",
    lambda x: jnp.histogramdd(x, bins=3, range=[(-2, 2), (-2, 2), (-2, 2)])[0],
    normal(20, 3),
)
add("numpy.ix", lambda x: x[jnp.ix_(jnp.array([2, 0]), jnp.array([1, 3, 3]))], real)
add(
    "numpy.logspace",
    lambda a: (
        jnp.logspace(a, 3.0, 6),
        jnp.identity(3),
        jnp.fromfunction(lambda i, j: i * a + j, (3, 4)),
    ),
    uniform(0, 1),
    times=3,
)
add(
    "numpy.nan",
    lambda x: (
        jnp.nanpercentile(x, 40.0, axis=1),
        jnp.nanquantile(x, 0.3),
        jnp.nanargmin(x, 1),
        jnp.nanargmax(x),
    ),
    lambda g: np.where(g.random((4, 7)) < 0.2, np.nan, g.standard_normal((4, 7))).astype(
        np.float32
    ),
)
add(
    "numpy.polynomials_of",
    lambda p: (jnp.polyder(p), jnp.polyint(p, 2), jnp.polydiv(p, p[:3], trim_leading_zeros=False)),
    uniform(0.5, 2, 6),
    times=8,
)
add(
    "numpy.unique_parts",
    lambda x: (
        jnp.unique_counts(x, size=7),
        jnp.unique_values(x, size=7),
        jnp.unique_inverse(x, size=7),
    ),
    integers(0, 7, 20),
)
add(
    "numpy.vec",
    lambda a, b, m: (jnp.vecdot(a, b), jnp.vecmat(a, m)),
    normal(4, 5),
    normal(4, 5),
    normal(5, 3),
)
add(
    "numpy.vectorize",
    lambda a, b: jnp.vectorize(lambda x, y: x @ y, signature="(n),(n)->()")(a, b),
    normal(2, 3, 4),
    normal(3, 4),
)
add(
    "numpy.ufunc_methods",
    lambda x, i: (
        jnp.add.reduce(x, axis=0),
        jnp.multiply.accumulate(x, axis=1),
        jnp.add.outer(x[0], x[1]),
        jnp.add.at(x, i, 1.0, inplace=False),
        jnp.maximum.reduceat(x[0], np.array([0, 2, 1])),
    ),
    real,
    integers(0, 3, 2),
)
add(
    "numpy.frompyfunc",
    lambda x: jnp.frompyfunc(lambda a, b: a * 2 + b, 2, 1).accumulate(x),
    normal(8),
    times=3,
)
add(
    "numpy.array_ops",
    lambda x: (
        x.at[..., 1].mul(2),
        x.at[::-1].add(x),
        x[..., None, 2],
        x[np.array([True, False, True])],
    ),
    real,
)
add(
    "numpy.nanstats",
    lambda x: (jnp.nanmean(x, 0), jnp.nanvar(x, 1), jnp.nanmedian(x), jnp.nancumsum(x, 0)),
    lambda g: np.where(g.random((5, 6)) < 0.3, np.nan, g.standard_normal((5, 6))).astype(
        np.float32
    ),
)
add("numpy.apply_over_axes", lambda x: jnp.apply_over_axes(jnp.sum, x, [0, 2]), normal(2, 3, 4))
add("numpy.unravel_big", lambda i: jnp.unravel_index(i, (3, 4, 5, 2)), integers(-120, 120, 9))

# Linear algebra.
add("linalg.tensorinv", lambda a: jnp.linalg.tensorinv(a.reshape(2, 3, 6)), dominant(6), times=5)
for order in (1, 2, 3.5, np.inf, -np.inf, 0):
    add(
        f"linalg.vector_norm.{order}",
        lambda x, o=order: jnp.linalg.vector_norm(x, ord=o, axis=1),
        real,
        times=3,
    )
for order in ("fro", "nuc", 1, -1, 2, -2, np.inf):
    add(
        f"linalg.norm.{order}", lambda x, o=order: jnp.linalg.norm(x, ord=o), normal(4, 6), times=10
    )
add(
    "linalg.eig_again",
    lambda a: (lambda w, v: jnp.abs(a @ v - v * w))(*jnp.linalg.eig(a)) + 1,
    normal(5, 5),
    times=10,
)
add(
    "linalg.qr_complete",
    lambda a: (lambda q, r: (q @ r, jnp.abs(q.T @ q)))(*jnp.linalg.qr(a, mode="complete")),
    normal(7, 4),
    times=10,
)
add(
    "linalg.svd_full",
    lambda a: (lambda u, s, v: (s, jnp.abs(u.T @ u), (u[:, :4] * s) @ v))(*jnp.linalg.svd(a)),
    normal(7, 4),
    times=10,
)
add(
    "linalg.batched",
    lambda a, b: (
        jnp.linalg.solve(a[None] + jnp.arange(3)[:, None, None], b),
        jnp.linalg.inv(a[None] * jnp.arange(1, 3)[:, None, None]),
    ),
    dominant(5),
    normal(3, 5, 2),
    times=10,
)
add(
    "linalg.complex",
    lambda a, b: (
        jnp.linalg.solve(a + 4 * jnp.eye(4), b),
        jnp.linalg.det(a),
        jnp.linalg.inv(a + 4 * jnp.eye(4)),
    ),
    complex_normal(4, 4),
    complex_normal(4),
    times=20,
)
add(
    "linalg.hermitian",
    lambda a: jnp.linalg.eigvalsh(a + a.conj().T),
    complex_normal(5, 5),
    times=10,
)
add(
    "linalg.hermitian_solve",
    lambda a: jnp.linalg.cholesky(a @ a.conj().T + jnp.eye(4)),
    complex_normal(4, 4),
    times=10,
)
add(
    "lax.linalg.tridiagonal_solve",
    lambda a, b: lax.linalg.tridiagonal_solve(a[0] * 0.1, a[1] + 3, a[2] * 0.1, b),
    uniform(0, 1, 3, 8),
    normal(8, 2),
    times=5,
)
add(
    "lax.linalg.symmetric_product",
    lambda a, c: lax.linalg.symmetric_product(a, c, alpha=2.0, beta=0.5, symmetrize_output=True),
    normal(4, 3),
    positive_definite(4),
    times=3,
)
add(
    "lax.linalg.cholesky_update",
    lambda a, w: lax.linalg.cholesky_update(jnp.linalg.cholesky(a).T, w),
    positive_definite(5),
    normal(5),
    times=10,
)
add(
    "lax.linalg.householder",
    lambda a: jnp.abs(lax.linalg.householder_product(*jnp.linalg.qr(a, mode="raw"))[:, :2].T.sum()),
    normal(4, 4),
    times=50,
)
add("lax.linalg.qdwh", lambda a: lax.linalg.qdwh(a)[:2], dominant(4), times=30)
add("lax.linalg.lu_permutation", lambda a: lax.linalg.lu(a)[2], normal(6, 6))
add(
    "lax.linalg.tridiagonal",
    lambda a: jnp.abs(lax.linalg.tridiagonal(a + a.T)[1]),
    normal(5, 5),
    times=20,
)
add(
    "scipy.linalg.schur_again",
    lambda a: (lambda t, z: z @ t @ z.T)(*jsp.linalg.schur(a)),
    normal(5, 5),
    times=20,
)
add(
    "scipy.linalg.rsf2csf",
    lambda a: (lambda t, z: jnp.abs(z @ t @ z.conj().T))(*jsp.linalg.rsf2csf(*jsp.linalg.schur(a))),
    normal(4, 4),
    times=50,
)
add_names("scipy.linalg.makers_1d", jsp.linalg, "circulant fiedler hankel", normal(5))
add(
    "scipy.linalg.makers_2d",
    lambda c: (
        jsp.linalg.companion(c),
        jsp.linalg.convolution_matrix(c, 4),
        jsp.linalg.leslie(c, c[1:]),
        jsp.linalg.fiedler_companion(c),
    ),
    uniform(1, 2, 5),
)
add(
    "scipy.linalg.makers",
    lambda: (
        jsp.linalg.hilbert(4),
        jsp.linalg.dft(4),
        jsp.linalg.hadamard(4),
        jsp.linalg.helmert(4),
        jsp.linalg.invhilbert(3),
        jsp.linalg.pascal(4),
        jsp.linalg.invpascal(4),
    ),
    times=3,
)
add(
    "scipy.linalg.sylvester",
    lambda a, b, q: jsp.linalg.solve_sylvester(a, b, q),
    dominant(3),
    dominant(3),
    normal(3, 3),
    times=50,
)
add(
    "scipy.linalg.expm_frechet",
    lambda a, e: jsp.linalg.expm_frechet(a, e),
    normal(3, 3),
    normal(3, 3),
    times=30,
)
add(
    "scipy.linalg.qr_pivoting",
    lambda a: (lambda q, r, p: (jnp.abs(r), p))(*jsp.linalg.qr(a, pivoting=True)),
    normal(6, 4),
    times=10,
)
add(
    "scipy.linalg.solve_pos",
    lambda a, b: jsp.linalg.solve(a, b, assume_a="pos"),
    positive_definite(5),
    normal(5),
    times=10,
)

# scipy.special and the others.
for name in "dawsn erfcx fresnel gammasgn sici loggamma wofz".split():
    add(f"scipy.special.{name}", getattr(jsp.special, name), positive, times=10)
for name in "boxcox boxcox1p owens_t comb".split():
    add(
        f"scipy.special.{name}",
        getattr(jsp.special, name),
        positive,
        uniform(0.3, 2, 3, 5),
        times=10,
    )
add(
    "scipy.special.hyp1f1",
    jsp.special.hyp1f1,
    uniform(0.3, 2, 5),
    uniform(0.3, 2, 5),
    uniform(-1, 1, 5),
    times=10,
)
add(
    "scipy.special.hyp2f1",
    jsp.special.hyp2f1,
    uniform(0.3, 2, 5),
    uniform(0.3, 2, 5),
    uniform(2.3, 4, 5),
    uniform(-0.5, 0.5, 5),
    times=10,
)
add(
    "scipy.special.bessel_jn",
    lambda x: jsp.special.bessel_jn(x, v=3, n_iter=20),
    uniform(0.5, 4, 5),
    times=10,
)
add(
    "scipy.special.logsumexp_signs",
    lambda x, b: jsp.special.logsumexp(x, b=b, axis=1, return_sign=True),
    real,
    other,
    times=5,
)
add(
    "scipy.signal.correlate2d",
    lambda a, b: jsp.signal.correlate2d(a, b, mode="same"),
    normal(6, 7),
    normal(3, 2),
)
add("scipy.signal.csd", lambda a, b: jsp.signal.csd(a, b, nperseg=8)[1], normal(24), normal(24))
add(
    "scipy.signal.istft",
    lambda x: jsp.signal.istft(jsp.signal.stft(x, nperseg=8)[2], nperseg=8)[1],
    normal(24),
)
for mode in "full same valid".split():
    add(
        f"scipy.signal.convolve.{mode}",
        lambda a, b, m=mode: (
            jsp.signal.convolve(a, b, mode=m),
            jsp.signal.fftconvolve(a, b, mode=m),
            jnp.convolve(a, b, mode=m),
        ),
        normal(12),
        normal(5),
    )
for mode in "constant nearest wrap mirror reflect".split():
    for order in (0, 1):
        add(
            f"scipy.ndimage.map_coordinates.{mode}.{order}",
            lambda x, c, m=mode, o=order: jsp.ndimage.map_coordinates(x, [c, c + 0.3], o, mode=m),
            normal(5, 6),
            uniform(-2.2, 7.1, 9),
            times=3,
        )
add("scipy.fft.idctn", lambda x: jsp.fft.idctn(x, norm="ortho"), normal(4, 6))
add("fft.irfft2", jnp.fft.irfft2, complex_normal(4, 4))
add(
    "fft.norms",
    lambda x: [jnp.fft.fft(x, norm=n) for n in ("ortho", "forward", "backward")],
    complex_normal(10),
)
add(
    "fft.lengths",
    lambda x: (
        jnp.fft.fft(x, 13),
        jnp.fft.rfft(x.real, 5),
        jnp.fft.irfft(x, 9),
        jnp.fft.fft(x, axis=0),
    ),
    complex_normal(4, 6),
)
add(
    "scipy.interpolate.grid",
    lambda v, x: RegularGridInterpolator((jnp.arange(4.0), jnp.arange(5.0)), v)(x),
    normal(4, 5),
    uniform(0, 3, 7, 2),
)
add(
    "scipy.spatial.rotation",
    lambda q, v: (
        Rotation.from_quat(q).apply(v),
        Rotation.from_quat(q).as_matrix(),
        Rotation.from_quat(q).as_euler("xyz"),
        Rotation.from_quat(q).inv().as_rotvec(),
    ),
    normal(4),
    normal(3),
    times=10,
)
add(
    "scipy.spatial.slerp",
    lambda q, t: Slerp.init(jnp.arange(3.0), Rotation.from_quat(q))(t).as_quat(),
    normal(3, 4),
    uniform(0, 2, 5),
    times=10,
)
add(
    "image.scale_and_translate",
    lambda x, s: jax.image.scale_and_translate(
        x, (7, 9), (0, 1), s, jnp.array([0.3, -0.2]), "linear"
    ),
    normal(4, 6),
    uniform(1.2, 2, 2),
)
for antialias in (True, False):
    add(
        f"image.resize_down.{antialias}",
        lambda x, a=antialias: jax.image.resize(x, (2, 5, 3), "cubic", antialias=a),
        normal(2, 9, 8),
        times=3,
    )

# jax.nn, jax.random.
add_names("nn.seldom", jax.nn, "hard_silu identity swish logmeanexp", normal(4, 6))
add("nn.log1mexp", jax.nn.log1mexp, uniform(0.1, 3, 4, 6))
for name in (
    "glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform "
    "orthogonal truncated_normal uniform normal"
).split():
    add(
        f"nn.initializers.{name}",
        lambda k, n=name: getattr(jax.nn.initializers, n)()(k, (6, 4), jnp.float32),
        key(),
        times=20,
    )
add(
    "nn.initializers.delta",
    lambda k: jax.nn.initializers.delta_orthogonal()(k, (3, 3, 2, 4), jnp.float32),
    key(),
    times=20,
)
add(
    "random.generalized_normal",
    lambda k: jax.random.generalized_normal(k, 1.5, (3, 5)),
    key(),
    times=5,
)
add("random.loggamma", lambda k: jax.random.loggamma(k, 0.4, (3, 5)), key(), times=5)
add("random.multinomial", lambda k: jax.random.multinomial(k, 9, jnp.array([0.2, 0.3, 0.5])), key())
for implementation in ("rbg", "unsafe_rbg"):
    add(
        f"random.{implementation}",
        lambda k, i=implementation: jax.random.uniform(
            jax.random.wrap_key_data(jnp.concatenate([k, k]), impl=i), (3, 5)
        ),
        key(),
    )
add(
    "random.new_key", lambda i: jax.random.normal(jax.random.key(i), (4,)), integers(0, 99), times=3
)
add(
    "random.ints",
    lambda k: (
        jax.random.randint(k, (9,), -100, 100, jnp.int8),
        jax.random.bits(k, (5,), jnp.uint8),
        jax.random.bits(k, (5,), jnp.uint16),
    ),
    key(),
)
add(
    "random.halves",
    lambda k: (
        jax.random.normal(k, (9,), jnp.float16).astype(jnp.float32),
        jax.random.uniform(k, (9,), jnp.bfloat16).astype(jnp.float32),
    ),
    key(),
    times=100,
)
add("random.complex", lambda k: jax.random.normal(k, (9,), jnp.complex64), key(), times=3)
