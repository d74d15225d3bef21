"""Looks at the page of a trace in Chromium: page_views.py SUPERSTEP, from the top of the repository."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"Skipped: there is no Python package {missing.name}")
    sys.exit(77)
if browser.program() is None:
    print("Skipped: there is no chromium (apt-get install --no-install-recommends chromium)")
    sys.exit(77)

LINEAR = ["models/linear_regression/train_step.mlir", "-m", "tiny4", "--input", "models/linear_regression/train.h5", "--repeat", "3"]
PARTS = ("exchange", "compute", "sync", "host")


def superstep(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.trace = cls.folder / "run.h5"
        superstep("run", *LINEAR, "--trace", "tile", "-q", "-o", str(cls.trace))
        cls.page = cls.make("run.html", cls.trace)
        cls.file = h5py.File(cls.trace)
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.file.close()
        cls.temporary.cleanup()

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
        """Texts of the cells of a table, by heading, of all its pages: what is copied as CSV."""
        cells = self.browser.run(f"""(() => {{
          const root = document.querySelector({json.dumps(selector)});
          const table = root.tagName === 'TABLE' ? root : root.querySelector('table');
          return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        }})()""")
        return [dict(zip(cells[0], row)) for row in cells[1:]]

    def open_tables(self, view):
        self.browser.run(f"document.querySelectorAll('#view-{view} details.alternative').forEach((d) => {{ d.open = true; }})")
        self.browser.frame()

    def number(self, text):
        return int(re.sub(r"[^0-9-]", "", text))

    def inked(self, view):
        """Of each canvas of a view, how many colours it has."""
        return self.browser.run(f"""[...document.querySelectorAll('#view-{view} canvas')].map((canvas) => {{
          const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return new Set(pixels).size;
        }})""")

    def test_every_view_draws(self):
        self.open("summary")
        for view in self.views():
            with self.subTest(view=view):
                self.open(view)
                self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-" + view)
                self.assertGreater(self.browser.run(f"document.querySelector('#view-{view}').textContent.length"), 100)
                for colours in self.inked(view):
                    self.assertGreater(colours, 3)

    def test_every_chart_says_what_it_shows_and_offers_to_be_saved(self):
        self.open("summary")
        for view in self.views():
            self.open(view)
            for chart in range(self.browser.run(f"document.querySelectorAll('#view-{view} figure').length")):
                figure = f"document.querySelectorAll('#view-{view} figure')[{chart}]"
                with self.subTest(view=view, chart=chart):
                    self.assertTrue(self.browser.run(f"{figure}.querySelector('canvas').getAttribute('aria-label').length > 10"))
                    self.assertEqual(self.browser.run(f"[...{figure}.querySelectorAll('figcaption > .tools > button')].map((b) => b.textContent)")[-2:], ["SVG", "PNG"])

    def test_totals_are_those_of_the_trace(self):
        self.open("summary")
        self.open_tables("summary")
        found = {row["Part"]: self.number(row["Cycles (cycle)"]) for row in self.rows("#view-summary figure")}
        summary = self.file["summary"].attrs
        for part in PARTS + ("device", "total"):
            self.assertEqual(found[part.capitalize()], summary[part + "_cycles"])

    def test_supersteps_are_those_of_the_trace(self):
        self.open("timeline", **{"from": 0, "to": len(self.file["supersteps/superstep"])})
        self.open_tables("timeline")
        rows = self.rows("#view-timeline figure")
        self.assertEqual(len(rows), min(50, len(self.file["supersteps/superstep"])))
        columns = {"Start (cycle)": "start_cycle", "Call": "iteration", "h (B)": "h_bytes", "Written (B)": "bytes_sent", "Messages": "messages",
                   "Active tiles": "active_tiles", "Critical tile": "critical_tile", "FLOP": "flops", "Live (B)": "live_bytes"}
        columns |= {f"{part.capitalize()} (cycle)": part + "_cycles" for part in PARTS}
        for title, column in columns.items():
            with self.subTest(column=column):
                np.testing.assert_array_equal([self.number(row[title]) for row in rows], self.file["supersteps/" + column][: len(rows)])

    def test_operations_are_those_of_the_trace_in_order_of_cycles(self):
        self.open("operations")
        rows = self.rows("#view-operations")
        report = json.loads(self.file["summary/json"][0])
        self.assertEqual([row["Operation"] for row in rows], [operation["name"] for operation in report["operations"]])
        for row, operation in zip(rows, report["operations"]):
            for part in PARTS:
                self.assertEqual(self.number(row[f"{part.capitalize()} (cycle)"]), operation[part + "_cycles"])
            self.assertEqual(self.number(row["FLOP"]), operation["flops"])

    def test_operations_sort_and_filter(self):
        self.open("operations")
        self.browser.run("[...document.querySelectorAll('#view-operations th button')].find((b) => b.textContent === 'Operation').click()")
        names = [row["Operation"] for row in self.rows("#view-operations")]
        self.assertEqual(names, sorted(names, key=str.lower))
        self.browser.run("(() => { const box = document.querySelector('#view-operations input'); box.value = 'subtract'; box.dispatchEvent(new Event('input')); })()")
        found = [row["Operation"] for row in self.rows("#view-operations")]
        self.assertEqual(found, [name for name in names if "subtract" in name])
        self.assertTrue(found)

    def test_tree_adds_up_to_the_device_cycles(self):
        self.open("flame", device=1)
        self.open_tables("flame")
        whole = self.rows("#view-flame figure")[0]
        self.assertEqual(self.number(whole["Critical path (cycle)"]), self.file["summary"].attrs["device_cycles"])

    def test_tiles_of_a_superstep_are_those_of_the_trace(self):
        supersteps = self.file["supersteps"]
        for s in (2, 5):
            self.open("heatmap", superstep=s, tile=0)
            self.open_tables("heatmap")
            rows = {row["Tile"]: row for row in self.rows("#view-heatmap figure")}
            columns = {"Compute (cycle)": "compute/cycles", "Wait for the barrier (cycle)": "compute/wait_cycles", "Exchange (cycle)": "exchange/cycles",
                       "Sent (B)": "exchange/sent_bytes", "Received (B)": "exchange/received_bytes"}
            for title, column in columns.items():
                profile = supersteps[column.split("/")[0] + "_profile"][s]
                for tile, value in zip(self.file["program/used_tile"], self.file["profiles/" + column][profile]):
                    self.assertEqual(self.number(rows[str(tile)][title]), value)

    def test_map_adds_up_what_tiles_receive(self):
        self.open("tiles", map="received")
        self.open_tables("tiles")
        profile = self.file["supersteps/exchange_profile"][:]
        sums = self.file["profiles/exchange/received_bytes"][:][profile].sum(axis=0)
        found = {int(row["Tile"]): self.number(row["Received in the run (B)"]) for row in self.rows("#view-tiles figure")}
        self.assertEqual(found, dict(zip(map(int, self.file["program/used_tile"]), map(int, sums))))

    def test_memory_is_that_of_the_trace(self):
        self.open("memory")
        self.open_tables("memory")
        categories = [name.decode() for name in self.file["memory/category"]]
        for row in self.rows("#view-memory figure"):
            for name, value in zip(categories, self.file["memory/bytes"][int(row["Tile"])]):
                self.assertEqual(self.number(row[name.replace("_", " ") + " (B)"]), value)
        names = ("always_live_bytes", "not_always_live_bytes", "peak_tile_bytes", "peak_tile")
        for row in self.rows("#view-memory figure:nth-of-type(2)"):
            found = [self.number(row[title]) for title in ("Always live (B)", "Others (B)", "Fullest tile (B)", "Which")]
            self.assertEqual(found, [self.file["memory/liveness/" + name][int(row["Step"])] for name in names])

    def test_a_click_on_the_tiles_chooses_tile_and_superstep(self):
        self.open("heatmap")
        x, y, width = self.browser.run("(() => { const b = document.querySelector('#view-heatmap canvas').getBoundingClientRect(); return [b.x, b.y, b.width]; })()")
        self.browser.click(x + width - 12, y + 40)
        last = len(self.file["supersteps/superstep"]) - 1
        self.assertIn(f"superstep={last}&tile={self.file['program/used_tile'][0]}", self.browser.run("location.hash"))

    def test_views_say_what_a_trace_lacks(self):
        for level in ("summary", "superstep"):
            trace = self.folder / f"{level}.h5"
            superstep("run", *LINEAR, "--trace", level, "-q", "-o", str(trace))
            page = self.make(f"{level}.html", trace)
            for view in self.views() or ["summary"]:
                self.open(view, page)
                for colours in self.inked(view):
                    self.assertGreater(colours, 2)
            self.open("heatmap", page)
            self.assertIn("--trace", self.browser.run("document.querySelector('#view-heatmap').textContent"))

    def test_keys_and_address_are_the_same_choice(self):
        self.open("timeline", superstep=1)
        self.browser.key("ArrowRight")
        self.assertIn("superstep=2", self.browser.run("location.hash"))
        self.assertIn("Superstep 2", self.browser.run("document.getElementById('announce').textContent"))
        self.browser.key("1")
        self.assertEqual(self.browser.run("document.querySelector('section.shown').id"), "view-summary")
        self.browser.key("/")
        for letter in "superstep 3":
            self.browser.key(letter)
        self.browser.key("Enter")
        self.assertIn("view=timeline&superstep=3", self.browser.run("location.hash"))

    def test_every_control_can_be_reached_and_has_a_name(self):
        self.open("timeline")
        nameless = self.browser.run("""[...document.querySelectorAll('button, input, select, a, canvas')].filter((e) =>
          e.offsetParent && !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)""")
        self.assertEqual(nameless, [])
        reached = set()
        for _ in range(60):
            self.browser.key("Tab")
            reached.add(self.browser.run("document.activeElement.tagName"))
        self.assertLessEqual({"A", "INPUT", "BUTTON", "CANVAS"}, reached)

    def test_names_of_a_trace_are_shown_and_not_run(self):
        hostile = "</script><img src=x onerror=hit()>&lt;"
        path = self.folder / "hostile.h5"
        path.write_bytes(self.trace.read_bytes())
        with h5py.File(path, "r+") as file:
            for name in ("program/operation/name", "program/step/name", "program/variable/name", "program/operation/python_file"):
                old = file[name]
                attributes = dict(old.attrs)
                values = np.array([hostile.encode()] * len(old), dtype="S60")
                del file[name]
                new = file.create_dataset(name, data=values)
                for key in ("units", "long_name", "axes"):
                    if key in attributes:
                        new.attrs[key] = attributes[key]
            file.attrs["module"] = np.bytes_(hostile)
        page = self.make("hostile.html", path)
        self.open("operations", page)
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.run("document.getElementById('title').textContent"), hostile)
        self.assertEqual(self.rows("#view-operations")[0]["Operation"], hostile)
        for view in self.views():
            self.open(view, page)
            self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

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
