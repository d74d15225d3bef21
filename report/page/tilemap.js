// V4: the chip as it lies: each tile at its row and column, lanes side by side.

const MAPS = {
  memory: ["Most memory in use", "B", null], compute: ["Compute of the run", "cycles", "compute/cycles"], received: ["Received in the run", "B", "exchange/received_bytes"],
  sent: ["Sent in the run", "B", "exchange/sent_bytes"], wait: ["Wait in the run", "cycles", "compute/wait_cycles"],
  "step-compute": ["Compute in the superstep", "cycles", "compute/cycles"], "step-received": ["Received in the superstep", "B", "exchange/received_bytes"],
  "step-sent": ["Sent in the superstep", "B", "exchange/sent_bytes"], "step-wait": ["Wait in the superstep", "cycles", "compute/wait_cycles"],
};
const map = () => MAPS[state.map] || MAPS.memory;
const sumsOfTiles = new Map();
/// Whether the map is of the difference to the other run; supersteps of two runs are no pairs.
const isMoved = () => runs.length > 1 && state.moved === 1 && !state.map.startsWith("step-");

/// A number for each tile of the chip; NaN where there is none.
function mapValues(r = run()) {
  const [, , column] = map(), key = `${r.label} ${column}`;
  if (!column) return Float64Array.from(r.table("/memory").get("max_live_bytes"));
  const spread = (values) => {
    const out = new Float64Array(r.report.tiles).fill(NaN);
    if (values) r.usedTiles.forEach((tile, i) => { out[tile] = values[i]; });
    return out;
  };
  if (state.map.startsWith("step-")) return spread(r.tiles(column, state.superstep));
  if (!sumsOfTiles.has(key)) {
    const sums = new Float64Array(r.usedTiles.length), times = new Map();
    for (let s = 0; s < r.count; ++s) times.set(r.row[s], [(times.get(r.row[s]) || [0])[0] + 1, s]);
    for (const [count, s] of times.values()) r.tiles(column, s)?.forEach((value, i) => { sums[i] += count * value; });
    sumsOfTiles.set(key, spread(sums));
  }
  return sumsOfTiles.get(key);
}
/// The difference of each tile to the other run, where one of the two has it.
function movedValues() {
  const here = mapValues(), there = mapValues(other());
  return here.map((value, tile) => (Number.isNaN(value) && !(there[tile] >= 0) ? NaN : (value || 0) - (there[tile] || 0)));
}
/// More with a +, less with a −, where there is room for it.
const MOVED = { more: "bad", less: "accent" };
function drawMoved(pen, x, y, width, height, share) {
  pen.rect(x, y, width, height, { fill: "line", opacity: 0.6 });
  if (!share) return;
  pen.rect(x, y, width, height, { fill: share > 0 ? MOVED.more : MOVED.less, opacity: 0.2 + 0.8 * Math.abs(share) });
}
/// The scale of differences, from the most less to the most more.
function drawMovedScale(pen, right, name, most, unit) {
  for (let i = 0; i < 40; ++i) drawMoved(pen, right - 160 + 4 * i, 4, 4, 10, (i - 19.5) / 19.5);
  pen.text(right - 168, 13, name, { anchor: "end" });
  const text = unit === "B" ? bytes(most) : short(most);
  pen.text(right - 160, 27, `−${text}`, { fill: "ink" });
  pen.text(right, 27, `+${text}${unit === "B" ? "" : ` ${unit}`}`, { anchor: "end", fill: "ink" });
}
function mapLayout(width) {
  const place = run().table("/machine"), most = (name) => place.get(name).reduce((a, b) => Math.max(a, b), 0) + 1;
  const rows = most("row"), columns = most("column"), lanes = most("lane");
  const cell = Math.max(3, Math.min(46, (width - 60 - 4 * columns) / (columns * lanes))), tall = Math.max(12, Math.min(46, cell * 1.25));
  return { rows, columns, lanes, cell, tall, height: 46 + rows * tall + 24, place,
           x: (tile) => 34 + place.get("column")[tile] * (lanes * cell + 4) + place.get("lane")[tile] * cell, y: (tile) => 40 + place.get("row")[tile] * tall };
}
function mapText(tile) {
  const value = mapValues()[tile];
  return `${map()[0]}: ${Number.isNaN(value) ? "none" : `${grouped(value)} ${map()[1]}`}` +
    (isMoved() && !Number.isNaN(movedValues()[tile]) ? `, ${signed(movedValues()[tile])} to run ${other().label}` : "");
}
function drawMap(pen, width) {
  const layout = mapLayout(width), moves = isMoved(), values = moves ? movedValues() : mapValues(), tiles = run().report.tiles;
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b) || 0), 1);
  if (moves) drawMovedScale(pen, width - 8, fitted(`Δ to run ${other().label}: ${map()[0].toLowerCase()}`, width - 184, 11, 400), most, map()[1]);
  else drawScale(pen, width - 8, map()[0], most, map()[1]);
  for (let tile = 0; tile < tiles; ++tile) {
    const x = layout.x(tile), y = layout.y(tile), value = values[tile];
    if (Number.isNaN(value)) pen.rect(x + 0.5, y + 0.5, layout.cell - 1.5, layout.tall - 1.5, { stroke: "line" });
    else if (moves) drawMoved(pen, x, y, layout.cell - 0.7, layout.tall - 0.7, value / most);
    else pen.rect(x, y, layout.cell - 0.7, layout.tall - 0.7, { fill: scaleCss(value / most) });
    const strong = Math.abs(value) / most > 0.5, ink = Number.isNaN(value) ? "soft" : moves ? (strong ? "panel" : "ink") : strong ? "#000" : "#fff", hasNumber = layout.cell > 28;
    if (hasNumber) pen.text(x + layout.cell / 2, y + layout.tall / 2 + 4, String(tile), { anchor: "middle", fill: ink });
    if (moves && value && layout.cell > 14) pen.text(x + layout.cell - (hasNumber ? 7 : layout.cell / 2), y + (hasNumber ? 12 : layout.tall / 2 + 4), value > 0 ? "+" : "−", { anchor: "middle", fill: ink });
  }
  for (let row = 0; row < layout.rows; row += layout.rows > 12 ? 4 : 1) pen.text(28, 40 + row * layout.tall + layout.tall / 2 + 4, String(row), { anchor: "end" });
  for (let column = 0; column < layout.columns; ++column)
    pen.text(34 + column * (layout.lanes * layout.cell + 4) + (layout.lanes * layout.cell) / 2, 54 + layout.rows * layout.tall, String(column), { anchor: "middle" });
  pen.rect(layout.x(state.tile) - 1.5, layout.y(state.tile) - 1.5, layout.cell + 2, layout.tall + 2, { stroke: "mark", width: 2 });
}
function mapTable() {
  const place = run().table("/machine"), values = mapValues(), moves = isMoved() && movedValues(), style = (row) => verdict(row.moved, 1);
  return new Table({ caption: "Tiles of the chip", sort: "value", rows: Array.from(values, (value, tile) => ({ tile, value, moved: moves ? moves[tile] : NaN })), chosen: (row) => row.tile === state.tile, columns: [
    number("tile", "Tile", undefined, { text: (row) => String(row.tile), choose: (row) => choose({ tile: row.tile }) }),
    ...["row", "column", "lane"].map((name) => number(name, name[0].toUpperCase() + name.slice(1), undefined, { spare: 1, value: (row) => place.get(name)[row.tile] })),
    number("value", map()[0], map()[1].replace(/s$/, "")),
    ...(moves ? [number("moved", `Δ to ${other().label}`, map()[1].replace(/s$/, ""), { style, text: (row) => (Number.isNaN(row.moved) ? "–" : MARKS[style(row)] + signed(row.moved)) })] : [])] });
}

