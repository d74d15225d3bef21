// Totals of a run, as cards and comparisons show them, and what a difference of them means.

/// Totals that cards and comparisons show, of a report and its run: value and text, and whether more is worse (1), better (-1) or neither (0).
const TOTALS = [
  ["Device cycles", (r) => r.cycles.device, grouped, 1, (r, x) => time(r.cycles.device, x.clock)],
  ["Host cycles", (r) => r.cycles.host, grouped, 1, (r, x) => `${time(r.cycles.host, x.clock)}, ${counted(r.visits, "visit")}`],
  ["Total cycles", (r) => r.cycles.total, grouped, 1, (r, x) => time(r.cycles.total, x.clock)],
  ["Device cycles a call", (r) => r.cycles.device / Math.max(1, r.calls), grouped, 1, (r) => counted(r.calls, "call")],
  ["Supersteps", (r) => r.supersteps, grouped, 0, (r) => `${grouped(r.supersteps / Math.max(1, r.calls))} a call`],
  ["Tile balance", (r) => 100 * r.tile_balance, (n) => decimal(n, 1) + " %", -1, () => "mean over slowest tile"],
  ["BSP efficiency", (r) => 100 * r.bsp_efficiency, (n) => decimal(n, 1) + " %", -1, () => "tiles' mean compute of device cycles"],
  ["FLOP per cycle", (r) => r.flops / (r.cycles.device || 1), few, -1,
   (r, x) => `${short((r.flops / (r.cycles.device || 1)) * x.clock)}FLOP/s on the device`],
  ["Exchanged", (r) => r.exchange_bytes, bytes, 1, (r) => `${grouped(r.exchange_bytes)} B`],
  ["Over the host link", (r) => r.host_bytes, bytes, 1, (r) => `${grouped(r.host_bytes)} B`],
  ["Fullest tile", (r) => r.memory.worst_tile_bytes, bytes, 1,
   (r) => `${percent(r.memory.worst_tile_bytes, r.memory.tile_bytes, 0)} of ${bytes(r.memory.tile_bytes)}, tile ${r.memory.worst_tile}`],
  ["Issue on the main pipe", (r) => 100 * r.issue.main, (n) => decimal(n, 1) + " %", 0,
   (r) => `of tiles' compute; auxiliary ${decimal(100 * r.issue.auxiliary, 1)} %, of it AMP ${decimal(100 * r.issue.amp, 1)} %`],
  ["Instructions", (r) => r.instructions, (n) => short(n), 0, (r) => grouped(r.instructions)],
];
const change = (before, now) => (before === 0 ? (now === 0 ? "±0 %" : "new") : relativeText((100 * (now - before)) / before).replace(/^[^×].*/, "$& %"));
/// Of a difference: worse, better or neither, where more is worse (1) or better (-1); and the sign that says it without colour.
const verdict = (difference, worse) => (difference * worse > 0 ? "worse" : difference * worse < 0 ? "better" : "");
const MARKS = { worse: "✗ ", better: "✓ ", "": "" };
const marked = (text, difference, worse) => h("span", { class: verdict(difference, worse) }, MARKS[verdict(difference, worse)] + text);
