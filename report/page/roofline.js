// V11: arithmetic of operations against the bytes that they exchange, under what the machine can do at most.

/// FLOP that an AMP unit does in a cycle: docs/config.md has, at tile.amp_units and tile.clock, where the 128 and 32 of 16 units come from.
const AMP_FLOPS = [["AMP, f32", 2], ["AMP, f16", 8]];

/// A number to three digits.
const few = (n) => (n >= 100 ? grouped(n) : String(+n.toPrecision(3)));

function rooflineRows() {
  return operationRows().filter((row) => row.flops && row.device).sort((a, b) => b.device - a.device)
    .map((row) => ({ ...row, intensity: row.bytes ? row.flops / row.bytes : Infinity }));
}
/// What all tiles can do at most in a cycle: bytes that they receive, FLOP by type; nothing where the trace does not say it.
function machineRoofs() {
  const { tiles } = run().report, units = run().parameter("tile.amp_units"), width = run().parameter("exchange.width");
  return { exchange: width ? tiles * width : null, compute: units ? AMP_FLOPS.map(([name, each]) => [name, tiles * units * each]) : [] };
}
/// The slope of the exchange up to the highest flat line, and flat lines from where they meet it.
function roofLines(roofs, rows) {
  const intensities = rows.map((row) => row.intensity), low = Math.min(...intensities) / 1.6, most = Math.max(...intensities);
  const top = roofs.compute.length ? roofs.compute.at(-1)[1] : 10 * Math.max(...rows.map((row) => row.rate));
  const meets = (flops) => (roofs.exchange ? flops / roofs.exchange : low), high = 4 * Math.max(most, meets(top));
  return [...(roofs.exchange ? [{ name: "exchange", from: [low, low * roofs.exchange], to: [meets(top), top] }] : []),
          ...roofs.compute.map(([name, flops]) => ({ name, from: [meets(flops), flops], to: [high, flops], dash: [6, 4] }))];
}
function rooflineTable(rows, roofs) {
  const share = (title, roof, meaning) => number(title, `Of ${title}`, "%", { meaning, value: (row) => (100 * row.rate) / roof(row),
    text: (row) => (Number.isFinite(roof(row)) ? few((100 * row.rate) / roof(row)) : "–") });
  return new Table({
    caption: "Operations with floating-point arithmetic, those first that take most device cycles", label: "Operations under the roofline", filter: true, rows,
    columns: [
      { name: "name", title: "Operation", choose: (row) => choose({ view: "operations", operation: row.name }) },
      number("device", "Device", "cycle"), number("flops", "FLOP"), number("bytes", "Exchanged", "B"),
      number("intensity", "FLOP/B", undefined, { text: (row) => (row.bytes ? few(row.intensity) : "no exchange") }),
      number("rate", "FLOP/cycle", undefined, { text: (row) => few(row.rate) }),
      ...(roofs.exchange ? [share("exchange", (row) => row.intensity * roofs.exchange, "FLOP/cycle of what exchanges at full width would allow")] : []),
      ...roofs.compute.map(([name, flops]) => share(name, () => flops, "FLOP/cycle of what the AMP units of all tiles could do"))],
  });
}

/// What the run moves and computes beside what the machine could do of it at most: nothing that the trace does not have.
function fullRateRows() {
  const r = run(), { report } = r, { cycles, tiles } = report, width = r.parameter("exchange.width"), link = r.parameter("host.bandwidth"), links = r.parameter("host.links") || 1;
  // Those that load and those that store, of which some are the same.
  const [loads, stores] = ["load", "store"].map((name) => r.row.reduce((sum, row) => sum + r.distinct.get(`${name}_instructions`)[row], 0));
  return [
    { name: "Exchange", amount: report.exchange_bytes, what: "B", rate: width && tiles * width, took: cycles.exchange, part: "exchange" },
    { name: "Host link", amount: report.host_bytes, what: "B", rate: link && (links * link) / r.clock, took: cycles.host, part: "host" },
    { name: "Tile memory", amount: r.complete ? Math.max(loads, stores) : 0, what: loads < stores ? "stores" : "loads", rate: tiles, took: cycles.compute, part: "compute" },
    ...machineRoofs().compute.map(([name, flops]) => ({ name, amount: report.flops, what: "FLOP", rate: flops, took: cycles.compute, part: "compute" })),
  ].filter((row) => row.rate && row.amount).map((row) => ({ ...row, least: row.amount / row.rate }));
}
function fullRateTable() {
  return new Table({ caption: "What the run would take at least: of the exchange and host link all bytes at full width, of a tile an instruction that loads, or stores, a cycle, of the AMP all arithmetic", label: "The run at full rate",
    rows: fullRateRows(), columns: [{ name: "name", title: "Roof" }, number("amount", "Of the run"), { name: "what", title: "Unit" }, number("rate", "At most a cycle", undefined, { text: (row) => few(row.rate) }),
      number("least", "At least", "cycle"), number("took", "Took", "cycle"), { name: "part", title: "Part" },
      number("share", "Of that", "%", { value: (row) => (100 * row.least) / row.took, text: (row) => few((100 * row.least) / row.took) })] });
}

views.push({
  id: "roofline", title: "Roofline", group: "Program",
  hint: "Useful floating-point operations a device cycle against those for each byte that is exchanged. Below the slope tiles could receive no faster, " +
    "below a flat line they could compute no faster: the farther below both, the more else there is.",
  make() {
    const rows = rooflineRows(), drawn = rows.filter((row) => row.bytes), roofs = machineRoofs();
    if (!rows.length) return h("div", { class: "panel missing" }, "This trace has no floating-point operations: none ran, or no compiler counted them.");
    const without = rows.length - drawn.length, beside = operationRows().filter((row) => row.flops && !row.device).length;
    const point = (row) => ({
      name: row.name, x: row.intensity, y: row.rate, weight: row.device, shape: "circle", fill: "compute",
      text: `${row.name}\n${grouped(row.flops)} FLOP, ${grouped(row.bytes)} B exchanged, ${grouped(row.device)} device cycles\n` +
        `${few(row.intensity)} FLOP/B, ${few(row.rate)} FLOP/cycle`,
      choose: () => choose({ view: "operations", operation: row.name }),
    });
    return [
      drawn.length > 0 && scatterChart({ title: "Operations under the roofline", x: "FLOP for each byte exchanged", y: "FLOP a device cycle",
                                         lines: roofLines(roofs, drawn), points: drawn.map(point) }).element,
      h("p", { class: "note" }, `All ${grouped(run().report.tiles)} tiles of the chip count. ` +
        (without ? `The table also has ${counted(without, "operation")} without exchange. ` : "") +
        (beside ? `${counted(beside, "operation")} with arithmetic ran beside longer ones and took no cycles. ` : "") +
        "Bytes from and to tile memory are not in a trace, and those of the host are of no operation: the last table has them of the run."),
      h("div", { class: "panel" }, rooflineTable(rows, roofs).element), h("div", { class: "panel" }, fullRateTable().element)];
  },
});
