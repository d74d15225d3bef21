// V11: arithmetic of operations against the bytes that they exchange, under what the machine can do at most.

/// What a tile computes at most in a cycle, by the AMP units: tile.amp_units in docs/config.md has where the 32 and 128 FLOP of 16 units come from.
const AMP_FLOPS = [["AMP, f32", 2], ["AMP, f16", 8]];

/// A number to three digits.
const few = (n) => (n >= 100 ? grouped(n) : String(+n.toPrecision(3)));

function rooflineRows() {
  return operationRows().filter((row) => row.flops && row.device).map((row) => ({ ...row, intensity: row.bytes ? row.flops / row.bytes : Infinity })).sort((a, b) => b.device - a.device);
}
/// Most bytes that all tiles receive in a cycle.
const exchangeRoof = () => run().report.tiles * run().parameter("exchange.width");

views.push({
  id: "roofline", title: "Roofline", group: "Program",
  hint: "Useful floating-point operations a device cycle against those for each byte that is exchanged. Below the slope tiles could receive no faster, below a flat line they could compute no faster: the farther below both, the more else there is.",
  make() {
    const r = run(), rows = rooflineRows(), drawn = rows.filter((row) => row.bytes), units = r.parameter("tile.amp_units"), width = r.parameter("exchange.width");
    if (!rows.length) return h("div", { class: "panel missing" }, "This trace has no floating-point operations: none ran, or no compiler counted them.");
    const share = (name, title, roof, meaning) => number(name, title, "%", { meaning, value: (row) => (100 * row.rate) / roof(row), text: (row) => (Number.isFinite(roof(row)) ? few((100 * row.rate) / roof(row)) : "–") });
    const table = new Table({ caption: "Operations with floating-point arithmetic, those first that take most device cycles", filter: true, label: "Operations under the roofline", rows, columns: [
      { name: "name", title: "Operation", choose: (row) => choose({ view: "operations", operation: row.name }) }, number("device", "Device", "cycle"), number("flops", "FLOP"), number("bytes", "Exchanged", "B"),
      number("intensity", "FLOP/B", undefined, { text: (row) => (row.bytes ? few(row.intensity) : "no exchange") }), number("rate", "FLOP/cycle", undefined, { text: (row) => few(row.rate) }),
      width && share("exchange", "Of exchange", (row) => row.intensity * exchangeRoof(), "FLOP/cycle of what exchanges at full width would allow"),
      ...AMP_FLOPS.map(([title, each]) => units && share(title, `Of ${title}`, () => each * units * r.report.tiles, "FLOP/cycle of what the AMP units of all tiles could do"))].filter(Boolean) });
    const roofs = AMP_FLOPS.map(([name, each]) => [name, units ? each * units * r.report.tiles : Infinity]);
    const peak = units ? roofs.at(-1)[1] : Math.max(...rows.map((row) => row.rate)) * 10;
    const low = Math.min(...drawn.map((row) => row.intensity)) / 1.6, high = Math.max(...drawn.map((row) => row.intensity), peak / exchangeRoof()) * 4;
    const lines = width ? [{ name: "exchange", from: [low, low * exchangeRoof()], to: [peak / exchangeRoof(), peak], label: [peak / exchangeRoof(), peak], bounds: true }] : [];
    for (const [name, roof] of roofs) if (Number.isFinite(roof)) lines.push({ name, from: [width ? roof / exchangeRoof() : low, roof], to: [high, roof], dash: [6, 4], bounds: true });
    const without = rows.length - drawn.length, beside = operationRows().filter((row) => row.flops && !row.device).length;
    return [
      drawn.length > 0 && scatterChart({
        title: "Operations under the roofline", x: "FLOP for each byte exchanged", y: "FLOP a device cycle", lines,
        points: drawn.map((row) => ({ name: row.name, x: row.intensity, y: row.rate, weight: row.device, shape: "circle", fill: "compute",
          text: `${row.name}\n${grouped(row.flops)} FLOP, ${grouped(row.bytes)} B exchanged, ${grouped(row.device)} device cycles\n${few(row.intensity)} FLOP/B, ${few(row.rate)} FLOP/cycle`,
          choose: () => choose({ view: "operations", operation: row.name }) })),
      }).element,
      h("p", { class: "note" }, `All ${grouped(r.report.tiles)} tiles of the chip count. ` + (without ? `The table also has ${counted(without, "operation")} without exchange. ` : "") +
        (beside ? `${counted(beside, "operation")} with arithmetic ran beside longer ones and took no cycles. ` : "") +
        "Bytes from and to tile memory are not in a trace, so there is no line for them."),
      h("div", { class: "panel" }, table.element)];
  },
});
