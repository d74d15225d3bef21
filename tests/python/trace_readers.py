"""Opens every group of a trace with netCDF4 and xarray: trace_readers.py SUPERSTEP, from the top of the repository."""

import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

try:
    import h5py
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f"Skipped: there is no Python package {missing.name}")
    sys.exit(77)

ENGINES = [package.lower() for package in ("h5netcdf", "netCDF4") if find_spec(package)]


def groups_of(file):
    names = ["/"]
    file.visititems(lambda name, item: names.append("/" + name) if isinstance(item, h5py.Group) else None)
    return names


def texts(values):
    """h5netcdf gives text as bytes, netcdf4 as str."""
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


class TraceReaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = str(Path(cls.folder.name) / "run.h5")
        model = "models/linear_regression/"
        command = [sys.argv[1], "run", model + "train_step.mlir", "-m", "tiny4", "--input", model + "train.h5"]
        command += ["--repeat", "3", "--trace", "instruction", "--trace-tiles", "0,3", "-q", "-o", cls.path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_xarray_opens_every_group_with_each_engine(self):
        with h5py.File(self.path) as file:
            for engine in ENGINES:
                for group in groups_of(file):
                    with self.subTest(engine=engine, group=group):
                        with xr.open_dataset(self.path, group=group, engine=engine) as data:
                            data.load()
                            datasets = [n for n, item in file[group].items() if isinstance(item, h5py.Dataset)]
                            self.assertEqual(sorted(data.variables), sorted(datasets))
                            for name in datasets:
                                if file[group][name].dtype.kind in "uif":
                                    np.testing.assert_array_equal(data[name], file[group][name])

    def test_axes_have_the_names_of_their_scales(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                with xr.open_dataset(self.path, group="/memory", engine=engine) as memory:
                    self.assertEqual(memory["bytes"].dims, ("tile", "category"))
                    self.assertIn("codelets", texts(memory["category"].values))
                with xr.open_dataset(self.path, group="/profiles/compute", engine=engine) as profiles:
                    self.assertEqual(profiles["cycles"].dims, ("profile", "used_tile"))
                    self.assertEqual(profiles["cycles"].attrs["units"], "cycle")

    def test_xarray_opens_the_whole_trace_as_a_tree(self):
        for engine in ENGINES:
            with self.subTest(engine=engine), xr.open_datatree(self.path, engine=engine) as tree:
                parts = ("exchange", "compute", "sync", "host")
                cycles = sum(int(tree["supersteps"][part + "_cycles"].sum()) for part in parts)
                self.assertEqual(cycles, int(tree["summary"].attrs["total_cycles"]))

    def test_workers_are_a_frame_that_adds_up_to_their_tiles(self):
        for engine in ENGINES:
            with self.subTest(engine=engine), h5py.File(self.path) as file:
                with xr.open_dataset(self.path, group="/vertices", engine=engine) as vertices:
                    frame = vertices.to_dataframe()
                profiles, busy = file["supersteps/compute_profile"], file["profiles/compute/worker_busy"]
                used = list(file["program/used_tile"])
                sums = frame.groupby(["superstep", "tile"])["cycles"].sum()
                self.assertEqual({tile for _, tile in sums.index}, {0, 3})
                for (superstep, tile), cycles in sums.items():
                    self.assertEqual(cycles, busy[int(profiles[superstep]), used.index(tile)])

    def test_instructions_are_a_frame_with_names(self):
        with xr.open_dataset(self.path, group="/machine/opcode", engine=ENGINES[0]) as opcodes:
            names = np.array(texts(opcodes["name"].values))
        with xr.open_dataset(self.path, group="/instructions", engine=ENGINES[0]) as instructions:
            frame = instructions.to_dataframe()
        counts = frame.assign(name=names[frame["opcode"]]).groupby("name").size()
        # A worker leaves by one of these, and each of its runs is a row of /vertices.
        with h5py.File(self.path) as file:
            self.assertEqual(sum(counts.get(name, 0) for name in ("exitz", "exitnz")), len(file["vertices/vertex"]))

    @unittest.skipUnless("netcdf4" in ENGINES, "there is no Python package netCDF4")
    def test_netcdf_opens_the_whole_trace(self):
        import netCDF4

        with netCDF4.Dataset(self.path) as file:
            self.assertEqual(len(file["/profiles/compute"].dimensions["used_tile"]), 4)
            kind = file["/program/step/kind"]
            self.assertEqual(kind.datatype.enum_dict["exchange"], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
