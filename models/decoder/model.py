"""A decoder-only transformer over characters: its parameters from a key, a step of Adam, greedy decoding.

Four layers of width 256 read sequences of 128 characters. `init.mlir` makes the state of the training
from a key, `train_step.mlir` learns a batch of sequences, and `decode.mlir` goes on from a prompt, 32
characters in one `while_loop` that carries keys and values. The results of each are the arguments of
the next. `python -m models.decoder.model`, from the top of the repository, writes the modules and
tensors of this folder.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from models.export import numbered, write_module, write_tensors

HERE = Path(__file__).parent
LAYERS = 4
WIDTH = 256
HEADS = 4
DEPTH = WIDTH // HEADS
LENGTH = 128
BATCH = 2
STEPS = 2
PROMPT = 16
WRITTEN = 32
LEARNING_RATE, DECAY, DECAY_OF_SQUARES, EPSILON = 3e-4, 0.9, 0.99, 1e-8
TEXT = """\
A tile computes on what lies in its own memory and on nothing else. When all tiles are done they meet
at a barrier, and then words travel between them by a schedule that was made before the program began.
No tile asks for a word and none waits for one: each knows in which cycle its words arrive. Then the
tiles compute again. What such a machine is slow at can be read from its three phases: a tile that has
more to do than others, a port that has more to receive than others, and barriers for too little work.
"""
ALPHABET = sorted(set(TEXT))
CHARACTERS = len(ALPHABET)


class Layer(NamedTuple):
    heads: jax.Array  # queries, keys and values
    joined: jax.Array
    wide: jax.Array
    narrow: jax.Array


class Params(NamedTuple):
    characters: jax.Array
    places: jax.Array
    layers: list[Layer]


class State(NamedTuple):
    params: Params
    means: Params
    squares: Params
    step: jax.Array


def initial_params(key):
    """Normal numbers, less wide the more of them are added up."""
    tables, *squares = jax.random.normal(key, (1 + 12 * LAYERS, WIDTH, WIDTH)) / np.sqrt(WIDTH)
    layers = []
    for i in range(0, 12 * LAYERS, 12):
        heads, joined, wide, narrow = np.split(np.arange(i, i + 12), (3, 4, 8))
        layers.append(
            Layer(
                jnp.concatenate([squares[s] for s in heads], axis=1),
                squares[joined[0]],
                jnp.concatenate([squares[s] for s in wide], axis=1),
                jnp.concatenate([squares[s] for s in narrow], axis=0) / 2,
            )
        )
    return Params(tables[:CHARACTERS] / 2, tables[-LENGTH:] / 2, layers)


@jax.jit
def init(key):
    """The state of a training that begins, and the norm of each parameter."""
    params = initial_params(jax.random.wrap_key_data(key))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return State(params, zeros, zeros, jnp.float32(0)), norms(params)


def norms(params):
    return jnp.stack([jnp.sqrt((leaf**2).sum()) for leaf in jax.tree.leaves(params)])


def normalized(x):
    return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5)


@jax.jit
def layer_of_sequences(layer, x):
    """What a layer makes of sequences [batch, place, width]."""
    queries, keys, values = jnp.split(normalized(x) @ layer.heads, 3, axis=-1)
    heads = [part.reshape(*x.shape[:2], HEADS, DEPTH) for part in (queries, keys, values)]
    scores = jnp.einsum("bphd,bqhd->bhpq", heads[0], heads[1]) / np.sqrt(DEPTH)
    earlier = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    seen = jax.nn.softmax(jnp.where(earlier, scores, -1e9))
    x = x + jnp.einsum("bhpq,bqhd->bphd", seen, heads[2]).reshape(x.shape) @ layer.joined
    return x + jax.nn.gelu(normalized(x) @ layer.wide) @ layer.narrow


def cross_entropy(params, lines):
    """How badly each character is told from those before it; lines are [batch, LENGTH + 1]."""
    x = params.characters[lines[:, :-1]] + params.places
    for layer in params.layers:
        x = layer_of_sequences(layer, x)
    log_probabilities = jax.nn.log_softmax(normalized(x) @ params.characters.T)
    return -jnp.take_along_axis(log_probabilities, lines[:, 1:, None], axis=-1).mean()


@jax.jit
def adam(rate, param, mean, square, gradient):
    mean = DECAY * mean + (1 - DECAY) * gradient
    square = DECAY_OF_SQUARES * square + (1 - DECAY_OF_SQUARES) * gradient**2
    return param - rate * mean / (jnp.sqrt(square) + EPSILON), mean, square


@partial(jax.jit, donate_argnums=0)
def train_step(state, lines):
    """The state after a step, the loss before it, and the norm of each parameter."""
    loss, gradient = jax.value_and_grad(cross_entropy)(state.params, lines)
    step = state.step + 1
    rate = LEARNING_RATE * jnp.sqrt(1 - DECAY_OF_SQUARES**step) / (1 - DECAY**step)
    leaves, structure = jax.tree.flatten(state.params)
    rest = map(jax.tree.leaves, (state.means, state.squares, gradient))
    new = [adam(rate, *each) for each in zip(leaves, *rest)]
    params, means, squares = (jax.tree.unflatten(structure, part) for part in zip(*new))
    return State(params, means, squares, step), loss, norms(params)


@jax.jit
def layer_of_character(layer, x, place, cache):
    """What a layer makes of one character, and its cache with the character's key and value."""
    query, *here = (normalized(x) @ layer.heads).reshape(3, HEADS, DEPTH)
    cache = jax.lax.dynamic_update_index_in_dim(cache, jnp.stack(here), place, 1)
    keys, values = cache
    scores = jnp.einsum("hd,phd->hp", query, keys) / np.sqrt(DEPTH)
    seen = jax.nn.softmax(jnp.where(jnp.arange(LENGTH) <= place, scores, -1e9))
    x = x + jnp.einsum("hp,phd->hd", seen, values).reshape(WIDTH) @ layer.joined
    return x + jax.nn.gelu(normalized(x) @ layer.wide) @ layer.narrow, cache


