// One way to draw on two media: a canvas on the screen, an SVG document to print and to save.

/// Colours by the names of the style sheet; other colours are as they are.
const palette = {
  known: new Map(),
  color(name) {
    if (!/^[a-z-]+$/.test(name)) return name;
    if (!this.known.has(name))
      this.known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || name);
    return this.known.get(name);
  },
  forget() { this.known.clear(); },
};

/// Phases and categories bear a pattern beside their colour: lines of an 8 by 8 tile.
const PATTERNS = {
  compute: [],
  exchange: [[0, 8, 8, 0]],
  sync: [[2, 2, 2, 3], [6, 6, 6, 7]],
  host: [[0, 4, 8, 4], [4, 0, 4, 8]],
  out: [],
  in: [[0, 4, 8, 4]],
};
const CATEGORY_COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6a28c8", "#8c3c1c", "#60656e"];
const CATEGORY_PATTERNS = [[], [[0, 8, 8, 0]], [[0, 4, 8, 4]], [[2, 2, 2, 3], [6, 6, 6, 7]], [[0, 0, 8, 8]], [[4, 0, 4, 8]],
                           [[0, 4, 8, 4], [4, 0, 4, 8]], [[0, 2, 8, 2], [0, 6, 8, 6]], []];

/// A fill of a category: colour and pattern by number.
const category = (i) => ({ color: CATEGORY_COLORS[i % CATEGORY_COLORS.length], lines: CATEGORY_PATTERNS[i % CATEGORY_PATTERNS.length] });
const fillOf = (fill) =>
  typeof fill === "object" ? fill : { color: palette.color(fill), lines: PATTERNS[fill] || [] };

/// Dark to light, even in lightness, and the same to all colour-blind (after cividis).
const SCALE = [[0, 32, 77], [31, 58, 109], [86, 92, 108], [124, 123, 120], [170, 157, 112], [213, 193, 90], [255, 233, 69]];
function scaleColor(share) {
  const at = clamp(share, 0, 1) * (SCALE.length - 1), i = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[i].map((low, k) => Math.round(low + (SCALE[i + 1][k] - low) * (at - i)));
}
const scaleCss = (share) => `rgb(${scaleColor(share).join(",")})`;

const SHAPES = {
  circle: (r) => Array.from({ length: 20 }, (_, i) => [r * Math.cos((i * Math.PI) / 10), r * Math.sin((i * Math.PI) / 10)]),
  square: (r) => [[-r, -r], [r, -r], [r, r], [-r, r]].map((p) => p.map((x) => x * 0.88)),
  diamond: (r) => [[0, -r], [r, 0], [0, r], [-r, 0]].map((p) => p.map((x) => x * 1.2)),
  triangle: (r) => [[0, -r * 1.15], [r * 1.1, r * 0.85], [-r * 1.1, r * 0.85]],
};
const measure = document.createElement("canvas").getContext("2d");
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

