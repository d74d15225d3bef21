// V6: a row for each operation.

/// The operations of a run, with what follows from their steps.
function operationRows(of = run()) {
  const steps = new Map();
  for (const step of of.steps) steps.set(step.operationName, [...(steps.get(step.operationName) || []), step]);
  return of.report.operations.map((operation) => {
    const own = steps.get(operation.name) || [];
    const sum = (name) => own.reduce((total, step) => total + step.sums[name], 0);
    const device = operation.compute_cycles + operation.exchange_cycles + operation.sync_cycles;
    return { ...operation, device, work: sum("peak_cycles") ? sum("tile_cycles") : NaN, bytes: operation.exchange_bytes,
             balance: sum("peak_cycles") ? sum("tile_cycles") / (sum("peak_cycles") * of.usedTiles.length) : NaN,
             rate: device ? operation.flops / device : NaN };
  });
}
const BEGUN = "in the supersteps that an operation begins";

/// By name: device cycles beyond those of its counterpart in the other run, of two, and as a text with its mark; `rowsOf` a run are the rows of a kind.
function beyondOther(kind, rowsOf) {
  if (runs.length < 2) return null;
  const [here, there] = [run(), other()].map((r) => new Map(rowsOf(r).map((row) => [row.name, row.device])));
  return (name) => {
    const before = there.get(run().counterpart(kind, name)), by = (here.get(name) || 0) - (before ?? 0), style = verdict(by, 1);
    return { by, style, text: MARKS[style] + (before === undefined ? (kind === "operation" && run().fusedInOther(name)) || `only ${run().label}` : signed(by)) };
  };
}
function deltaColumn(kind, rowsOf) {
  const beyond = beyondOther(kind, rowsOf);
  return beyond ? [number("delta", `Δ to ${other().label}`, "cycle", { value: ({ name }) => beyond(name).by, style: ({ name }) => beyond(name).style, text: ({ name }) => beyond(name).text })] : [];
}

function operationsTable() {
  const all = operationRows(), whole = run().report.cycles.device || 1, most = Math.max(1, ...all.map((row) => row.device));
  // Those that only run beside longer ones take nothing; where one is chosen it is there.
  const isListed = (row) => row.device || row.host_cycles || row.flops, beside = all.filter((row) => !isListed(row)).length;
  const rows = () => all.filter((row) => isListed(row) || row.name === state.operation);
  return new Table({
    caption: `Cycles are of the critical path; work and balance are of all tiles, ${BEGUN}${beside ? `; ${counted(beside, "operation")} that only ${beside === 1 ? "runs" : "run"} beside longer ones ${beside === 1 ? "is" : "are"} left out` : ""}`, label: "Operations", sort: "device", filter: true, page: 100, rows,
    chosen: (row) => row.name === state.operation,
    columns: [
      { name: "name", title: "Operation", shorten: true, choose: (row) => choose({ operation: row.name === state.operation ? "" : row.name }) },
      { name: "opcode", title: "StableHLO", shorten: true, spare: 3 }, { name: "python", title: "Python", text: (row) => fileName(row.python), shorten: true, spare: 1 },
      number("device", "Device", "cycle", { bar: (row) => row.device / most }),
      number("share", "Of device", "%", { spare: 5, value: (row) => (100 * row.device) / whole, text: (row) => decimal((100 * row.device) / whole, 1) }),
      ...deltaColumn("operation", operationRows),
      number("compute_cycles", "Compute", "cycle", { spare: 2 }), number("exchange_cycles", "Exchange", "cycle", { spare: 2 }), number("sync_cycles", "Sync", "cycle", { spare: 4 }),
      number("balance", "Balance", "%", { spare: 6, value: (row) => 100 * row.balance, text: (row) => (Number.isNaN(row.balance) ? "–" : decimal(100 * row.balance, 0)),
             meaning: `Mean over most compute cycles of the tiles, ${BEGUN}` }),
      number("bytes", "Exchanged", "B", { spare: 7 }),
      number("rate", "FLOP/cycle", undefined, { detail: true, spare: 8, text: (row) => (row.flops ? decimal(row.rate, 1) : "–") }),
      number("runs", "Runs", undefined, { detail: true, spare: 9 }), number("flops", "FLOP", undefined, { detail: true, spare: 10 }),
      number("work", "Work", "tile cycle", { detail: true, spare: 11, meaning: `Compute cycles of all tiles, ${BEGUN}` }),
      { name: "source", title: "Module", detail: true, shorten: true, spare: 12 },
      number("host_cycles", "Host", "cycle", { detail: true, spare: 13 }), number("supersteps", "Supersteps", undefined, { detail: true, spare: 14 }),
    ],
  });
}