def character_after(params, character, place, caches):
    """Scores of what follows the character at a place, and the caches of all layers."""
    x = params.characters[character] + params.places[place]
    after = []
    for layer, cache in zip(params.layers, caches):
        x, cache = layer_of_character(layer, x, place, cache)
        after.append(cache)
    return normalized(x) @ params.characters.T, after


@jax.jit
def decode(params, prompt):
    """The prompt and the characters that follow it, each the one of the highest score."""

    def write(state):
        place, line, caches = state
        scores, caches = character_after(params, line[place], place, caches)
        follows = jnp.argmax(scores).astype(jnp.int32)
        follows = jnp.where(place + 1 < PROMPT, line[place + 1], follows)
        return place + 1, line.at[place + 1].set(follows), caches

    line = jnp.zeros(PROMPT + WRITTEN, jnp.int32).at[:PROMPT].set(prompt)
    caches = [jnp.zeros((2, LENGTH, HEADS, DEPTH)) for _ in range(LAYERS)]
    last = PROMPT + WRITTEN - 1
    return jax.lax.while_loop(lambda state: state[0] < last, write, (0, line, caches))[1]


def encoded(text):
    return np.array([ALPHABET.index(character) for character in text], np.int32)


def batches(steps):
    text = encoded(TEXT)
    starts = np.random.default_rng(0).integers(0, len(text) - LENGTH, (steps, BATCH))
    return text[starts[..., None] + np.arange(LENGTH + 1)]


def main():
    key = jax.random.key_data(jax.random.key(0))
    lines, prompt = batches(STEPS), encoded(TEXT[:PROMPT])
    state, first = init(key)
    leaves, parameters = len(jax.tree.leaves(state)), len(jax.tree.leaves(state.params))
    write_module(HERE / "init.mlir", init, key)
    write_module(HERE / "train_step.mlir", train_step, state, lines[0])
    write_module(HERE / "decode.mlir", decode, state.params, prompt)
    write_tensors(HERE / "key.h5", numbered("arg", key))
    write_tensors(HERE / "train.h5", numbered("arg", lines, leaves))
    write_tensors(HERE / "prompt.h5", numbered("arg", prompt, parameters))
    write_tensors(HERE / "expected_init.h5", numbered("result", first, leaves))
    written = decode(state.params, prompt)
    write_tensors(HERE / "expected_text.h5", numbered("result", written))
    print(repr("".join(ALPHABET[character] for character in written)))

    losses, after = [], []
    for batch in lines:
        state, loss, sizes = train_step(state, batch)
        losses.append(loss)
        after.append(sizes)
    results = np.stack(losses), np.stack(after)
    write_tensors(HERE / "expected.h5", numbered("result", results, leaves))
    print(f"{sum(leaf.size for leaf in jax.tree.leaves(state.params)):,} parameters")
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}")


if __name__ == "__main__":
    main()
