"""Elementwise functions, reductions and cumulative ones, with arguments that they are defined for."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax

from case import Cases, booleans, complex_normal, integers, normal, ordered, uniform

CASES = Cases()
add, add_names = CASES.add, CASES.add_names

real, real2, positive = normal(3, 5), normal(3, 5), uniform(0.3, 4, 3, 5)
unit, whole, counts = uniform(-0.95, 0.95, 3, 5), integers(-50, 50, 3, 5), integers(1, 9, 3, 5)
bits, bytes_ = integers(0, 2**32, 3, 5, dtype=np.uint32), integers(0, 255, 3, 5, dtype=np.uint8)
truth, pair = booleans(3, 5), complex_normal(3, 5)

add_names(
    "numpy",
    jnp,
    "abs ceil cbrt cos cosh deg2rad degrees exp exp2 expm1 fabs floor isfinite isinf isnan "
    "isneginf isposinf "
    "modf nan_to_num negative positive rad2deg radians reciprocal rint round sign signbit sin "
    "sinc sinh square tan "
    "tanh trunc unwrap frexp i0 angle conj real imag iscomplex isreal spacing",
    real,
)
add_names("numpy.positive", jnp, "sqrt log log10 log1p log2", positive)
add_names("numpy.unit", jnp, "arccos arcsin arctan arctanh arcsinh", unit)
add("numpy.arccosh", jnp.arccosh, uniform(1.1, 5, 3, 5))
add_names(
    "numpy.two",
    jnp,
    "add arctan2 copysign divide divmod equal floor_divide fmax fmin fmod greater "
    "greater_equal heaviside hypot less "
    "less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal "
    "remainder subtract true_divide",
    real,
    real2,
)
add_names("numpy.power", jnp, "power float_power", positive, real)
add_names(
    "numpy.complex",
    jnp,
    "abs angle conj cos cosh exp log imag real reciprocal sin sinh sqrt square tan tanh sign "
    "negative arctan arcsinh",
    pair,
)
add_names(
    "numpy.complex.two",
    jnp,
    "add subtract multiply divide power equal not_equal vdot outer",
    pair,
    pair,
    times=3,
)
add_names(
    "numpy.whole",
    jnp,
    "abs negative sign square invert bitwise_count float32 int8 uint8 bool_",
    whole,
)
add_names(
    "numpy.whole.two",
    jnp,
    "add subtract multiply floor_divide remainder maximum minimum bitwise_and bitwise_or "
    "bitwise_xor gcd lcm equal less "
    "greater fmod divmod true_divide power",
    whole,
    counts,
)
add_names("numpy.shift", jnp, "left_shift right_shift", whole, integers(0, 12, 3, 5))
add_names("numpy.bits", jnp, "invert bitwise_count float32 int16 uint8 int32", bits)
add_names(
    "numpy.bits.two",
    jnp,
    "add multiply floor_divide remainder maximum bitwise_xor less",
    bits,
    integers(1, 999, 3, 5, dtype=np.uint32),
)
add_names("numpy.bytes", jnp, "square invert float32 bitwise_count unpackbits packbits", bytes_)
add_names(
    "numpy.truth",
    jnp,
    "logical_not all any count_nonzero sum int32 float32 argmax packbits cumsum",
    truth,
)
add_names(
    "numpy.truth.two",
    jnp,
    "logical_and logical_or logical_xor equal add multiply maximum",
    truth,
    booleans(3, 5),
)
add("numpy.where", jnp.where, truth, real, real2)
add("numpy.select", lambda a, b, x: jnp.select([a, b], [x, -x], 7.0), truth, booleans(3, 5), real)
add(
    "numpy.piecewise",
    lambda x: jnp.piecewise(x, [x < -0.5, x > 0.5], [jnp.sin, 0.0, lambda v: v * v]),
    real,
)
add("numpy.clip", lambda x: jnp.clip(x, -0.3, 0.7), real)
add("numpy.ldexp", jnp.ldexp, real, integers(-5, 5, 3, 5))
add_names("scipy.special", jsp.special, "erf erfc expit i0 i0e i1 i1e log_ndtr ndtr", real, times=3)
add_names(
    "scipy.special.positive",
    jsp.special,
    "digamma entr exp1 factorial gamma gammaln",
    positive,
    times=3,
)
add_names(
    "scipy.special.unit", jsp.special, "erfinv log_softmax logsumexp softmax spence", unit, times=3
)
add_names(
    "scipy.special.probability", jsp.special, "logit ndtri entr", uniform(0.02, 0.98, 3, 5), times=3
)
add_names(
    "scipy.special.two",
    jsp.special,
    "beta betaln gammainc gammaincc kl_div poch rel_entr xlog1py xlogy",
    positive,
    uniform(0.3, 4, 3, 5),
    times=4,
)
add("scipy.special.zeta", jsp.special.zeta, uniform(1.3, 6, 3, 5), positive, times=4)
add("scipy.special.polygamma", jsp.special.polygamma, integers(1, 4, 3, 5), positive, times=10)
add(
    "scipy.special.betainc",
    jsp.special.betainc,
    positive,
    uniform(0.3, 4, 3, 5),
    uniform(0.05, 0.95, 3, 5),
    times=4,
)
add("scipy.special.bernoulli", lambda: jsp.special.bernoulli(8), times=3)
add("scipy.special.expi", jsp.special.expi, uniform(0.3, 3, 2, 3), times=5)
add(
    "scipy.special.expn",
    lambda x: jsp.special.expn(jnp.int32(3), x),
    uniform(0.3, 3, 2, 3),
    times=5,
)
add(
    "scipy.special.multigammaln",
    lambda x: jsp.special.multigammaln(x, 2),
    uniform(1.5, 4, 3, 5),
    times=3,
)
add(
    "scipy.special.sph_harm_y",
    lambda t, p: jsp.special.sph_harm_y(jnp.array([1]), jnp.array([2]), t, p, n_max=3),
    uniform(0.2, 3, 1),
    uniform(0.2, 3, 1),
    times=3,
)
add("lax.igamma_grad_a", lax.igamma_grad_a, positive, uniform(0.3, 4, 3, 5), times=6)
add("lax.random_gamma_grad", lax.random_gamma_grad, positive, uniform(0.3, 4, 3, 5), times=6)
add("lax.reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), real)
add("lax.population_count", lax.population_count, bits)
add("lax.clz", lax.clz, bits)
add("lax.nextafter", lax.nextafter, real, real2)
add("lax.bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int32), real)
add("lax.bitcast_to_bytes", lambda x: lax.bitcast_convert_type(x, jnp.uint8), real)
add("lax.rsqrt", lax.rsqrt, positive)
add("lax.integer_pow", lambda x: lax.integer_pow(x, 5), real, times=2)
add("lax.mulhi", lax.mulhi, bits, bits)
add("lax.erf_inv", lax.erf_inv, unit, times=2)
add_names(
    "nn",
    jax.nn,
    "celu elu gelu glu hard_sigmoid hard_swish hard_tanh leaky_relu log_sigmoid log_softmax "
    "logsumexp mish relu relu6 "
    "selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus "
    "standardize tanh",
    normal(4, 6),
    times=3,
)
add("nn.gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), real)
add("nn.one_hot", lambda x: jax.nn.one_hot(x, 6), integers(-1, 7, 5))
add(
    "nn.attention",
    lambda *x: jax.nn.dot_product_attention(*(jnp.float32(one) for one in x)),
    normal(2, 6, 2, 4),
    normal(2, 6, 2, 4),
    normal(2, 6, 2, 4),
)
add(
    "nn.attention_causal",
    lambda *x: jax.nn.dot_product_attention(*(jnp.float32(one) for one in x), is_causal=True),
    normal(1, 6, 4, 4),
    normal(1, 6, 2, 4),
    normal(1, 6, 2, 4),
)
add(
    "nn.softmax_where",
    lambda x, m: jax.nn.softmax(x, where=m),
    real,
    lambda g: g.random((3, 5)) < 0.8,
)

# Reductions and what is cumulative.
REDUCTIONS = (
    "all any argmax argmin max mean min prod ptp std sum var nanmax nanmean nanmin nanprod "
    "nanstd nansum nanvar nanargmax count_nonzero"
)
for axis in (None, 0, -1):
    for name in REDUCTIONS.split():
        add(
            f"numpy.{name}.axis_{axis}",
            functools.partial(getattr(jnp, name), axis=axis),
            normal(4, 6),
        )
for name in "sum prod max min argmax argmin any all mean".split():
    add(f"numpy.whole.{name}", functools.partial(getattr(jnp, name), axis=1), integers(-4, 5, 4, 6))
add_names("numpy.complex.reductions", jnp, "sum mean prod var std", pair, times=2)
for name in "median nanmedian".split():
    add(f"numpy.{name}", functools.partial(getattr(jnp, name), axis=1), normal(4, 7))
for method in "linear lower higher nearest midpoint".split():
    add(
        f"numpy.quantile.{method}",
        lambda x, m=method: jnp.quantile(x, jnp.array([0.1, 0.5, 0.8]), axis=1, method=m),
        normal(4, 7),
    )
add("numpy.percentile", lambda x: jnp.percentile(x, 30.0), normal(4, 7))
for name in "cumsum cumprod nancumsum nancumprod".split():
    add(f"numpy.{name}", functools.partial(getattr(jnp, name), axis=1), normal(3, 20))
    add(
        f"numpy.whole.{name}", functools.partial(getattr(jnp, name), axis=0), integers(-4, 5, 20, 3)
    )
for name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    for reverse in (False, True):
        add(
            f"lax.{name}.reverse_{reverse}",
            functools.partial(getattr(lax, name), axis=1, reverse=reverse),
            normal(3, 33),
            times=3,
        )
add(
    "numpy.average",
    lambda x, w: jnp.average(x, axis=1, weights=w),
    normal(4, 6),
    uniform(0.1, 1, 6),
)
add("numpy.cov", jnp.cov, normal(4, 9))
add("numpy.corrcoef", jnp.corrcoef, normal(4, 9))
add("numpy.histogram", lambda x: jnp.histogram(x, bins=5, range=(-2, 2))[0], normal(40))
add(
    "numpy.histogram2d",
    lambda x, y: jnp.histogram2d(x, y, bins=4, range=[[-2, 2], [-2, 2]])[0],
    normal(40),
    normal(40),
)
add("numpy.bincount", lambda x: jnp.bincount(x, length=8), integers(0, 8, 30))
add(
    "numpy.bincount_weights",
    lambda x, w: jnp.bincount(x, w, length=8),
    integers(0, 8, 30),
    normal(30),
)
add("numpy.diff", jnp.diff, normal(4, 6))
add("numpy.ediff1d", jnp.ediff1d, normal(6))
add("numpy.gradient", lambda x: jnp.gradient(x), normal(5, 6))
add("numpy.trapezoid", jnp.trapezoid, normal(4, 6))
add("numpy.convolve", jnp.convolve, normal(9), normal(4))
add("numpy.correlate", jnp.correlate, normal(9), normal(4))
add("numpy.interp", jnp.interp, normal(7), ordered(9), normal(9))
add("numpy.digitize", jnp.digitize, normal(7), ordered(5))
add("numpy.apply_along_axis", lambda x: jnp.apply_along_axis(lambda v: v / v.sum(), 1, x), positive)
add("lax.reduce", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b, (1,)), normal(3, 6))
add(
    "lax.reduce_two",
    lambda x, i: lax.reduce(
        (x, i),
        (np.float32(-9), np.int32(0)),
        lambda a, b: (jnp.maximum(a[0], b[0]), a[1] + b[1]),
        (1,),
    ),
    normal(3, 6),
    integers(0, 9, 3, 6),
)
add("lax.reduce_and", lambda x: lax.reduce_and(x, (0,)), bits)
add("lax.reduce_xor", lambda x: lax.reduce_xor(x, (1,)), bits)
add(
    "lax.reduce_window",
    lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3), (1, 2), "SAME"),
    normal(4, 9),
)
add(
    "lax.reduce_window_sum",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "VALID"),
    normal(4, 9),
)
add(
    "lax.associative_scan",
    lambda a, b: lax.associative_scan(lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b)),
    uniform(0.5, 1, 13),
    normal(13),
)
