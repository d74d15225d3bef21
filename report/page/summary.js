// V1: totals of the run as cards, and its phases as bars; what happened, and what the compiler chose.

const PHASE_LEGEND = [["Exchange", "exchange"], ["Compute", "compute"], ["Sync", "sync"], ["Host", "host"]];

function cards() {
  return h("dl", { class: "cards" }, TOTALS.map(([name, value, text, worse, note]) => {
    const now = value(run().report, run());
    const [big, unit] = text(now).split(" ");
    const card = h("div", { class: "card" }, h("dt", {}, name), h("dd", { class: "big" }, big, unit && h("small", {}, unit)),
      h("dd", { class: "sub" }, note(run().report, run())));
    if (runs.length > 1) {
      const before = value(other().report, other());
      card.append(h("dd", { class: "sub" }, marked(change(before, now), now - before, worse), ` to run ${other().label}`));
    }
    return card;
  }));
}

const DEVICE_PARTS = ["exchange", "compute", "sync"];

/// Parts of a whole of cycles as a bar; `longest` cycles fill the width.
function drawPhaseBar(pen, width, top, name, r, parts, longest) {
  const { cycles } = r.report, whole = parts.reduce((sum, part) => sum + cycles[part], 0);
  pen.text(0, top - 6, name, { fill: "ink", weight: 600, size: 12 });
  pen.text(width, top - 6, `${grouped(whole)} cycles, ${time(whole, r.clock)}`, { anchor: "end" });
  let x = 0;
  for (const part of parts) {
    const w = longest ? (width * cycles[part]) / longest : 0;
    pen.rect(x, top, w, 26, { fill: part });
    if (w > 56) {
      const box = Math.min(w - 8, 46);
      pen.rect(x + w / 2 - box / 2, top + 5, box, 16, { fill: "panel", opacity: 0.9 });
      pen.text(x + w / 2, top + 17, percent(cycles[part], whole), { anchor: "middle", fill: "ink", weight: 600, max: box });
    }
    x += w;
  }
  if (!whole) pen.rect(0, top, width, 26, { stroke: "line" });
}
function drawPhaseBars(pen, width) {
  const { cycles } = run().report;
  drawPhaseBar(pen, width, 22, "On the device", run(), DEVICE_PARTS, cycles.device);
  drawPhaseBar(pen, width, 84, "With the host", run(), PARTS, cycles.total);
}

function phaseTable() {
  const { cycles } = run().report;
  const part = (name, key, device) => ({ name, cycles: cycles[key], device, assumed: cycles[`${key}_assumed`] });
  const rows = [part("Compute", "compute", true), part("Exchange", "exchange", true), part("Sync", "sync", true),
                { name: "Device", cycles: cycles.device, device: true, assumed: cycles.compute_assumed + cycles.exchange_assumed + cycles.sync_assumed },
                part("Host", "host", false),
                { name: "Total", cycles: cycles.total, device: false,
                  assumed: cycles.compute_assumed + cycles.exchange_assumed + cycles.sync_assumed + cycles.host_assumed }];
  return new Table({ caption: "Cycles of the run by part", rows, columns: [
    { name: "name", title: "Part" },
    { name: "cycles", title: "Cycles", unit: "cycle", number: true },
    { name: "time", title: "Time", unit: "µs", number: true, value: (r) => (1e6 * r.cycles) / run().clock, text: (r) => decimal((1e6 * r.cycles) / run().clock, 2) },
    { name: "ofDevice", title: "Of device", unit: "%", number: true, value: (r) => (r.device ? (100 * r.cycles) / cycles.device : NaN),
      text: (r) => (r.device && cycles.device ? decimal((100 * r.cycles) / cycles.device, 1) : "") },
    { name: "ofTotal", title: "Of total", unit: "%", number: true, value: (r) => (100 * r.cycles) / cycles.total,
      text: (r) => (cycles.total ? decimal((100 * r.cycles) / cycles.total, 1) : "") },
    { name: "assumed", title: "On assumed numbers", unit: "cycle", number: true },
  ] });
}

function assumedNote() {
  const { cycles } = run().report;
  const device = cycles.compute_assumed + cycles.exchange_assumed + cycles.sync_assumed;
  if (device + cycles.host_assumed === 0) return "All cycles rest on numbers of the machine that were measured, published or derived.";
  return `${grouped(device)} device cycles (${percent(device, cycles.device)}) and ${grouped(cycles.host_assumed)} host cycles ` +
    `(${percent(cycles.host_assumed, cycles.host)}) rest on assumed or extrapolated numbers of the machine; Provenance says which.`;
}

