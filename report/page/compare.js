// V10: two runs, the first before and the second after: what moved, by how much, and whether it got worse.

/// Rows of both runs: {name, was, a, b}, where one of the two may be missing; `before` is the name in A of a row of B, and `was` that where it is another.
function paired(listA, listB, before) {
  const left = new Map(listA.map((row) => [row.name, row]));
  const rows = listB.map((b) => {
    const a = left.get(before(b.name));
    if (a) left.delete(a.name);
    return { name: b.name, was: a && a.name !== b.name ? a.name : "", a, b };
  });
  return [...rows, ...Array.from(left.values(), (a) => ({ name: a.name, was: "", a }))];
}
const moved = (row, value) => (row.b ? value(row.b) : 0) - (row.a ? value(row.a) : 0);
const onlyIn = (row) => (row.a && row.b ? "" : row.absent || `only ${row.a ? "A" : "B"}`);

/// Columns of both runs, of what moved and by how much of what it was; more is worse.
function pairColumns(title, unit, value) {
  const of = (side) => ({ value: (row) => (row[side] ? value(row[side]) : NaN) });
  const by = (row) => moved(row, value), style = (row) => verdict(by(row), 1);
  const relative = (row) => (row.a && row.b && value(row.a) ? (100 * by(row)) / value(row.a) : NaN);
  return [number("a", `${title} A`, unit, { ...of("a"), spare: 2 }), number("b", `${title} B`, unit, { ...of("b"), spare: 1 }),
          number("moved", "B − A", unit, { value: by, style, text: (row) => MARKS[style(row)] + signed(by(row)) }),
          number("relative", "B − A", "%", { value: relative, style,
            text: (row) => (Number.isNaN(relative(row)) ? onlyIn(row) || "–" : relativeText(relative(row))) })];
}
function movedColumn(title, unit, value, extra) {
  const by = (row) => moved(row, value);
  return number(title, `Δ ${title}`, unit, { ...extra, value: by, text: (row) => (by(row) ? signed(by(row)) : ""), style: (row) => verdict(by(row), 1) });
}

function totalsTable() {
  const rows = TOTALS.map(([name, value, text, worse]) => ({ name, text, worse, a: value(runs[0].report, runs[0]), b: value(runs[1].report, runs[1]) }));
  const sign = (row) => verdict(row.b - row.a, row.worse);
  return new Table({ caption: "Of all supersteps", label: "Totals of both runs", rows, columns: [
    { name: "name", title: "Total" }, number("a", "A", undefined, { spare: 2, text: (row) => row.text(row.a) }), number("b", "B", undefined, { spare: 1, text: (row) => row.text(row.b) }),
    number("moved", "B − A", undefined, { spare: 3, value: (row) => row.b - row.a, text: (row) => (row.b === row.a ? "±0" : signedText(row.b - row.a, row.text).replace(" %", " points")), style: sign }),
    number("relative", "B − A", "%", { value: (row) => (100 * (row.b - row.a)) / row.a, text: (row) => change(row.a, row.b), style: sign }),
    { name: "verdict", title: "Verdict", value: (row) => (row.worse ? MARKS[sign(row)] + (sign(row) || "same") : ""), style: sign }] });
}
/// What moved most among pairs, as bars to both sides: worse with a triangle, better with a circle, hollow where only one run has it.
function movesChart(title, pairs, value, unit) {
  const rows = pairs.filter((row) => moved(row, value)).sort((p, q) => Math.abs(moved(q, value)) - Math.abs(moved(p, value))).slice(0, 12);
  const most = Math.max(1, ...rows.map((row) => Math.abs(moved(row, value)))), beside = rows.some(onlyIn) ? 112 : 76, narrow = 500;  // texts are above the bars
  return new Chart({
    title, height: (width) => 20 + (width < narrow ? 40 : 24) * Math.max(1, rows.length),
    describe: () => rows.slice(0, 3).map((row) => `${row.name} ${signed(moved(row, value))} ${unit}${onlyIn(row) && `, ${onlyIn(row)}`}`).join("; ") || "nothing moved",
    legend: legend([["Worse in B", "bad", "triangle"], ["Better in B", "good", "circle"]]),
    draw(pen, width) {
      const above = width < narrow, names = above ? 0 : Math.min(190, width * 0.32), room = (width - names) / 2 - (above ? 18 : beside), middle = names + (width - names) / 2;
      if (!rows.length) pen.text(0, 20, "Nothing moved.", { size: 13 });
      rows.forEach((row, i) => {
        const by = moved(row, value), y = 10 + (above ? 40 : 24) * i, bar = above ? y + 19 : y + 3, said = signed(by) + (onlyIn(row) && ` ${onlyIn(row)}`), w = (room * Math.abs(by)) / most, fill = by > 0 ? "bad" : "good", tip = middle + Math.sign(by) * w;
        pen.text(0, y + 14, row.name, { fill: "ink", max: above ? width - 130 : names - 8, size: 12 });
        pen.rect(Math.min(middle, tip), bar, Math.max(1, w), 15, onlyIn(row) ? { stroke: fill, width: 1.5 } : { fill, opacity: 0.75 });
        pen.line(SHAPES[by > 0 ? "triangle" : "circle"](5).map(([dx, dy]) => [tip + Math.sign(by) * 9 + dx, bar + 7.5 + dy]), { fill, stroke: null });
        if (above) pen.text(width, y + 14, said, { fill: "ink", anchor: "end" });
        else pen.text(tip + Math.sign(by) * 18, y + 14.5, said, { fill: "ink", anchor: by > 0 ? "start" : "end" });
      });
      pen.line([[middle, 8], [middle, 12 + (above ? 40 : 24) * Math.max(1, rows.length)]], { stroke: "strong" });
    },
  });
}

