// V11: arithmetic of operations against the bytes that they exchange, under what the machine can do at most.

/// FLOP that an AMP unit does in a cycle: docs/config.md has, at tile.amp_units and tile.clock, where the 128 and 32 of 16 units come from.
const AMP_FLOPS = [["AMP, f32", 2], ["AMP, f16", 8]];

function rooflineRows(r) {
  return operationRows(r).filter((row) => row.flops && row.device).sort((a, b) => b.device - a.device)
    .map((row) => ({ ...row, intensity: row.bytes ? row.flops / row.bytes : Infinity }));
}
/// What all tiles can do at most in a cycle: bytes that they receive, FLOP by type; nothing where the trace does not say it.
function machineRoofs(r = run()) {
  const { tiles } = r.report, units = r.parameter("tile.amp_units"), width = r.parameter("exchange.width");
  return { exchange: width ? tiles * width : null, compute: units ? AMP_FLOPS.map(([name, each]) => [name, tiles * units * each]) : [] };
}
/// Slopes of bytes, each [name, most a cycle, color], up to the highest flat line, and flat lines of FLOP from where they meet the steepest.
function roofLines(slopes, flats, points) {
  const all = points.concat(points.map(({ there }) => there).filter(Boolean)), xs = all.map(({ x }) => x), low = Math.min(...xs) / 1.6;
  const top = flats.length ? flats.at(-1)[1] : 10 * Math.max(...all.map(({ y }) => y));
  const meets = (flops) => Math.min(...slopes.map(([, rate]) => flops / rate), slopes.length ? Infinity : low);
  const high = 4 * Math.max(...xs, ...slopes.map(([, rate]) => top / rate), meets(top));
  return [...slopes.map(([name, rate, stroke]) => ({ name, stroke, from: [Math.min(low, top / rate / 10), Math.min(low, top / rate / 10) * rate], to: [top / rate, top] })),
          ...flats.map(([name, flops]) => ({ name, from: [meets(flops), flops], to: [high, flops], dash: [6, 4] }))];
}
/// How fast in the other run, of two.
const rateThere = ({ there }) => (runs.length < 2 ? "" : `\nrun ${other().label}: ${there ? `${there.bytes ? `${few(there.intensity)} FLOP/B, ` : ""}${few(there.rate)} FLOP/cycle` : "not there"}`);
/// How much faster than there.
function rateMoved() {
  if (runs.length < 2) return [];
  const by = ({ rate, there }) => rate - (there?.rate ?? NaN), style = (row) => verdict(by(row), -1);
  return [number("moved", `Δ to ${other().label}`, "FLOP/cycle", { value: by, style, text: (row) => (row.there ? MARKS[style(row)] + signedText(by(row), few) : `only ${run().label}`) })];
}
function rooflineTable(rows, roofs) {
  const share = (title, roof, meaning) => number(title, `Of ${title}`, "%", { meaning, spare: 3, value: (row) => (100 * row.rate) / roof(row),
    text: (row) => (Number.isFinite(roof(row)) ? few((100 * row.rate) / roof(row)) : "–") });
  return new Table({
    caption: "Operations with floating-point arithmetic, those first that take most device cycles", label: "Operations under the roofline", filter: true, rows,
    columns: [
      { name: "name", title: "Operation", choose: (row) => choose({ view: "operations", operation: row.name }) },
      number("device", "Device", "cycle"), number("flops", "FLOP", undefined, { spare: 2 }), number("bytes", "Exchanged", "B", { spare: 1 }),
      number("intensity", "FLOP/B", undefined, { text: (row) => (row.bytes ? few(row.intensity) : "no exchange") }),
      number("rate", "FLOP/cycle", undefined, { text: (row) => few(row.rate) }), ...rateMoved(),
      ...(roofs.exchange ? [share("exchange", (row) => row.intensity * roofs.exchange, "FLOP/cycle of what exchanges at full width would allow")] : []),
      ...roofs.compute.map(([name, flops]) => share(name, () => flops, "FLOP/cycle of what the AMP units of all tiles could do"))],
  });
}

/// What the run moves and computes beside what the machine could do of it at most: nothing that the trace does not have.
function fullRateRows(r = run()) {
  const { report } = r, { cycles, tiles } = report, width = r.parameter("exchange.width"), link = r.parameter("host.bandwidth"), links = r.parameter("host.links") || 1;
  // Those that load and those that store, of which some are the same.
  const [loads, stores] = ["load", "store"].map((name) => r.row.reduce((sum, row) => sum + r.distinct.get(`${name}_instructions`)[row], 0));
  return [
    { name: "Exchange", amount: report.exchange_bytes, what: "B", rate: width && tiles * width, took: cycles.exchange, part: "exchange" },
    { name: "Host link", amount: report.host_bytes, what: "B", rate: link && (links * link) / r.clock, took: cycles.host, part: "host" },
    { name: "Tile memory", amount: r.complete ? Math.max(loads, stores) : 0, what: loads < stores ? "stores" : "loads", rate: tiles, took: cycles.compute, part: "compute" },
    ...machineRoofs(r).compute.map(([name, flops]) => ({ name, amount: report.flops, what: "FLOP", rate: flops, took: cycles.compute, part: "compute" })),
  ].filter((row) => row.rate && row.amount).map((row) => ({ ...row, least: row.amount / row.rate }));
}
function fullRateTable() {
  return new Table({ caption: "What the run would take at least: of the exchange and host link all bytes at full width, of a tile an instruction that loads, or stores, a cycle, of the AMP all arithmetic", label: "The run at full rate",
    rows: fullRateRows(), columns: [{ name: "name", title: "Roof" }, number("amount", "Of the run"), { name: "what", title: "Unit" }, number("rate", "At most a cycle", undefined, { text: (row) => few(row.rate) }),
      number("least", "At least", "cycle"), number("took", "Took", "cycle"), { name: "part", title: "Part" },
      number("share", "Of that", "%", { value: (row) => (100 * row.least) / row.took, text: (row) => few((100 * row.least) / row.took) })] });
}

