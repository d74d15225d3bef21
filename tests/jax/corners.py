"""Functions of lax that are seldom used, strange shapes, and what a group of one device does."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

from case import (
    Cases,
    booleans,
    dominant,
    integers,
    key,
    normal,
    uniform,
)

CASES = Cases()
add = CASES.add

real, other = normal(3, 5), normal(3, 5)

# lax.
add("lax.batch_matmul", lax.batch_matmul, normal(3, 4, 5), normal(3, 5, 2))
add(
    "lax.broadcasts",
    lambda x: (
        lax.broadcast(x, (2, 3)),
        lax.broadcast_in_dim(x, (4, 3, 5), (1, 2)),
        lax.broadcasted_iota(jnp.int32, (3, 4), 1),
        lax.expand_dims(x, (1,)),
        lax.collapse(x, 0, 2),
    ),
    real,
)
add(
    "lax.dims",
    lambda x, i: (
        lax.dynamic_index_in_dim(x, i),
        lax.dynamic_slice_in_dim(x, i, 2),
        lax.dynamic_update_index_in_dim(x, x[0], i, 0),
        lax.index_in_dim(x, 1),
        lax.slice_in_dim(x, 0, 3, 2),
        lax.index_take(x, (jnp.array([0, 2]),), (0,)),
    ),
    real,
    integers(-4, 4),
)
add(
    "lax.select_n",
    lambda w, a, b, c: lax.select_n(w, a, b, c),
    integers(0, 3, 3, 5),
    real,
    other,
    normal(3, 5),
)
add("lax.sort_key_val", lambda k, v: lax.sort_key_val(k, v), integers(0, 9, 12), normal(12))
add("lax.approx_min_k", lambda x: lax.approx_min_k(x, 3), normal(4, 9))
add(
    "lax.scatters",
    lambda x, i, u: [
        f(x, i[:, None], u, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
        for f in (
            lax.scatter_add,
            lax.scatter_sub,
            lax.scatter_mul,
            lax.scatter_min,
            lax.scatter_max,
        )
    ],
    normal(5, 3),
    integers(0, 5, 7),
    uniform(0.5, 2, 7, 3),
)
add(
    "lax.gather",
    lambda x, i: lax.gather(
        x, i, lax.GatherDimensionNumbers((1, 2), (), (0, 1)), (2, 3), mode="clip"
    ),
    normal(6, 7),
    integers(-2, 8, 5, 2),
)
add(
    "lax.ragged_dot",
    lambda a, b: lax.ragged_dot(a, b, jnp.array([3, 0, 5], jnp.int32)),
    normal(9, 4),
    normal(3, 4, 6),
    times=3,
)
add(
    "lax.conv_local",
    lambda x, k: lax.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2)),
    normal(1, 2, 4, 4),
    normal(3, 8, 3, 3),
    times=3,
)
add(
    "lax.conv_flipped",
    lambda x, k: lax.conv_with_general_padding(x, k, (1, 1), ((-1, 2), (3, -2)), (1, 2), (2, 1)),
    normal(2, 3, 6, 7),
    normal(4, 3, 2, 2),
)
add(
    "lax.custom_linear_solve",
    lambda a, b: lax.custom_linear_solve(
        lambda v: a @ v,
        b,
        lambda _, y: jnp.linalg.solve(a, y),
        symmetric=False,
        transpose_solve=lambda _, y: jnp.linalg.solve(a.T, y),
    ),
    dominant(5),
    normal(5),
    times=10,
)
add(
    "lax.custom_root",
    lambda a: lax.custom_root(
        lambda x: x**3 - a,
        jnp.ones_like(a),
        lambda f, x: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y * y), x),
        lambda g, y: y / g(1.0),
    ),
    uniform(0.5, 4),
    times=3,
)
add(
    "lax.platform_dependent",
    lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.sin),
    real,
)
add("lax.composite", lambda x: lax.composite(lambda y: jnp.tanh(y) * 2, "my.tanh")(x), real)
add("lax.barrier", lambda x, y: lax.optimization_barrier((x * 2, y + 1)), real, other)
add(
    "lax.rng_bits",
    lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (5,), jnp.uint32),
    key(),
)
add("lax.reduce_precision_f16", lambda x: lax.reduce_precision(x, 8, 7), real)
add(
    "lax.while_tuple",
    lambda x, n: lax.while_loop(
        lambda s: s[0]["i"] < n,
        lambda s: ({"i": s[0]["i"] + 1}, (s[1][1], s[1][0] * 0.5)),
        ({"i": 0}, (x, x + 1)),
    ),
    real,
    integers(2, 7),
)
add("lax.map_batched", lambda x: lax.map(lambda r: jnp.sort(r)[::2], x, batch_size=2), normal(5, 6))
add(
    "lax.scan_reverse",
    lambda x: lax.scan(
        lambda c, r: (c * 0.5 + r, c.sum()), jnp.zeros(5), x, reverse=True, unroll=2
    ),
    real,
)
add(
    "lax.scan_without_inputs",
    lambda x: lax.scan(lambda c, _: (jnp.sin(c), c[0]), x, length=6),
    normal(4),
)
add(
    "lax.scan_zero_length",
    lambda x: lax.scan(lambda c, r: (c + r, r), jnp.zeros(5), x),
    normal(0, 5),
)
add(
    "lax.switch_clamped",
    lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y * 2], x),
    integers(-4, 9),
    real,
)
add(
    "lax.associative_reverse",
    lambda x: lax.associative_scan(jnp.maximum, x, reverse=True, axis=1),
    normal(3, 11),
)
add(
    "lax.fori_dynamic",
    lambda a, n: lax.fori_loop(n, n + 4, lambda i, y: y + i * a, a),
    normal(4),
    integers(-3, 3),
)

# Strange shapes.
EMPTY = normal(0, 4)
add(
    "shapes.empty",
    lambda x: (
        x + 1,
        x.sum(),
        x.sum(0),
        x @ x.T,
        x.T @ x,
        jnp.concatenate([x, x]),
        x.reshape(4, 0),
        jnp.exp(x).prod(1),
    ),
    EMPTY,
)
add(
    "shapes.empty_order",
    lambda x: (
        jnp.sort(x, 0),
        jnp.argsort(x, 0),
        jnp.cumsum(x, 0),
        jnp.pad(x, 1),
        x[jnp.zeros(3, int)[:0]],
    ),
    EMPTY,
)
add(
    "shapes.empty_indices",
    lambda x, i: (x[i], x.at[i].add(1.0), x.at[i].set(7.0)),
    normal(3, 4),
    lambda g: np.zeros(0, np.int32),
)
add("shapes.empty_linalg", lambda x: (jnp.linalg.det(x), jnp.linalg.inv(x), x @ x), normal(3, 0, 0))
add(
    "shapes.scalar",
    lambda x, y: (
        x + y,
        jnp.sin(x),
        jnp.sort(x[None]),
        x[None, None].T,
        jnp.stack([x, y]),
        jnp.where(x > y, x, y),
        jnp.cumsum(x[None]),
        x.reshape(1, 1, 1),
    ),
    normal(),
    normal(),
)
add(
    "shapes.rank7",
    lambda x: (
        x.transpose(6, 2, 4, 0, 5, 1, 3),
        x.sum((1, 3, 5)),
        x[0, :, ::-1, None, ..., 1],
        jnp.flip(x, (0, 6)),
        x.reshape(-1, 6),
        jnp.einsum("abcdefg->gca", x),
    ),
    normal(2, 1, 3, 2, 1, 3, 2),
)
add(
    "shapes.rank8_product",
    lambda a, b: jnp.einsum("abcdefgh,cagh->bdefg", a, b),
    normal(2, 1, 3, 2, 1, 2, 2, 3),
    normal(3, 2, 2, 3),
    times=3,
)
add(
    "shapes.ones",
    lambda x: (x.sum(), x.max(0), x @ x.swapaxes(1, 2), jnp.squeeze(x) + 1, jnp.argmax(x, 1)),
    normal(1, 1, 1),
)
add(
    "shapes.long",
    lambda x: (x[::97], x[5::1000], x.reshape(-1, 7).sum(0), jnp.roll(x, 3001)[:5], x[::-1][:7]),
    normal(7007),
    times=20,
)
add("shapes.strided", lambda x: (x[::3, 1::5], x.at[1::4, ::7].set(0), x[:, ::-9]), normal(13, 40))
add(
    "shapes.thin",
    lambda x, y: (x.T @ y, x.sum(0), jnp.concatenate([x, y], 1).T, jnp.sort(x, 0)[:3]),
    normal(501, 1),
    normal(501, 2),
    times=5,
)
add(
    "shapes.primes",
    lambda x: (
        x.T.reshape(31, 17),
        x.reshape(17, 31)[::-1].sum(1),
        jnp.pad(x, ((1, 0), (0, 6)))[::2],
    ),
    normal(31, 17),
    times=3,
)
add("shapes.many_results", lambda x: tuple(x * i for i in range(30)), normal(3))
add("shapes.many_arguments", lambda *x: sum(x), *[normal(3)] * 30, times=5)
add("shapes.unused_arguments", lambda a, b, c: b + 1, normal(3), normal(4), normal(5))
add("shapes.same_result_twice", lambda a: (a, a, a * 1, jnp.zeros(3)), normal(3))
add(
    "shapes.tree",
    lambda t: jax.tree.map(lambda x: x * 2, t),
    {"a": (normal(2), normal()), "b": [normal(3, 1), {"c": booleans(2)}]},
)


# One device alone in its group.
def alone(function):
    def run(*x):
        mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
        return jax.shard_map(
            function,
            mesh=mesh,
            in_specs=PartitionSpec("i"),
            out_specs=PartitionSpec("i"),
            check_vma=False,
        )(*x)

    return run


for name, function in {
    "psum": lambda x: lax.psum(x, "i"),
    "pmean": lambda x: lax.pmean(x, "i"),
    "pmax": lambda x: lax.pmax(x, "i"),
    "pmin": lambda x: lax.pmin(x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i", tiled=True),
    "all_gather_stacked": lambda x: lax.all_gather(x, "i")[0],
    "psum_scatter": lambda x: lax.psum_scatter(x, "i", tiled=True),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True),
    "ppermute": lambda x: lax.ppermute(x, "i", [(0, 0)]),
    "axis_index": lambda x: x + lax.axis_index("i") + lax.axis_size("i"),
    "pswapaxes": lambda x: lax.pswapaxes(x[None], "i", 0)[0],
}.items():
    add(f"alone.{name}", alone(function), normal(4, 3))
add(
    "alone.gradient",
    lambda x: jax.grad(lambda y: alone(lambda z: lax.psum(jnp.sin(z), "i"))(y).sum())(x),
    normal(4, 3),
)
add(
    "alone.constrained",
    lambda x: lax.with_sharding_constraint(
        x * 2,
        jax.sharding.NamedSharding(Mesh(np.array(jax.devices()[:1]), ("i",)), PartitionSpec("i")),
    ),
    normal(4, 3),
)