/// Phases of both runs on one scale of cycles, and the supersteps in them where both traces have some.
function drawBothRuns(pen, width) {
  const parts = shownParts(), whole = (r) => parts.reduce((sum, part) => sum + r.report.cycles[part], 0), longest = Math.max(...runs.map(whole));
  runs.forEach((r, i) => {
    drawPhaseBar(pen, width, 22 + 92 * i, `Run ${r.label}, ${r.doc.file}`, r, parts, longest);
    if (r.count) drawRun(pen, r, { left: 0, width: (width * axisStart(r)[r.count]) / longest, top: 52 + 92 * i, tall: 26 });
  });
}
/// Rows with numbers, those of one name added up.
function addedUp(rows) {
  const sums = new Map();
  for (const row of rows) {
    const sum = sums.get(row.name);
    sums.set(row.name, sum ? Object.fromEntries(Object.entries(row).map(([key, n]) => [key, typeof n === "string" ? n : sum[key] + n])) : row);
  }
  return [...sums.values()];
}
/// The name in A of a step or tensor of B: that of the operation that it begins with, and what follows (of an exchange that operations share, how
/// many more); or its own where it is of none.
function nameBefore(kind, name) {
  const more = name.match(/ \+\d+$/)?.[0] ?? "", alone = name.slice(0, name.length - more.length);
  for (let end = alone.length; end > 0; end = alone.lastIndexOf(".", end - 1)) {
    if (!runs[1].operationsAlone.has(alone.slice(0, end))) continue;
    const was = runs[1].counterpart(kind, alone.slice(0, end));
    return was === undefined ? undefined : was + name.slice(end);
  }
  return name;
}
function stepBefore(title) {
  const end = title.lastIndexOf(" ("), was = nameBefore("operation", title.slice(0, end));
  return was === undefined ? undefined : was + title.slice(end);
}
/// Rows of the shown run, each with the row of the other that is the same as `there`: those of one key in their order; `before` is the key in A of a
/// row of B.
function withCounterparts(rowsOf, key, before) {
  if (runs.length < 2) return rowsOf(run());
  const [a, b] = runs.map((r) => rowsOf(r)), left = new Map();
  for (const row of a) left.set(key(row), [...(left.get(key(row)) || []), row]);
  for (const row of b) {
    const was = left.get(before(key(row)))?.shift();
    if (was) [was.there, row.there] = [row, was];
  }
  return [a, b][state.run];
}
const stepTitle = ({ name, kindName }) => `${name} (${kindName})`;
const stepsByName = (r) => addedUp(r.steps.map(({ sums: { compute_cycles, exchange_cycles, sync_cycles }, ...step }) => ({
  name: stepTitle(step), compute_cycles, exchange_cycles, sync_cycles, device: compute_cycles + exchange_cycles + sync_cycles })));
