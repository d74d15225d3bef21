// A figure that draws itself with a pen: on the screen, in print, and as a file; with what is under the pointer, keys, and a table.

const charts = new Set();

class Chart {
  /// `spec`: title, height (a number, or of the width), draw(pen, width, height, mark), and where it has them: at(x, y) gives
  /// {text, choose} under a place, keys(event) answers whether it took a key, drag(begin, now, size), wheel(event, x, width),
  /// table() a Table, legend, tools, describe() a sentence for those who do not see it.
  constructor(spec) {
    this.spec = spec;
    // Keys of an image would be those of the screen reader.
    const role = spec.keys ? { role: "application", "aria-roledescription": "chart", tabindex: 0 } : { role: "img" };
    this.canvas = h("canvas", { ...role, class: spec.at ? "grabs" : "", "aria-label": spec.title });
    this.tip = h("div", { class: "tip", hidden: true });
    this.print = h("div", { class: "drawing" });
    this.element = h("figure", { class: "panel chart" },
      h("figcaption", {}, h("h3", {}, spec.title),
        h("div", { class: "tools" }, spec.tools || [], this.saveButton("SVG", () => this.svg()), this.saveButton("PNG", () => this.png()))),
      h("div", { class: "canvas" }, this.canvas, this.tip), this.print, spec.legend || [], this.alternative());
    this.listen();
    new ResizeObserver(() => this.update()).observe(this.canvas);
    charts.add(this);
  }
  saveButton(kind, make) {
    return h("button", { class: "quiet", type: "button", "aria-label": `Save ${this.spec.title} as ${kind}`, on: { click: make } }, kind);
  }
  alternative() {
    if (!this.spec.table) return [];
    const place = h("div"), details = h("details", { class: "alternative" }, h("summary", {}, "The same as a table"), place);
    this.refreshTable = () => {
      if (!details.open) return;
      replaceWithin(place, this.spec.table().element);
    };
    details.addEventListener("toggle", this.refreshTable);
    return details;
  }
  height(width) { return typeof this.spec.height === "function" ? this.spec.height(width) : this.spec.height; }
  /// Draws in the next frame, if it is seen.
  update() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const width = this.canvas.clientWidth;
      if (!width) return;
      const height = this.height(width);
      this.canvas.style.height = `${height}px`;
      this.spec.draw(new CanvasPen(this.canvas, width, height), width, height, true);
      if (this.spec.describe) this.canvas.setAttribute("aria-label", `${this.spec.title}. ${this.spec.describe()}`);
    });
  }
  /// As an SVG document of so many pixels.
  drawing(width = this.canvas.clientWidth || 1000) {
    const height = this.height(width), pen = new SvgPen(width, height);
    this.spec.draw(pen, width, height, false);
    pen.root.setAttribute("aria-label", this.spec.title);
    return pen.root;
  }
  fileName(kind) { return this.spec.title.toLowerCase().replace(/[^a-z0-9]+/g, "-") + "." + kind; }
  svg() { download(this.fileName("svg"), new Blob([new XMLSerializer().serializeToString(this.drawing())], { type: "image/svg+xml" })); }
  png() {
    const copy = document.createElement("canvas"), width = this.canvas.clientWidth, height = this.height(width);
    const pen = new CanvasPen(copy, width, height);
    pen.rect(0, 0, width, height, { fill: "panel" });
    this.spec.draw(pen, width, height, false);
    copy.toBlob((blob) => download(this.fileName("png"), blob));
  }
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  listen() {
    const { spec, canvas } = this;
    let begin = null, dragged = false;
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      if (begin && spec.drag && (dragged || Math.abs(x - begin[0]) > 4)) {
        dragged = true;
        this.tip.hidden = true;
        spec.drag(begin, [x, y], canvas.clientWidth);
        return;
      }
      this.showTip(spec.at && spec.at(x, y), x, y);
    });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("pointerdown", (event) => {
      begin = this.place(event);
      dragged = false;
      canvas.setPointerCapture(event.pointerId);
      if (spec.grab) spec.grab(begin);
    });
    canvas.addEventListener("pointerup", (event) => {
      const [x, y] = this.place(event);
      begin = null;
      const found = !dragged && spec.at && spec.at(x, y);
      if (found && found.choose) found.choose();
    });
    if (spec.wheel)
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey && document.activeElement !== canvas) return;
        event.preventDefault();
        spec.wheel(event.deltaY || event.deltaX, this.place(event)[0], canvas.clientWidth);
      }, { passive: false });
    if (spec.keys)
      canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !spec.keys(event)) return;
        event.preventDefault();
        event.stopPropagation();
      });
  }
  showTip(found, x, y) {
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = found.text.split("\n").map(brief).join("\n");
    const right = x > this.canvas.clientWidth / 2;
    this.tip.style.left = right ? "auto" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.canvas.clientWidth - x + 14}px` : "auto";
    this.tip.style.top = `${y + 12}px`;
  }
}

/// Print has every view, in black on white, as drawings.
function listenToPrinter() {
  const draw = () => {
    palette.known = new Map(Object.entries(PRINT_COLORS));
    for (const chart of charts) chart.print.replaceChildren(chart.drawing(720));
    palette.forget();
  };
  window.addEventListener("beforeprint", draw);
  window.addEventListener("afterprint", () => { for (const chart of charts) chart.print.replaceChildren(); });
}
const PRINT_COLORS = { ink: "#000", soft: "#444", line: "#ccc", strong: "#999", panel: "#fff", ground: "#fff", accent: "#1255cc", compute: "#0072b2",
                       exchange: "#e69f00", sync: "#cc79a7", host: "#009e73", mark: "#d1362f", out: "#56a0d8", in: "#7a5195", "accent-soft": "#eef3ff", good: "#00704f", bad: "#a8320a" };

/// A round number without its zeros: 40 KiB, not 40.0.
const rounded = (text) => text.replace(/\.0+ /, " ");

/// Round numbers on a vertical axis from 0 to `most`, with lines from `left` to `right`.
function verticalAxis(pen, { left, right, top, bottom, most, text, count = 4 }) {
  const unit = text === bytes ? 1024 ** Math.floor(Math.log(Math.max(1, most)) / Math.log(1024)) : 1;
  for (const t of ticks(0, most / unit, count).map((n) => n * unit)) {
    const y = bottom - ((bottom - top) * t) / (most || 1);
    pen.line([[left, y], [right, y]], { stroke: "line" });
    pen.text(left - 6, y + 4, rounded(text(t)), { anchor: "end" });
  }
}

/// A bar of 22 pixels with its name, where there is room for it; on a panel where the fill is a strong one.
function drawLabelled(pen, x, y, width, name, fill, opacity = 1) {
  pen.rect(x, y, Math.max(0.6, width - 1), 22, { fill, opacity });
  if (width <= 34) return;
  const text = fitted(name, width - 12, 11.5, 400);
  if (text && PATTERNS[fill]) {
    measure.font = `11.5px ${FONT}`;
    pen.rect(x + 3, y + 3, measure.measureText(text).width + 6, 16, { fill: "panel", opacity: 0.88 });
  }
  pen.text(x + 6, y + 15, text, { fill: "ink", size: 11.5 });
}

/// The scale of a metric from 0 to `most`, at the top.
function drawScale(pen, right, name, most, unit) {
  for (let i = 0; i < 80; ++i) pen.rect(right - 160 + 2 * i, 4, 2.4, 10, { fill: scaleCss(i / 79) });
  pen.text(right - 168, 13, `${name}, 0`, { anchor: "end" });
  pen.text(right, 27, `${grouped(most)} ${unit}`, { anchor: "end", fill: "ink" });
}
