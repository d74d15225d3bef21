// V2: supersteps along time: phases, the steps in them, and below them the bytes that leave and enter tiles, as in the Oxford BSP toolset.

/// Bytes that leave and enter tiles in a superstep; without rows of tiles, what an exchange writes is what enters.
function traffic(s) {
  const sum = (values) => values.reduce((a, b) => a + b, 0), written = run().value("bytes_sent", s);
  const sent = run().tiles("exchange/sent_bytes", s), received = run().tiles("exchange/received_bytes", s);
  return { out: sent ? sum(sent) : written ? NaN : 0, in: received ? sum(received) : written };
}
const trafficOf = (s) => (run().traffic[run().row[s]] ??= traffic(s));

const axisStart = (r = run()) => (state.device ? r.deviceStart : r.wholeStart);
const shownParts = () => (state.device ? DEVICE_PARTS : PARTS);

function zoomTo(from, to) {
  const count = run().count;
  const width = clamp(Math.round(to - from), 1, count);
  const begin = clamp(Math.round(from), 0, count - width);
  choose({ from: begin, to: begin + width });
}
function zoomBy(factor, around = state.superstep) {
  const width = state.to - state.from, now = factor < 1 ? Math.floor(width * factor) : Math.ceil(width * factor);
  const share = clamp((around - state.from) / width, 0, 1);
  zoomTo(around - share * now, around - share * now + now);
}
function stepTo(superstep) {
  choose({ superstep });
  const s = state.superstep;
  announce(`Superstep ${s}, ${run().stepName(run().value("step", s))}, ${grouped(run().device(s))} device cycles`);
}

/// Goes through supersteps by itself.
const player = {
  timer: null, speed: 4,
  toggle() {
    if (this.timer) return this.stop();
    const tick = () => {
      if (state.superstep + 1 >= run().count) return this.stop();
      choose({ superstep: state.superstep + 1 });
      this.timer = setTimeout(tick, 1000 / this.speed);
    };
    this.timer = setTimeout(tick, 1000 / this.speed);
    this.show();
  },
  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.show();
  },
  show() {
    for (const button of document.querySelectorAll("button.play")) {
      button.textContent = this.timer ? "❚❚ Pause" : "▶ Play";
      button.setAttribute("aria-pressed", this.timer ? "true" : "false");
    }
  },
};

function stepControls() {
  const button = (text, label, click, extra = "") => h("button", { type: "button", class: extra, "aria-label": label, on: { click } }, text);
  const speed = h("input", { type: "range", min: 1, max: 30, value: player.speed, "aria-label": "Supersteps a second",
                             on: { input: (event) => { player.speed = Number(event.target.value); } } });
  return h("div", { class: "controls" },
    h("span", { class: "unit" }, button("|◀", "First superstep", () => stepTo(0)), button("◀ Back", "Superstep before", () => stepTo(state.superstep - 1)),
      button("▶ Play", "Play", () => player.toggle(), "play"), button("Step ▶", "Next superstep", () => stepTo(state.superstep + 1)),
      button("▶|", "Last superstep", () => stepTo(run().count - 1))),
    h("label", {}, "Speed", speed),
    h("span", { class: "unit" }, button("−", "Zoom out", () => zoomBy(2)), button("+", "Zoom in", () => zoomBy(0.5)),
      button("A call", "Show the call of this superstep", showCall), button("All", "Show the whole run", () => zoomTo(0, run().count))));
}
function showCall() {
  const calls = run().table("/supersteps").get("iteration"), call = calls[state.superstep];
  let from = state.superstep, to = state.superstep;
  while (from > 0 && calls[from - 1] === call) --from;
  while (to < run().count && calls[to] === call) ++to;
  zoomTo(from, to);
}

const LANES = { phases: [30, 64], steps: [102, 22], traffic: [150, 120] };

/// Cycle of the axis at a place, and back.
function timeScale(width) {
  const start = axisStart(), low = start[state.from], high = start[state.to], span = high - low || 1, left = 58, right = width - 8;
  return { start, low, high, left, right, x: (cycle) => left + ((right - left) * (cycle - low)) / span,
           cycle: (x) => low + (span * (x - left)) / (right - left) };
}