/// What the program calls its arguments and results, where it names some of these rows.
const labelColumn = (rows) => (rows.some(({ label }) => label) ? [{ name: "label", title: "Label", shorten: true, spare: 1, meaning: run().meaning("/program/stream/label") }] : []);

/// What visits to the host move, by name, and how long that takes.
function streamsPanel() {
  const r = run(), sums = r.table("stream_sums").rows(), rows = r.table("/program/stream").rows().map((row, i) => ({ ...row, ...sums[i] })), { cycles } = r.report;
  const all = rows.reduce((sum, row) => sum + row.cycles, 0), onTiles = number("bytes", "On tiles", "B", { spare: 4, meaning: r.meaning("/program/stream/bytes") });
  const moves = sums.length === 0 ? [onTiles] : [
    number("cycles", "Cycles", "cycle", { meaning: "From the first packet of a transfer to its last" }),
    number("share", "Of streams", "%", { spare: 2, value: (row) => (100 * row.cycles) / all, text: (row) => (all ? decimal((100 * row.cycles) / all, 1) : "–") }),
    number("moved_bytes", "Moved", "B"), number("transfers", "Transfers", undefined, { spare: 1 }), number("packets", "Packets", undefined, { spare: 3 }),
    number("rate", "B/cycle", undefined, { spare: 3, value: (row) => row.moved_bytes / row.cycles, text: (row) => decimal(row.moved_bytes / row.cycles, 1) }), onTiles];
  const note = sums.length === 0 ? "How long they take is in traces of --trace superstep." :
    `Beginnings of ${counted(r.report.visits, "visit")} take ${grouped(cycles.visit_begin)} cycles, data ${grouped(cycles.host - cycles.visit_end)}, ends ${grouped(cycles.visit_end)}. ` +
    "Streams of one visit share the way; what data takes beyond them is latency.";
  return rows.length > 0 && h("div", { class: "panel" }, h("h3", {}, "Streams over the host link"), h("p", { class: "note" }, note), new Table({
    caption: sums.length ? "Those that take longest first" : "In the order of the program", label: "Streams", page: 10, rows, sort: sums.length ? "cycles" : undefined, columns: [
      { name: "name", title: "Stream" }, ...labelColumn(rows), { name: "direction", title: "Direction", spare: 1, value: (row) => (row.direction ? "to the host" : "to the device") }, ...moves, { name: "type", title: "Type", shorten: true, spare: 3 }] }).element);
}

function banners() {
  const { report, doc } = run(), out = [];
  if (report.outcome === "running" && !follower.between) out.push("The run lasted when this page was written: these are its finished supersteps.");
  else if (!["ok", "running"].includes(report.outcome))
    out.push(report.outcome === "oom" ? "The program does not fit: this is what its memory would be." : `The run did not end (${report.outcome}): these are its finished supersteps.`);
  if (report.begins_inside) out.push("The run goes on from a checkpoint: what was before it is not in these numbers.");
  if (report.trap) out.push(report.trap);
  for (const event of report.events) if (event.kind !== "trap") out.push(`${event.kind} at cycle ${grouped(event.cycle)}: ${event.text}`);
  if (doc.supersteps_in_trace > run().count)
    out.push(`Views of supersteps show the first ${grouped(run().count)} of ${grouped(doc.supersteps_in_trace)}; totals are of all.`);
  return out.map((text) => h("div", { class: "banner", role: "note" }, text));
}

views.push({
  id: "summary", title: "Summary", group: "Overview", hint: "What the run took, with the device first and the host apart.",
  make() {
    const phases = new Chart({ title: "Where the cycles go", height: 116, draw: drawPhaseBars, table: phaseTable, legend: legend(PHASE_LEGEND),
      describe: () => PARTS.map((part) => `${part} ${grouped(run().report.cycles[part])} cycles`).join(", ") });
    const { cycles } = run().report, choices = run().doc.costly_choices;
    const predicted = cycles.predicted
      ? `The compiler predicted ${grouped(cycles.predicted)} device cycles; the run took ${grouped(cycles.device)} (${change(cycles.predicted, cycles.device)}). ` : "";
    return [cards(), phases.element, h("div", { class: "panel note" }, predicted + assumedNote()), streamsPanel(),
      choices.length > 0 && h("div", { class: "panel" }, h("h3", {}, "Choices of the compiler that cost time"), new Table({
        caption: "In program order", rows: choices, columns: [
          { name: "operation", title: "Operation", choose: (r) => choose({ view: "operations", operation: r.operation }) },
          { name: "kind", title: "Kind" }, { name: "reason", title: "What was found" }, { name: "advice", title: "What would help" },
          { name: "source", title: "Source" }] }).element)];
  },
});
