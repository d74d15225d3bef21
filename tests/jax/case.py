"""Functions with arguments that a seed makes."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

factor = 1  # by which every dimension of arguments is larger than it says


def larger(*shape):
    return tuple(factor * n for n in shape)


@dataclass(frozen=True)
class Case:
    """`makers` make an argument each of a generator; `times` multiplies the dtype's tolerance, where
    the function amplifies the rounding of its steps; `x64` keeps what is wide as it is."""

    name: str
    function: Callable
    makers: tuple
    times: float = 1
    x64: bool = False

    def arguments(self, seed):
        generator = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return tuple(jax.tree.map(lambda make: make(generator), make) for make in self.makers)


class Cases(list):
    def add(self, name, function, *makers, times=1, x64=False):
        self.append(Case(name, function, makers, times, x64))

    def add_names(self, prefix, module, names, *makers, times=1):
        """A case of each function of a module, on the same arguments."""
        for name in names.split():
            self.add(f"{prefix}.{name}", getattr(module, name), *makers, times=times)


def normal(*shape):
    return lambda g: g.standard_normal(larger(*shape), dtype=np.float32)


def uniform(low, high, *shape):
    return lambda g: g.uniform(low, high, larger(*shape)).astype(np.float32)


def complex_normal(*shape):
    def make(g):
        real, imaginary = g.standard_normal((2, *larger(*shape)))
        return (real + 1j * imaginary).astype(np.complex64)

    return make


def integers(low, high, *shape, dtype=np.int32):
    return lambda g: g.integers(low, high, larger(*shape)).astype(dtype)


def booleans(*shape):
    return lambda g: g.integers(0, 2, larger(*shape)).astype(bool)


def ordered(*shape):
    """Along the last dimension."""
    return lambda g: np.sort(g.standard_normal(larger(*shape), dtype=np.float32), axis=-1)


def positive_definite(n):
    def make(g):
        a = g.standard_normal(larger(n, n))
        return (a @ a.T / len(a) + np.eye(len(a))).astype(np.float32)

    return make


def dominant(n):
    """Well conditioned: the diagonal is larger than what stands beside it."""

    def make(g):
        a = g.uniform(-1, 1, larger(n, n))
        return (a + 2 * len(a) * np.eye(len(a))).astype(np.float32)

    return make


def key():
    return lambda g: g.integers(0, 2**32, 2).astype(np.uint32)
