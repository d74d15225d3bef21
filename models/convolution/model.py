"""Convolutions of kernels of 3 x 3 and their gradients, each a module of its own.

`python -m models.convolution.model`, from the top of the repository, writes the modules of this
folder.
"""

from pathlib import Path

import jax
import jax.numpy as jnp

from models.export import write_module

HERE = Path(__file__).parent
LAYOUT = ("NHWC", "HWIO", "NHWC")


def convolution(stride=1, groups=1):
    def convolve(x, w):
        return jax.lax.conv_general_dilated(
            x,
            w,
            (stride, stride),
            "SAME",
            dimension_numbers=LAYOUT,
            feature_group_count=groups,
        )

    return convolve


def of_image(convolve, x):
    """The gradient of the image, of a kernel and the result's gradient."""
    return lambda w, dy: jax.linear_transpose(lambda x: convolve(x, w), x)(dy)[0]


def of_kernel(convolve, w):
    """The gradient of the kernel, of an image and the result's gradient."""
    return lambda x, dy: jax.linear_transpose(lambda w: convolve(x, w), w)(dy)[0]


def write(name, function, *arguments):
    write_module(HERE / f"{name}.mlir", jax.jit(function), *arguments)


def tensor(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def main():
    x, w = tensor(8, 32, 32, 16), tensor(3, 3, 16, 32)
    plain, strided, depthwise = convolution(), convolution(stride=2), convolution(groups=32)
    write("plain", plain, x, w)
    write("plain_of_image", of_image(plain, x), w, tensor(8, 32, 32, 32))
    write("plain_of_kernel", of_kernel(plain, w), x, tensor(8, 32, 32, 32))
    write("strided_of_image", of_image(strided, x), w, tensor(8, 16, 16, 32))
    write("depthwise", depthwise, tensor(8, 32, 32, 32), tensor(3, 3, 1, 32))
    write("large", plain, tensor(32, 32, 32, 64), tensor(3, 3, 64, 64))
    half = jnp.float16
    write("halves", plain, tensor(32, 16, 16, 64, dtype=half), tensor(3, 3, 64, 64, dtype=half))


if __name__ == "__main__":
    main()
