// What is chosen: the view, the superstep, the tile, the window of time. It is the hash of the page's address.

const state = { view: "summary", run: 0, superstep: 0, tile: 0, from: 0, to: 0, operation: "", group: "operation", device: 1, metric: "compute", map: "memory", moved: 0, weight: "critical", step: -1, zoom: "" };
/// How tables are sorted and filtered that are not as they begin: `operations.sort` is a column, behind a - with the greatest first, `operations.filter` words.
const tableChoices = new Map();
const listeners = new Set();
let runs = [];
const views = [];
let look = {};  // at a run that nothing was chosen of: superstep, tile, and window where it is not all
const run = () => runs[state.run];
const other = () => runs[1 - state.run];

/// Changes what is chosen and tells every view.
function choose(change) {
  const before = { ...state };
  Object.assign(state, change);
  state.run = clamp(Math.floor(state.run) || 0, 0, runs.length - 1);
  state.superstep = clamp(Math.floor(state.superstep) || 0, 0, Math.max(0, run().count - 1));
  state.tile = clamp(Math.floor(state.tile) || 0, 0, Math.max(0, run().report.tiles - 1));
  const count = run().count;
  state.from = clamp(Math.floor(state.from) || 0, 0, Math.max(0, count - 1));
  state.to = clamp(Math.floor(state.to) || count, Math.min(count, state.from + 1), count);
  if (change.superstep !== undefined && (state.superstep < state.from || state.superstep >= state.to)) {
    const width = state.to - state.from;
    state.from = clamp(state.superstep - Math.floor(width / 2), 0, Math.max(0, count - width));
    state.to = Math.min(count, state.from + width);
  }
  const changed = new Set(Object.keys(state).filter((key) => state[key] !== before[key]));
  if (!changed.size) return;
  showAddress();
  for (const listener of listeners) listener(changed);
}
function showAddress() { history.replaceState(history.state, "", "#" + address()); }
function chooseTable(key, value) {
  if (value) tableChoices.set(key, value);
  else tableChoices.delete(key);
  showAddress();
}
function address() {
  const parts = [["view", state.view], ["superstep", state.superstep], ["tile", state.tile]];
  if (runs.length > 1) parts.push(["run", state.run]);
  const isWhole = state.from === 0 && state.to === run().count;
  if (!(isWhole && look.to === undefined)) parts.push(["from", state.from]);
  if (state.to !== run().count) parts.push(["to", state.to]);
  if (state.operation) parts.push(["operation", state.operation]);
  if (state.group !== "operation") parts.push(["group", state.group]);
  if (!state.device) parts.push(["device", 0]);
  if (state.moved) parts.push(["moved", 1]);
  if (state.step >= 0) parts.push(["step", state.step]);
  if (state.zoom) parts.push(["zoom", state.zoom]);
  parts.push(["metric", state.metric], ["map", state.map], ["weight", state.weight]);
  parts.push(...tableChoices);
  return parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
}
/// What an address says; words that are not ours are passed over.
function fromAddress(hash) {
  const out = {};
  tableChoices.clear();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    const key = part.slice(0, cut);
    const ofTable = /^[a-z0-9-]+\.(sort|filter)$/.test(key);
    if (cut < 1 || !(ofTable || Object.hasOwn(state, key))) continue;
    try {
      const text = decodeURIComponent(part.slice(cut + 1));
      if (ofTable) {
        tableChoices.set(key, text);
        continue;
      }
      out[key] = typeof state[key] === "number" ? Number(text) || 0 : text;
    } catch { /* no text in UTF-8 */ }
  }
  if (out.from !== undefined && out.to === undefined) out.to = Infinity;  // up to the last, however many there are
  return out;
}
/// A sentence for those who do not see what changed.
function announce(text) { document.getElementById("announce").textContent = text; }

/// A list to choose one of what is chosen from: [[key, title], …].
const picker = (label, name, entries) =>
  h("label", {}, label, h("select", { "aria-label": label, on: { change: (event) => choose({ [name]: event.target.value }) } },
    entries.map(([key, title]) => h("option", { value: key, selected: key === state[name] }, title))));

/// What a view shows where the trace lacks what it needs.
const missing = (what) =>
  h("div", { class: "panel missing" }, h("p", {}, what), h("p", {}, "Write it with ", h("code", {}, "superstep run … --trace tile -o run.h5"), "."));