/// Supersteps of the window, those within one pixel together: `visit(first, last, x, width)`.
function forEachColumn(scale, visit) {
  for (let s = state.from; s < state.to;) {
    if (scale.start[s + 1] === scale.start[s]) {  // a visit to the host, on the device
      ++s;
      continue;
    }
    const x = scale.x(scale.start[s]), pixel = Math.floor(x);
    let last = s + 1;
    while (last < state.to && scale.x(scale.start[last + 1]) < pixel + 1) ++last;
    const end = scale.x(scale.start[last]);
    if (last - s === 1) visit(s, last, x, end - x);
    else visit(s, last, pixel, 1);
    s = last;
  }
}

function drawTimeline(pen, width, height) {
  const scale = timeScale(width), r = run();
  const [top, tall] = LANES.phases;
  pen.text(scale.left - 6, 14, "Cycles", { anchor: "end" });
  for (const t of ticks(scale.low, scale.high, width / 110)) {
    const x = scale.x(t);
    if (x < scale.left - 0.5 || x > scale.right + 0.5) continue;
    pen.line([[x, 20], [x, height - 8]], { stroke: "line" });
    pen.text(x, 14, grouped(t), { anchor: x > width - 40 ? "end" : "middle" });
  }
  const [trafficTop, trafficTall] = LANES.traffic, middle = trafficTop + trafficTall / 2;
  let most = 1;
  for (let s = state.from; s < state.to; ++s) {
    const moved = trafficOf(s);
    most = Math.max(most, moved.in, moved.out || 0);
  }
  pen.text(scale.left - 6, top + tall / 2 + 4, "Phases", { anchor: "end" });
  pen.text(scale.left - 6, LANES.steps[0] + 15, "Steps", { anchor: "end" });
  for (const [y, text, fill] of [[trafficTop + 8, bytes(most)], [middle - 26, "Out", "ink"], [middle + 4, "0"], [middle + 34, "In", "ink"], [trafficTop + trafficTall, bytes(most)]])
    pen.text(scale.left - 6, y, text, { anchor: "end", fill, max: scale.left - 6 });
  pen.clip(scale.left, 0, scale.right - scale.left + 1, height, () => {
    forEachColumn(scale, (first, last, x, w) => {
      const cycles = shownParts().map((part) => {
        let sum = 0;
        for (let s = first; s < last; ++s) sum += r.value(`${part}_cycles`, s);
        return sum;
      });
      const whole = cycles.reduce((a, b) => a + b, 0) || 1;
      let at = x;
      let outMost = 0, inMost = 0;
      for (let s = first; s < last; ++s) {
        outMost = Math.max(outMost, trafficOf(s).out || 0);
        inMost = Math.max(inMost, trafficOf(s).in);
      }
      if (last - first === 1) {
        cycles.forEach((part, i) => {
          pen.rect(at, top, (w * part) / whole, tall, { fill: shownParts()[i] });
          at += (w * part) / whole;
        });
        if (w > 12) pen.line([[x, top - 4], [x, top + tall + 4]], { stroke: "ink" });
      } else {
        let y = top;
        cycles.forEach((part, i) => {
          pen.rect(x, y, Math.max(w, 1), (tall * part) / whole, { fill: shownParts()[i] });
          y += (tall * part) / whole;
        });
      }
      const room = trafficTall / 2 - 2, gap = w > 3 ? 1 : 0;
      pen.rect(x, middle - (room * outMost) / most, Math.max(w - gap, 1), (room * outMost) / most, { fill: "out" });
      pen.rect(x, middle, Math.max(w - gap, 1), (room * inMost) / most, { fill: "in" });
      if (last - first === 1 && w > 6) drawSteps(pen, first, x, w);
    });
    pen.line([[scale.left, middle], [scale.right, middle]], { stroke: "strong" });
    if (state.superstep >= state.from && state.superstep < state.to) {
      const x = scale.x(scale.start[state.superstep]), w = Math.max(2, scale.x(scale.start[state.superstep + 1]) - x);
      pen.rect(x, 20, w, height - 28, { stroke: "mark", width: 2 });
    }
  });
}
/// The steps of a superstep by their share of its compute cycles, behind its exchange.
function drawSteps(pen, s, x, w) {
  const r = run(), [top, tall] = LANES.steps;
  const whole = shownParts().reduce((sum, part) => sum + r.value(`${part}_cycles`, s), 0) || 1;
  let at = x + (w * r.value("exchange_cycles", s)) / whole;
  for (const launch of r.launches(s)) {
    const wide = (w * launch.cycles) / whole;
    pen.rect(at, top, wide, tall, { fill: "accent-soft", stroke: "strong", width: 0.5 });
    pen.text(at + 4, top + 15, r.stepName(launch.step), { fill: "ink", max: wide - 6 });
    at += wide;
  }
  if (!state.device && r.value("host_cycles", s) && w > 30) pen.text(x + 4, top + 15, "host", { fill: "ink", max: w - 6 });
}

