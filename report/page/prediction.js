// V8: what the compiler predicted for each step, and what BSP's formula predicts for supersteps, beside what they took.

/// Steps with a prediction, those first that took most cycles more or less than it: exchanges, and steps as critical tiles ran them.
function predictedSteps(r) {
  const ran = r.steps.map((step) => (step.kindName === "exchange" ? { runs: step.sums.runs, cycles: step.sums.exchange_cycles } : { runs: 0, cycles: 0 })), times = new Map();
  r.row.forEach((row, s) => { times.set(row, [(times.get(row) || [0])[0] + 1, s]); });
  for (const [count, s] of times.values())
    for (const launch of r.launches(s))
      if (launch.runs) {
        ran[launch.step].runs += count * launch.runs;
        ran[launch.step].cycles += count * launch.cycles;
      }
  return r.steps.filter((step) => step.predicted_cycles && ["compute", "exchange"].includes(step.kindName)).map((step) => {
    const { runs, cycles } = ran[step.number];
    return { step: step.number, name: step.name, kindName: step.kindName, executed: step.sums.runs, runs, predicted: step.predicted_cycles, measured: runs ? cycles / runs : NaN,
             beyond: cycles - step.predicted_cycles * runs };
  }).filter((step) => step.executed).sort((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond));
}

/// Supersteps between the same steps, and w + g h + l beside their cycles; those of visits to the host apart.
function bspKinds(r) {
  const kinds = new Map(), width = r.parameter("exchange.width"), l = r.parameter("sync.internal_latency");
  if (!width || l === null) return [];
  for (let s = 0; s < r.count; ++s) {
    if (r.value("host_cycles", s) || r.value("visit_begin_cycles", s)) continue;
    const step = r.value("step", s), exchange = r.value("exchange_step", s), key = `${step} ${exchange}`;
    if (!kinds.has(key)) kinds.set(key, { first: s, computes: r.stepName(step), exchanges: r.stepName(exchange), times: 0, w: 0, h: 0, predicted: 0, measured: 0 });
    const kind = kinds.get(key), w = r.value("compute_cycles", s), h = r.value("h_bytes", s);
    ++kind.times;
    kind.w += w;
    kind.h += h;
    kind.predicted += w + h / width + l;
    kind.measured += r.device(s);
  }
  return [...kinds.values()].map((kind) => ({ ...kind, name: kind.computes, beyond: kind.measured - kind.predicted, w: kind.w / kind.times, h: kind.h / kind.times,
    predicted: kind.predicted / kind.times, measured: kind.measured / kind.times,
  })).sort((a, b) => Math.abs(b.beyond) - Math.abs(a.beyond));
}

/// Steps of a kind, and what they are in A of those in B.
const kindTitle = ({ computes, exchanges }) => `${computes}|${exchanges}`;
const kindBefore = (title) => title.split("|").map((name) => nameBefore("operation", name)).join("|");

/// Predicted against measured: on the line they are equal.
function predictionChart(title, rows, marks, point) {
  const values = rows.flatMap((row) => [row, row.there].filter(Boolean)).flatMap((row) => [row.predicted, row.measured]).filter((n) => n > 0), low = Math.min(...values) / 1.6, high = Math.max(...values) * 1.6;
  return scatterChart({
    title, legend: legend([...marks, ...thereMarks(marks)]), x: "Predicted (cycles)", y: "Measured (cycles)", lines: [{ name: "as predicted", from: [low, low], to: [high, high], dash: [6, 4] }],
    points: rows.filter((row) => row.measured > 0 && row.predicted > 0).map((row) => ({ name: row.name, x: row.predicted, y: row.measured, weight: Math.abs(row.beyond),
      there: row.there && row.there.measured > 0 && { x: row.there.predicted, y: row.there.measured },
      text: `${row.name}\npredicted ${grouped(row.predicted)}, measured ${grouped(row.measured)} cycles\n${signed(row.beyond)} cycles in the run${thereText(row)}`, ...point(row) })),
  });
}
const mean = (n) => (Number.isFinite(n) ? n.toLocaleString("en-US", { maximumFractionDigits: 1 }) : "–");
const offText = (row) => (Number.isNaN(row.measured) ? "–" : relativeText(off(row)));
const off = (row) => (100 * (row.measured - row.predicted)) / row.predicted;
/// What is shown of the other run, of two.
const thereMarks = (marks) => (runs.length < 2 ? [] : marks.map(([name, fill, shape]) => [`${name} in run ${other().label}`, fill, shape, true]));
const thereText = ({ there }) => (runs.length < 2 ? "" : `\nrun ${other().label}: ${there ? `predicted ${grouped(there.predicted)}, measured ${grouped(there.measured)} cycles` : "not there"}`);
/// Of two runs, what is measured beyond the other, and how far that is off.
function besideThere() {
  if (runs.length < 2) return [[], []];
  const by = ({ measured, there }) => measured - (there?.measured ?? NaN), style = (row) => verdict(Math.round(10 * by(row)), 1);
  return [[number("moved", `Δ to ${other().label}`, "cycle", { value: by, style, meaning: "Measured cycles a time less those of the other run",
            text: (row) => (Number.isNaN(by(row)) ? "–" : MARKS[style(row)] + signedText(by(row), mean)) })],
          [number("there", `Off in ${other().label}`, "%", { value: ({ there }) => (there ? off(there) : NaN), text: ({ there }) => (there ? offText(there) : `only ${run().label}`) })]];
}
function predictionColumns() {
  const [moved, there] = besideThere();
  return [
    number("predicted", "Predicted", "cycle", { text: (row) => mean(row.predicted) }), number("measured", "Measured", "cycle", { text: (row) => mean(row.measured) }), ...moved,
    number("off", "Off", "%", { value: off, text: offText }), ...there,
    number("beyond", "In the run", "cycle", { text: (row) => signed(row.beyond), meaning: "Measured less predicted cycles of all its runs" })];
}

