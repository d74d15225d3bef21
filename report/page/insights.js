// V9: rules that looked at the run, and what they found.

/// The view of the page that has what one of `superstep report` has.
const PAGE_VIEWS = { ops: "operations", steps: "prediction", supersteps: "timeline", tiles: "tiles", memory: "memory", exchange: "operations", host: "summary", bsp: "prediction", codelets: "heatmap" };

/// A sentence whose words between backticks are code; those that name a view of the terminal lead to that of the page.
const withCode = (text) => text.split("`").map((part, i) => {
  const view = i % 2 && views.find(({ id }) => id === PAGE_VIEWS[part.replace("--view ", "")]);
  return view ? linkTo(view, view.title) : i % 2 ? h("code", {}, part) : part;
});

/// The operation that an insight is most about, as a way to its row.
const toOperationOf = ({ operation }) => run().report.operations.some(({ name }) => name === operation) &&
  h("p", {}, "Most in ", h("button", { type: "button", class: "link", on: { click: () => choose({ view: "operations", group: "operation", operation }) } }, operation));

/// What the same rule says of the other run.
function besideOther({ rule, cycles }) {
  if (runs.length < 2) return false;
  const same = other().doc.insights.find((insight) => insight.rule === rule);
  const text = same && (cycles || same.cycles) ? marked(`${grouped(same.cycles)} cycles at stake, ${signed(cycles - same.cycles)} here`, cycles - same.cycles, 1) : same ? "the same" : "nothing";
  return h("p", {}, `In run ${other().label} this rule found: `, text);
}

/// What the rules without a word measured, so that silence says something.
function silentPanel() {
  const rows = namedRows(run().doc.silent_rules), percents = (name, title) => number(name, title, "%", { value: (row) => 100 * row[name], text: (row) => decimal(100 * row[name], 1) });
  return h("div", { class: "panel" }, h("h3", {}, "Rules that find nothing"), rows.length > 0 && new Table({ caption: "What they measured is below their limit", label: "Silent rules", rows, columns: [
    { name: "rule", title: "Rule" }, percents("measured", "Measured"), percents("limit", "Limit"), { name: "of_what", title: "Of what", spare: 1 }] }).element,
    run().doc.silent_rules.notes.map((note) => h("p", { class: "note" }, note)));
}

views.push({
  id: "insights", title: "Insights", group: "Overview",
  hint: "Rules with numbers: what they found, what would help, and how many cycles are at stake. How many a change saves is another matter, and they overlap.",
  make() {
    const found = run().doc.insights;
    const none = found.length === 0 && h("div", { class: "panel missing" }, "No rule found anything to say about this run.");
    return [none, ...found.map((insight) => h("article", { class: "panel insight" }, h("span", { class: "id" }, insight.rule), h("h3", {}, insight.found),
      h("span", { class: "gain" }, insight.cycles ? `${grouped(insight.cycles)} cycles at stake` : ""),
      insight.advice && h("p", {}, withCode(insight.advice)), toOperationOf(insight), besideOther(insight))), silentPanel()];
  },
});
