// V7: what tiles hold, by category, under the limit; and what is live while each step runs.

function memoryOrder() {
  const tiles = Array.from({ length: run().report.tiles }, (_, tile) => tile), whole = tileTotals();
  return memoryState.sorted ? tiles.sort((a, b) => whole[b] - whole[a] || a - b) : tiles;
}
const memoryState = { sorted: false };
const categoryBytes = () => run().memoryByCategory;
function tileTotals(r = run()) {
  const sums = new Float64Array(r.report.tiles);
  for (const values of r.memoryByCategory) values.forEach((value, tile) => { sums[tile] += value; });
  return sums;
}
const MEMORY = { left: 66, top: 22, bottom: 26 };

/// Layers of categories upon one another, each with a number for each column; narrow columns are one outline, so that their patterns show.
function drawLayers(pen, box, layers, y) {
  const columns = layers[0].length, wide = box.w / columns, x = (c) => box.x + c * wide;
  let below = new Float64Array(columns);
  layers.forEach((values, k) => {
    const above = below.map((sum, c) => sum + values[c]);
    if (wide > 4)
      values.forEach((value, c) => value && pen.rect(x(c), y(above[c]), wide - 0.6, y(below[c]) - y(above[c]), { fill: category(k) }));
    else
      pen.line([above, below].flatMap((edge, i) => {
        const steps = Array.from(edge).flatMap((sum, c) => [[x(c), y(sum)], [x(c + 1), y(sum)]]);
        return i ? steps.reverse() : steps;
      }), { fill: category(k), stroke: null, hatched: true });
    below = above;
  });
}

function drawMemory(pen, width, height) {
  const r = run(), parts = categoryBytes(), order = memoryOrder(), whole = tileTotals(), box = { x: MEMORY.left, y: MEMORY.top, w: width - MEMORY.left - 8, h: height - MEMORY.top - MEMORY.bottom };
  const fullest = whole.reduce((a, b) => Math.max(a, b), 1), most = 1.08 * (memoryState.limit ? Math.max(r.limit, fullest) : fullest), y = (n) => box.y + box.h - (box.h * Math.min(n, most)) / most;
  verticalAxis(pen, { left: box.x, right: box.x + box.w, top: box.y, bottom: box.y + box.h, most, text: bytes });
  const columns = Math.min(order.length, Math.floor(box.w)), shown = Array.from({ length: columns }, (_, c) => {
    const of = order.slice(Math.floor((c * order.length) / columns), Math.floor(((c + 1) * order.length) / columns));
    return of.reduce((most, tile) => (whole[tile] > whole[most] ? tile : most));
  });
  drawLayers(pen, box, parts.map((values) => shown.map((tile) => values[tile])), y);
  if (r.limit <= most)
    for (const [stroke, width] of [["panel", 4], ["mark", 2]]) pen.line([[box.x, y(r.limit)], [box.x + box.w, y(r.limit)]], { stroke, width, dash: stroke === "mark" ? [6, 4] : [] });
  pen.text(box.x + box.w, 14, r.limit <= most ? `dashed: limit ${bytes(r.limit)}; fullest ${bytes(fullest)}` : `fullest ${bytes(fullest)} of ${bytes(r.limit)}`, { anchor: "end", fill: "ink" });
  const chosen = order.indexOf(state.tile);
  pen.line([[box.x + (box.w * (chosen + 0.5)) / order.length, box.y], [box.x + (box.w * (chosen + 0.5)) / order.length, box.y + box.h]], { stroke: "mark" });
  if (!memoryState.sorted) for (const t of ticks(0, order.length - 1, width / 100)) t === Math.round(t) && pen.text(box.x + (box.w * (t + 0.5)) / order.length, height - 8, String(t), { anchor: "middle" });
  else pen.text(box.x + box.w / 2, height - 8, "tiles, the fullest first", { anchor: "middle" });
}

/// Tensors that are live while a step runs: those always, and those needed from before it to behind it. The host's, 0, comes behind all others.
const behindAll = (step) => step || Infinity;
const isLive = ({ always_live, first_step, last_step }, step) =>
  always_live === 1 || (behindAll(first_step) <= behindAll(step) && behindAll(step) <= behindAll(last_step));
/// The step that is chosen, or else the one in which most is live.
function memoryStep() {
  const others = run().table("/memory/liveness").get("not_always_live_bytes");
  return state.step < 0 ? Math.max(0, others.indexOf(others.reduce((a, b) => Math.max(a, b), 0))) : Math.min(state.step, Math.max(0, others.length - 1));
}

