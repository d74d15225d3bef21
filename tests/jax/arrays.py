"""Functions that arrange, index and order, with arguments that they are defined for."""

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

from case import Cases, booleans, complex_normal, integers, normal, ordered, uniform

CASES = Cases()
add, add_names = CASES.add, CASES.add_names

real, truth = normal(3, 5), booleans(3, 5)

add("numpy.transpose", jnp.transpose, normal(3, 4, 5))
add("numpy.swapaxes", lambda x: jnp.swapaxes(x, 0, 2), normal(3, 4, 5))
add("numpy.moveaxis", lambda x: jnp.moveaxis(x, 0, 1), normal(3, 4, 5))
add("numpy.rollaxis", lambda x: jnp.rollaxis(x, 2), normal(3, 4, 5))
add("numpy.roll", lambda x: jnp.roll(x, (1, -2), (0, 1)), normal(4, 5))
add("numpy.roll_dynamic", lambda x, k: jnp.roll(x, k, 1), normal(4, 5), integers(-4, 5))
add_names(
    "numpy.flips",
    jnp,
    "flip fliplr flipud rot90 ravel tril triu trace diagonal atleast_3d squeeze",
    normal(4, 4),
)
add("numpy.diag", jnp.diag, normal(5))
add("numpy.diag_embed", lambda x: jnp.diag(x, 1), normal(5))
add("numpy.diagflat", jnp.diagflat, normal(2, 3))
add("numpy.fill_diagonal", lambda x: jnp.fill_diagonal(x, 7.0, inplace=False), normal(4, 4))
add("numpy.tile", lambda x: jnp.tile(x, (2, 3)), normal(3, 4))
add("numpy.repeat", lambda x: jnp.repeat(x, 3, axis=1), normal(3, 4))
add(
    "numpy.repeat_counts",
    lambda x, n: jnp.repeat(x, n, total_repeat_length=12),
    normal(5),
    integers(0, 5, 5),
)
for mode in "constant edge linear_ramp maximum mean median minimum reflect symmetric wrap".split():
    add(f"numpy.pad.{mode}", lambda x, m=mode: jnp.pad(x, ((1, 2), (0, 3)), mode=m), normal(4, 5))
add_names(
    "numpy.stacks",
    jnp,
    "hstack vstack dstack column_stack concatenate stack block",
    [normal(3, 4), normal(3, 4)],
)
add("numpy.split", lambda x: jnp.split(x, [1, 3]), normal(6, 4))
add("numpy.array_split", lambda x: jnp.array_split(x, 4), normal(6, 4))
add("numpy.insert", lambda x: jnp.insert(x, 2, 9.0, axis=1), normal(3, 4))
add("numpy.delete", lambda x: jnp.delete(x, 2, axis=1), normal(3, 4))
add("numpy.append", jnp.append, normal(3), normal(4))
add("numpy.resize", lambda x: jnp.resize(x, (5, 3)), normal(3, 4))
add("numpy.meshgrid", lambda a, b: jnp.meshgrid(a, b), normal(3), normal(4))
add("numpy.kron", jnp.kron, normal(2, 3), normal(3, 2))
add("numpy.outer", jnp.outer, normal(5), normal(4))
add("numpy.vander", jnp.vander, normal(5), times=3)
add("numpy.tri", lambda: jnp.tri(5, 4, 1))
add("numpy.linspace", lambda a, b: jnp.linspace(a, b, 9), normal(), normal())
add("numpy.geomspace", lambda a, b: jnp.geomspace(a, b, 7), uniform(0.5, 1), uniform(2, 9))
add(
    "numpy.windows",
    lambda: (jnp.hamming(9), jnp.hanning(9), jnp.blackman(9), jnp.bartlett(9), jnp.kaiser(9, 2.0)),
    times=3,
)
add("lax.slice", lambda x: lax.slice(x, (1, 0), (6, 7), (2, 3)), normal(7, 8))
add(
    "lax.dynamic_slice",
    lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 2)),
    normal(7, 8),
    integers(-3, 9),
    integers(-3, 9),
)
add(
    "lax.dynamic_update_slice",
    lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 1)),
    normal(7, 8),
    normal(2, 3),
    integers(-3, 9),
)
add("lax.pad_interior", lambda x: lax.pad(x, 0.5, ((1, -1, 2), (-1, 2, 0))), normal(4, 5))
add("lax.rev", lambda x: lax.rev(x, (0, 2)), normal(3, 4, 2))

# Indexing.
at = integers(-5, 5, 6)
add("numpy.take", lambda x, i: jnp.take(x, i, axis=0), normal(5, 3), at)
for mode in "clip wrap fill".split():
    add(
        f"numpy.take.{mode}",
        lambda x, i, m=mode: jnp.take(x, i, axis=0, mode=m),
        normal(5, 3),
        integers(-9, 9, 6),
    )