/// Of each that moves bytes, [shape, fill, bytes of one that it counts, cycles that it may move them in]. An instruction of a tile moves 16 bytes at
/// most, as ld128 does, and counts as that: how far a point is below its slope does not depend on it.
const LEVELS = {
  Exchange: ["square", "exchange", 1, ({ device }) => device], "Host link": ["diamond", "host", 1, ({ total }) => total], "Tile memory": ["circle", "compute", 16, ({ device }) => device],
};
/// The run as a point for each of them, and its slope.
function levelPoints(r) {
  return fullRateRows(r).filter(({ name }) => LEVELS[name]).map(({ name, amount, rate }) => {
    const [shape, fill, size, within] = LEVELS[name], cycles = within(r.report.cycles), flops = r.report.flops;
    return { name, x: flops / (amount * size), y: flops / cycles, weight: 0, shape, fill, slope: [name.toLowerCase(), rate * size, fill],
             text: `${name}\n${few(flops / (amount * size))} FLOP/B, ${few(flops / cycles)} FLOP/cycle\n${few((100 * amount) / rate / cycles)} % of the cycles if it did nothing else at full rate` };
  });
}
function levelsChart() {
  const points = levelPoints(run()), there = runs.length > 1 ? levelPoints(other()) : [];
  for (const point of points) point.there = there.find(({ name }) => name === point.name);
  const marks = points.map(({ name, fill, shape }) => [name, fill, shape]);
  return points.length > 0 && scatterChart({
    title: "The run under all slopes", height: 320, x: "FLOP for each byte moved", y: "FLOP a cycle", points, lines: roofLines(points.map(({ slope }) => slope), machineRoofs().compute, points),
    legend: legend([...marks, ...thereMarks(marks)]) }).element;
}

views.push({
  id: "roofline", title: "Roofline", group: "Program",
  hint: "Useful floating-point operations a device cycle against those for each byte that is exchanged. Below the slope tiles could receive no faster, " +
    "below a flat line they could compute no faster: the farther below both, the more else there is.",
  make() {
    const rows = withCounterparts(rooflineRows, (row) => row.name, (name) => runs[1].counterpart("operation", name)), roofs = machineRoofs();
    if (!rows.length) return h("div", { class: "panel missing" }, "This trace has no floating-point operations: none ran, or no compiler counted them.");
    const without = rows.filter((row) => !row.bytes).length, beside = operationRows().filter((row) => row.flops && !row.device).length;
    const point = (row) => ({
      name: row.name, x: row.intensity, y: row.rate, weight: row.device, shape: "circle", fill: "compute",
      text: `${row.name}\n${grouped(row.flops)} FLOP, ${grouped(row.bytes)} B exchanged, ${grouped(row.device)} device cycles\n` +
        `${few(row.intensity)} FLOP/B, ${few(row.rate)} FLOP/cycle${rateThere(row)}`,
      there: row.there?.bytes > 0 && { x: row.there.intensity, y: row.there.rate },
      choose: () => choose({ view: "operations", operation: row.name }),
    });
    const points = rows.filter((row) => row.bytes).map(point), marks = [["Operation", "compute", "circle"]];
    return [
      points.length > 0 && scatterChart({ title: "Operations under the roofline", x: "FLOP for each byte exchanged", y: "FLOP a device cycle", points,
                                          lines: roofLines(roofs.exchange ? [["exchange", roofs.exchange]] : [], roofs.compute, points),
                                          ...(runs.length > 1 && { legend: legend([...marks, ...thereMarks(marks)]) }) }).element,
      h("p", { class: "note" }, `All ${grouped(run().report.tiles)} tiles of the chip count. ` +
        (without ? `The table also has ${counted(without, "operation")} without exchange. ` : "") +
        (beside ? `${counted(beside, "operation")} with arithmetic ran beside longer ones and took no cycles. ` : "") +
        "What tiles load and store, and what crosses the host link, is of no operation: below are slopes and points of the run."),
      h("div", { class: "panel" }, rooflineTable(rows, roofs).element), levelsChart(),
      h("p", { class: "note" }, "Each point of the run is below its own slope by the share of the cycles in which that part would move all bytes at full rate: of device cycles, " +
        "of the host link all cycles. An instruction that loads or stores counts as 16 bytes, the most that one moves."),
      h("div", { class: "panel" }, fullRateTable().element)];
  },
});