function drawLiveness(pen, width, height) {
  const step = memoryStep();
  const table = run().table("/memory/liveness"), always = table.get("always_live_bytes"), others = table.get("not_always_live_bytes"), count = always.length;
  const box = { x: MEMORY.left, y: MEMORY.top, w: width - MEMORY.left - 8, h: height - MEMORY.top - MEMORY.bottom };
  if (!count) return;
  const most = 1.05 * Math.max(...always.map((n, i) => n + others[i])), wide = box.w / count, y = (n) => box.y + box.h - (box.h * n) / (most || 1);
  verticalAxis(pen, { left: box.x, right: box.x + box.w, top: box.y, bottom: box.y + box.h, most, text: bytes });
  drawLayers(pen, box, [Array.from(always), Array.from(others)], y);
  pen.rect(box.x + step * wide, box.y, Math.max(2, wide), box.h, { stroke: "mark", width: 2 });
  for (const t of ticks(0, count - 1, Math.min(count, width / 80))) if (t === Math.round(t)) pen.text(box.x + (t + 0.5) * wide, height - 8, String(t), { anchor: "middle" });
  pen.text(box.x, 14, `step ${step}: ${run().stepName(step)}, ${bytes(always[step] + others[step])} over all tiles`, { fill: "ink" });
}
function variableTable() {
  const { labels } = run();
  const rows = run().table("/program/variable").rows().filter((variable) => isLive(variable, memoryStep())).map((variable) => ({ ...variable, label: labels.get(variable.name) }));
  return new Table({ caption: `Tensors that are live in step ${memoryStep()}, ${run().stepName(memoryStep())}`, label: "Live tensors", sort: "bytes", filter: true, page: 25, rows, columns: [
    { name: "name", title: "Tensor", shorten: true }, ...labelColumn(rows), { name: "type", title: "Type", shorten: true, spare: 2 }, number("bytes", "On all tiles", "B"), number("max_tile_bytes", "Most on a tile", "B", { spare: 1 }), number("tiles", "Tiles", undefined, { spare: 4 }),
    { name: "always_live", title: "Always", spare: 5, text: (v) => (v.always_live ? "yes" : "") }, number("first_step", "First step", undefined, { spare: 3 }), number("last_step", "Last step", undefined, { spare: 3 }),
    { name: "source", title: "Source", shorten: true, spare: 1, value: (v) => (v.source_file ? `${v.source_file}:${v.source_line}` : "") }] });
}

views.push({
  id: "memory", title: "Memory", group: "Program", needs: ["step"], hint: "What each tile holds by category; below, what is live while each step of the program runs. Choose a step for its tensors.",
  make() {
    const categories = run().table("/memory").get("category"), steps = run().table("/memory/liveness").get("always_live_bytes");
    memoryState.limit = run().report.memory.worst_tile_bytes > run().limit / 4;
    this.live = h("div", { class: "panel" }, variableTable().element);
    const toStep = (step) => {
      choose({ step: clamp(step, 0, Math.max(0, steps.length - 1)) });
      announce(`Step ${memoryStep()}, ${run().stepName(memoryStep())}`);
    };
    const check = (text, key) => {
      const box = h("input", { type: "checkbox", on: { change: (event) => { memoryState[key] = event.target.checked; chart.update(); } } });
      box.checked = Boolean(memoryState[key]);
      return h("label", {}, box, text);
    };
    const tileAt = (x) => memoryOrder()[Math.floor(((x - MEMORY.left) / (chart.canvas.clientWidth - MEMORY.left - 8)) * run().report.tiles)];
    const chart = new Chart({
      title: "Memory of tiles", height: 280, draw: drawMemory, tools: [check("Up to the limit", "limit"), check("Fullest first", "sorted")],
      legend: legend(categories.map((name, k) => [name.replaceAll("_", " "), category(k)])),
      describe: () => `Tile ${state.tile} holds ${bytes(tileTotals()[state.tile])} of ${bytes(run().limit)}`,
      keys(event) {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return false;
        choose({ tile: state.tile + by });
        announce(`Tile ${state.tile}, ${bytes(tileTotals()[state.tile])}`);
        return true;
      },
      at(x) {
        const tile = tileAt(x);
        if (tile === undefined) return null;
        return { text: `Tile ${tile}: ${grouped(tileTotals()[tile])} B\n` + categories.map((name, k) => [name, categoryBytes()[k][tile]]).filter(([, n]) => n).map(([name, n]) => `${name.replaceAll("_", " ")} ${grouped(n)}`).join("\n"), choose: () => choose({ tile }) };
      },
      table: () => new Table({ caption: "Bytes of each category on each tile", sort: "whole", rows: Array.from({ length: run().report.tiles }, (_, tile) => tile), chosen: (tile) => tile === state.tile, columns: [
        number("tile", "Tile", undefined, { value: (tile) => tile, text: String, choose: (tile) => choose({ tile }) }), number("whole", "All", "B", { value: (tile) => tileTotals()[tile] }),
        ...categories.map((name, k) => number(name, name.replaceAll("_", " "), "B", { spare: k + 1, value: (tile) => categoryBytes()[k][tile] }))] }),
    });
    const curve = new Chart({
      title: "Live while each step runs", height: 220, draw: drawLiveness, legend: legend([["Always live", category(0)], ["From step to step", category(1)]]),
      describe: () => `Step ${memoryStep()}. Arrow keys move.`,
      keys(event) {
        const to = { ArrowRight: memoryStep() + 1, ArrowLeft: memoryStep() - 1, Home: 0, End: steps.length }[event.key];
        if (to === undefined) return false;
        toStep(to);
        return true;
      },
      at(x) {
        const step = Math.floor(((x - MEMORY.left) / (curve.canvas.clientWidth - MEMORY.left - 8)) * steps.length), table = run().table("/memory/liveness");
        if (step < 0 || step >= steps.length) return null;
        return { text: `Step ${step}: ${run().stepName(step)}\nalways live ${grouped(steps[step])} B, others ${grouped(table.get("not_always_live_bytes")[step])} B\nfullest tile ${table.get("peak_tile")[step]}: ${grouped(table.get("peak_tile_bytes")[step])} B`, choose: () => toStep(step) };
      },
      table: () => new Table({ caption: "Steps in program order", rows: Array.from(steps, (_, step) => step), columns: [
        number("step", "Step", undefined, { value: (step) => step, text: String, choose: toStep }), { name: "name", title: "Name", value: (step) => run().stepName(step) },
        ...[["always_live_bytes", "Always live", "B"], ["not_always_live_bytes", "Others", "B"], ["peak_tile_bytes", "Fullest tile", "B"], ["peak_tile", "Which"]].map(([name, title, unit]) =>
          number(name, title, unit, { value: (step) => run().table("/memory/liveness").get(name)[step] }))] }),
    });
    return [chart.element, curve.element, this.live];
  },
  update() { this.live.replaceChildren(variableTable().element); },
});
