// V6: a row for each operation.

/// The operations of a run, with what follows from their steps.
function operationRows(of = run()) {
  const steps = new Map();
  for (const step of of.steps) steps.set(step.operationName, [...(steps.get(step.operationName) || []), step]);
  return of.report.operations.map((operation) => {
    const own = steps.get(operation.name) || [];
    const sum = (name) => own.reduce((total, step) => total + step.sums[name], 0);
    const device = operation.compute_cycles + operation.exchange_cycles + operation.sync_cycles;
    return { ...operation, device, work: sum("tile_cycles"), bytes: own.reduce((t, step) => t + step.exchange_bytes * step.sums.runs, 0),
             balance: sum("peak_cycles") ? sum("tile_cycles") / (sum("peak_cycles") * of.usedTiles.length) : NaN,
             rate: device ? operation.flops / device : NaN };
  });
}
const number = (name, title, unit, extra = {}) => ({ name, title, unit, number: true, ...extra });

function operationsTable() {
  const rows = operationRows(), whole = run().report.cycles.device || 1, most = Math.max(1, ...rows.map((row) => row.device));
  const before = runs.length > 1 ? new Map(operationRows(other()).map((row) => [row.name, row])) : null;
  const delta = (row) => (before.has(row.name) ? row.device - before.get(row.name).device : row.device);
  return new Table({
    caption: "Cycles are of the critical path; work is of all tiles", label: "Operations", sort: "device", filter: true, page: 100, rows,
    chosen: (row) => row.name === state.operation,
    columns: [
      { name: "name", title: "Operation", choose: (row) => choose({ operation: row.name === state.operation ? "" : row.name }) },
      number("device", "Device", "cycle", { bar: (row) => row.device / most }),
      number("share", "Of device", "%", { value: (row) => (100 * row.device) / whole, text: (row) => decimal((100 * row.device) / whole, 1) }),
      ...(before ? [number("delta", `Δ to ${other().label}`, "cycle", { value: delta, text: (row) => MARKS[verdict(delta(row), 1)] + (before.has(row.name) ? signed(delta(row)) : `only ${run().label}`), style: (row) => verdict(delta(row), 1) })] : []),
      number("compute_cycles", "Compute", "cycle"), number("exchange_cycles", "Exchange", "cycle"), number("sync_cycles", "Sync", "cycle"),
      number("host_cycles", "Host", "cycle"), number("supersteps", "Supersteps", undefined, { detail: true }), number("runs", "Runs"), number("work", "Work", "tile cycle", { detail: true }),
      number("balance", "Balance", "%", { value: (row) => 100 * row.balance, text: (row) => (Number.isNaN(row.balance) ? "–" : decimal(100 * row.balance, 0)),
             meaning: "Mean over most compute cycles of the tiles, of the supersteps that begin with its steps" }),
      number("bytes", "Exchanged", "B"), number("flops", "FLOP", undefined, { detail: true }),
      number("rate", "FLOP/cycle", undefined, { text: (row) => (row.flops ? decimal(row.rate, 1) : "–") }),
      { name: "opcode", title: "StableHLO", detail: true }, { name: "source", title: "Module", detail: true }, { name: "python", title: "Python", text: (row) => fileName(row.python) },
    ],
  });
}

views.push({
  id: "operations", title: "Operations", group: "Program", needs: ["operation"],
  hint: "What each operation of the module took. Choose a heading to sort; choose an operation to mark it in the other views.",
  make() {
    this.table = operationsTable();
    return h("div", { class: "panel" }, this.table.element);
  },
  update() { this.table.show(this.table.first); },
});
