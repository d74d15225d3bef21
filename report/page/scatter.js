// Points on two logarithmic axes, for predictions and the roofline.

const SCATTER = { left: 70, right: 16, top: 16, bottom: 42 };

/// Powers of ten from `low` to `high`, with 2 and 5 times them where there are few.
function decades(low, high) {
  const out = [], first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  for (let power = first; power <= last; ++power)
    for (const factor of last - first > 3 ? [1] : [1, 2, 5]) if (factor * 10 ** power >= low && factor * 10 ** power <= high) out.push(factor * 10 ** power);
  return out;
}
const axisText = (n) => (n >= 1000 ? rounded(short(n)) : String(+n.toPrecision(3)));

/// Of points, those that a name is beside: of some that lie on one another the first one, with the names of all of them.
function namesOfPlaces(points, place) {
  const near = 6, found = [];
  for (const point of points) {
    const [px, py] = place(point), known = found.find(({ at }) => Math.hypot(at[0] - px, at[1] - py) < near);
    if (known) known.names.push(point.name);
    else found.push({ point, at: [px, py], names: [point.name] });
  }
  return new Map(found.map(({ point, names }) => [point, names.join(", ")]));
}
/// Keeps names off a line: small pieces of it count as taken.
function keepFree(labels, at, box, { from, to }) {
  const [x1, y1, x2, y2] = [at.x(from[0]), at.y(from[1]), at.x(to[0]), at.y(to[1])], steps = Math.min(400, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
  for (let i = 0; i <= steps; ++i) {
    const px = x1 + ((x2 - x1) * i) / steps, py = y1 + ((y2 - y1) * i) / steps;
    if (px >= box.x && px <= box.x + box.w) labels.push({ from: px, to: px, y: py + 4, high: 9 });
  }
}

/// A chart of `points`: {name, x, y, weight, shape, fill, text, choose}, the first ones with their names beside them, and with a line from where
/// they are in the other run, `there`: {x, y}; and of `lines`: {name, from, to, dash, stroke}, each from one [x, y] to another, with its name near the
/// end. `x` and `y` name the axes.
function scatterChart({ title, height = 400, points, lines = [], x, y, named: most = 5, ...spec }) {
  const all = points.concat(points.map((point) => point.there).filter(Boolean), lines.flatMap((line) => [line.from, line.to].map(([px, py]) => ({ x: px, y: py }))));
  const range = (of) => {
    const values = all.map(of), low = Math.min(...values), high = Math.max(...values);
    return [low / 1.6, high * 2.5];
  };
  const [left, right] = range((p) => p.x), [bottom, top] = range((p) => p.y), heaviest = Math.max(...points.map((p) => p.weight));
  const place = (width) => {
    const box = { x: SCATTER.left, y: SCATTER.top, w: width - SCATTER.left - SCATTER.right, h: height - SCATTER.top - SCATTER.bottom };
    const along = (n, low, high) => Math.log(n / low) / Math.log(high / low);
    return { box, x: (n) => box.x + box.w * along(n, left, right), y: (n) => box.y + box.h * (1 - along(n, bottom, top)) };
  };
  const radius = (point) => 4 + 9 * Math.sqrt(point.weight / (heaviest || 1));
  let cursor = -1;
  function draw(pen, width) {
    const at = place(width), { box } = at, labels = [];
    const label = (px, py, text, anchor, style) => {
      measure.font = `${style.weight || 400} 11px ${FONT}`;
      const w = measure.measureText(text).width, from = px - { start: 0, middle: w / 2, end: w }[anchor];
      if (from < box.x || from + w > box.x + box.w || labels.some((l) => from < l.to + 4 && from + w > l.from - 4 && Math.abs(py - l.y) < (l.high || 13))) return false;
      labels.push({ from, to: from + w, y: py });
      pen.text(px, py, text, { anchor, ...style });
      return true;
    };
    const named = points.slice(0, most), nameOf = namesOfPlaces(named, (point) => [at.x(point.x), at.y(point.y)]);
    let free = -Infinity;
    for (const t of decades(left, right)) {
      pen.line([[at.x(t), box.y], [at.x(t), box.y + box.h]], { stroke: "line" });
      if (at.x(t) < free) continue;
      pen.text(at.x(t), box.y + box.h + 16, axisText(t), { anchor: "middle" });
      free = at.x(t) + 42;
    }
    for (const t of decades(bottom, top)) {
      pen.line([[box.x, at.y(t)], [box.x + box.w, at.y(t)]], { stroke: "line" });
      pen.text(box.x - 6, at.y(t) + 4, axisText(t), { anchor: "end" });
    }
    pen.text(box.x + box.w / 2, height - 6, x, { anchor: "middle", fill: "ink" });
    pen.text(13, box.y + box.h / 2, y, { anchor: "middle", fill: "ink", turn: true });
    pen.clip(box.x, box.y, box.w, box.h, () => {
      for (const line of lines) {
        pen.line([line.from, line.to].map(([px, py]) => [at.x(px), at.y(py)]), { stroke: line.stroke || "ink", width: line.stroke ? 1.8 : 1.3, dash: line.dash || [] });
        const along = (part) => [0, 1].map((i) => line.from[i] * (line.to[i] / line.from[i]) ** part);
        [1, 0.8, 0.6, 0.4, 0.2].some((part) => {
          const [px, py] = along(part);
          return label(at.x(px) - 6, at.y(py) - 5, line.name, "end", { fill: "ink" });
        });
      }
      const around = (point, shape) => {
        const ring = shape.map(([dx, dy]) => [at.x(point.x) + dx, at.y(point.y) + dy]);
        return [...ring, ring[0]];
      };
      for (const point of points.filter((p) => p.there)) {
        const [x1, y1, x2, y2] = [at.x(point.there.x), at.y(point.there.y), at.x(point.x), at.y(point.y)];
        if (Math.hypot(x2 - x1, y2 - y1) < 2) continue;
        pen.line([[x1, y1], [x2, y2]], { stroke: "soft", width: 1.3 });
        pen.line(around(point.there, SHAPES[point.shape](5)), { fill: "panel", stroke: point.fill, width: 1.8 });
      }
      for (const point of [...points].reverse())
        pen.line(around(point, SHAPES[point.shape](radius(point))), { fill: point.fill, stroke: "panel", width: 1.2, opacity: 0.85 });
      // A name is right of its point, left or above, where no other one is.
      for (const point of named) labels.push({ from: at.x(point.x) - radius(point), to: at.x(point.x) + radius(point), y: at.y(point.y) + 4 });
      for (const line of lines) keepFree(labels, at, box, line);
      for (const [point, name] of nameOf) {
        const px = at.x(point.x), py = at.y(point.y), r = radius(point) + 4.5, style = { fill: "ink", weight: 600 };
        label(px + r, py + 4, name, "start", style) || label(px - r, py + 4, name, "end", style) || label(px, py - r - 5, name, "middle", style) || label(px, py + r + 13, name, "middle", style);
      }
      if (!points[cursor]) return;
      pen.line(around(points[cursor], SHAPES.circle(radius(points[cursor]) + 4)), { stroke: "mark", width: 2 });
    });
  }
  const chart = new Chart({
    title, height, draw, ...spec,
    describe: () => (points[cursor] ? points[cursor].text.replaceAll("\n", "; ") : `${points.length} points. Arrow keys go from one to the next.`),
    at(px, py) {
      const where = place(chart.canvas.clientWidth), distance = (p) => Math.hypot(where.x(p.x) - px, where.y(p.y) - py) - radius(p);
      const near = points.filter((p) => distance(p) < 4).sort((a, b) => distance(a) - distance(b))[0];
      return near && { text: near.text, choose: near.choose };
    },
    keys(event) {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && points[cursor]?.choose) points[cursor].choose();
      else if (!by) return false;
      else {
        cursor = clamp(cursor + by, 0, points.length - 1);
        announce(points[cursor].text.replaceAll("\n", "; "));
        chart.update();
      }
      return true;
    },
  });
  return chart;
}
