"""Fourier transforms as JAX prints them, with gradients.

`python -m tests.models.fourier.model`, from the top of the repository, writes the modules and the
tensors of this folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from tests.models.programs import programs_in

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(19)


def real(*shape):
    return RANDOM.normal(0, 1, shape).astype(np.float32)


def complex_of(*shape):
    return (real(*shape) + 1j * real(*shape)).astype(np.complex64)


def there_and_back(x):
    return jnp.fft.fft(x, norm="ortho"), jnp.fft.ifft(x, axis=0)


def of_planes(x):
    return jnp.fft.fft2(x), jnp.fft.ifftn(x)


def of_reals(x):
    half = jnp.fft.rfft(x)
    return half, jnp.fft.irfft(half, x.shape[-1] + 1), jnp.fft.rfft2(x), jnp.fft.irfft2(half)


def convolution(x, kernel):
    """Around a circle, and its gradients."""

    def error(x, kernel):
        found = jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(kernel), x.shape[-1])
        return (found**2).mean()

    return jax.value_and_grad(error, (0, 1))(x, kernel)


def spectrum(x):
    return jax.grad(lambda x: jnp.abs(jnp.fft.fft(x)).sum())(x)


CASES = {
    "there_and_back": (there_and_back, complex_of(6, 10)),
    "of_a_long_prime": (there_and_back, complex_of(1, 263)),
    "of_planes": (of_planes, complex_of(3, 4, 5)),
    "of_reals": (of_reals, real(5, 12)),
    "of_long_reals": (of_reals, real(2, 90)),
    "convolution": (convolution, real(3, 32), real(32)),
    "spectrum": (spectrum, real(21)),
}


def main():
    with programs_in(HERE) as write:
        for name, case in CASES.items():
            write(name, *case)


if __name__ == "__main__":
    main()
