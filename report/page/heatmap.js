// V3: tiles against supersteps. Where several share a pixel the greatest is shown, so that no spike is lost.

const METRICS = {
  compute: ["Compute", "cycles", "compute/cycles"],
  wait: ["Wait for the barrier", "cycles", "compute/wait_cycles"],
  exchange: ["Exchange", "cycles", "exchange/cycles"],
  sent: ["Sent", "B", "exchange/sent_bytes"],
  received: ["Received", "B", "exchange/received_bytes"],
};
const metric = () => METRICS[state.metric] || METRICS.compute;
const HEAT = { left: 52, top: 34, bottom: 22 };
const heat = { most: 1, key: "", image: null };

/// For each of so many columns of pixels what `make` gives of the numbers of its rows of tiles, once for columns with the same ones: programs repeat.
function columnsOfWindow(columns, make) {
  const r = run(), count = state.to - state.from, numbers = Array.from({ length: columns }, () => new Set()), known = new Map();
  for (let s = state.from; s < state.to; ++s) numbers[Math.floor(((s - state.from) * columns) / count)].add(r.profileOf(metric()[2], s));
  return numbers.map((of) => {
    const key = [...of].sort().join();
    if (!known.has(key)) known.set(key, make(of));
    return known.get(key);
  });
}
function heatImage(columns, lines) {
  const key = [state.run, metric()[2], state.from, state.to, columns, lines].join();
  if (heat.key === key) return heat.image;
  const r = run(), tiles = r.usedTiles.length, image = document.createElement("canvas");
  const line = Array.from({ length: tiles }, (_, i) => Math.floor((i * lines) / tiles));
  const greatest = columnsOfWindow(columns, (numbers) => {
    const out = new Float64Array(lines).fill(-1);
    for (const number of numbers) r.tileRow(metric()[2], number)?.forEach((value, i) => { if (value > out[line[i]]) out[line[i]] = value; });
    return out;
  });
  const most = greatest.reduce((a, values) => values.reduce((p, q) => Math.max(p, q), a), 1);
  image.width = columns;
  image.height = lines;
  const context = image.getContext("2d"), data = context.createImageData(columns, lines);
  greatest.forEach((values, c) => values.forEach((value, l) => {
    data.data.set([...(value < 0 ? [200, 200, 205] : scaleColor(value / most)), 255], 4 * (l * columns + c));
  }));
  context.putImageData(data, 0, 0);
  Object.assign(heat, { most, key, image });
  return image;
}
function heatBox(width, height) {
  return { x: HEAT.left, y: HEAT.top, w: width - HEAT.left - 8, h: height - HEAT.top - HEAT.bottom };
}
function drawHeat(pen, width, height) {
  const r = run(), box = heatBox(width, height), count = state.to - state.from, tiles = r.usedTiles.length;
  const columns = Math.min(count, Math.floor(box.w)), lines = Math.min(tiles, Math.floor(box.h));
  pen.image(heatImage(Math.max(1, columns), Math.max(1, lines)), box.x, box.y, box.w, box.h);
  drawScale(pen, width - 8, metric()[0], heat.most, metric()[1]);
  for (const t of ticks(0, tiles - 1, 6)) {
    const i = Math.round(t);
    if (i < tiles) pen.text(box.x - 6, box.y + (box.h * (i + 0.5)) / tiles + 4, String(r.usedTiles[i]), { anchor: "end" });
  }
  pen.text(12, box.y + box.h / 2, "Tile", { anchor: "middle", turn: true });
  for (const t of ticks(state.from, state.to - 1, Math.min(count, width / 90))) {
    if (t !== Math.round(t)) continue;
    pen.text(box.x + (box.w * (t - state.from + 0.5)) / count, height - 6, grouped(t), { anchor: "middle" });
  }
  if (state.superstep >= state.from && state.superstep < state.to) {
    const x = box.x + (box.w * (state.superstep - state.from)) / count;
    pen.rect(x, box.y, Math.max(2, box.w / count), box.h, { stroke: "mark", width: 2 });
  }
  const used = r.tileIndex.get(state.tile);
  if (used !== undefined) {
    const y = box.y + (box.h * (used + 0.5)) / tiles;
    pen.line([[box.x - 4, y], [box.x + box.w, y]], { stroke: "mark", width: 1.2, dash: [5, 3] });
  }
}