/// What fits into so many pixels of a text.
function fitted(text, width, size, weight) {
  measure.font = `${weight} ${size}px ${FONT}`;
  if (measure.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? "" : text.slice(0, low) + "…";
}

class CanvasPen {
  constructor(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    this.context = canvas.getContext("2d");
    this.context.scale(ratio, ratio);
    this.patterns = new Map();
  }
  pattern(fill) {
    const key = fill.color + JSON.stringify(fill.lines);
    if (!this.patterns.has(key)) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 8;
      const context = tile.getContext("2d");
      context.strokeStyle = "rgb(255 255 255 / 60%)";
      context.lineWidth = 1.2;
      for (const [x1, y1, x2, y2] of fill.lines) {
        context.beginPath();
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
        context.stroke();
      }
      this.patterns.set(key, this.context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(key);
  }
  rect(x, y, w, h, { fill, stroke, width = 1, opacity = 1 }) {
    const c = this.context;
    c.globalAlpha = opacity;
    if (fill) {
      const { color, lines } = fillOf(fill);
      c.fillStyle = color;
      c.fillRect(x, y, w, h);
      if (lines.length && w > 3 && h > 3) {
        c.fillStyle = this.pattern({ color, lines });
        c.fillRect(x, y, w, h);
      }
    }
    if (stroke) {
      c.strokeStyle = palette.color(stroke);
      c.lineWidth = width;
      c.strokeRect(x, y, w, h);
    }
    c.globalAlpha = 1;
  }
  line(points, { stroke = "line", width = 1, dash = [], fill, hatched = false, opacity = 1 }) {
    const c = this.context;
    if (!points.length) return;
    c.beginPath();
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.globalAlpha = opacity;
    if (fill) {
      c.closePath();
      c.fillStyle = fillOf(fill).color;
      c.fill();
      if (hatched && fillOf(fill).lines.length) {
        c.fillStyle = this.pattern(fillOf(fill));
        c.fill();
      }
    }
    if (stroke) {
      c.setLineDash(dash);
      c.strokeStyle = palette.color(stroke);
      c.lineWidth = width;
      c.stroke();
      c.setLineDash([]);
    }
    c.globalAlpha = 1;
  }
  text(x, y, text, { size = 11, anchor = "start", fill = "soft", weight = 400, max = Infinity, turn = false } = {}) {
    const c = this.context, shown = max === Infinity ? text : fitted(text, max, size, weight);
    if (!shown) return;
    c.save();
    c.translate(x, y);
    if (turn) c.rotate(-Math.PI / 2);
    c.font = `${weight} ${size}px ${FONT}`;
    c.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
    c.fillStyle = palette.color(fill);
    c.fillText(shown, 0, 0);
    c.restore();
  }
  image(source, x, y, w, h) {
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(source, x, y, w, h);
  }
  clip(x, y, w, h, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, w, h);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

class SvgPen {
  constructor(width, height) {
    this.root = this.make("svg", { xmlns: SvgPen.space, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": FONT, role: "img" });
    this.into = this.root;
    this.ids = new Map();
  }
  static space = "http://www.w3.org/2000/svg";
  static number = 0;
  make(tag, attributes, parent) {
    const element = document.createElementNS(SvgPen.space, tag);
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined && name !== "xmlns") element.setAttribute(name, typeof value === "number" ? +value.toFixed(2) : value);
    if (parent) parent.append(element);
    return element;
  }
  patternId(fill) {
    const key = JSON.stringify(fill.lines);
    if (!this.ids.has(key)) {
      const id = `pattern${++SvgPen.number}`;
      const pattern = this.make("pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, this.root);
      for (const [x1, y1, x2, y2] of fill.lines)
        this.make("line", { x1, y1, x2, y2, stroke: "#fff", "stroke-opacity": 0.6, "stroke-width": 1.2 }, pattern);
      this.ids.set(key, id);
    }
    return this.ids.get(key);
  }
  rect(x, y, width, height, { fill, stroke, width: line = 1, opacity = 1 }) {
    const { color, lines } = fill ? fillOf(fill) : { color: "none", lines: [] };
    const box = { x, y, width: Math.max(0, width), height: Math.max(0, height), opacity };
    this.make("rect", { ...box, fill: color, stroke: stroke && palette.color(stroke), "stroke-width": stroke && line }, this.into);
    if (lines.length && width > 3 && height > 3) this.make("rect", { ...box, fill: `url(#${this.patternId({ lines })})` }, this.into);
  }
  line(points, { stroke = "line", width = 1, dash = [], fill, hatched = false, opacity = 1 }) {
    if (!points.length) return;
    const path = points.map((p) => p.map((v) => +v.toFixed(2)).join(",")).join(" ");
    this.make(fill ? "polygon" : "polyline", {
      points: path, fill: fill ? fillOf(fill).color : "none",
      stroke: stroke ? palette.color(stroke) : "none", "stroke-width": width, opacity,
      "stroke-dasharray": dash.length ? dash.join(" ") : undefined,
    }, this.into);
    if (fill && hatched && fillOf(fill).lines.length) this.make("polygon", { points: path, fill: `url(#${this.patternId(fillOf(fill))})` }, this.into);
  }
  text(x, y, text, { size = 11, anchor = "start", fill = "soft", weight = 400, max = Infinity, turn = false } = {}) {
    const shown = max === Infinity ? text : fitted(text, max, size, weight);
    if (!shown) return;
    this.make("text", { x, y, "font-size": size, "text-anchor": anchor, fill: palette.color(fill), "font-weight": weight,
                        transform: turn ? `rotate(-90 ${x} ${y})` : undefined }, this.into).textContent = shown;
  }
  image(source, x, y, width, height) {
    this.make("image", { x, y, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated", href: source.toDataURL() }, this.into);
  }
  clip(x, y, width, height, draw) {
    const id = `clip${++SvgPen.number}`, outer = this.into;
    this.make("rect", { x, y, width, height }, this.make("clipPath", { id }, this.root));
    this.into = this.make("g", { "clip-path": `url(#${id})` }, outer);
    draw();
    this.into = outer;
  }
}

/// A small picture of a fill or a shape for a legend.
function swatch(fill, shape, hollow = false) {
  const pen = new SvgPen(14, 14);
  if (shape) pen.line(SHAPES[shape](5).map(([x, y]) => [x + 7, y + 7]), hollow ? { fill: "panel", stroke: fill, width: 1.5 } : { fill, stroke: null });
  else pen.rect(1, 1, 12, 12, { fill });
  pen.root.setAttribute("aria-hidden", "true");
  return pen.root;
}
const legend = (entries) =>
  h("div", { class: "legend" }, entries.map(([text, ...look]) => h("span", {}, swatch(...look), text)));