/// The superstep under a place of the timeline.
function superstepAt(x, width) {
  const scale = timeScale(width);
  if (x < scale.left || x > scale.right) return null;
  return clamp(floorIndex(scale.start, scale.cycle(x)), state.from, state.to - 1);
}
function superstepText(s) {
  const r = run(), moved = trafficOf(s);
  return `Superstep ${s}: ${r.stepName(r.value("step", s))}\n` +
    PARTS.map((part) => `${part} ${grouped(r.value(`${part}_cycles`, s))}`).join(", ") + " cycles\n" +
    `out ${Number.isNaN(moved.out) ? "unknown" : bytes(moved.out)}, in ${bytes(moved.in)}, most of a tile (h) ${bytes(r.value("h_bytes", s))}\n` +
    `critical tile ${r.value("critical_tile", s)}`;
}

/// All supersteps of a run in a lane, those that share a pixel by their sums.
function drawRun(pen, r, { left, width, top, tall }) {
  const start = axisStart(r), span = start[r.count] || 1, x = (cycle) => (width * cycle) / span;
  const columns = Math.max(1, Math.floor(width));
  let s = 0;
  for (let column = 0; column < columns && s < r.count; ++column) {
    const sums = shownParts().map(() => 0);
    do {
      shownParts().forEach((part, i) => { sums[i] += r.value(`${part}_cycles`, s); });
      ++s;
    } while (s < r.count && x(start[s]) < column + 1);
    const whole = sums.reduce((a, b) => a + b, 0) || 1;
    let y = top;
    const next = Math.min(columns, Math.max(column + 1, Math.ceil(x(start[s]))));
    sums.forEach((sum, i) => {
      pen.rect(left + column, y, next - column, (tall * sum) / whole, { fill: fillOf(shownParts()[i]).color });
      y += (tall * sum) / whole;
    });
    column = next - 1;
  }
}
function drawOverview(pen, width, height) {
  const start = axisStart(), x = (cycle) => (width * cycle) / (start[run().count] || 1);
  drawRun(pen, run(), { left: 0, width, top: 4, tall: height - 8 });
  const left = x(start[state.from]), right = x(start[state.to]);
  pen.rect(0, 4, left, height - 8, { fill: "ground", opacity: 0.75 });
  pen.rect(right, 4, width - right, height - 8, { fill: "ground", opacity: 0.75 });
  pen.rect(left + 1, 3, Math.max(4, right - left - 2), height - 6, { stroke: "accent", width: 2 });
}

function superstepTable() {
  const r = run(), number = (name, title, unit, column = name) =>
    ({ name, title, unit, number: true, value: (s) => r.value(column, s), meaning: r.meaning(`/supersteps/${column}`) });
  return new Table({
    caption: "Supersteps of the window", rows: () => Array.from({ length: state.to - state.from }, (_, i) => state.from + i),
    chosen: (s) => s === state.superstep,
    columns: [
      { name: "superstep", title: "Superstep", number: true, value: (s) => s, text: String, choose: (s) => choose({ superstep: s }) },
      { name: "call", title: "Call", number: true, value: (s) => r.of("iteration", s) },
      { name: "step", title: "Step", value: (s) => r.stepName(r.value("step", s)) },
      { name: "start", title: "Start", unit: "cycle", number: true, value: (s) => r.start[s] },
      number("exchange_cycles", "Exchange", "cycle"), number("compute_cycles", "Compute", "cycle"), number("sync_cycles", "Sync", "cycle"),
      number("host_cycles", "Host", "cycle"), number("h_bytes", "h", "B"), number("bytes_sent", "Written", "B"), number("messages", "Messages"),
      number("active_tiles", "Active tiles"), number("critical_tile", "Critical tile"), number("flops", "FLOP"), number("live_bytes", "Live", "B"),
    ],
  });
}

