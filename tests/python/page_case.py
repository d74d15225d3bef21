"""What tests share that look at pages of traces in Chromium."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

browser.skip_without("h5py", "numpy")
import h5py

MODULE = "models/linear_regression/train_step.mlir"
LINEAR = [MODULE, "-m", "tiny4", "--input", "models/linear_regression/train.h5", "--repeat", "3"]
KARATE = ["models/karate/train.mlir", "-m", "small64", "--input", "models/karate/input.h5"]
PARTS = ("exchange", "compute", "sync", "host")


def superstep(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


class PageCase(unittest.TestCase):
    """With the page of a small run."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.trace = cls.run_traced("run", *LINEAR)
        cls.page = cls.make("run.html", cls.trace)
        cls.file = h5py.File(cls.trace)
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.file.close()
        cls.temporary.cleanup()

    @classmethod
    def run_traced(cls, name, *words, level="tile"):
        """The trace of a run."""
        trace = cls.folder / f"{name}.h5"
        superstep("run", *words, "--trace", level, "-q", "-o", str(trace))
        return trace

    @classmethod
    def make(cls, name, *traces):
        path = cls.folder / name
        superstep("html", *map(str, traces), "-o", str(path))
        return path

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def open(self, view, page=None, **choices):
        self.browser.open(page or self.page, "#" + "&".join(f"{k}={v}" for k, v in {"view": view, **choices}.items()))
        self.browser.frame()

    def views(self):
        return self.browser.run("[...document.querySelectorAll('#views a')].map((a) => a.hash.slice(6))")

    def rows(self, selector):
        """Texts of the cells of a table, by heading, of the page that it shows."""
        cells = self.browser.run(f"""(() => {{
          const root = document.querySelector({json.dumps(selector)});
          const table = root.tagName === 'TABLE' ? root : root.querySelector('table');
          return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        }})()""")
        return [dict(zip(cells[0], row)) for row in cells[1:]]

    def pages(self, selector):
        """The same of all pages of a table."""
        rows, more = self.rows(selector), True
        while more:
            more = self.browser.run(f"""(() => {{
              const turn = document.querySelector({json.dumps(selector)}).querySelectorAll('.pages button')[1], note = turn.closest('.table-tools').querySelector('.note'), before = note.textContent;
              turn.click();
              return note.textContent !== before;
            }})()""")
            rows += self.rows(selector) if more else []
        return rows

    def open_tables(self, view):
        self.browser.run(f"document.querySelectorAll('#view-{view} details.alternative').forEach((d) => {{ d.open = true; }})")
        self.browser.frame()

    def number(self, text):
        """A number of a table, also a signed one; marks and groups of digits are passed over."""
        return float(re.sub(r"[^0-9.-]", "", text.replace("−", "-")))

    def panel(self, view, label):
        """Rows of the table with a label."""
        return self.rows(f"#view-{view} [role=region][aria-label={json.dumps(label)}]")

    def inked(self, view):
        """Of each canvas of a view, how many colours it has."""
        return self.browser.run(f"""[...document.querySelectorAll('#view-{view} canvas')].map((canvas) => {{
          const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return new Set(pixels).size;
        }})""")


class KarateCase(PageCase):
    """With a trace of models/karate, and its page, besides."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.karate = cls.run_traced("karate", *KARATE)
        cls.karate_page = cls.make("karate.html", cls.karate)
