"""Colours of the page of a trace as people see them who are colour-blind: page_colors.py, from the top of the repository; --table prints numbers.

Dichromats are simulated as by Machado, Oliveira and Fernandes (A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009,
severity 1), on linear sRGB; differences are CIE 1976 ones of L*a*b* (D65), of which about 2 can just be seen.
"""

import itertools
import re
import sys
import unittest
from pathlib import Path

CSS, PEN = (Path("report/page", name).read_text() for name in ("page.css", "pen.js"))
SIGHTS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))  # IEC 61966-2-1
WHITE = (0.9505, 1.0, 1.089)
SEEN = 10  # [assumed] a difference that areas beside each other show at a glance


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def linear(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(color, sight):
    seen = [min(1, max(0, c)) for c in times(SIGHTS[sight], linear(color))]
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (c / w for c, w in zip(times(TO_XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(a, b, sight):
    return sum((p - q) ** 2 for p, q in zip(lab(a, sight), lab(b, sight))) ** 0.5


def luminance(color):
    return times(TO_XYZ, linear(color))[1]


def contrast(a, b):
    """As WCAG 2 has it."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def palettes():
    """Colours by name, of each scheme."""
    light, dark = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})\b", block)) for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2])
    return {"light": light, "dark": {**light, **dark}}


def patterns():
    """The lines of each pattern, by name of the colour or number of the category."""
    named, numbered = (re.search(rf"const {name} = (\{{.*?\}}|\[.*?\]);\n", PEN, re.DOTALL)[1] for name in ("PATTERNS", "CATEGORY_PATTERNS"))
    of_names = dict(re.findall(r"(\w+): (\[.*\]),", named))
    return of_names, [text for text in re.findall(r"\[(?:\[[\d, ]+\](?:, )?)*\]", numbered[1:-1])]


def together():
    """Fills that stand beside each other in a chart: of which scheme, names, colours, patterns."""
    of_names, of_categories = patterns()
    categories = re.findall(r"#[0-9a-f]{6}", re.search(r"CATEGORY_COLORS = \[(.*?)\]", PEN)[1])
    yield "both", [(f"category {i}", color, of_categories[i]) for i, color in enumerate(categories)]
    for scheme, colors in palettes().items():
        for group in (("exchange", "compute", "sync", "host"), ("out", "in"), ("exchange", "in"), ("compute", "mark"), ("good", "bad"), ("accent", "bad")):
            # Better and worse, more and less have a sign beside them, and runs a dash.
            other = {"good": "sign", "accent": "sign", "in": "solid" if group[0] == "exchange" else of_names["in"]}
            yield scheme, [(name, colors[name], other.get(name, of_names.get(name, "[]"))) for name in group]


def pairs():
    """Each two of them: scheme, names, the least difference and its sight, whether something but colour tells them apart."""
    for scheme, fills in together():
        for (a, color_a, pattern_a), (b, color_b, pattern_b) in itertools.combinations(fills, 2):
            least, sight = min((difference(color_a, color_b, sight), sight) for sight in SIGHTS)
            yield scheme, a, b, least, sight, pattern_a != pattern_b


class Colors(unittest.TestCase):
    def test_fills_beside_each_other_differ_for_every_sight(self):
        found = list(pairs())
        self.assertGreater(len(found), 40)
        for scheme, a, b, least, sight, _ in found:
            with self.subTest(scheme=scheme, a=a, b=b):
                self.assertGreaterEqual(least, SEEN, sight)

    def test_nearly_all_of_them_differ_by_a_pattern_or_a_sign_too(self):
        alone = [(a, b, least) for _, a, b, least, _, has_other in pairs() if not has_other]
        self.assertEqual([(a, b) for a, b, _ in alone if (a, b) != ("compute", "mark")], [("category 0", "category 8")])
        self.assertGreater(min(least for *_, least in alone), 2 * SEEN)

    def test_the_guide_says_how_far_the_most_alike_are_apart(self):
        least = lambda *schemes: min(pair[3] for pair in pairs() if pair[0] in schemes)
        self.assertIn(f"are {least('both', 'light'):.1f} apart in CIE L\\*a\\*b\\* ({least('dark'):.1f} in\nthe dark scheme)", Path("docs/page.md").read_text())

    def test_the_scale_of_maps_grows_lighter_for_every_sight(self):
        steps = ["#%02x%02x%02x" % tuple(map(int, rgb)) for rgb in re.findall(r"\[(\d+), (\d+), (\d+)\]", re.search(r"const SCALE = \[(.*)\];", PEN)[1])]
        self.assertGreater(len(steps), 5)
        for sight in SIGHTS:
            lightness = [lab(color, sight)[0] for color in steps]
            self.assertGreater(min(b - a for a, b in itertools.pairwise(lightness)), 5, sight)

    def test_text_and_marks_have_the_contrast_of_wcag(self):
        for scheme, colors in palettes().items():
            full = lambda name: colors[name] if len(colors[name]) == 7 else "#" + "".join(2 * digit for digit in colors[name][1:])
            for ground in ("panel", "ground", "accent-soft", "warn"):
                for text in ("ink", "soft") if ground in ("panel", "ground") else ("ink",):
                    self.assertGreaterEqual(contrast(full(text), full(ground)), 4.5, (scheme, text, ground))
            for text, ground in (("accent", "panel"), ("accent", "ground"), ("accent", "accent-soft"), ("good", "panel"), ("bad", "panel"), ("soft", "accent-soft")):
                self.assertGreaterEqual(contrast(full(text), full(ground)), 4.5, (scheme, text, ground))
            for mark in ("mark", "compute", "in"):
                self.assertGreaterEqual(contrast(full(mark), full("panel")), 3, (scheme, mark))


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        for scheme, a, b, least, sight, has_pattern in sorted(pairs(), key=lambda pair: pair[3]):
            print(f"{least:5.1f}  {sight:12}  {scheme:5}  {a}, {b}{'' if has_pattern else '  (colour alone)'}")
    else:
        unittest.main(argv=sys.argv[:1])
