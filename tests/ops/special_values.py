"""Writes special_values.txt: values of functions of f32 numbers to 21 digits, by mpmath 1.3.0.

    python3 tests/ops/special_values.py >tests/ops/special_values.txt

A line `op NAME PARTS WHERE` names an op, of how many numbers an element consists (2: complex) and
whether operands are beside zeros of the function; each line behind it holds operands and result.
"""

import functools
import random
import struct
import sys

import mpmath
from mpmath import mp, mpc, mpf

mp.dps = 60
INF, NAN = mpf("inf"), mpf("nan")
LEAST, NORMAL, MOST = 2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127
chance = random.Random(15)


def single(x):
    """The nearest f32."""
    return struct.unpack("f", struct.pack("f", max(-MOST, min(MOST, x))))[0]


def beside(x, steps):
    """So many f32 further from zero."""
    bits = struct.unpack("I", struct.pack("f", x))[0] + steps
    return struct.unpack("f", struct.pack("I", bits))[0]


def even(low, high, count):
    return [single(chance.uniform(low, high)) for _ in range(count)]


def sizes(low, high, count, signs=(1, -1)):
    """Of all sizes, with each sign in turn."""
    exponents = [
        chance.uniform(float(mpmath.log(low)), float(mpmath.log(high))) for _ in range(count)
    ]
    return [single(signs[i % len(signs)] * float(mpmath.exp(e))) for i, e in enumerate(exponents)]


def around(*centres, steps=(-3000, -40, -1, 0, 1, 50, 2000)):
    """The f32 on both sides, and further ones."""
    return [beside(single(float(centre)), step) for centre in centres for step in steps]


ENDS = [
    0.0,
    -0.0,
    LEAST,
    -LEAST,
    100 * LEAST,
    -NORMAL / 3,
    NORMAL,
    MOST,
    -MOST,
    float("inf"),
    float("-inf"),
    float("nan"),
]
ANY = ENDS + sizes(1e-44, 1e38, 24)
POSITIVE = [x for x in ENDS if not x < 0] + sizes(1e-44, 1e38, 40, (1,)) + [-1.0]


def odd(function):
    """Of zeros as they are."""
    return lambda x: x if x == 0 else function(x)


def text(x):
    """Of a float or a real number of mpmath."""
    if mpmath.isnan(x):
        return "nan"
    if mpmath.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0:
        return "-0" if isinstance(x, float) and str(x)[0] == "-" else "0"
    if isinstance(x, float):
        return f"{x:.9g}"
    return mpmath.nstr(x, 21, min_fixed=-3, max_fixed=6)


def exact(x):
    return x if isinstance(x, float) and x == 0 else mpf(x)


def real(name, function, *columns, where="anywhere"):
    print(f"op {name} 1 {where}")
    for row in zip(*columns, strict=True):
        print(*map(text, (*row, function(*map(exact, row)))))


def complex_parts(name, function, *columns):
    print(f"op {name} 2 anywhere")
    for row in zip(*columns, strict=True):
        parts = [part for z in row for part in (z.real, z.imag)]
        result = function(*(mpc(z.real, z.imag) for z in row))
        print(*map(text, (*parts, result.real, result.imag)))


def outside(low, high, function):
    """NaN where there is no real value."""
    return lambda x: NAN if not low <= x <= high else function(x)