const tensorsByName = (r) => addedUp(r.table("/program/variable").rows().map(({ name, type, bytes }) => ({ name, type, bytes })));
const typesOf = ({ a, b }) => [...new Set([a, b].filter(Boolean).map(({ type }) => type))].join(" → ");
const deviceOf = (row) => row.device;
/// Pairs as a table, those first that moved most.
function pairsTable(what, pairs, value, [name, ...columns]) {
  const caption = `${what}, what moved most first`, by = (row) => Math.abs(moved(row, value)), wasNamed = pairs.some((row) => row.was);
  return new Table({ caption, label: caption, filter: true, page: 25, columns: [name, ...(wasNamed ? [{ name: "was", title: "In A", shorten: true, spare: 5 }] : []), ...columns], rows: pairs.sort((p, q) => by(q) - by(p) || p.name.localeCompare(q.name)) });
}
const partsMoved = () => ["compute", "exchange", "sync"].map((part) => movedColumn(part, "cycle", (row) => row[`${part}_cycles`], { spare: part === "sync" ? 4 : 3 }));

/// Bytes of a category on all tiles and on the tile with most of it.
const categoriesOf = (r) => r.table("/memory").get("category").map((name, k) => ({
  name: name.replaceAll("_", " "), all: r.memoryByCategory[k].reduce((a, b) => a + b, 0), most: r.memoryByCategory[k].reduce((a, b) => Math.max(a, b), 0) }));
function drawBothMemories(pen, width, height) {
  const box = { x: MEMORY.left, y: 8, w: width - MEMORY.left - 8, h: height - 8 - MEMORY.bottom }, tiles = Math.max(...runs.map((r) => r.report.tiles));
  const totals = runs.map((r) => tileTotals(r)), most = 1.08 * Math.max(1, ...totals.map((values) => values.reduce((a, b) => Math.max(a, b), 0)));
  verticalAxis(pen, { left: box.x, right: box.x + box.w, top: box.y, bottom: box.y + box.h, most, text: bytes });
  totals.forEach((values, i) => {
    const columns = Math.min(tiles, Math.floor(box.w)), points = [];
    for (let c = 0; c < columns; ++c) {
      const first = Math.floor((c * tiles) / columns), last = Math.min(values.length, Math.floor(((c + 1) * tiles) / columns));
      if (first >= values.length) break;
      const y = box.y + box.h - (box.h * values.slice(first, Math.max(last, first + 1)).reduce((a, b) => Math.max(a, b), 0)) / most;
      points.push([box.x + (box.w * c) / columns, y], [box.x + (box.w * (c + 1)) / columns, y]);
    }
    pen.line(points, { stroke: i ? "in" : "exchange", width: 2, dash: i ? [] : [5, 3] });
  });
  for (const t of ticks(0, tiles - 1, width / 100)) if (t === Math.round(t)) pen.text(box.x + (box.w * (t + 0.5)) / tiles, height - 8, String(t), { anchor: "middle" });
}

