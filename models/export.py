"""Writes JAX functions as StableHLO text, and their arguments and results as HDF5.

The text is what JAX lowers for a platform that has no rules of its own; the values come from JAX on
the CPU.
"""

import re
from pathlib import Path

import h5py
import jax
import numpy as np
from jax._src import source_info_util, xla_bridge
from jax._src.interpreters import mlir

PLATFORM = "ipu"
ROOT = Path(__file__).resolve().parents[1]


def _no_device():
    raise RuntimeError(f"{PLATFORM} exists only to be lowered for")


# JAX lowers only for platforms it has heard of, and drops donation unless it expects them to do it.
xla_bridge.register_backend_factory(PLATFORM, _no_device, priority=-100, fail_quietly=True)
mlir._platforms_with_donation.append(PLATFORM)

jax.config.update("jax_platforms", "cpu")
# A location is one line of the model, relative to the repository, so that the text depends neither
# on where the repository is nor on this file.
jax.config.update("jax_hlo_source_file_canonicalization_regex", "^" + re.escape(f"{ROOT}/"))
jax.config.update("jax_traceback_in_locations_limit", 1)
source_info_util.register_exclusion(__file__)


def write_module(path, function, *args, platform=PLATFORM):
    """Writes a jitted function as StableHLO; donated arguments carry tf.aliasing_output."""
    lowered = function.trace(*args).lower(lowering_platforms=(platform,))
    Path(path).write_text(lowered.as_text(debug_info=True))


def numbered(prefix, tree, first=0):
    """Names the leaves of a tree as a program counts them: {"arg0": ..., "arg1": ..., ...}."""
    return {f"{prefix}{first + i}": leaf for i, leaf in enumerate(jax.tree.leaves(tree))}


def write_tensors(path, tensors):
    """Writes one dataset a name, without times: numbers as they are, booleans as h5py's enum, bf16 as
    u16 with an attribute that says so."""
    with h5py.File(path, "w") as file:
        for name, value in tensors.items():
            value = np.asarray(value)
            dtype = value.dtype.name
            if dtype == "bfloat16":
                value = value.view(np.uint16)
            # A small dataset would only grow, and a scalar cannot be compressed.
            packed = {"compression": "gzip", "shuffle": True} if value.nbytes > 4096 else {}
            dataset = file.create_dataset(name, data=value, track_times=False, **packed)
            if dtype == "bfloat16":
                dataset.attrs["dtype"] = "bf16"