views.push({
  id: "tiles", title: "Tile map", group: "Time", needs: ["map", "moved"],
  hint: "The chip as it lies: rows from top to bottom, columns from left to right, the lanes of a column side by side. Play goes through supersteps.",
  make() {
    const options = Object.entries(MAPS).filter(([key]) => key === "memory" || run().hasTiles).map(([key, [title]]) => [key, title]);
    if (!run().hasTiles) state.map = "memory";
    const move = (event) => {
      const by = { ArrowUp: ["y", -1], ArrowDown: ["y", 1], ArrowLeft: ["x", -1], ArrowRight: ["x", 1] }[event.key];
      if (!by || event.shiftKey) return run().count > 0 && timelineKeys(event);
      const [along, sign] = by, across = along === "x" ? "y" : "x", layout = mapLayout(chart.canvas.clientWidth), here = layout[along](state.tile);
      const ahead = Array.from({ length: run().report.tiles }, (_, tile) => tile)
        .filter((tile) => layout[across](tile) === layout[across](state.tile) && sign * (layout[along](tile) - here) > 0)
        .sort((p, q) => sign * (layout[along](p) - layout[along](q)));
      if (ahead.length) choose({ tile: ahead[0] });
      announce(`Tile ${state.tile}. ${mapText(state.tile)}`);
      return true;
    };
    const chart = new Chart({
      title: "The chip", height: (width) => mapLayout(width).height, draw: drawMap, table: mapTable, keys: move,
      describe: () => `${map()[0]}; tile ${state.tile}: ${mapText(state.tile)}`,
      at(x, y) {
        const layout = mapLayout(chart.canvas.clientWidth);
        for (let tile = 0; tile < run().report.tiles; ++tile)
          if (x >= layout.x(tile) && x < layout.x(tile) + layout.cell && y >= layout.y(tile) && y < layout.y(tile) + layout.tall)
            return { text: `Tile ${tile}: row ${layout.place.get("row")[tile]}, column ${layout.place.get("column")[tile]}, lane ${layout.place.get("lane")[tile]}\n${mapText(tile)}`, choose: () => choose({ tile }) };
        return null;
      },
    });
    const controls = run().count ? stepControls() : h("div", { class: "controls" });
    if (runs.length > 1) {
      const box = h("input", { type: "checkbox", on: { change: () => choose({ moved: box.checked ? 1 : 0 }) } });
      box.checked = state.moved === 1;
      controls.prepend(h("label", {}, box, `Difference to run ${other().label}`));
    }
    controls.prepend(picker("Show", "map", options));
    this.note = h("p", { class: "note" });
    this.update();
    return [controls, chart.element, this.note, run().hasTiles ? null : missing("What tiles do in supersteps is not in this trace.")];
  },
  /// What a map of two runs does not say.
  update() {
    const cut = runs.filter((r) => r.count < r.doc.supersteps_in_trace).map((r) => `${grouped(r.count)} of ${grouped(r.doc.supersteps_in_trace)} supersteps of run ${r.label}`);
    const text = state.moved !== 1 || runs.length < 2 ? "" : !isMoved() ? "Supersteps of two runs are no pairs: differences are those of memory and of sums of the run."
      : `Tiles of one number are compared; one that has no program in a run counts as 0 there.${cut.length && map()[2] ? ` The page has ${cut.join(" and ")}.` : ""}`;
    this.note.textContent = text;
    this.note.hidden = !text;
  },
});
