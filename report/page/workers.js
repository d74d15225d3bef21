// What workers of the chosen tile do in the chosen superstep, from launch to exit; of traces of --trace vertex, in its window.

const hasWorkers = () => run().table("/vertices").get("superstep").length > 0;

function workerRuns() {
  const r = run(), table = r.table("/vertices"), superstep = table.get("superstep"), tile = table.get("tile"), rows = [];
  let i = floorIndex(superstep, state.superstep - 1);
  while (superstep[i] < state.superstep) ++i;
  for (; superstep[i] === state.superstep; ++i) {
    if (tile[i] !== state.tile) continue;
    const of = (name) => table.get(name)[i], start = of("start_cycle") - r.start[state.superstep];
    rows.push({ worker: of("worker"), start, cycles: of("cycles"), end: start + of("cycles"), instructions: of("instructions"), step: r.stepName(of("step")),
                operation: r.steps[of("step")]?.operationName, codelet: r.table("/program/vertex_type").get("name")[of("vertex_type")] || "" });
  }
  return rows;
}
const WORKERS = { left: 58, top: 30, lane: 24, bottom: 8 };
const workerLanes = (rows) => rows.reduce((most, row) => Math.max(most, row.worker + 1), run().parameter("tile.workers") || 1);
function workerScale(rows, width) {
  const low = rows.reduce((a, row) => Math.min(a, row.start), Infinity), high = rows.reduce((a, row) => Math.max(a, row.end), low + 1);
  return { low, high, x: (cycle) => WORKERS.left + ((width - WORKERS.left - 8) * (cycle - low)) / (high - low) };
}
function drawWorkers(pen, width, height) {
  const rows = workerRuns(), scale = workerScale(rows, width), all = run().table("/vertices").get("superstep");
  if (!rows.length)
    return pen.text(WORKERS.left, 50, `None of tile ${state.tile} in superstep ${state.superstep}. Known are some of supersteps ${all[0]} to ${all.at(-1)}.`, { size: 13, max: width - WORKERS.left });
  pen.text(WORKERS.left - 6, 14, "Cycles", { anchor: "end" });
  for (const t of ticks(scale.low, scale.high, width / 110)) {
    pen.line([[scale.x(t), 20], [scale.x(t), height - WORKERS.bottom]], { stroke: "line" });
    pen.text(scale.x(t), 14, grouped(t), { anchor: scale.x(t) > width - 40 ? "end" : "middle" });
  }
  for (let worker = 0; worker < workerLanes(rows); ++worker) pen.text(WORKERS.left - 6, WORKERS.top + worker * WORKERS.lane + 15, String(worker), { anchor: "end" });
  for (const row of rows) drawLabelled(pen, scale.x(row.start), WORKERS.top + row.worker * WORKERS.lane, scale.x(row.end) - scale.x(row.start), row.step, "compute");
}
function workersChart() {
  const chart = new Chart({
    title: "Workers of the chosen tile", height: () => WORKERS.top + workerLanes(workerRuns()) * WORKERS.lane + WORKERS.bottom, draw: drawWorkers, keys: tileKeys,
    describe: () => `${counted(workerRuns().length, "launch")} on tile ${state.tile} in superstep ${state.superstep}, by cycles from the superstep's start`,
    at(x, y) {
      const rows = workerRuns(), scale = workerScale(rows, chart.canvas.clientWidth), worker = Math.floor((y - WORKERS.top) / WORKERS.lane);
      const row = rows.find((r) => r.worker === worker && x >= scale.x(r.start) && x < Math.max(scale.x(r.end), scale.x(r.start) + 2));
      return row && { text: `Worker ${worker}: ${row.step}\n${row.codelet}\nfrom cycle ${grouped(row.start)}, ${grouped(row.cycles)} cycles\n${counted(row.instructions, "instruction")}`,
                      choose: () => choose({ view: "operations", operation: row.operation }) };
    },
    table: () => new Table({ caption: `What workers of tile ${state.tile} do in superstep ${state.superstep}`, label: "Workers", rows: workerRuns(), columns: [
      number("worker", "Worker"), { name: "step", title: "Step" }, number("start", "Start", "cycle", { meaning: "From the start of the superstep" }), number("cycles", "Cycles", "cycle"),
      number("instructions", "Instructions"), { name: "codelet", title: "Codelet" }] }),
  });
  return chart;
}
/// Codelets of all workers in the trace, and how evenly the workers of a tile share them.
function codeletsPanel() {
  const r = run(), names = r.table("/program/vertex_type").get("name");
  const rows = r.table("codelets").rows().map((row) => ({ ...row, name: names[row.vertex_type] || "", operation: r.operationNames[row.operation] || "" }));
  const whole = rows.reduce((sum, row) => sum + row.cycles, 0), most = rows.reduce((a, row) => Math.max(a, row.cycles), 1), balance = (row) => (100 * row.cycles) / row.busiest_cycles;
  return rows.length > 0 && h("div", { class: "panel" }, h("h3", {}, "Codelets"), new Table({
    caption: "Of all workers in the trace; balance is the mean of a tile's workers over its busiest, step by step", label: "Codelets", sort: "cycles", filter: true, page: 15, rows, columns: [
      { name: "name", title: "Codelet", shorten: true },
      { name: "operation", title: "Most for", shorten: true, spare: 1, choose: (row) => choose({ view: "operations", operation: row.operation }) },
      number("cycles", "Worker cycles", "cycle", { bar: (row) => row.cycles / most }),
      number("share", "Of workers", "%", { spare: 3, value: (row) => (100 * row.cycles) / whole, text: (row) => decimal((100 * row.cycles) / whole, 1) }),
      number("balance", "Balance", "%", { spare: 2, value: balance, text: (row) => decimal(balance(row), 0) }),
      number("runs", "Runs", undefined, { spare: 4 }), number("longest_cycles", "Longest", "cycle", { spare: 5 }), number("instructions", "Instructions", undefined, { spare: 6 })] }).element);
}