/// What one tile does in the supersteps of the window, against the slowest; the greatest of those that share a pixel.
function drawTileRow(pen, width, height) {
  const r = run(), box = heatBox(width, height), count = state.to - state.from, used = r.tileIndex.get(state.tile), [, unit, column] = metric();
  if (used === undefined) return pen.text(box.x, 50, `Tile ${state.tile} has no program.`, { size: 13 });
  const columns = Math.max(1, Math.min(count, Math.floor(box.w))), critical = new Set();
  for (let s = state.from; s < state.to; ++s)
    if (r.value("critical_tile", s) === state.tile) critical.add(Math.floor(((s - state.from) * columns) / count));
  const of = columnsOfWindow(columns, (numbers) => {
    const rows = Array.from(numbers, (number) => r.tileRow(column, number)).filter(Boolean);
    return { own: rows.reduce((a, values) => Math.max(a, values[used]), 0), most: rows.reduce((a, values) => values.reduce((p, q) => Math.max(p, q), a), 0) };
  });
  const own = of.map((c) => c.own), most = of.map((c) => c.most);
  const top = most.reduce((a, b) => Math.max(a, b), 1), y = (n) => box.y + box.h - (box.h * n) / top, w = box.w / columns;
  verticalAxis(pen, { left: box.x, right: box.x + box.w, top: box.y, bottom: box.y + box.h, most: top, text: (n) => short(n), count: 3 });
  pen.text(box.x, 16, `Tile ${state.tile}: ${metric()[0].toLowerCase()} (${unit}); the line is the tile with most`, { fill: "ink", max: box.w });
  own.forEach((n, i) => {
    pen.rect(box.x + i * w, y(n), Math.max(0.8, w - (w > 4 ? 1 : 0)), box.y + box.h - y(n), { fill: critical.has(i) ? "mark" : "compute" });
  });
  pen.line(most.flatMap((n, i) => [[box.x + i * w, y(n)], [box.x + (i + 1) * w, y(n)]]), { stroke: "ink", width: 1.2 });
}

