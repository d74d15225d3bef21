// The search box: views, operations, steps, tensors, tiles and supersteps by name or number.

function searchIndex() {
  const r = run(), out = [];
  for (const view of views) out.push({ text: view.title, kind: "view", change: { view: view.id } });
  for (const operation of r.report.operations) out.push({ text: operation.name, kind: "operation", change: { view: "operations", operation: operation.name } });
  for (const step of r.steps)
    for (const { name, of } of step.fused)
      if (name !== step.name) out.push({ text: `${name} in ${step.name}`, kind: step.kindName === "exchange" ? "of a shared exchange" : "fused operation", change: { view: "operations", group: "operation", operation: of } });
  for (const step of r.steps) {
    const first = superstepOfStep(step.number);
    out.push({ text: step.name, kind: `${step.kindName} step`, change: first === null ? { view: "flame", operation: step.operationName } : { view: "timeline", superstep: first } });
  }
  for (const name of r.table("/program/variable").get("name")) out.push({ text: name, kind: "tensor", change: { view: "memory" } });
  for (const { key, value } of Object.entries(r.doc.provenance).map(([key, value]) => ({ key, value }))) out.push({ text: `${key}: ${value}`, kind: "provenance", change: { view: "provenance" } });
  return out;
}
/// The first superstep in which a step computes or exchanges.
function superstepOfStep(number) {
  const r = run(), first = r.distinct.get("first_launch"), launched = r.table("launches").get("step"), exchange = r.distinct.get("exchange_step");
  const rows = new Set();
  for (let row = 0; row + 1 < first.length; ++row) {
    let has = exchange[row] === number;
    for (let i = first[row]; i < first[row + 1] && !has; ++i) has = launched[i] === number;
    if (has) rows.add(row);
  }
  const found = rows.size ? r.row.findIndex((row) => rows.has(row)) : -1;
  return found < 0 ? null : found;
}
function searchFor(words) {
  const text = words.trim().toLowerCase();
  if (!text) return [];
  const out = [], place = text.match(/^(tile|superstep|step)?\s*(\d+)$/);
  if (place) {
    const n = Number(place[2]);
    if (n < run().count && place[1] !== "tile") out.push({ text: `Superstep ${n}`, kind: "superstep", change: { view: "timeline", superstep: n } });
    if (n < run().report.tiles && (!place[1] || place[1] === "tile")) out.push({ text: `Tile ${n}`, kind: "tile", change: { view: "tiles", tile: n } });
  }
  return out.concat(searchIndex().filter((entry) => entry.text.toLowerCase().includes(text)).sort((a, b) => a.text.length - b.text.length)).slice(0, 40);
}

function makeSearch() {
  const input = document.getElementById("search"), list = document.getElementById("found");
  let found = [], at = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (entry) => {
    close();
    input.value = "";
    choose(entry.change);
    document.getElementById("main").focus();
  };
  const show = () => {
    list.replaceChildren(...(found.length ? found.map((entry, i) => h("li", { role: "option", id: `found-${i}`, "aria-selected": i === at ? "true" : "false",
      on: { mousedown: (event) => { event.preventDefault(); take(entry); } } }, h("span", {}, brief(entry.text) || NAMELESS), h("span", {}, entry.kind)))
      : [h("li", { role: "option", "aria-disabled": "true" }, h("span", {}, "Nothing found"))]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (found.length) input.setAttribute("aria-activedescendant", `found-${at}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => {
    found = searchFor(input.value);
    at = 0;
    if (input.value.trim()) show();
    else close();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    }
    if (list.hidden || !found.length) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = (at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      show();
      event.preventDefault();
    }
    if (event.key === "Enter") take(found[at]);
  });
}
