// V9: rules that looked at the run, and what they found.

/// A sentence whose words between backticks are code.
const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

views.push({
  id: "insights", title: "Insights", group: "Overview",
  hint: "Rules with numbers: what they found, why, what would help, and how many cycles it might save. Gains are estimates and do not add up.",
  make() {
    const found = run().doc.insights;
    if (!found.length) return h("div", { class: "panel missing" }, "No rule found anything to say about this run.");
    return found.map((insight) => h("article", { class: "panel insight" }, h("span", { class: "id" }, insight.rule), h("h3", {}, insight.found),
      h("span", { class: "gain" }, insight.cycles ? `up to ${grouped(insight.cycles)} cycles` : ""),
      insight.advice && h("p", {}, withCode(insight.advice))));
  },
});
