"""Pages of traces that are odd, or made to harm, in Chromium: page_hostile.py SUPERSTEP, from the top of the repository."""

import re
import subprocess
import sys
import unittest

from page_case import LINEAR, PageCase

import h5py
import numpy as np


class PageHostile(PageCase):
    def test_what_does_not_fit_is_shown_with_its_memory(self):
        trace = self.folder / "large.h5"
        run = subprocess.run([sys.argv[1], "run", "models/mnist_mlp/train_step.mlir", "-m", "tiny4", "--input", "random:1", "-q", "-o", str(trace)], capture_output=True)
        self.assertNotEqual(run.returncode, 0)
        page = self.make("large.html", trace)
        with h5py.File(trace) as file:
            sums = file["memory/bytes"][:].sum(axis=1)
        self.open("memory", page)
        self.assertIn("does not fit", self.browser.run("document.getElementById('banner').textContent"))
        self.open_tables("memory")
        self.assertEqual({int(row["Tile"]): self.number(row["All (B)"]) for row in self.rows("#view-memory figure")}, dict(enumerate(sums)))
        for view in self.views():
            self.open(view, page)

    def test_views_say_what_a_trace_lacks(self):
        for level in ("summary", "superstep"):
            page = self.make(f"{level}.html", self.run_traced(level, *LINEAR, level=level))
            for view in self.views() or ["summary"]:
                self.open(view, page)
                for colours in self.inked(view):
                    self.assertGreater(colours, 2)
            self.open("heatmap", page)
            self.assertIn("--trace", self.browser.run("document.querySelector('#view-heatmap').textContent"))

    def renamed(self, title, name):
        """The page of the trace whose names are others: `name` of a number."""
        path = self.folder / f"{title}.h5"
        path.write_bytes(self.trace.read_bytes())
        with h5py.File(path, "r+") as file:
            for dataset in ("program/operation/name", "program/step/name", "program/variable/name", "program/stream/name", "program/stream/label", "program/fused/name", "program/operation/python_file"):
                attributes = dict(file[dataset].attrs)
                values = [name(i).encode() for i in range(len(file[dataset]))]
                del file[dataset]
                new = file.create_dataset(dataset, data=np.array(values, dtype=f"S{max(1, *map(len, values))}"))
                for key in ("units", "long_name", "axes"):
                    if key in attributes:
                        new.attrs[key] = attributes[key]
            file.attrs["module"] = np.bytes_(name(0).encode())
        return self.make(f"{title}.html", path)

    def look(self, page, height=20_000):
        """Looks at all views: none is wider than the window, or higher than is sensible; what is wrong otherwise is seen in the end."""
        self.open("summary", page)
        for view in self.views():
            self.open(view, page)
            self.open_tables(view)
            self.browser.key("ArrowRight")
            size = self.browser.run("[document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollHeight]")
            self.assertTrue(size[0] and size[1] < height, (view, size))

    def test_names_of_a_trace_are_shown_and_not_run(self):
        hostile = "</script><img src=x onerror=hit()>&lt;"
        page = self.renamed("hostile", lambda i: hostile)
        self.open("operations", page)
        self.assertEqual(self.browser.run("document.getElementById('title').textContent"), hostile)
        self.assertEqual(self.rows("#view-operations")[0]["Operation"], hostile)
        for view in self.views():
            self.open(view, page)
            self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_a_name_of_10000_characters_is_cut_where_it_is_read(self):
        page = self.renamed("long", lambda i: 10_000 * "x" + str(i))
        self.look(page)
        self.open("operations", page)
        name = self.rows("#view-operations")[0]["Operation"]
        self.assertLess(len(name), 200)
        self.assertIn("10,00", name)

    def test_a_name_that_turns_the_order_of_characters_says_so_itself(self):
        page = self.renamed("turned", lambda i: f"dot\u202e.{i}\u2067")
        self.look(page)
        self.open("operations", page)
        self.assertRegex(self.rows("#view-operations")[0]["Operation"], r"^dot\\u202e\.\d\\u2067$")
        self.assertNotRegex(self.browser.run("document.body.innerText"), "[\u202a-\u202e\u2066-\u2069]")

    def test_what_has_no_name_can_be_chosen(self):
        page = self.renamed("nameless", lambda i: "")
        self.look(page)
        self.open("operations", page)
        self.assertEqual({row["Operation"] for row in self.rows("#view-operations")}, {"(no name)"})

    def test_one_tile_is_enough(self):
        trace = self.run_traced("one_tile", *LINEAR, "--set", "grid.tiles=1")
        self.look(self.make("one_tile.html", trace))

    def test_one_superstep_or_none_is_enough(self):
        for count in (1, 0):
            path = self.folder / f"supersteps_{count}.h5"
            path.write_bytes(self.trace.read_bytes())
            with h5py.File(path, "r+") as file:
                for group in ("supersteps", "launches", "host"):
                    first = np.asarray(file[group]["superstep"])
                    for dataset in file[group].values():
                        if dataset.maxshape[0] is None:
                            dataset.resize((int((first < count).sum()), *dataset.shape[1:]))
            page = self.make(f"supersteps_{count}.html", path)
            self.look(page)
            self.open("timeline", page)
            self.assertIn("of 1" if count else "no supersteps", self.browser.run("document.body.innerText"))

    def test_nothing_but_the_page_itself_may_run(self):
        text = self.page.read_text()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.open("summary")
        self.browser.run("(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); })()")
        self.assertIsNone(self.browser.run("window.ran"))
        self.assertTrue(any("Content Security Policy" in line for line in self.browser.complaints()))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