function tilesTableOfBoth() {
  const totals = runs.map((r) => tileTotals(r)), rows = Array.from({ length: Math.max(...runs.map((r) => r.report.tiles)) }, (_, tile) => (
    { name: String(tile), tile, ...Object.fromEntries(totals.flatMap((values, i) => (tile < values.length ? [["ab"[i], { bytes: values[tile] }]] : []))) }));
  return new Table({ caption: "Bytes of both runs on each tile", rows, sort: "moved", columns: [number("tile", "Tile", undefined, { text: (row) => row.name }), ...pairColumns("All", "B", (row) => row.bytes)] });
}

/// Which runs these are, and what makes comparing them hard.
function runNotes(operations) {
  const note = (text) => h("div", { class: "banner", role: "note" }, text), [a, b] = runs;
  const which = (r) => `${r.label} is ${r.doc.file}: ${r.report.machine}, ${counted(r.report.calls, "call")}.`;
  const lacking = (side, fused) => operations.filter((row) => !row[side] && Boolean(row.absent) === fused).length;
  return [
    ...runs.filter((r) => r.report.outcome !== "ok").map((r) => note(`Run ${r.label} did not end (${r.report.outcome}): its numbers are of what there was.`)),
    note(`${which(a)} ${which(b)} The machines are ${a.doc.machine_toml === b.doc.machine_toml ? "the same" : "not the same"}. ` +
      `${b.doc.difference_of_programs || "The program is the same."} ` +
      `Of ${counted(operations.length, "operation")} with cycles ${grouped(lacking("b", false))} are only in A, ${grouped(lacking("a", false))} only in B; ` +
      `${grouped(lacking("b", true))} of A are fused in B, ${grouped(lacking("a", true))} of B in A.`)];
}

/// Numbers of the machine that are not the same, or only of one.
function machinesTable() {
  const rows = paired(...runs.map((r) => r.table("/machine/parameter").rows()), (name) => name).filter(({ a, b }) => a?.value !== b?.value);
  const of = (side, r) => ({ value: (row) => row[side]?.value ?? NaN, text: (row) => (row[side] ? r.parameterText(row[side]) : "–") });
  return rows.length > 0 && new Table({ caption: "Numbers that are not the same", label: "Machines", rows, columns: [
    { name: "name", title: "Key" }, number("a", "A", undefined, of("a", runs[0])), number("b", "B", undefined, of("b", runs[1])), { name: "unit", title: "Unit", value: ({ a, b }) => unitText(a || b) }] });
}

/// Titles of tables that `report diff` names otherwise.
const MOVED_TITLES = { critical: "Tiles that others waited for", spread: "Spread over tiles" };

/// What moved in a table, as `report diff` has it; more cycles are worse.
function movedPanel(table) {
  const { columns, notes } = table, at = (name) => columns.findIndex((column) => column.name === name), main = columns[at("before")];
  const said = notes.map((note) => h("p", { class: "note" }, note)), title = MOVED_TITLES[table.name] || table.name[0].toUpperCase() + table.name.slice(1);
  const labels = table.name === "streams" ? runs[1].labels : new Map();
  const rows = main ? namedRows(table).map((row) => ({ ...row, label: labels.get(row.stream) })) : [], unit = main && main.unit !== "1" ? main.unit : undefined, style = (row) => verdict(row.moved, main.unit === "cycle" ? 1 : 0);
  const worded = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " "), side = (row, name) => row[name] ?? NaN;
  const only = (row) => (row.before === null ? "only B" : row.after === null ? "only A" : "–"), share = (row) => (row["%"] === null || row.after === null ? NaN : 100 * row["%"]);
  const moves = columns.slice(at("%") + 1).map(({ name, unit }) => number(name, `Δ ${worded(name)}`, unit === "1" ? undefined : unit, { spare: 4, text: (row) => (row[name] ? signed(row[name]) : "") }));
  return h("div", { class: "panel" }, h("h3", {}, title), rows.length > 0 && new Table({ caption: table.title, label: `${title}, what moved most first`, page: 25, rows, columns: [
    ...columns.slice(0, at("was")).map(({ name }) => ({ name, title: worded(name), shorten: true })), ...labelColumn(rows),
    ...(rows.some(({ was }) => was) ? [{ name: "was", title: "In A", shorten: true, spare: 5 }] : []),
    number("before", "A", unit, { spare: 2, value: (row) => side(row, "before") }), number("after", "B", unit, { spare: 1, value: (row) => side(row, "after") }),
    number("moved", "B − A", unit, { style, text: (row) => MARKS[style(row)] + signed(row.moved) }),
    number("share", "B − A", "%", { style, value: share, text: (row) => (Number.isNaN(share(row)) ? only(row) : relativeText(share(row))) }), ...moves] }).element,
    rows.length === 0 && main && h("p", {}, "Nothing moved."), said);
}
/// Tables that both traces have, and what one of them lacks.
function movedPanels() {
  const lacking = (tables) => tables.every(({ columns }) => columns.length === 0);
  return Object.values(runs[1].doc.differences).filter((tables) => !lacking(tables) || tables.length === 1).flat().map(movedPanel);
}

