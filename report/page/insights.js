// V9: rules that looked at the run, and what they found.

/// A sentence whose words between backticks are code.
const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

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

views.push({
  id: "insights", title: "Insights", group: "Overview",
  hint: "Rules with numbers: what they found, what would help, and how many cycles are at stake. How many a change saves is another matter, and they overlap.",
  make() {
    const found = run().doc.insights;
    if (!found.length) return h("div", { class: "panel missing" }, "No rule found anything to say about this run.");
    return found.map((insight) => h("article", { class: "panel insight" }, h("span", { class: "id" }, insight.rule), h("h3", {}, insight.found),
      h("span", { class: "gain" }, insight.cycles ? `${grouped(insight.cycles)} cycles at stake` : ""),
      insight.advice && h("p", {}, withCode(insight.advice)), toOperationOf(insight), besideOther(insight)));
  },
});
