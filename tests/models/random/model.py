"""Random bits and numbers, as JAX prints them for a device without rules of its own and for the CPU.

`python -m tests.models.random.model`, from the top of the repository, writes the modules and the
tensors of this folder.
"""

from pathlib import Path

import jax
import numpy as np
from jax import lax, random

from tests.models.programs import programs_in

HERE = Path(__file__).parent
KEY = np.array([0x12345678, 0x9ABCDEF0], np.uint32)
STATE = np.array([0x12345678, 0x9ABCDEF0, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)
WIDTHS = [np.uint8, np.uint16, np.uint32]


def bits(key):
    return [random.bits(key, (33, 5), dtype) for dtype in WIDTHS]


def keys(key):
    first, second = random.split(key)
    return first, random.split(second, 5), random.fold_in(key, 7), random.key_data(random.key(3))


def numbers(key):
    return (
        random.uniform(key, (40,)),
        random.uniform(key, (3, 4), np.float16, -1, 1),
        random.randint(key, (50,), -5, 1000),
        random.bernoulli(key, 0.3, (40,)),
    )


def normal(key):
    return random.normal(key, (100,))


def typed_key(key):
    key = random.wrap_key_data(key)
    return random.bits(key, (10,)), random.key_data(random.split(key, 3))


def generator(state):
    """Philox; the counter is about to carry."""
    next_state, first = lax.rng_bit_generator(state, (7, 3))
    return [next_state, first] + [
        lax.rng_bit_generator(state, shape, dtype, lax.RandomAlgorithm.RNG_PHILOX)[1]
        for shape, dtype in [((5,), np.uint8), ((), np.uint32), ((6,), np.uint16)]
    ]


def of_kind(kind):
    def draw(key):
        key = random.wrap_key_data(key, impl=kind)
        return random.bits(key, (20,)), random.key_data(random.split(key)), random.uniform(key, (9,))

    return draw


def main():
    with programs_in(HERE) as write:
        for function in [bits, keys, numbers, normal]:
            write(function.__name__, function, KEY)
        write("typed_key", typed_key, KEY)
        # Twenty rounds are a loop there.
        write("loop", typed_key, KEY, platform="cpu")
        write("generator", generator, STATE)
        write("rbg", of_kind("rbg"), STATE)
        write("unsafe_rbg", of_kind("unsafe_rbg"), STATE)
        with jax.threefry_partitionable(False):
            for function in [bits, keys, numbers]:
                write(f"{function.__name__}_in_order", function, KEY)


if __name__ == "__main__":
    main()