views.push({
  id: "compare", title: "Compare", group: "Two runs", needs: ["device"],
  hint: "Run A, the first trace, is before; run B is after. ✗ is worse, ✓ is better; what has neither sign has no better or worse. The other views show the run that is chosen above.",
  make() {
    const panel = (title, table) => h("div", { class: "panel" }, h("h3", {}, title), table.element), onAll = (row) => row.all, size = (row) => row.bytes;
    const operations = paired(...runs.map(operationRows), (name) => runs[1].counterpart("operation", name)), steps = paired(...runs.map(stepsByName), stepBefore);
    const memory = paired(...runs.map(categoriesOf), (name) => name), tensors = paired(...runs.map(tensorsByName), (name) => nameBefore("alone", name));
    for (const row of operations) if (!row.a || !row.b) row.absent = runs[row.a ? 0 : 1].fusedInOther(row.name);
    const machines = machinesTable(), toOperation = (row) => choose({ view: "operations", run: row.b ? 1 : 0, operation: row.name });
    return [
      runNotes(operations),
      panel("Totals", totalsTable()), machines && panel("Machines", machines),
      new Chart({ title: "Both runs on one scale", height: 182, draw: drawBothRuns, legend: legend(PHASE_LEGEND),
        describe: () => runs.map((r) => `run ${r.label} ${grouped(r.report.cycles.device)} device cycles`).join(", ") }).element,
      movesChart("Operations that moved most", operations, deviceOf, "device cycles").element,
      panel("Operations", pairsTable("Operations", operations, deviceOf, [
        { name: "name", title: "Operation", choose: toOperation }, ...pairColumns("Device", "cycle", deviceOf), ...partsMoved(),
        movedColumn("work", "tile cycle", (row) => row.work, { detail: true, spare: 6 }), movedColumn("exchanged", "B", size, { detail: true, spare: 5 })])),
      panel("Steps", pairsTable("Steps", steps, deviceOf, [{ name: "name", title: "Step", shorten: true }, ...pairColumns("Device", "cycle", deviceOf), ...partsMoved()])),
      new Chart({ title: "Memory of both runs by tile", height: 200, draw: drawBothMemories, legend: legend([["Run A, dashed", "exchange"], ["Run B", "in"]]),
        table: tilesTableOfBoth, describe: () => runs.map((r) => `run ${r.label} holds ${bytes(r.report.memory.worst_tile_bytes)} on its fullest tile`).join(", ") }).element,
      panel("Memory", pairsTable("Categories on all tiles", memory, onAll, [
        { name: "name", title: "Category" }, ...pairColumns("All tiles", "B", onAll), movedColumn("most on a tile", "B", (row) => row.most)])),
      panel("Tensors", pairsTable("Tensors", tensors, size, [{ name: "name", title: "Tensor", shorten: true }, { name: "type", title: "Type", shorten: true, value: typesOf }, ...pairColumns("All tiles", "B", size)])),
      movedPanels()];
  },
});