/// The farthest from its prediction, in a sentence.
function worstPredicted(rows, what) {
  const [worst] = rows, known = rows.filter((row) => !Number.isNaN(row.measured));
  if (!known.length) return `No ${what} can be compared.`;
  if (!Math.round(worst.beyond)) return `All ${grouped(known.length)} ${what} took what was predicted, to the cycle.`;
  return `Farthest off: ${brief(worst.name) || NAMELESS}, predicted ${mean(worst.predicted)} and measured ${mean(worst.measured)} cycles a time, ${signed(worst.beyond)} cycles in the run. ` +
    `${grouped(known.filter((row) => Math.abs(row.beyond) < 0.5).length)} of ${grouped(known.length)} ${what} took what was predicted, to the cycle.`;
}

function stepsPanel(steps) {
  const toOperation = (row) => choose({ view: "operations", operation: run().steps[row.step].operationName }), beside = steps.filter((step) => !step.runs).length;
  const point = (row) => ({ shape: row.kindName === "compute" ? "circle" : "square", fill: row.kindName, choose: () => toOperation(row) });
  const table = new Table({ caption: "Steps, those first that are farthest off in the run", label: "Predicted steps", filter: true, page: 25, rows: steps, columns: [
    { name: "name", title: "Step", choose: toOperation }, { name: "kindName", title: "Kind", spare: 2 }, number("executed", "Runs", undefined, { spare: 4 }), number("runs", "Compared", undefined, { spare: 3 }), ...predictionColumns()] });
  return [
    h("div", { class: "panel note" }, `${worstPredicted(steps, "steps")} A prediction is of the tile that takes longest for the step, ` +
      `what is measured of the critical tile of its superstep${beside ? `; ${counted(beside, "step")} ran only beside longer ones on other tiles` : ""}.`),
    predictionChart("Steps, by the compiler", steps, [["Compute step", "compute", "circle"], ["Exchange step", "exchange", "square"]], point).element,
    h("div", { class: "panel" }, table.element)];
}
function kindsPanel(kinds) {
  const toSuperstep = (row) => choose({ view: "timeline", superstep: row.first }), columns = [
    { name: "computes", title: "Computes", choose: toSuperstep }, { name: "exchanges", title: "Exchanges", spare: 2 }, number("times", "Times", undefined, { spare: 3 }),
    number("w", "w", "cycle", { spare: 4, text: (row) => mean(row.w) }), number("h", "h", "B", { spare: 4, text: (row) => mean(row.h) }), ...predictionColumns()];
  const table = new Table({ caption: "Supersteps between the same steps, those first that are farthest off in the run", label: "Supersteps by BSP", filter: true, page: 25,
                            rows: kinds, columns });
  return [
    h("div", { class: "panel note" }, `${worstPredicted(kinds, "kinds of supersteps")} g is ${decimal(1 / run().parameter("exchange.width"), 2)} cycles a byte ` +
      `(exchange.width), l ${grouped(run().parameter("sync.internal_latency"))} cycles (sync.internal_latency). BSP does not know that words take time on the way, ` +
      "that ports wait for one another, and how far tiles are from the barrier."),
    predictionChart("Supersteps, by w + g h + l", kinds, [["Supersteps between the same steps", "sync", "diamond"]],
      (row) => ({ shape: "diamond", fill: "sync", choose: () => toSuperstep(row) })).element,
    h("div", { class: "panel" }, table.element)];
}

views.push({
  id: "prediction", title: "Prediction", group: "Trust",
  hint: "What the compiler predicted for each step, and what BSP's w + g h + l says of supersteps, beside what they took. On the dashed line both are equal; " +
    "the larger a point the more cycles it is off in the run.",
  make() {
    const without = tableWhenSuperstep("Predictions are compared with supersteps, which this trace does not have.");
    if (without) return without;
    const steps = withCounterparts(predictedSteps, stepTitle, stepBefore), kinds = withCounterparts(bspKinds, kindTitle, kindBefore);
    return [steps.length ? stepsPanel(steps) : h("div", { class: "panel missing" }, "This trace has no predictions of steps: no compiler made its program."),
            kinds.length > 0 && kindsPanel(kinds)];
  },
});