# erf and what is made of exponentials.
real("chlo.erf", odd(mpmath.erf), ANY + even(-4.2, 4.2, 60))
real("chlo.erfc", mpmath.erfc, ANY + even(-4, 11, 70))
erf_inv = outside(-1, 1, odd(lambda x: x * INF if abs(x) == 1 else mpmath.erfinv(x)))
near_one = [s * (1 - single(2.0**-24 * k)) for k in (1, 2, 3, 10, 100, 10000) for s in (1, -1)]
real(
    "chlo.erf_inv", erf_inv, ENDS + sizes(1e-44, 0.5, 30) + even(-1, 1, 60) + near_one + [1.0, -1.0]
)
real("stablehlo.exponential", mpmath.exp, ANY + even(-104, 89, 60))
real(
    "stablehlo.exponential_minus_one",
    odd(lambda x: mpf(-1) if x == -INF else mpmath.expm1(x)),
    ANY + even(-3, 3, 40) + even(-100, 89, 30),
)
logarithm = outside(0, INF, lambda x: -INF if x == 0 else mpmath.log(x))
real("stablehlo.log", logarithm, POSITIVE + around(1) + even(0.5, 2, 30))
log_plus_one = outside(-1, INF, odd(lambda x: -INF if x == -1 else mpmath.log1p(x)))
real("stablehlo.log_plus_one", log_plus_one, POSITIVE + even(-1, 2, 50) + [-1.0, -1 + 2.0**-24])
real("stablehlo.logistic", lambda x: 1 / (1 + mpmath.exp(-x)), ANY + even(-105, 20, 60))
real("stablehlo.cbrt", odd(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))), ANY + even(-8, 8, 50))
real(
    "stablehlo.rsqrt",
    outside(
        0,
        INF,
        lambda x: (
            x if x != x else INF * (-1 if text(x) == "-0" else 1) if x == 0 else 1 / mpmath.sqrt(x)
        ),
    ),
    POSITIVE,
)

# Of angles; multiples of a right angle are near zeros and poles.
right = [k * mpmath.pi / 2 for k in (1, 2, 3, 7, -4, 355, 4095)]
angles = ANY + even(-8, 8, 40) + around(*right)
finite = lambda function: lambda x: NAN if mpmath.isinf(x) else function(x)
real("stablehlo.sine", finite(odd(mpmath.sin)), angles)
real("stablehlo.cosine", finite(mpmath.cos), angles)
real("chlo.tan", finite(odd(mpmath.tan)), angles)
inside = ENDS + sizes(1e-44, 0.5, 30) + even(-1, 1, 60) + near_one + [1.0, -1.0, 1.5]
real("chlo.asin", outside(-1, 1, odd(mpmath.asin)), inside)
real("chlo.acos", outside(-1, 1, mpmath.acos), inside)
real("chlo.atan", odd(mpmath.atan), ANY + even(-3, 3, 60))
pairs = [
    (chance.choice((1, -1)) * x, chance.choice((1, -1)) * y)
    for x, y in zip(sizes(1e-44, 1e38, 50), sizes(1e-44, 1e38, 50))
]
pairs += list(zip(even(-3, 3, 40), even(-3, 3, 40))) + [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -2.0),
    (0.0, 3.0),
    (LEAST, LEAST),
    (MOST, -MOST),
]
real("stablehlo.atan2", mpmath.atan2, *zip(*pairs))

# Hyperbolic ones.
real("stablehlo.tanh", odd(mpmath.tanh), ANY + even(-10, 10, 60))
real("chlo.sinh", odd(mpmath.sinh), ANY + even(-2, 2, 40) + even(-90, 90, 30))
real("chlo.cosh", mpmath.cosh, ANY + even(-2, 2, 40) + even(-90, 90, 30))
real(
    "chlo.asinh", odd(lambda x: x if mpmath.isinf(x) else mpmath.asinh(x)), ANY + even(-10, 10, 60)
)
acosh = outside(1, INF, lambda x: x if mpmath.isinf(x) else mpmath.acosh(x))
real(
    "chlo.acosh",
    acosh,
    ENDS + [1.0, beside(1.0, 1), beside(1.0, 9)] + even(1, 2, 40) + sizes(1, 1e38, 50, (1,)),
)
atanh = outside(-1, 1, odd(lambda x: x * INF if abs(x) == 1 else mpmath.atanh(x)))
real("chlo.atanh", atanh, inside)
powers = list(zip(sizes(1e-38, 1e38, 40, (1,)), even(-4, 4, 40))) + list(
    zip(even(0.5, 2, 40), even(-120, 120, 40))
)
powers += [(single(x), float(round(y))) for x, y in zip(even(-3, -0.3, 20), even(-30, 30, 20))]
real("stablehlo.power", mpmath.power, *zip(*powers))

