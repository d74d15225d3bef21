// The frame around the views: navigation, runs, keys, print.

const ORDER = ["compare", "summary", "insights", "timeline", "heatmap", "tiles", "flame", "operations", "memory", "roofline", "prediction", "provenance"];
const listed = () => ORDER.map((id) => views.find((view) => view.id === id)).filter((view) => view && (view.id !== "compare" || runs.length > 1));
const KEY_OF_VIEW = "1234567890";

/// Makes a view the first time that it is looked at.
function build(view) {
  if (view.section.childElementCount) return;
  const made = [view.make()].flat(3).filter(Boolean);
  view.section.append(h("header", {}, h("h2", { id: `title-${view.id}` }, view.title), h("p", {}, view.hint)), ...made);
}
function forgetViews() {
  charts.clear();
  for (const view of listed()) view.section.replaceChildren();
}
function showNow(view) {
  choose({ view: view.id });
  announce(view.title);
}
function showView() {
  const view = listed().find((v) => v.id === state.view) || listed()[0];
  build(view);
  for (const v of listed()) {
    v.section.classList.toggle("shown", v === view);
    if (v === view) v.link.setAttribute("aria-current", "page");
    else v.link.removeAttribute("aria-current");
  }
  const nav = document.getElementById("views");  // which scrolls where it is a row
  nav.scrollLeft = view.link.offsetLeft - (nav.clientWidth - view.link.offsetWidth) / 2;
  document.title = `${view.title} – ${run().report.module || "Superstep"}`;
}
/// The chosen operation becomes what it is in the other run.
function chooseRun(i) {
  if (i !== state.run) choose({ run: i, operation: run().counterpart("operation", state.operation) || "" });
}
function showHead() {
  const { report, doc } = run();
  document.getElementById("title").textContent = report.module || doc.file;
  document.getElementById("subtitle").textContent =
    `${report.machine}, ${grouped(report.tiles_used)} of ${grouped(report.tiles)} tiles at ${decimal(report.clock_hz / 1e9, 3)} GHz · ${counted(report.calls, "call")} · ${report.outcome} · ${doc.file}`;
  document.getElementById("banner").replaceChildren(...banners());
  const group = document.getElementById("runs");
  group.hidden = runs.length < 2;
  group.replaceChildren(...runs.map((r, i) => h("button", { type: "button", title: r.doc.file, "aria-pressed": i === state.run ? "true" : "false", on: { click: () => chooseRun(i) } }, `Run ${r.label}`)));
}
/// A way to a view, with the choices of now.
function linkTo(view, ...content) {
  const go = (event) => {
    event.preventDefault();
    showNow(view);
    window.scrollTo(0, 0);
  };
  return h("a", { href: `#view=${view.id}`, on: { click: go } }, ...content);
}
function makeViews() {
  const nav = document.getElementById("views"), sections = document.getElementById("sections");
  let group = "";
  listed().forEach((view, i) => {
    if (view.group !== group) nav.append(h("div", { class: "group", "aria-hidden": "true" }, (group = view.group)));
    view.link = linkTo(view, view.title, i < KEY_OF_VIEW.length && h("kbd", { "aria-hidden": "true" }, KEY_OF_VIEW[i]));
    view.section = h("section", { class: "view", id: `view-${view.id}`, "aria-labelledby": `title-${view.id}` });
    nav.append(view.link);
    sections.append(view.section);
  });
}
function makeKeys() {
  const dialog = document.getElementById("keys");
  const keys = [["1 … 9, 0", "a view"], ["/", "search"], ["← →", "superstep before, next (with Shift: ten)"], ["Home, End", "first, last superstep"], ["+ −", "zoom in, out"],
                ["Space", "play, pause"], ["c", "the call of this superstep"], ["← → ↑ ↓", "on the chip: the next tile"], ["↑ ↓", "on tiles × supersteps: tile before, next"], ["Enter", "in the flame graph: zoom in"], ["?", "these keys"]];
  dialog.append(h("h2", { id: "keys-title" }, "Keys"), h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("button", { type: "button", on: { click: () => dialog.close() } }, "Close"));
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || dialog.open) return;
    const view = listed()[KEY_OF_VIEW.indexOf(event.key)];
    if (event.key === "/") document.getElementById("search").focus();
    else if (event.key === "?") dialog.showModal();
    else if (view && KEY_OF_VIEW.includes(event.key)) {
      showNow(view);
    } else if (!run().count || (event.key === " " && event.target.tagName !== "BODY" && event.target.id !== "main") || !["ArrowLeft", "ArrowRight", "+", "-", "=", " ", "c"].includes(event.key) || !timelineKeys(event)) return;
    event.preventDefault();
  });
}

function changed(keys) {
  if (keys.has("run")) {
    forgetViews();
    showHead();
  }
  if (keys.has("view") || keys.has("run")) showView();
  for (const view of listed())
    if (view.section.childElementCount && view.update && (view.needs || []).some((key) => keys.has(key))) view.update(keys);
  showDetails();
  for (const chart of charts) {
    chart.update();
    if (["superstep", "from", "to", "tile", "device", "map", "moved"].some((key) => keys.has(key)) && chart.refreshTable) chart.refreshTable();
  }
}

function start() {
  const documents = JSON.parse(asWritten(document.getElementById("documents").textContent));
  runs = documents.map((doc, i) => new Run(doc, "AB"[i]));
  if (runs.length > 1) pairUp(runs);
  state.run = runs.length - 1;
  makeViews();
  makeSearch();
  makeKeys();
  listeners.add(changed);
  look = firstLook(run());
  const chosen = fromAddress(location.hash);
  choose({ view: listed()[0].id, ...look, ...chosen, ...(follower.atFirstLook(chosen) ? { from: 0, to: Infinity, ...look } : {}) });
  showHead();
  showView();
  showDetails();
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();  // the address keeps what is chosen
    document.getElementById("main").focus();
  });
  window.addEventListener("hashchange", () => {
    choose(fromAddress(location.hash));
    forgetViews();  // tables may be others
    showView();
  });
  window.addEventListener("beforeprint", () => {
    listed().forEach(build);
    printTables(true);
  });
  window.addEventListener("afterprint", () => printTables(false));
  listenToPrinter();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    palette.forget();
    for (const chart of charts) chart.update();
  });
  follower.begin();
  document.documentElement.dataset.ready = "true";
}
/// The superstep with most device cycles; and of a run of many, those around it.
function firstLook(r) {
  let superstep = 0;
  for (let s = 1; s < r.count; ++s) if (r.device(s) > r.device(superstep)) superstep = s;
  const tile = r.count ? r.value("critical_tile", superstep) : r.report.memory.worst_tile;
  if (r.count <= 64) return { superstep, tile };
  const from = clamp(superstep - 16, 0, r.count - 32);
  return { superstep, tile, from, to: from + 32 };
}
start();
