"""A long convolution by Fourier transforms: a room's echoes on a few clicks.

`python -m models.fft_convolution.model`, from the top of the repository, writes the module and tensors
of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
SAMPLES = 3072
ECHOES = 1025  # with SAMPLES: results of 4,096, a power of two


@jax.jit
def convolve(sound, echoes):
    length = SAMPLES + ECHOES - 1
    product = jnp.fft.rfft(sound, length) * jnp.fft.rfft(echoes, length)
    return jnp.fft.irfft(product, length)


def main():
    random = np.random.default_rng(0)
    sound = np.zeros(SAMPLES, np.float32)
    sound[random.integers(0, SAMPLES, 20)] = random.uniform(-1, 1, 20)
    # Of 256 steps, so that the file is small.
    echoes = np.round(random.normal(0, 40, ECHOES) * np.exp(-np.arange(ECHOES) / 200))
    echoes = (echoes / 128).astype(np.float32)
    write_module(HERE / "convolve.mlir", convolve, sound, echoes)
    write_tensors(HERE / "input.h5", numbered("arg", (sound, echoes)))
    result = convolve(sound, echoes)
    write_tensors(HERE / "expected.h5", numbered("result", result))
    direct = np.convolve(sound.astype(float), echoes.astype(float))
    print(f"{abs(result - direct).max():.1e} from the sum itself, which is up to {abs(direct).max():.2f}")


if __name__ == "__main__":
    main()
