"""Looks at the page of a run that lasts, in Chromium: page_live.py SUPERSTEP, from the top of the repository.

The run is this program: it holds the lock of a trace and puts longer and longer traces in its place.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browser

browser.skip_without("h5py", "numpy")
import h5py
import numpy as np

LINEAR = ["models/linear_regression/train_step.mlir", "-m", "tiny4", "--input", "models/linear_regression/train.h5"]
CALLS = (1, 2, 40)
# A page's clock can be put forward, and it says how many timers it waits for that it began.
CLOCK = """{
  const { now } = Date, { setTimeout, clearTimeout } = window, timers = new Set();
  Date.now = () => now() + Number(sessionStorage.forward || 0);
  window.setTimeout = (f, ms) => { const id = setTimeout(() => { timers.delete(id); f(); }, ms); timers.add(id); return id; };
  window.clearTimeout = (id) => { timers.delete(id); clearTimeout(id); };
  window.waits = () => timers.size;
}"""


class LivePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.traces, cls.counts = [], []
        for calls in CALLS:
            trace = cls.folder / f"after_{calls}.h5"
            subprocess.run([sys.argv[1], "run", *LINEAR, "--repeat", str(calls), "--trace", "tile", "-q", "-o", str(trace)], check=True, capture_output=True)
            with h5py.File(trace, "r+") as file:
                file.attrs["outcome"] = np.bytes_("running")
                cls.counts.append(len(file["supersteps/superstep"]))
            cls.traces.append(trace.read_bytes())
        cls.browser = browser.Browser()
        cls.browser.send("Page.addScriptToEvaluateOnNewDocument", source=CLOCK)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.temporary.cleanup()

    def setUp(self):
        self.trace, self.page = self.folder / f"{self._testMethodName}.h5", self.folder / f"{self._testMethodName}.html"
        self.part = Path(f"{self.trace}.part")
        self.lock = os.open(f"{self.trace}.lock", os.O_CREAT | os.O_RDONLY)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.put(0)
        self.watcher = subprocess.Popen([sys.argv[1], "watch", str(self.trace), "-o", str(self.page)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # It says what it sees, then writes the page, then looks again and ends.
        self.watcher.stderr.readline()
        while not self.page.exists():
            os.sched_yield()

    def tearDown(self):
        os.close(self.lock)
        self.watcher.kill()
        self.watcher.wait()
        self.watcher.stderr.close()
        self.assertEqual(self.browser.complaints(), [])

    def put(self, number):
        """The run has come as far as one of the traces."""
        new = self.folder / "new"
        new.write_bytes(self.traces[number])
        new.replace(self.part)

    def end(self):
        """The run ends as its last trace says; answers when the watcher has."""
        self.part.rename(self.trace)
        fcntl.flock(self.lock, fcntl.LOCK_UN)
        self.assertEqual(self.watcher.wait(), 1)  # its outcome is not ok

    def open(self, fragment):
        self.browser.open(self.page, fragment)
        self.browser.frame()

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def choices(self):
        return dict(part.split("=") for part in self.browser.run("location.hash")[1:].split("&"))

    def follows_until(self, is_there):
        """The page loads itself again until this is so."""
        while not is_there():
            self.browser.event("Page.lifecycleEvent", name="load")
            self.browser.frame()

    def has(self, number):
        return f" of {self.counts[number]:,}" in self.text("#selection h3")

    def time_passes(self, seconds):
        self.browser.run(f"sessionStorage.forward = Number(sessionStorage.forward || 0) + {1000 * seconds}")

    def test_it_follows_the_run_at_any_view_and_ends_with_it(self):
        self.open("#view=operations&superstep=2&tile=1&operation=subtract.1")
        self.assertTrue(self.has(0))
        self.assertIn(f"first {self.counts[0]} supersteps", self.text("#follow"))
        self.browser.run("document.querySelector('#view-operations input').focus()")
        for letter in "sub":
            self.browser.key(letter)
        self.assertEqual(self.browser.run("waits()"), 1)
        rows = self.text("#view-operations tbody")
        self.put(1)
        self.follows_until(lambda: self.has(1))
        self.assertEqual({key: self.choices()[key] for key in ("view", "superstep", "tile", "operation")},
                         {"view": "operations", "superstep": "2", "tile": "1", "operation": "subtract.1"})
        self.assertNotEqual(self.text("#view-operations tbody"), rows)  # more cycles, of the same operations

        self.assertEqual(self.browser.run("[document.activeElement.value, document.activeElement.selectionStart]"), ["sub", 3])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#view-operations tbody tr')].filter((row) => !row.textContent.includes('sub')).length"), 0)
        self.browser.key("t")  # and typing goes on where it was
        self.assertEqual(self.browser.run("document.activeElement.value"), "subt")

        self.put(2)
        self.end()
        self.follows_until(lambda: self.text("#follow") == "")
        self.assertTrue(self.has(2))
        self.assertEqual(self.browser.run("document.activeElement.value"), "subt")
        self.assertEqual(self.choices()["superstep"], "2")
        self.assertEqual(self.browser.run("waits()"), 0)

    def test_what_is_typed_to_search_and_opened_and_scrolled_stays(self):
        self.open("#view=memory")
        self.browser.run("document.querySelector('#view-memory details').open = true")
        self.browser.run("document.querySelector('#view-memory input[type=checkbox]').click()")
        checked = self.browser.run("document.querySelector('#view-memory input[type=checkbox]').checked")
        self.browser.run("window.scrollTo(0, 300)")
        self.browser.key("/")
        for letter in "tile 3":
            self.browser.key(letter)
        scroll = self.browser.run("document.scrollingElement.scrollTop")
        self.put(1)
        self.follows_until(lambda: self.has(1))
        self.assertTrue(self.browser.run("document.querySelector('#view-memory details').open"))
        self.assertEqual(self.browser.run("document.querySelector('#view-memory input[type=checkbox]').checked"), checked)
        self.assertEqual(self.browser.run("document.scrollingElement.scrollTop"), scroll)
        self.browser.key("Enter")
        self.assertEqual({key: self.choices()[key] for key in ("view", "tile")}, {"view": "tiles", "tile": "3"})

    def test_who_has_chosen_nothing_sees_the_longest_superstep_so_far(self):
        self.open("")
        self.put(2)
        self.follows_until(lambda: self.has(2))
        with h5py.File(self.part) as file:
            cycles = sum(file["supersteps"][f"{part}_cycles"][:].astype(int) for part in ("exchange", "compute", "sync"))
        longest = int(cycles.argmax())
        self.assertEqual([int(self.choices()[key]) for key in ("superstep", "from")], [longest, min(max(0, longest - 16), len(cycles) - 32)])

    def test_it_stops_where_nothing_comes_and_says_so(self):
        self.open("")
        self.time_passes(61)
        self.follows_until(lambda: "no more has come" in self.text("#follow"))
        self.time_passes(540)
        self.follows_until(lambda: "not read again" in self.text("#follow"))
        self.assertEqual(self.browser.run("waits()"), 0)
        self.browser.run("document.querySelector('#follow button').click()")
        self.follows_until(lambda: "and is read again" in self.text("#follow"))

    def test_without_a_script_the_browser_reads_it_again(self):
        self.browser.send("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.open(self.page)
            self.browser.events.clear()
            self.browser.event("Page.lifecycleEvent", name="load")
        finally:
            self.browser.send("Emulation.setScriptExecutionDisabled", value=False)

    def test_a_watcher_that_is_interrupted_leaves_a_page_that_waits_for_nothing(self):
        self.watcher.send_signal(signal.SIGINT)
        self.assertEqual(self.watcher.wait(), 130)
        self.open("")
        self.assertEqual(self.text("#follow"), "")
        self.assertIn("lasted when this page was written", self.text("#banner"))
        self.assertNotIn('http-equiv="refresh"', self.page.read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
