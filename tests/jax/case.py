"""Functions with arguments that a seed makes."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np


@dataclass(frozen=True)
class Case:
    """`makers` make an argument each of a generator; `times` multiplies the dtype's tolerance, where
    the function amplifies the rounding of its steps."""

    name: str
    function: Callable
    makers: tuple
    times: float = 1

    def arguments(self, seed):
        generator = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return tuple(jax.tree.map(lambda make: make(generator), make) for make in self.makers)


class Cases(list):
    def add(self, name, function, *makers, times=1):
        self.append(Case(name, function, makers, times))

    def add_names(self, prefix, module, names, *makers, times=1):
        """A case of each function of a module, on the same arguments."""
        for name in names.split():
            self.add(f"{prefix}.{name}", getattr(module, name), *makers, times=times)


def normal(*shape):
    return lambda g: g.standard_normal(shape, dtype=np.float32)


def uniform(low, high, *shape):
    return lambda g: g.uniform(low, high, shape).astype(np.float32)


def complex_normal(*shape):
    return lambda g: (g.standard_normal(shape) + 1j * g.standard_normal(shape)).astype(np.complex64)


def integers(low, high, *shape, dtype=np.int32):
    return lambda g: g.integers(low, high, shape).astype(dtype)


def booleans(*shape):
    return lambda g: g.integers(0, 2, shape).astype(bool)


def ordered(*shape):
    """Along the last dimension."""
    return lambda g: np.sort(g.standard_normal(shape, dtype=np.float32), axis=-1)


def positive_definite(n):
    def make(g):
        a = g.standard_normal((n, n))
        return (a @ a.T / n + np.eye(n)).astype(np.float32)

    return make


def dominant(n):
    """Well conditioned: the diagonal is larger than what stands beside it."""
    return lambda g: (g.uniform(-1, 1, (n, n)) + 2 * n * np.eye(n)).astype(np.float32)


def key():
    return lambda g: g.integers(0, 2**32, 2).astype(np.uint32)