# The gamma function's relatives.


def log_gamma(x):
    if mpmath.isnan(x):
        return NAN
    if mpmath.isinf(x) or (x <= 0 and x == mpmath.floor(x)):
        return INF
    return mpmath.loggamma(x).real


def digamma(x):
    if mpmath.isinf(x):
        return INF if x > 0 else NAN
    return NAN if mpmath.isnan(x) or (x <= 0 and x == mpmath.floor(x)) else mpmath.digamma(x)


def hurwitz(s, q):
    """By terms to where mpmath needs no continuation; of negative q for whole s. The digits of
    mpmath's sum are those of numbers near 1."""
    count = max(0, int(mpmath.ceil(2 - q)))
    with mp.workdps(400):
        return mpmath.fsum((q + k) ** -s for k in range(count)) + mpmath.zeta(s, q + count)


def polygamma(n, x):
    order = int(n)
    return (
        digamma(x)
        if order == 0
        else (-1) ** (order + 1) * mpmath.factorial(order) * hurwitz(order + 1, x)
    )


def zeros(function, brackets):
    return [mpmath.findroot(function, bracket, solver="anderson") for bracket in brackets]


FAR = (-3000, -40, 50, 2000)
log_zeros = [1, 2] + zeros(
    log_gamma, [(-2.6, -2.3), (-2.8, -2.7), (-3.2, -3.1), (-3.98, -3.9), (-4.1, -4.02)]
)
real(
    "chlo.lgamma",
    log_gamma,
    ANY + even(0, 3, 20) + even(-12, 0, 40) + around(*log_zeros) + [-1.0, -7.0, -1e9],
)
digamma_zeros = zeros(
    digamma, [(1.4, 1.5), (-0.55, -0.45), (-1.6, -1.5), (-2.65, -2.55), (-9.75, -9.65)]
)
real(
    "chlo.digamma",
    digamma,
    ANY
    + even(0, 3, 20)
    + even(-12, 0, 40)
    + around(*digamma_zeros, steps=FAR)
    + [-1.0, -7.0, -1e9],
)
real("chlo.digamma", digamma, around(*digamma_zeros, steps=(-1, 0, 1)), where="zeros")
scaled_bessel = odd(
    lambda x: x * 0 if mpmath.isinf(x) else mpmath.besseli(1, x) * mpmath.exp(-abs(x))
)
bessel_ends = [x for x in ANY if abs(x) != float("inf")] + around(8, -8)
real("chlo.bessel_i1e", scaled_bessel, bessel_ends + even(-10, 10, 50))

orders = [
    (float(1 + i % 5), x) for i, x in enumerate(even(-30, 0, 60) + sizes(1e-30, 1e3, 20, (1,)))
]
orders += [(float(chance.randrange(1, 34)), x) for x in even(0.3, 40, 20) + even(-6, 0, 20)]
beside_zeros = []
for order, bracket in (
    (2, (-0.6, -0.4)),
    (2, (-1.6, -1.4)),
    (4, (-0.6, -0.4)),
    (6, (-0.6, -0.4)),
    (2, (-7.6, -7.4)),
    (12, (-2.6, -2.4)),
):
    root = zeros(functools.partial(polygamma, order), [bracket])[0]
    orders += [(float(order), x) for x in around(root, steps=FAR)]
    beside_zeros += [(float(order), x) for x in around(root, steps=(-1, 0, 1))]
