"""Compares the page of a trace in Firefox with that in Chromium: page_firefox.py SUPERSTEP, from the top of the repository."""

import sys
import unittest

import firefox
from page_case import KARATE, PageCase

if firefox.program() is None:
    print("Skipped: there is no firefox (apt-get install --no-install-recommends firefox-esr)")
    sys.exit(77)


class PageInFirefox(PageCase):
    def test_it_says_and_draws_what_chromium_does(self):
        page = self.make("karate.html", self.run_traced("karate", *KARATE), self.trace)
        other = firefox.Firefox()
        try:
            self.open("summary", page)
            for view in self.views():
                fragment = f"#view={view}&run=0"
                for one in (self.browser, other):
                    one.open(page, fragment)
                    one.run(f"document.querySelectorAll('#view-{view} details').forEach((d) => {{ d.open = true; }})")
                    one.frame()
                    one.run(f"document.querySelectorAll('#view-{view} .folds').forEach((button) => button.remove())")  # how many columns fit goes by fonts
                    one.frame()
                says = f"document.getElementById('view-{view}').textContent + document.getElementById('selection').textContent + location.hash"
                self.assertEqual(self.browser.run(says), other.run(says))
                colours = f"""[...document.querySelectorAll('#view-{view} canvas')].map((canvas) => {{
                  const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                  return new Set(new Uint32Array(data.buffer)).size;
                }})"""
                self.assertTrue(all(count > 3 for count in other.run(colours)))
                self.assertEqual(other.run("[...document.querySelectorAll('section.shown *')].filter((e) => !e.closest('.table, .canvas') && e.getBoundingClientRect().right > innerWidth + 1).length"), 0)
        finally:
            other.close()
        self.assertEqual(other.complaints(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")