function tileTable() {
  const r = run(), used = r.tileIndex.get(state.tile);
  const cell = (column) => (s) => { const values = used === undefined ? null : r.tiles(column, s); return values ? values[used] : NaN; };
  return new Table({ caption: `Tile ${state.tile} in the supersteps of the window`, rows: () => Array.from({ length: state.to - state.from }, (_, i) => state.from + i),
    chosen: (s) => s === state.superstep, columns: [
      number("superstep", "Superstep", undefined, { value: (s) => s, text: String, choose: (s) => choose({ superstep: s }) }),
      { name: "step", title: "Step", value: (s) => r.stepName(r.value("step", s)) },
      ...Object.values(METRICS).map(([title, unit, column]) => number(title, title, unit.replace(/s$/, ""), { value: cell(column) })),
      { name: "critical", title: "Critical", value: (s) => (r.value("critical_tile", s) === state.tile ? "yes" : "") }] });
}
/// The tiles of a superstep, as numbers.
function tilesTable() {
  const r = run(), s = state.superstep;
  return new Table({ caption: `Tiles in superstep ${s}`, sort: "Compute", rows: Array.from(r.usedTiles, (tile, i) => ({ tile, i })), chosen: (row) => row.tile === state.tile, columns: [
    number("tile", "Tile", undefined, { text: (row) => String(row.tile), choose: (row) => choose({ tile: row.tile }) }),
    ...Object.values(METRICS).map(([title, unit, column]) => number(title, title, unit.replace(/s$/, ""), { value: (row) => r.tiles(column, s)?.[row.i] ?? NaN }))] });
}
function criticalPanel() {
  const r = run(), all = [];
  for (let s = 0; s < r.count; ++s) if (r.value("critical_tile", s) === state.tile) all.push(s);
  return new Table({ caption: `Supersteps of the run in which tile ${state.tile} is critical: ${grouped(all.length)}`, rows: all, page: 15, columns: [
    number("superstep", "Superstep", undefined, { value: (s) => s, text: String, choose: (s) => choose({ superstep: s }) }),
    { name: "step", title: "Step", value: (s) => r.stepName(r.value("step", s)) },
    number("compute", "Compute", "cycle", { value: (s) => r.value("compute_cycles", s) }), number("exchange", "Exchange", "cycle", { value: (s) => r.value("exchange_cycles", s) })] }).element;
}
function tileKeys(event) {
  const r = run(), at = Math.max(0, r.tileIndex.get(state.tile) ?? 0), by = event.shiftKey ? 16 : 1;
  const to = { ArrowDown: at + by, ArrowUp: at - by }[event.key];
  if (to === undefined) return timelineKeys(event);
  choose({ tile: r.usedTiles[clamp(to, 0, r.usedTiles.length - 1)] });
  announce(`Tile ${state.tile}`);
  return true;
}
const withoutTiles = () => tableWhenSuperstep("This trace has no supersteps.") ||
  (run().hasTiles ? null : missing("This view needs what each tile does in each superstep, which this trace does not have."));

views.push({
  id: "heatmap", title: "Tiles × supersteps", group: "Time", needs: ["tile", "metric", "run"],
  hint: "Each column is a superstep of the timeline's window, each row a tile with a program. Choose a place for its tile and superstep. Where several share a pixel the greatest counts; grey are visits to the host, and what is not in the page.",
  make() {
    const without = withoutTiles();
    if (without) return without;
    const chart = new Chart({
      title: "Tiles and supersteps", height: 420, draw: drawHeat, keys: tileKeys, table: tilesTable,
      describe: () => `${metric()[0]} of ${run().usedTiles.length} tiles in supersteps ${state.from} to ${state.to - 1}; tile ${state.tile} and superstep ${state.superstep} are chosen. Arrow keys move.`,
      at(x, y) {
        const r = run(), box = heatBox(chart.canvas.clientWidth, 420);
        if (x < box.x || x >= box.x + box.w || y < box.y || y >= box.y + box.h) return null;
        const s = state.from + Math.floor(((x - box.x) / box.w) * (state.to - state.from)), i = Math.floor(((y - box.y) / box.h) * r.usedTiles.length);
        const values = r.tiles(metric()[2], s);
        return { text: `Tile ${r.usedTiles[i]}, superstep ${s}\n${r.stepName(r.value("step", s))}\n${metric()[0]}: ${values ? `${grouped(values[i])} ${metric()[1]}` : "none, or not in the page"}`,
                 choose: () => choose({ tile: r.usedTiles[i], superstep: s }) };
      },
    });
    const row = new Chart({ title: "The chosen tile", height: 170, draw: drawTileRow, keys: tileKeys, table: tileTable, legend: legend([["Tile", "compute"], ["Critical there", "mark"]]),
      describe: () => `Tile ${state.tile}, ${metric()[0].toLowerCase()}` });
    this.critical = h("div", { class: "panel" }, criticalPanel());
    const controls = stepControls();
    controls.prepend(picker("Show", "metric", Object.entries(METRICS).map(([key, [title]]) => [key, title])));
    return [controls, chart.element, row.element, hasWorkers() && workersChart().element, codeletsPanel(), this.critical];
  },
  update(changed) { if (this.critical && changed.has("tile")) this.critical.replaceChildren(criticalPanel()); },
});
