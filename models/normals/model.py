"""A million normal numbers from one key of Threefry: their moments, some of them, and all their bits.

`python -m models.normals.model`, from the top of the repository, writes the module and tensors of this
folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
COUNT = 1_000_000
SHOWN = 8


@jax.jit
def sample(key):
    """Returns the moments 1 to 4 and the largest of all normals, the first, middle and last of them,
    and the sum and the exclusive or of as many random words."""
    key = jax.random.wrap_key_data(key)
    normals = jax.random.normal(key, COUNT)
    moments = jnp.stack([(normals**power).mean() for power in range(1, 5)])
    shown = jnp.stack([normals[start:][:SHOWN] for start in (0, COUNT // 2, COUNT - SHOWN)])
    words = jax.random.bits(key, COUNT)
    both = jax.lax.reduce_xor(words, axes=(0,))
    return moments, jnp.abs(normals).max(), shown, words.sum(dtype=jnp.uint32), both


def main():
    key = jax.random.key_data(jax.random.key(42))
    write_module(HERE / "sample.mlir", sample, key)
    write_tensors(HERE / "input.h5", numbered("arg", key))
    results = sample(key)
    write_tensors(HERE / "expected.h5", numbered("result", results))
    print(f"moments {np.asarray(results[0])}, largest {results[1]:.4f}")


if __name__ == "__main__":
    main()