add(
    "numpy.take_along_axis",
    lambda x, i: jnp.take_along_axis(x, i, 1),
    normal(4, 5),
    integers(0, 5, 4, 3),
)
add("numpy.index", lambda x, i: x[i], normal(5, 3), at)
add("numpy.index_two", lambda x, i, j: x[i, j], normal(5, 7), at, integers(0, 7, 6))
add("numpy.index_mixed", lambda x, i: x[:, i, None, ::2], normal(3, 5, 4), at)
add(
    "numpy.choose",
    lambda i, a, b, c: jnp.choose(i, [a, b, c], mode="clip"),
    integers(0, 3, 6),
    normal(6),
    normal(6),
    normal(6),
)
add(
    "numpy.compress",
    lambda x: jnp.compress(np.array([True, False, True, True]), x, axis=0, size=3),
    normal(4, 3),
)
for name in "add multiply min max set divide power".split():
    add(
        f"numpy.at.{name}",
        lambda x, i, u, n=name: getattr(x.at[i], n)(u),
        uniform(0.5, 2, 5, 3),
        (
            integers(0, 5, 7)
            if name not in ("set", "divide", "power")
            else lambda g: g.permutation(5).astype(np.int32)
        ),
        uniform(0.5, 2, 7 if name not in ("set", "divide", "power") else 5, 3),
    )
add(
    "numpy.at.apply",
    lambda x, i: x.at[i].apply(jnp.square),
    normal(5, 3),
    lambda g: g.permutation(5)[:3].astype(np.int32),
)
add(
    "numpy.at.drop",
    lambda x, i, u: x.at[i].set(u, mode="drop"),
    normal(5, 3),
    lambda g: g.permutation(9)[:4].astype(np.int32),
    normal(4, 3),
)
add("numpy.at.slice", lambda x, u: x.at[1:4, ::2].add(u), normal(5, 4), normal(3, 2))
add(
    "numpy.put_along_axis",
    lambda x, i, v: jnp.put_along_axis(x, i, v, 1, inplace=False),
    normal(4, 5),
    lambda g: np.argsort(g.random((4, 5)), 1)[:, :2].astype(np.int32),
    normal(4, 2),
)
add("numpy.place", lambda x, m, v: jnp.place(x, m, v, inplace=False), real, truth, normal(3))
add("numpy.nonzero", lambda x: jnp.nonzero(x, size=6, fill_value=-1), truth)
add("numpy.argwhere", lambda x: jnp.argwhere(x, size=9, fill_value=-1), truth)
add("numpy.flatnonzero", lambda x: jnp.flatnonzero(x, size=7), truth)
add("numpy.extract", lambda m, x: jnp.extract(m, x, size=9), truth, real)
add("numpy.searchsorted", jnp.searchsorted, ordered(9), normal(6))
add(
    "numpy.searchsorted_right",
    lambda a, v: jnp.searchsorted(a, v, side="right", method="sort"),
    ordered(9),
    normal(6),
)
add("numpy.unravel", lambda i: jnp.unravel_index(i, (3, 4)), integers(0, 12, 5))
add(
    "numpy.ravel_multi",
    lambda i, j: jnp.ravel_multi_index((i, j), (3, 4), mode="clip"),
    integers(0, 3, 5),
    integers(0, 4, 5),
)
for name in "sum prod max min".split():
    add(
        f"ops.segment_{name}",
        lambda x, i, n=name: getattr(jax.ops, f"segment_{n}")(x, i, 5),
        uniform(0.5, 2, 12, 3),
        integers(0, 5, 12),
    )
add(
    "ops.segment_sum_in_passes",
    lambda x, i: jax.ops.segment_sum(x, i, 40),
    uniform(0.5, 2, 30_000, 2),
    integers(0, 40, 30_000),
)
add(
    "lax.gather_fill",
    lambda x, i: x.at[i].get(mode="fill", fill_value=-7),
    normal(5, 3),
    integers(-9, 9, 6),
)

# Order and sets.
add_names("numpy.order", jnp, "sort argsort", normal(4, 9))
add("numpy.argsort_descending", lambda x: jnp.argsort(x, descending=True), integers(0, 4, 4, 9))
add("numpy.lexsort", lambda a, b: jnp.lexsort((a, b)), integers(0, 4, 12), integers(0, 4, 12))
add("numpy.sort_complex", jnp.sort_complex, complex_normal(9))
add("numpy.partition", lambda x: jnp.partition(x, 4)[:, 4], normal(4, 9))
add(
    "numpy.unique",
    lambda x: jnp.unique(x, size=8, return_index=True, return_inverse=True, return_counts=True),
    integers(0, 7, 20),
)
for name in "union1d setdiff1d setxor1d intersect1d".split():
    add(
        f"numpy.{name}",
        lambda a, b, n=name: getattr(jnp, n)(a, b, size=16),
        integers(0, 9, 8),
        integers(0, 9, 8),
    )
add("numpy.isin", jnp.isin, integers(0, 9, 8), integers(0, 9, 5))
add("lax.top_k", lambda x: lax.top_k(x, 3), normal(4, 9))
add("lax.approx_max_k", lambda x: lax.approx_max_k(x, 3), normal(4, 9))
add("lax.sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), integers(0, 5, 4, 9), normal(4, 9))
add(
    "lax.sort_two_keys",
    lambda a, b, v: lax.sort((a, b, v), num_keys=2, dimension=0),
    integers(0, 3, 9, 2),
    integers(0, 3, 9, 2),
    normal(9, 2),
)
add_names("scipy.stats", jsp.stats, "rankdata mode sem", integers(0, 9, 12))