const tableWhenSuperstep = (needs) => (run().count ? null : h("div", { class: "panel missing" }, h("p", {}, needs),
  h("p", {}, "Write them with ", h("code", {}, "superstep run … --trace superstep -o run.h5"), ".")));

function timelineKeys(event) {
  const keys = { ArrowRight: () => stepTo(state.superstep + (event.shiftKey ? 10 : 1)), ArrowLeft: () => stepTo(state.superstep - (event.shiftKey ? 10 : 1)),
                 Home: () => stepTo(0), End: () => stepTo(run().count - 1), "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2),
                 " ": () => player.toggle(), c: showCall };
  if (!keys[event.key]) return false;
  keys[event.key]();
  return true;
}

views.push({
  id: "timeline", title: "BSP timeline", group: "Time", needs: ["superstep", "from", "to", "device"],
  hint: "Supersteps along time, in cycles from the first; device time leaves out the host. Out and in are the bytes that leave and enter all tiles in the exchange of each superstep. Drag to move, Ctrl or Shift and wheel to zoom.",
  make() {
    const without = tableWhenSuperstep("This trace has no supersteps.");
    if (without) return without;
    let began = null;
    const device = h("input", { type: "checkbox", on: { change: (event) => choose({ device: event.target.checked ? 1 : 0 }) } });
    device.checked = Boolean(state.device);
    const chart = new Chart({
      title: "Phases and traffic", height: 282, draw: drawTimeline, table: superstepTable, keys: timelineKeys,
      tools: [h("label", {}, device, "Device time only")],
      legend: legend([...PHASE_LEGEND, ["Bytes out", "out"], ["Bytes in", "in"]]),
      describe: () => `Supersteps ${state.from} to ${state.to - 1}; ${superstepText(state.superstep).replaceAll("\n", "; ")}. Arrow keys step.`,
      at(x) {
        const s = superstepAt(x, chart.canvas.clientWidth);
        return s === null ? null : { text: superstepText(s), choose: () => stepTo(s) };
      },
      grab() { began = { from: state.from, to: state.to, scale: timeScale(chart.canvas.clientWidth) }; },
      drag(begin, now) {
        const { scale, from, to } = began, cycle = scale.low - (scale.cycle(now[0]) - scale.cycle(begin[0]));
        const first = cycle <= 0 ? 0 : floorIndex(scale.start, cycle);
        zoomTo(first, first + to - from);
      },
      wheel(delta, x, width) {
        const s = superstepAt(x, width);
        if (s !== null) zoomBy(delta > 0 ? 1.25 : 0.8, s);
      },
    });
    const overview = new Chart({
      title: "The whole run", height: 44, draw: drawOverview, keys: timelineKeys, describe: () => `The window has supersteps ${state.from} to ${state.to - 1}.`,
      at(x) {
        const s = clamp(floorIndex(axisStart(), (axisStart()[run().count] * x) / overview.canvas.clientWidth), 0, run().count - 1);
        return { text: `Superstep ${s}`, choose: () => stepTo(s) };
      },
      drag([from], [to], width) {
        const of = (x) => clamp(floorIndex(axisStart(), (axisStart()[run().count] * clamp(x, 0, width)) / width), 0, run().count - 1);
        zoomTo(Math.min(of(from), of(to)), Math.max(of(from), of(to)) + 1);
      },
    });
    this.charts = [chart, overview];
    this.device = device;
    return [stepControls(), chart.element, overview.element, !run().hasTiles && h("p", { class: "note" },
      "What leaves each tile is not in a trace of this level; in is what exchanges write. --trace tile has both.")];
  },
  update() { this.device && (this.device.checked = Boolean(state.device)); },
});
