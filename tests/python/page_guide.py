"""Takes the pictures of docs/page.md, the guide to the page of a trace, in Chromium: page_guide.py SUPERSTEP, from the top of the repository.

Each section of the guide names the address that it shows, such as `run.html#view=summary`; a picture is of the view there, from its top.
"""

import base64
import os
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import browser

GUIDE = Path("docs/page.md")
HEIGHT = 680  # of a picture, at most


def run_commands(program, folder):
    """Runs what the guide tells readers to run, in a folder with the models."""
    folder.mkdir(exist_ok=True)
    (folder / "models").symlink_to(Path("models").resolve())
    path = os.pathsep.join([str(Path(program).resolve().parent), os.environ["PATH"]])
    for command in re.findall(r"^\$ (.*(?:\\\n.*)*)$", GUIDE.read_text(), re.MULTILINE):
        subprocess.run(command, shell=True, check=True, capture_output=True, cwd=folder, env=os.environ | {"PATH": path})


def sections():
    """Of each section with an address: the file, what is behind #, the picture, the text."""
    for text in re.split(r"^## ", GUIDE.read_text(), flags=re.MULTILINE)[1:]:
        address, picture = re.search(r"`(\w+\.html)(#[^`]*)`", text), re.search(r"\((images/[^)]*)\)", text)
        if address:
            yield address[1], address[2], picture[1], text


# Colours of an image as a palette: the 128 that most pixels have, as many that are farthest from these, and for others the nearest.
TO_PALETTE = """(async () => {
  const bytes = Uint8Array.from(atob('%s'), (c) => c.charCodeAt(0)), bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer), times = new Map();
  for (const pixel of pixels) times.set(pixel, (times.get(pixel) || 0) + 1);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  const colors = [...times].sort((a, b) => b[1] - a[1]).map(([pixel]) => ({ pixel, color: parts(pixel), far: Infinity })), palette = [];
  while (palette.length < Math.min(256, colors.length)) {
    const next = palette.length < 128 ? colors[palette.length] : colors.reduce((a, b) => (b.far > a.far ? b : a));
    for (const entry of colors) {
      const far = distance(entry.color, next.color);
      if (far < entry.far) Object.assign(entry, { far, at: palette.length });
    }
    palette.push(next.color);
  }
  const nearest = new Map(colors.map(({ pixel, at }) => [pixel, at]));
  return { width: bitmap.width, height: bitmap.height, palette: palette.flat(), indices: Array.from(pixels, (pixel) => nearest.get(pixel)) };
})()"""


def with_palette(viewer, png):
    """The same picture as a PNG of one byte a pixel, a third of the size."""
    image = viewer.run(TO_PALETTE % base64.b64encode(png).decode())
    width, height = image["width"], image["height"]
    rows = b"".join(b"\0" + bytes(image["indices"][at : at + width]) for at in range(0, width * height, width))

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 3, 0, 0, 0])
    return png[:8] + chunk(b"IHDR", header) + chunk(b"PLTE", bytes(image["palette"])) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run_commands(sys.argv[1], folder)
        viewer = browser.Browser(1180, 900)
        for file, fragment, picture, _ in sections():
            viewer.open(folder / file, fragment)
            viewer.frame()
            x, y, width, height = viewer.run("(({ x, y, width, height }) => [x, y, width, height])(document.querySelector('section.shown').getBoundingClientRect())")
            png = viewer.screenshot({"x": x - 8, "y": y - 8, "width": width + 16, "height": min(height + 16, HEIGHT), "scale": 1})
            (GUIDE.parent / picture).write_bytes(with_palette(viewer, png))
        viewer.close()


if __name__ == "__main__":
    main()
