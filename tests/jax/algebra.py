"""Products, linear algebra, Fourier transforms, signals, images and convolutions."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import lax

from case import (
    Cases,
    complex_normal,
    dominant,
    normal,
    ordered,
    positive_definite,
    uniform,
)

CASES = Cases()
add, add_names = CASES.add, CASES.add_names

add_names("numpy.products", jnp, "dot inner matmul", normal(5, 5), normal(5, 5))
add("numpy.tensordot", lambda a, b: jnp.tensordot(a, b, 2), normal(3, 4, 5), normal(4, 5, 6))
add("numpy.matvec", jnp.matvec, normal(4, 5), normal(5))
add("numpy.cross", jnp.cross, normal(4, 3), normal(4, 3))
for text, *shapes in (
    ("ij,jk->ik", (4, 5), (5, 6)),
    ("bij,bjk->bik", (3, 4, 5), (3, 5, 2)),
    ("ii->i", (4, 4)),
    ("ij->", (4, 5)),
    ("ijk,kl,lm->ijm", (2, 3, 4), (4, 5), (5, 2)),
    ("bhqd,bhkd->bhqk", (2, 2, 5, 4), (2, 2, 6, 4)),
    ("i,j->ij", (4,), (5,)),
):
    add(f"numpy.einsum.{text}", lambda *x, t=text: jnp.einsum(t, *x), *(normal(*s) for s in shapes))
add("numpy.polyval", jnp.polyval, normal(5), normal(6), times=3)
add("numpy.polyfit", lambda x, y: jnp.polyfit(x, y, 2), ordered(9), normal(9), times=20)
add("numpy.poly", jnp.poly, normal(4), times=3)
add_names("numpy.polynomials", jnp, "polyadd polysub polymul", normal(4), normal(6))
add(
    "numpy.roots",
    lambda p: jnp.sort(jnp.abs(jnp.roots(p, strip_zeros=False))),
    uniform(0.5, 2, 5),
    times=30,
)
add_names(
    "linalg", jnp.linalg, "det inv slogdet matrix_rank cond norm matrix_norm", dominant(6), times=10
)
add_names("linalg.definite", jnp.linalg, "cholesky eigvalsh", positive_definite(6), times=5)
add("linalg.solve", jnp.linalg.solve, dominant(6), normal(6, 2), times=5)
add("linalg.lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], normal(9, 4), normal(9), times=50)
add("linalg.pinv", jnp.linalg.pinv, normal(7, 4), times=50)
add("linalg.svdvals", jnp.linalg.svdvals, normal(7, 4), times=5)
add(
    "linalg.svd_again",
    lambda a: (lambda u, s, v: (u * s) @ v)(*jnp.linalg.svd(a, full_matrices=False)),
    normal(7, 4),
    times=10,
)
add("linalg.qr_again", lambda a: (lambda q, r: q @ r)(*jnp.linalg.qr(a)), normal(7, 4), times=10)
add(
    "linalg.eigh_again",
    lambda a: (lambda w, v: (v * w) @ v.T)(*jnp.linalg.eigh(a)),
    positive_definite(6),
    times=10,
)
add("linalg.eigvals", lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), normal(5, 5), times=30)
add("linalg.matrix_power", lambda a: jnp.linalg.matrix_power(a, 5), normal(4, 4), times=5)
add(
    "linalg.multi_dot",
    lambda a, b, c: jnp.linalg.multi_dot([a, b, c]),
    normal(3, 4),
    normal(4, 5),
    normal(5, 2),
)
add(
    "linalg.tensorsolve",
    lambda a, b: jnp.linalg.tensorsolve(a.reshape(2, 3, 6), b.reshape(2, 3)),
    dominant(6),
    normal(6),
    times=5,
)
add("scipy.linalg.expm", jsp.linalg.expm, normal(4, 4), times=20)
add(
    "scipy.linalg.lu_again",
    lambda a: (lambda p, low, up: p @ low @ up)(*jsp.linalg.lu(a)),
    normal(6, 6),
    times=10,
)
add(
    "scipy.linalg.lu_solve",
    lambda a, b: jsp.linalg.lu_solve(jsp.linalg.lu_factor(a), b),
    dominant(6),
    normal(6),
    times=5,
)
add(
    "scipy.linalg.cho_solve",
    lambda a, b: jsp.linalg.cho_solve(jsp.linalg.cho_factor(a), b),
    positive_definite(6),
    normal(6),
    times=10,
)
add(
    "scipy.linalg.solve_triangular",
    lambda a, b: jsp.linalg.solve_triangular(a, b, lower=True),
    dominant(6),
    normal(6, 2),
    times=5,
)
add(
    "scipy.linalg.sqrtm_again",
    lambda a: (lambda s: (s @ s).real)(jsp.linalg.sqrtm(a)),
    positive_definite(4),
    times=50,
)
add("scipy.linalg.polar", lambda a: jsp.linalg.polar(a), dominant(5), times=30)
add("scipy.linalg.toeplitz", jsp.linalg.toeplitz, normal(5))
add("scipy.linalg.block_diag", jsp.linalg.block_diag, normal(2, 3), normal(3, 2))
add("scipy.linalg.hessenberg", lambda a: jnp.abs(jsp.linalg.hessenberg(a)), normal(5, 5), times=30)
add("scipy.linalg.funm", lambda a: jsp.linalg.expm(a - a.T), normal(3, 3), times=10)
add(
    "scipy.linalg.eigh_tridiagonal",
    lambda d, e: jsp.linalg.eigh_tridiagonal(d, e, eigvals_only=True),
    normal(6),
    normal(5),
    times=20,
)
add(
    "lax.linalg.triangular_solve",
    lambda a, b: lax.linalg.triangular_solve(a, b, transpose_a=True, lower=True),
    dominant(5),
    normal(3, 5),
    times=5,
)

# Fourier transforms, signals, images.
for name in "fft ifft".split():
    for n in (8, 12, 7):
        add(f"fft.{name}.{n}", getattr(jnp.fft, name), complex_normal(3, n))
add_names("fft.real", jnp.fft, "rfft ihfft fftshift ifftshift", normal(3, 12))
add_names("fft.back", jnp.fft, "irfft hfft", complex_normal(3, 9))
add_names("fft.two", jnp.fft, "fft2 ifft2 fftn ifftn", complex_normal(4, 6))
add_names("fft.real.two", jnp.fft, "rfft2 rfftn", normal(4, 6))
add("fft.irfftn", jnp.fft.irfftn, complex_normal(4, 5))
add("fft.fftfreq", lambda: jnp.fft.fftfreq(9))
add("scipy.fft.dct", lambda x: jsp.fft.dct(x, norm="ortho"), normal(3, 8))
add("scipy.fft.idct", lambda x: jsp.fft.idct(x), normal(3, 8))
add("scipy.fft.dctn", lambda x: jsp.fft.dctn(x), normal(4, 6))
add("scipy.signal.fftconvolve", jsp.signal.fftconvolve, normal(12), normal(5))
add("scipy.signal.convolve2d", jsp.signal.convolve2d, normal(6, 7), normal(3, 2))
add("scipy.signal.correlate", jsp.signal.correlate, normal(9), normal(4))
add("scipy.signal.detrend", jsp.signal.detrend, normal(3, 16), times=10)
add("scipy.signal.stft", lambda x: jsp.signal.stft(x, nperseg=8)[2], normal(24))
add("scipy.signal.welch", lambda x: jsp.signal.welch(x, nperseg=8)[1], normal(24))
add(
    "scipy.ndimage.map_coordinates",
    lambda x, c: jsp.ndimage.map_coordinates(x, [c, c], 1),
    normal(5, 6),
    uniform(0, 4, 7),
)
for method in "nearest linear cubic lanczos3".split():
    add(f"image.resize.{method}", lambda x, m=method: jax.image.resize(x, (7, 4), m), normal(4, 6))
add("lax.conv", lambda x, k: lax.conv(x, k, (1, 1), "SAME"), normal(2, 3, 6, 7), normal(4, 3, 3, 2))
add(
    "lax.conv_strided",
    lambda x, k: lax.conv(x, k, (2, 3), "VALID"),
    normal(2, 3, 8, 9),
    normal(4, 3, 3, 3),
)
add(
    "lax.conv_transpose",
    lambda x, k: lax.conv_transpose(
        x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    normal(2, 4, 5, 3),
    normal(3, 3, 3, 2),
)
add(
    "lax.conv_depthwise",
    lambda x, k: lax.conv_general_dilated(
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=4
    ),
    normal(2, 5, 6, 4),
    normal(3, 3, 1, 4),
)
add(
    "lax.conv_depthwise_strided",
    lambda x, k: lax.conv_general_dilated(
        x, k, (2, 3), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3
    ),
    normal(2, 7, 6, 3),
    normal(4, 3, 1, 3),
)
add(
    "lax.conv_patches_apart",
    lambda x, k: lax.conv_general_dilated(
        x, k, (3, 3), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    normal(2, 6, 7, 2),
    normal(3, 2, 2, 5),
)
add(
    "lax.conv_dilated",
    lambda x, k: lax.conv_general_dilated(
        x, k, (1,), ((3, 2),), lhs_dilation=(2,), rhs_dilation=(3,)
    ),
    normal(2, 3, 7),
    normal(4, 3, 3),
)
add(
    "lax.conv_3d",
    lambda x, k: lax.conv_general_dilated(x, k, (1, 2, 1), "SAME"),
    normal(1, 2, 4, 5, 4),
    normal(3, 2, 2, 3, 2),
)
add(
    "lax.conv_batch_groups",
    lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID", batch_group_count=2),
    normal(4, 3, 5, 5),
    normal(4, 3, 2, 2),
)
add(
    "lax.conv_patches",
    lambda x: lax.conv_general_dilated_patches(x, (2, 3), (1, 2), "SAME"),
    normal(2, 3, 5, 6),
)