/// What operations can be added up by; but for the first, those that a compute step fuses have their shares.
const GROUPINGS = { operation: "Operation", opcode: "StableHLO operation", python: "Python line", source: "Line of the module" };
const groupRows = (of, by) => of.table(`by_${by}`).rows().map((row) => ({ ...row, device: row.compute_cycles + row.exchange_cycles + row.sync_cycles }));
function groupsTable(by) {
  const whole = run().report.cycles.device || 1, rows = groupRows(run(), by);
  const most = Math.max(1, ...rows.map((row) => row.device));
  return new Table({
    caption: "Cycles of the critical path; operations that share a step share its cycles, as in reports", label: `By ${GROUPINGS[by]}`, sort: "device", filter: true, page: 100, rows,
    columns: [
      { name: "name", title: GROUPINGS[by] }, number("device", "Device", "cycle", { bar: (row) => row.device / most }),
      number("share", "Of device", "%", { value: (row) => (100 * row.device) / whole, text: (row) => decimal((100 * row.device) / whole, 1) }),
      ...deltaColumn(by, (of) => groupRows(of, by)),
      number("compute_cycles", "Compute", "cycle", { spare: 1 }), number("exchange_cycles", "Exchange", "cycle", { spare: 1 }), number("sync_cycles", "Sync", "cycle", { spare: 3 }), number("host_cycles", "Host", "cycle", { spare: 4 }),
      number("supersteps", "Supersteps", undefined, { spare: 5 }), number("runs", "Runs", undefined, { spare: 2 }), number("flops", "FLOP", undefined, { spare: 2 })] });
}
/// What the steps of the chosen operation, and exchanges that it shares, do besides it.
function fusedTable() {
  const rows = run().steps.filter((step) => step.operationName === state.operation || step.fused.some((operation) => operation.of === state.operation))
    .flatMap((step) => step.fused.map((operation) => ({ ...operation, step: step.name, compute: operation.share * step.sums.compute_cycles, exchange: operation.share * step.sums.exchange_cycles })));
  return rows.length > 0 && new Table({
    caption: `Operations that share steps with ${state.operation}, with their shares, as in reports`, label: "Fused operations", page: 25, rows,
    columns: [{ name: "step", title: "Step" }, { name: "name", title: "Operation" }, number("share", "Of the step", "%", { value: (row) => 100 * row.share, text: (row) => decimal(100 * row.share, 1) }),
              number("compute", "Compute", "cycle"), number("exchange", "Exchange", "cycle"), { name: "opcode", title: "StableHLO", spare: 1 }, { name: "source", title: "Module", spare: 2 }, { name: "python", title: "Python", text: (row) => fileName(row.python) }] });
}

views.push({
  id: "operations", title: "Operations", group: "Program", needs: ["operation", "group"],
  hint: "What each operation of the module took; several that a compute step fuses are one row, that of the last; those that share an exchange have their parts of it. Added up by line or kind, each has its share. " +
    "Choose an operation for what shares its steps, and to mark it in the other views.",
  make() {
    this.panel = h("div", { class: "panel" });
    this.fused = h("div", { class: "panel" });
    this.picker = picker("Add up by", "group", Object.entries(GROUPINGS));
    this.update(new Set(["group"]));
    return [h("div", { class: "controls" }, this.picker), this.fused, this.panel];
  },
  update(changed) {
    if (!Object.hasOwn(GROUPINGS, state.group)) state.group = "operation";
    if (changed.has("group")) {
      this.table = state.group === "operation" ? operationsTable() : groupsTable(state.group);
      this.panel.replaceChildren(this.table.element);
      this.picker.querySelector("select").value = state.group;
    } else {
      this.table.show(this.table.first);
    }
    const fused = state.operation && fusedTable();
    this.fused.hidden = !fused;
    this.fused.replaceChildren(fused ? fused.element : "");
  },
});
