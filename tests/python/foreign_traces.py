"""Traces with other things in the place of each dataset: foreign_traces.py SUPERSTEP, from the top of the repository. With
SUPERSTEP_FUZZ set it takes minutes and tries all."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"Skipped: there is no Python package {missing.name}")
    sys.exit(77)

SECONDS = 5
EVERY = 1 if "SUPERSTEP_FUZZ" in os.environ else 12  # of the changes of a dataset
OK, USAGE, DAMAGED = 0, 2, 7


def replace(file, path, **dataset):
    del file[path]
    file.create_dataset(path, **dataset)


def group(file, path):
    del file[path]
    file.create_group(path)


def larger(file, path):
    old = file[path]
    shape = (1 << 40,) + old.shape[1:]
    replace(file, path, shape=shape, dtype=old.dtype, chunks=(64,) + old.shape[1:])


CHANGES = {
    "nothing": lambda file, path: file.__delitem__(path),
    "a group": group,
    "reals": lambda file, path: replace(file, path, data=np.full(file[path].shape, -1.5)),
    "pairs": lambda file, path: replace(file, path, shape=file[path].shape, dtype=[("a", "u4"), ("b", "u4")]),
    "texts": lambda file, path: replace(file, path, shape=file[path].shape, dtype="S3"),
    "texts of any length": lambda file, path: replace(file, path, shape=file[path].shape, dtype=h5py.string_dtype()),
    "lists": lambda file, path: replace(file, path, shape=file[path].shape, dtype=h5py.vlen_dtype("u4")),
    "one value": lambda file, path: replace(file, path, data=7),
    "no value": lambda file, path: replace(file, path, dtype=h5py.Empty("u4").dtype, shape=None),
    "an axis more": lambda file, path: replace(file, path, data=np.zeros(file[path].shape + (3,), "u4")),
    "shorter rows": lambda file, path: replace(file, path, data=np.zeros(file[path].shape[:-1] + (1,), "u8")),
    "many rows": larger,
    "other rows": lambda file, path: replace(file, path, data=np.full((3,) + file[path].shape[1:], 77, "u8")),
}


EXPORTS = [[to] for to in ("perfetto", "folded", "speedscope")]
EXPORTS += [["csv", "--table", table] for table in ("supersteps", "launches", "steps", "memory", "compute_profiles")]


class ForeignTraces(unittest.TestCase):
    def run_command(self, *words, codes=(OK, DAMAGED)):
        command = [sys.argv[1], *words]
        done = subprocess.run(command, capture_output=True, timeout=SECONDS)
        self.assertIn(done.returncode, codes, (words, done.stderr[:500]))
        return done.returncode

    def test_each_dataset_as_something_else(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            whole, part, mended = (str(folder / file) for file in ("whole.h5", "run.h5.part", "mended.h5"))
            model = "models/linear_regression/"
            command = ["run", model + "train_step.mlir", "-m", "tiny4", "--input", model + "train.h5"]
            command += ["--repeat", "2", "--trace", "tile", "-q", "-o", whole]
            subprocess.run([sys.argv[1], *command], check=True, stdout=subprocess.DEVNULL)
            with h5py.File(whole) as file:
                paths = []
                file.visititems(lambda path, item: paths.append(path) if isinstance(item, h5py.Dataset) else None)
            changes = list(CHANGES.items())
            for number, path in enumerate(paths):
                for what, change in changes[number % EVERY :: EVERY]:
                    with self.subTest(path=path, is_now=what):
                        shutil.copy(whole, part)
                        with h5py.File(part, "r+") as file:
                            change(file, path)
                            is_finished = path.startswith("summary")
                            if not is_finished:
                                file.attrs.modify("complete", np.uint8(0))  # so that it is summed up again
                        self.run_command("report", part)
                        self.run_command("trace", "ls", part)
                        # What the changed dataset held may be what it holds now.
                        self.run_command("trace", "validate", part)
                        to = EXPORTS[number % len(EXPORTS)]
                        self.run_command("trace", "export", part, "--to", *to, "-o", str(folder / "export"), codes=(OK, USAGE, DAMAGED))
                        ends = (USAGE, DAMAGED) if is_finished else (OK, DAMAGED)
                        if self.run_command("trace", "repair", part, mended, codes=ends) == OK:
                            self.assertEqual(self.run_command("report", mended), OK)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
