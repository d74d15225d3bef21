// The superstep that is chosen, beside every view.

function showDetails() {
  const panel = document.getElementById("selection");
  const r = run(), s = state.superstep;
  if (!r.count) return panel.replaceChildren();
  const source = (part) => SOURCES[r.value(`${part}_cost_source`, s)];
  const step = r.steps[r.value("step", s)];
  const row = (name, value, title) => [h("dt", { title }, name), h("dd", {}, value)];
  const number = (name, column, unit = "") => row(name, `${grouped(r.value(column, s))} ${unit}`.trim(), r.meaning(`/supersteps/${column}`));
  const critical = r.value("critical_tile", s), used = r.usedTiles.length;
  const balance = r.value("compute_cycles_max", s) ? r.value("compute_cycles_sum", s) / (used * r.value("compute_cycles_max", s)) : NaN;
  const onAxis = axisStart()[s], exchanges = r.steps[r.value("exchange_step", s)];
  const parts = PARTS.filter((part) => r.value(`${part}_cycles`, s)).map((part) => [
    row(part[0].toUpperCase() + part.slice(1), `${grouped(r.value(`${part}_cycles`, s))} (${source(part)})`, `Where its number comes from: ${source(part)}`),
    part === "exchange" && exchanges && [h("dt", { title: r.meaning("/supersteps/exchange_step") }, "for step"), h("dd", { class: "name" }, brief(exchanges.name) || NAMELESS)]]);
  const button = (text, label, click) => h("button", { type: "button", "aria-label": label, on: { click } }, text);
  replaceWithin(panel, h("div", { class: "panel picked" },
    h("h3", {}, `Superstep ${grouped(s)} of ${grouped(r.count)}`),
    h("div", { class: "stepper" }, button("◀", "Superstep before", () => stepTo(s - 1)), button("▶", "Next superstep", () => stepTo(s + 1))),
    h("p", { class: "note" }, step ? brief(step.name) || NAMELESS : "code between steps", step && step.operationName !== step.name ? ` of ${brief(step.operationName)}` : ""),
    h("dl", {}, row("Call", grouped(r.of("iteration", s))), r.of("trip", s) > 0 && row("Trip", grouped(r.of("trip", s))),
      row("Starts at", `${grouped(r.start[s])} cycles`), onAxis !== r.start[s] && row(state.device ? "Without host" : "On the axis", `${grouped(onAxis)} cycles`, "Where the timeline draws it"), parts,
      row("Critical tile", button(String(critical), `Choose tile ${critical}`, () => choose({ tile: critical }))),
      number("Active tiles", "active_tiles"), row("Balance", percent(balance, 1), "Mean of compute cycles over the slowest tile's"),
      number("h, a tile's most", "h_bytes", "B"), number("Written", "bytes_sent", "B"), number("Messages", "messages"), number("Host", "host_bytes", "B"),
      number("FLOP", "flops"), number("Instructions", "instructions"), number("Live", "live_bytes", "B")),
    r.launches(s).length > 0 && h("h3", {}, "Steps on the critical tile"),
    h("dl", {}, r.launches(s).map((launch) => row(`${brief(r.stepName(launch.step)) || NAMELESS}${launch.runs > 1 ? ` ×${launch.runs}` : ""}`, grouped(launch.cycles)))),
    h("h3", {}, `Tile ${state.tile}`), tileDetails()));
  panel.querySelectorAll("dd button").forEach((b) => { b.className = "link"; });
}

function tileDetails() {
  const r = run(), s = state.superstep, place = r.table("/machine"), t = state.tile, memory = r.table("/memory");
  const rows = [["Row, column, lane", ["row", "column", "lane"].map((name) => place.get(name)[t]).join(", ")],
                ["Most in use", bytes(memory.get("max_live_bytes")[t] || 0)]];
  const used = r.tileIndex.get(t);
  if (used === undefined) rows.push(["Program", "none"]);
  else
    for (const [column, name, unit] of [["compute/cycles", "Compute", "cycles"], ["compute/wait_cycles", "Waits", "cycles"],
                                        ["exchange/sent_bytes", "Sent", "B"], ["exchange/received_bytes", "Received", "B"]]) {
      const values = r.tiles(column, s);
      if (values) rows.push([name, `${grouped(values[used])} ${unit}`]);
    }
  return h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