orders += [(1.0, x) for x in (-1e-18, -1e-15, 1e9, 1e30, LEAST, -3 - 2.0**-20)] + [
    (33.0, 1e3),
    (34.0, 1e9),
    (34.0, 0.3),
    (2.0, -5e-14),
]
orders = [(n, single(x)) for n, x in orders]
real("chlo.polygamma", polygamma, *zip(*orders))
real("chlo.polygamma", polygamma, *zip(*beside_zeros), where="zeros")
bases = list(zip(even(1, 20, 60), even(0.2, 30, 60))) + list(
    zip(even(1.001, 1.2, 20), even(0.01, 60, 20))
)
bases += [
    (single(s), single(q))
    for s, q in ((2, 1e-10), (2, 1e10), (20, 1e-1), (1 + 2.0**-23, 1), (30, 2), (1.5, 1e30))
]
real("chlo.zeta", hurwitz, *zip(*bases))

# Of complex numbers, away from their branch cuts.


def plane(low, high, count):
    """Of sizes, in all directions."""
    points = []
    for size in sizes(low, high, count, (1,)):
        angle = chance.uniform(0, 6.283)
        points.append(
            complex(
                single(size * float(mpmath.cos(angle))), single(size * float(mpmath.sin(angle)))
            )
        )
    return points


def near(*centres):
    return [
        complex(single(c.real + p.real), single(c.imag + p.imag))
        for c in centres
        for p in plane(1e-5, 0.1, 8)
    ]


all_sizes, usual = plane(1e-37, 1e37, 20), plane(1e-3, 5, 40)
units = near(1, -1, 1j, -1j)
small = [z for z in all_sizes if abs(z) < 60] + usual
complex_parts("stablehlo.exponential", mpmath.exp, small + plane(5, 80, 10))
complex_parts("stablehlo.exponential_minus_one", mpmath.expm1, small + near(6.283185j))
complex_parts("stablehlo.log", mpmath.log, all_sizes + usual + units)
complex_parts("stablehlo.log_plus_one", mpmath.log1p, all_sizes + usual + near(-1, -2, -1 + 1j))
complex_parts("stablehlo.logistic", lambda z: 1 / (1 + mpmath.exp(-z)), small)
complex_parts("stablehlo.sqrt", mpmath.sqrt, all_sizes + usual)
complex_parts("stablehlo.rsqrt", lambda z: 1 / mpmath.sqrt(z), all_sizes + usual)
complex_parts("stablehlo.cbrt", lambda z: mpmath.exp(mpmath.log(z) / 3), all_sizes + usual)
complex_parts("stablehlo.sine", mpmath.sin, small + near(3.141593))
complex_parts("stablehlo.cosine", mpmath.cos, small + near(1.570796))
complex_parts("chlo.tan", mpmath.tan, small + near(1.570796, 3.141593))
complex_parts("chlo.sinh", mpmath.sinh, small + near(3.141593j))
complex_parts("chlo.cosh", mpmath.cosh, small + near(1.570796j))
complex_parts("stablehlo.tanh", mpmath.tanh, small + near(1.570796j, 3.141593j))
complex_parts("chlo.asin", mpmath.asin, all_sizes + usual + units)
complex_parts("chlo.acos", mpmath.acos, all_sizes + usual + units)
complex_parts("chlo.atan", mpmath.atan, all_sizes + usual + units)
complex_parts("chlo.asinh", mpmath.asinh, all_sizes + usual + units)
complex_parts("chlo.acosh", mpmath.acosh, all_sizes + usual + units)
complex_parts("chlo.atanh", mpmath.atanh, all_sizes + usual + units)
complex_parts("stablehlo.multiply", lambda a, b: a * b, usual, usual[::-1])
complex_parts("stablehlo.divide", lambda a, b: a / b, usual, usual[::-1])
complex_parts("stablehlo.power", mpmath.power, usual, plane(1e-3, 4, 40))

if mpmath.__version__ != "1.3.0":
    sys.exit("the file is of mpmath 1.3.0")
