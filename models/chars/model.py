"""A small transformer over characters that completes a line, its cache on the machine.

The export trains it on a few lines. The module reads a prompt and goes on until the line ends, each
trip of a `while_loop`, which carries keys and values, with the character of the highest score.
`python -m models.chars.model`, from the top of the repository, writes the module and the tensors of
this folder.
"""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
LINES = (
    "one thing at a time, and that done well\n",
    "a stitch in time saves nine\n",
    "look before you leap\n",
    "many hands make light work\n",
    "still waters run deep\n",
)
CHARACTERS = sorted(set("".join(LINES)))
END = CHARACTERS.index("\n")
LENGTH = 48
PROMPT = 4
WIDTH = 32
LAYERS = 2
HEADS = 2
DEPTH = WIDTH // HEADS


class Layer(NamedTuple):
    heads: jax.Array  # queries, keys and values
    joined: jax.Array
    wide: jax.Array
    narrow: jax.Array


class Params(NamedTuple):
    characters: jax.Array
    places: jax.Array
    layers: list[Layer]


def normalized(x):
    return x * jax.lax.rsqrt((x**2).mean() + 1e-5)


def character_after(params, character, place, cache):
    """Scores of what follows the character at a place, and the cache with its keys and values."""
    x = params.characters[character] + params.places[place]
    for i, layer in enumerate(params.layers):
        query, *here = (normalized(x) @ layer.heads).reshape(3, HEADS, DEPTH)
        here = jnp.stack(here)[None, :, None]
        cache = jax.lax.dynamic_update_slice(cache, here, (i, 0, place, 0, 0))
        keys, values = cache[i]
        scores = jnp.einsum("hd,phd->hp", query, keys) / np.sqrt(DEPTH)
        seen = jax.nn.softmax(jnp.where(jnp.arange(LENGTH) <= place, scores, -1e9))
        x = x + jnp.einsum("hp,phd->hd", seen, values).reshape(WIDTH) @ layer.joined
        x = x + jax.nn.gelu(normalized(x) @ layer.wide) @ layer.narrow
    return normalized(x) @ params.characters.T, cache


def empty_cache():
    return jnp.zeros((LAYERS, 2, LENGTH, HEADS, DEPTH))


@jax.jit
def complete(params, prompt):
    """Returns the characters of the line, padded with ends, and how many were written."""

    def unfinished(state):
        place, line, _ = state
        return (place < LENGTH - 1) & (line[place] != END)

    def write(state):
        place, line, cache = state
        scores, cache = character_after(params, line[place], place, cache)
        follows = jnp.argmax(scores).astype(jnp.int32)
        follows = jnp.where(place + 1 < PROMPT, line[place + 1], follows)
        return place + 1, line.at[place + 1].set(follows), cache

    line = jnp.full(LENGTH, END, jnp.int32).at[:PROMPT].set(prompt)
    place, line, _ = jax.lax.while_loop(unfinished, write, (0, line, empty_cache()))
    return line, place


def loss(params, line):
    def step(cache, at):
        place, character, follows = at
        scores, cache = character_after(params, character, place, cache)
        return cache, jnp.where(character == END, 0, -jax.nn.log_softmax(scores)[follows])

    places = jnp.arange(LENGTH - 1)
    return jax.lax.scan(step, empty_cache(), (places, line[:-1], line[1:]))[1].sum()


def initial_params(random):
    def weights(rows, columns):
        return random.normal(0, 1 / np.sqrt(rows), (rows, columns)).astype(np.float32)

    layers = [
        Layer(*(weights(WIDTH, n * WIDTH) for n in (3, 1, 4)), weights(4 * WIDTH, WIDTH))
        for _ in range(LAYERS)
    ]
    return Params(0.5 * weights(len(CHARACTERS), WIDTH), 0.5 * weights(LENGTH, WIDTH), layers)


def encoded(text):
    return np.array([CHARACTERS.index(character) for character in text], np.int32)


def train(params, steps=200, rate=0.005):
    lines = np.stack([encoded(line.ljust(LENGTH, "\n")) for line in LINES])

    @jax.jit
    def step(params, momentum):
        gradient = jax.grad(lambda p: jax.vmap(loss, (None, 0))(p, lines).mean())(params)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * jnp.sign(g), momentum, gradient)
        return jax.tree.map(lambda p, m: p - rate * m, params, momentum), momentum

    momentum = jax.tree.map(jnp.zeros_like, params)
    for _ in range(steps):
        params, momentum = step(params, momentum)
    return params


def main():
    params = train(initial_params(np.random.default_rng(0)))
    prompt = encoded(LINES[0][:PROMPT])
    write_module(HERE / "complete.mlir", complete, params, prompt)
    write_tensors(HERE / "input.h5", numbered("arg", (params, prompt)))
    line, count = complete(params, prompt)
    write_tensors(HERE / "expected.h5", numbered("result", (line, count)))
    print(repr("".join(CHARACTERS[character] for character in line[: count + 1])))


if __name__ == "__main__":
    main()
