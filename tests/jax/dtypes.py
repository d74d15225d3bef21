"""Functions of lax on every dtype that JAX has them for."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from case import Cases

CASES = Cases()

SIGNED = "int4 int8 int16 int32 int64".split()
UNSIGNED = "uint4 uint8 uint16 uint32 uint64".split()
SHORT = "float16 bfloat16".split()
FLOATS = [*SHORT, "float32", "float64"]
COMPLEX = "complex64 complex128".split()
STORED = [
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
WIDE = {"int64", "uint64", "float64", "complex128"}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def numbers(name, *shape, low=None, high=None):
    """Any that the dtype has where no range says more."""
    dtype = dtype_of(name)

    def make(g):
        if name == "bool":
            return g.integers(0, 2, shape).astype(bool)
        if name in SIGNED + UNSIGNED:
            info = jnp.iinfo(dtype)
            low_, high_ = (int(info.min), int(info.max)) if low is None else (low, high)
            return g.integers(
                low_, high_, shape, endpoint=True, dtype=np.int64 if low_ < 0 else np.uint64
            ).astype(dtype)
        low_, high_ = (-3.0, 3.0) if low is None else (low, high)
        value = g.uniform(low_, high_, shape)
        if name in COMPLEX:
            value = value + 1j * g.uniform(low_, high_, shape)
        if name == "float8_e8m0fnu":
            value = np.abs(value)
        return value.astype(dtype)

    return make


def add(name, dtype, function, *makers, times=4):
    CASES.add(f"{name}.{dtype}", function, *makers, times=times, x64=dtype in WIDE)


def all_of(*functions):
    return lambda *x: [f(*x) for f in functions]


# Elementwise.
WHOLE_UNARY = all_of(lax.neg, lax.sign, lax.bitwise_not, lax.square)
WHOLE_BINARY = all_of(
    lax.add,
    lax.sub,
    lax.mul,
    lax.div,
    lax.rem,
    lax.max,
    lax.min,
    lax.bitwise_and,
    lax.bitwise_or,
    lax.bitwise_xor,
    lax.eq,
    lax.ne,
    lax.lt,
    lax.le,
    lax.gt,
    lax.ge,
)
FLOAT_BINARY = all_of(
    lax.add,
    lax.sub,
    lax.mul,
    lax.div,
    lax.rem,
    lax.max,
    lax.min,
    lax.eq,
    lax.ne,
    lax.lt,
    lax.le,
    lax.gt,
    lax.ge,
)
for dtype in SIGNED + UNSIGNED:
    any_, other = numbers(dtype, 3, 7), numbers(dtype, 3, 7)
    add("unary", dtype, WHOLE_UNARY, any_)
    if dtype != "int4":  # of which XLA on CPUs counts eight bits
        add("counts", dtype, all_of(lax.population_count, lax.clz), any_)
    if dtype in SIGNED[1:]:
        add("abs", dtype, lax.abs, any_)
    add("binary", dtype, WHOLE_BINARY, any_, other)
    add(
        "shifts",
        dtype,
        all_of(lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical),
        any_,
        numbers(dtype, 3, 7, low=0, high=7 if dtype == "int4" else 9),
    )
    add("pow", dtype, lambda x: lax.integer_pow(x, 3), any_)
    if not dtype.endswith("int4"):
        add("power", dtype, jnp.power, any_, numbers(dtype, 3, 7, low=0, high=5))
    add(
        "clamp",
        dtype,
        lax.clamp,
        numbers(dtype, low=0, high=2),
        any_,
        numbers(dtype, low=3, high=5),
    )
    if dtype not in ("int4", "uint4"):
        add("mulhi", dtype, lax.mulhi, any_, other)
for dtype in FLOATS:
    any_, other, positive = (
        numbers(dtype, 3, 7),
        numbers(dtype, 3, 7),
        numbers(dtype, 3, 7, low=0.2, high=4),
    )
    unit = numbers(dtype, 3, 7, low=-0.9, high=0.9)
    add("binary", dtype, FLOAT_BINARY, any_, other)
    add(
        "rounding",
        dtype,
        all_of(
            lax.floor,
            lax.ceil,
            lax.round,
            lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
            lax.sign,
            lax.neg,
            lax.abs,
            lax.is_finite,
        ),
        any_,
    )
    for name in (
        "exp exp2 expm1 log1p sin cos tan tanh sinh cosh asinh atan logistic cbrt erf erfc "
        "square bessel_i1e bessel_i0e"
    ).split():
        add(name, dtype, getattr(lax, name), unit if name == "log1p" else any_)
    for name in "log sqrt rsqrt lgamma digamma reciprocal".split():
        add(name, dtype, getattr(lax, name), positive, times=8)
    for name in "asin acos atanh erf_inv".split():
        add(name, dtype, getattr(lax, name), unit)
    add("acosh", dtype, lax.acosh, numbers(dtype, 3, 7, low=1.2, high=5))
    add("atan2", dtype, lax.atan2, any_, other)
    add("pow", dtype, lax.pow, positive, any_)
    add("nextafter", dtype, lax.nextafter, any_, other)
    add("reduce_precision", dtype, lambda x: lax.reduce_precision(x, 4, 3), any_)
    add("igamma", dtype, all_of(lax.igamma, lax.igammac), positive, positive, times=20)
    add("zeta", dtype, lax.zeta, numbers(dtype, 3, 7, low=1.5, high=5), positive, times=20)
    add("polygamma", dtype, lambda x: lax.polygamma(jnp.full_like(x, 2), x), positive, times=20)
    add("select", dtype, lambda p, x, y: lax.select(p, x, y), numbers("bool", 3, 7), any_, other)
for dtype in COMPLEX:
    any_, other = numbers(dtype, 3, 7), numbers(dtype, 3, 7)
    add(
        "binary",
        dtype,
        all_of(lax.add, lax.sub, lax.mul, lax.div, lax.eq, lax.ne, lax.pow),
        any_,
        other,
        times=20,
    )
    for name in (
        "neg abs sign exp log sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh "
        "atanh log1p expm1 logistic real imag conj square"
    ).split():
        add(name, dtype, getattr(lax, name), any_, times=20)
    add("complex", dtype, lambda z: lax.complex(z.imag, z.real), any_)
for dtype in STORED:
    any_, other = numbers(dtype, 3, 7), numbers(dtype, 3, 7)
    add(
        "converted",
        dtype,
        lambda x: [x.astype(t) for t in "float32 float16 bfloat16 int8 int32".split()],
        any_,
    )
    add(
        "made",
        dtype,
        lambda x, d=dtype: [x.astype(dtype_of(d)), x.astype(jnp.float16).astype(dtype_of(d))],
        numbers("float32", 3, 70, low=-30, high=30),
    )
    add("moved", dtype, lambda x: (x.T, x[::-1, 1:], jnp.concatenate([x, x]), jnp.pad(x, 1)), any_)
    if dtype != "float4_e2m1fn":
        add(
            "product",
            dtype,
            lambda x, y: lax.dot_general(
                x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32
            ),
            any_,
            other,
        )
        add("compare", dtype, all_of(lax.eq, lax.lt, lax.max), any_, other)

# Conversions from everything to everything.
EVERY = ["bool", *SIGNED, *UNSIGNED, *FLOATS]
for source in [*EVERY, *COMPLEX]:
    CASES.add(
        f"convert.{source}",
        lambda x, s=source: [x.astype(t) for t in [*COMPLEX, *(EVERY if s not in COMPLEX else [])]],
        (
            numbers(source, 3, 7)
            if source not in FLOATS + COMPLEX
            else numbers(source, 3, 7, low=-100, high=100)
        ),
        x64=True,
    )

# Reductions, products, order, indices.
for dtype in ["bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]:
    small = {"low": 0, "high": 3} if dtype in SIGNED + UNSIGNED else {}
    any_, rows = numbers(dtype, 4, 9), numbers(dtype, 4, 9, **small)
    ordered = dtype not in COMPLEX
    if dtype != "bool":
        if not dtype.endswith("int4"):
            add("sums", dtype, lambda x: (x.sum(0), x.sum(1), x.sum(), x.prod(1)), rows)
        add("cumulative", dtype, lambda x: (lax.cumsum(x, 1), lax.cumprod(x, 0)), rows)
        add("product", dtype, lambda a, b: a @ b.T, rows, rows)
        if dtype in ("int8", "int16", "float16", "bfloat16"):
            wider = jnp.int32 if dtype in SIGNED else jnp.float32
            add(
                "product_wider",
                dtype,
                lambda a, b, w=wider: lax.dot_general(
                    a, b, (((1,), (1,)), ((), ())), preferred_element_type=w
                ),
                rows,
                rows,
            )
        add(
            "conv",
            dtype,
            lambda x, k: lax.conv(x, k, (1, 2), "SAME"),
            numbers(dtype, 2, 3, 5, 6, **small),
            numbers(dtype, 4, 3, 3, 2, **small),
        )
        add(
            "window_sum",
            dtype,
            lambda x: lax.reduce_window(x, np.zeros((), x.dtype), lax.add, (2, 3), (1, 2), "SAME"),
            rows,
        )
        add(
            "scatter_add",
            dtype,
            lambda x, i, u: x.at[i].add(u),
            any_,
            lambda g: g.integers(0, 4, 7).astype(np.int32),
            numbers(dtype, 7, 9),
        )
    if ordered:
        add("extremes", dtype, lambda x: (x.max(0), x.min(1), x.argmax(1), x.argmin(0)), any_)
        add("sorted", dtype, lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0)), any_)
        if dtype != "bool":
            if not dtype.endswith("int4"):
                add("top_k", dtype, lambda x: lax.top_k(x, 3), any_)
            add("cumulative_extremes", dtype, lambda x: (lax.cummax(x, 1), lax.cummin(x, 0)), any_)
            add(
                "scatter_extremes",
                dtype,
                lambda x, i, u: (x.at[i].max(u), x.at[i].min(u)),
                any_,
                lambda g: g.integers(0, 4, 7).astype(np.int32),
                numbers(dtype, 7, 9),
            )
    add(
        "moved",
        dtype,
        lambda x: (
            x.T,
            x[::-1, 1:],
            jnp.concatenate([x, x]),
            jnp.pad(x, 1),
            jnp.roll(x, 2),
            x.reshape(9, 4),
        ),
        any_,
    )
    add(
        "taken",
        dtype,
        lambda x, i: (x[i], x[:, i % 3], jnp.take_along_axis(x, i[None] % 4, 0)),
        any_,
        lambda g: g.integers(-4, 4, 9).astype(np.int32),
    )
    add(
        "put",
        dtype,
        lambda x, i, u: x.at[i].set(u),
        any_,
        lambda g: g.permutation(4)[:3].astype(np.int32),
        numbers(dtype, 3, 9),
    )
    add(
        "dynamic",
        dtype,
        lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, i), (2, 3)), (i, i * 0)),
        any_,
        lambda g: np.int32(g.integers(0, 4)),
    )
    add(
        "loop",
        dtype,
        lambda x: lax.fori_loop(0, 5, lambda i, y: y.at[i % 4].set(y[(i + 1) % 4]), x),
        any_,
    )
    add(
        "branch",
        dtype,
        lambda p, x: lax.cond(p, lambda y: y[::-1], lambda y: y[:, ::-1], x),
        numbers("bool"),
        any_,
    )
for dtype in [
    "int8",
    "uint8",
    "int16",
    "float16",
    "bfloat16",
    "int32",
    "float32",
    "int64",
    "uint64",
    "float64",
]:
    add(
        "bitcast_down",
        dtype,
        lambda x: lax.bitcast_convert_type(x, jnp.uint8),
        numbers(dtype, 3, 4),
    )
    add(
        "bitcast_up",
        dtype,
        lambda x, d=dtype: lax.bitcast_convert_type(x, d),
        (
            numbers("uint8", 3, dtype_of(dtype).itemsize)
            if dtype_of(dtype).itemsize > 1
            else numbers("uint8", 3)
        ),
    )
for dtype in ["int4", "uint4"]:
    add(
        "bitcast_to_bytes",
        dtype,
        lambda x: lax.bitcast_convert_type(x, jnp.uint8),
        numbers(dtype, 3, 2),
    )
    add(
        "bitcast_from_bytes",
        dtype,
        lambda x, d=dtype: lax.bitcast_convert_type(x, dtype_of(d)),
        numbers("int8", 3),
    )
    add(
        "bitcast_from_words",
        dtype,
        lambda x, d=dtype: lax.bitcast_convert_type(x, dtype_of(d)),
        numbers("uint32", 3),
    )
for dtype in [*SIGNED[1:], *UNSIGNED[1:], "bool"]:
    add(
        "reduce_bits",
        dtype,
        lambda x: (lax.reduce_and(x, (0,)), lax.reduce_or(x, (1,)), lax.reduce_xor(x, (0, 1))),
        numbers(dtype, 4, 9),
    )
