"""Writes JAX functions as StableHLO text, and their arguments and results as HDF5.

The text is what JAX lowers for a platform that has no rules of its own; the values come from JAX on
the CPU.
"""

import re
from pathlib import Path

import h5py
import jax
import ml_dtypes
import numpy as np
from jax._src import source_info_util, xla_bridge
from jax._src.interpreters import mlir

PLATFORM = "ipu"
# Dtypes that HDF5 does not have, by JAX's name: the attribute that says so, and what holds them.
STORED_AS = {
    "bfloat16": ("bf16", np.uint16),
    "int2": ("i2", np.int8),
    "int4": ("i4", np.int8),
    "uint2": ("ui2", np.uint8),
    "uint4": ("ui4", np.uint8),
    "float4_e2m1fn": ("f4E2M1FN", np.uint8),
    "float6_e2m3fn": ("f6E2M3FN", np.uint8),
    "float6_e3m2fn": ("f6E3M2FN", np.uint8),
    "float8_e3m4": ("f8E3M4", np.uint8),
    "float8_e4m3": ("f8E4M3", np.uint8),
    "float8_e4m3b11fnuz": ("f8E4M3B11FNUZ", np.uint8),
    "float8_e4m3fn": ("f8E4M3FN", np.uint8),
    "float8_e4m3fnuz": ("f8E4M3FNUZ", np.uint8),
    "float8_e5m2": ("f8E5M2", np.uint8),
    "float8_e5m2fnuz": ("f8E5M2FNUZ", np.uint8),
    "float8_e8m0fnu": ("f8E8M0FNU", np.uint8),
}
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
    """Writes one dataset a name, without times: numbers as they are, booleans as h5py's enum, dtypes
    that HDF5 does not have as `STORED_AS` says."""
    with h5py.File(path, "w") as file:
        for name, value in tensors.items():
            value = np.asarray(value)
            attribute, stored = STORED_AS.get(value.dtype.name, (None, None))
            if attribute and "int" in value.dtype.name:
                value = value.astype(stored)
            elif attribute:
                value = value.view(stored)
            # A small dataset would only grow, and a scalar cannot be compressed.
            packed = {"compression": "gzip", "shuffle": True} if value.nbytes > 4096 else {}
            dataset = file.create_dataset(name, data=value, track_times=False, **packed)
            if attribute:
                dataset.attrs["dtype"] = attribute


def read_tensor(dataset):
    """What `write_tensors`, or Superstep, wrote."""
    value, attribute = dataset[()], dataset.attrs.get("dtype", "")
    for name, (known, _) in STORED_AS.items():
        if attribute in (known, known.encode()):
            dtype = np.dtype(getattr(ml_dtypes, name))
            return value.astype(dtype) if "int" in name else value.view(dtype)
    return value
