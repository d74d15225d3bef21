// V12: where the run comes from, and every number of the machine with its source.

const unitText = ({ unit }) => (unit === "1" ? "" : unit);

views.push({
  id: "provenance", title: "Provenance", group: "Trust",
  hint: "What made this trace, the machine as it was, and where each of its numbers comes from.",
  make() {
    const { doc } = run();
    let origins = {};
    try {
      origins = JSON.parse(doc.machine_origin || "{}");
    } catch { /* not said, or not by us */ }
    const origin = (row) => {
      const at = origins[row.name];
      return at === undefined ? "" : typeof at === "string" ? at : JSON.stringify(at);
    };
    const facts = [["trace", doc.file], ["format", doc.format_version], ["level", doc.level], ["finished", doc.complete ? "yes" : "no"], ["machine", run().report.machine],
                   ...Object.entries(doc.provenance)].map(([name, value]) => ({ name, value }));
    const sources = run().table("/machine/parameter").rows();
    return [
      h("div", { class: "panel" }, new Table({ caption: "What may differ between equal runs, and the trace", rows: facts, columns: [{ name: "name", title: "What" }, { name: "value", title: "Value" }] }).element),
      h("div", { class: "panel" }, new Table({ caption: "Numbers of the machine", label: "Numbers of the machine", filter: true, page: 100, rows: sources, columns: [
        { name: "name", title: "Key", shorten: true }, number("value", "Value", undefined, { text: (row) => run().parameterText(row) }), { name: "unit", title: "Unit", spare: 1, text: unitText },
        { name: "cost_source", title: "Certainty", spare: 2, text: (row) => SOURCES[row.cost_source] || "assumed", style: (row) => (row.cost_source === 3 || row.cost_source === 4 ? "worse" : "") },
        { name: "origin", title: "Source", spare: 3, value: origin }] }).element),
      h("details", { class: "panel" }, h("summary", {}, "The machine as a file"), h("pre", { tabindex: 0 }, doc.machine_toml)),
    ];
  },
});
