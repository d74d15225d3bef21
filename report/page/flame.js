// V5: the program as a tree: loops, branches and arms, the operations in them, and their steps; as wide as they take.

const stepCycles = (step) => step.sums.compute_cycles + step.sums.exchange_cycles + step.sums.sync_cycles + (state.device ? 0 : step.sums.host_cycles);
const WEIGHTS = {
  critical: ["Critical path", "cycles", stepCycles],
  work: ["Work of all tiles", "tile cycles", (step) => step.sums.tile_cycles],
};

/// The tree of the program, heavy parts with their sums.
function programTree(weight) {
  const of = WEIGHTS[weight][2], r = run();
  const root = { id: "", name: r.report.module || "program", kind: "program", children: [], depth: 0 };
  const nodes = new Map([[-1, root]]);
  const group = (parent, name) => {
    const last = parent.children.find((child) => child.kind === "operation" && child.name === name);
    if (last) return last;
    const node = { id: `${parent.id}/${name}`, name, kind: "operation", children: [], parent };
    parent.children.push(node);
    return node;
  };
  for (const step of r.steps) {
    const parent = nodes.get(step.parent) || root;
    const isControl = ["loop", "branch", "arm"].includes(step.kindName);
    const into = isControl ? parent : group(parent, step.operationName || "control");
    const name = step.kindName === "loop" && step.trips ? `${step.name} ×${step.trips}` : step.name;
    const node = { id: String(step.number), name: step.kindName === "exchange" ? `${name} (exchange)` : name, kind: step.kindName, step, children: [], parent: into, self: of(step) };
    into.children.push(node);
    nodes.set(step.number, node);
  }
  const sum = (node, depth) => {
    node.depth = depth;
    node.weight = (node.self || 0) + node.children.reduce((total, child) => total + sum(child, depth + 1), 0);
    return node.weight;
  };
  sum(root, 0);
  return root;
}
const pathOf = (node) => (node.parent ? [...pathOf(node.parent), node.name] : [node.name]);
const flat = (node) => [node, ...node.children.flatMap(flat)];

function flameView(view) {
  let root, top, cursor, boxes = [];
  const beyond = beyondOther("operation", operationRows);
  const moved = (node) => (beyond && node.kind === "operation" && node.name !== "control" ? beyond(node.name) : null);
  const toZoom = () => { top = cursor = flat(root).find((node) => node.id === state.zoom) || root; };
  const grow = () => {
    root = programTree(state.weight);
    toZoom();
  };
  grow();
  const matches = (node) => state.operation && (node.name === state.operation || node.parent?.name === state.operation);
  const layout = (width) => {
    boxes = [];
    const place = (node, x, w, level) => {
      if (w < 0.4) return;
      boxes.push({ node, x, w, y: 4 + level * 24 });
      let at = x;
      for (const child of node.children) {
        const wide = node.weight ? (w * child.weight) / node.weight : 0;
        place(child, at, wide, level + 1);
        at += wide;
      }
    };
    place(top, 0, width, 0);
  };
  const deepest = (node) => 1 + Math.max(0, ...node.children.filter((child) => child.weight).map(deepest));
  const fills = { compute: "compute", exchange: "exchange", host: "host", control: "sync" };
  const chart = new Chart({
    title: "Program tree", height: () => 12 + 24 * deepest(top),
    draw(pen, width) {
      layout(width);
      for (const { node, x, w, y } of boxes) {
        const step = fills[node.kind];
        const fill = step || (node.kind === "operation" ? "accent-soft" : "line");
        drawLabelled(pen, x, y, w, MARKS[moved(node)?.style || ""] + node.name, fill, state.operation && !matches(node) && step ? 0.35 : 1);
        if (matches(node) || node === cursor) pen.rect(x + 0.75, y + 0.75, Math.max(1, w - 2.5), 20.5, { stroke: "mark", width: node === cursor ? 2 : 1.2 });
      }
    },
    at(x, y) {
      const box = boxes.find((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + 23);
      return box && { text: describe(box.node), choose: () => zoom(box.node) };
    },
    keys(event) {
      const siblings = cursor.parent ? cursor.parent.children.filter((n) => n.weight) : [cursor], i = siblings.indexOf(cursor);
      const next = { ArrowDown: cursor.children.find((n) => n.weight), ArrowUp: cursor.parent, ArrowRight: siblings[i + 1], ArrowLeft: siblings[i - 1] }[event.key];
      if (event.key === "Enter") zoom(cursor);
      else if (event.key === "Backspace" || event.key === "Home") zoom(root);
      else if (next) cursor = next;
      else return event.key.startsWith("Arrow");
      announce(describe(cursor));
      chart.update();
      return true;
    },
    describe: () => `${describe(cursor)}. Arrow keys move in the tree, Enter zooms in, Home shows all.`,
    table: () => new Table({
      caption: `Parts of the program, ${WEIGHTS[state.weight][1]}`, sort: "weight", filter: true, rows: flat(root).filter((node) => node.weight), columns: [
        { name: "path", title: "Path", value: (node) => pathOf(node).join(" › ") }, { name: "kind", title: "Kind", spare: 1 },
        { name: "weight", title: WEIGHTS[state.weight][0], unit: WEIGHTS[state.weight][1].replace(/s$/, ""), number: true },
        { name: "share", title: "Share", unit: "%", number: true, value: (node) => (100 * node.weight) / root.weight, text: (node) => decimal((100 * node.weight) / root.weight, 2) }],
    }),
    legend: legend([["Compute step", "compute"], ["Exchange step", "exchange"], ["Code between steps", "sync"], ["Host", "host"], ["Operation", "accent-soft"], ["Loop, branch, arm", "line"]]),
  });
  function describe(node) {
    return `${pathOf(node).join(" › ")}\n${grouped(node.weight)} ${WEIGHTS[state.weight][1]}, ${percent(node.weight, root.weight)}` +
      (moved(node) ? `\nΔ to run ${other().label}: ${moved(node).text} device cycles in the run` : "") +
      (node.step ? `\nruns ${grouped(node.step.sums.runs)} times` : "") +
      (node.step?.fused || []).map(({ name, share, python }) => `\n${percent(share, 1, 0)} ${name}${python && `, ${fileName(python)}`}`).join("");
  }
  function zoom(node) {
    cursor = node;
    choose({ zoom: node.id, ...(node.kind === "operation" ? { operation: node.name } : {}) });
    chart.update();
  }
  view.zoomed = toZoom;
  view.reset = () => {
    grow();
    chart.refreshTable();
  };
  return { chart, out: () => zoom(root) };
}

views.push({
  id: "flame", title: "Program flame graph", group: "Program", needs: ["weight", "zoom", "device"],
  hint: "The program from the call down to its steps, each as wide as the cycles of the critical path, or the work of all tiles, that it takes; work is that of whole supersteps, at the steps that begin them. Choose a part to zoom in.",
  make() {
    const { chart, out } = flameView(this);
    const weights = picker("Weight", "weight", Object.entries(WEIGHTS).map(([key, [title]]) => [key, title]));
    this.select = weights.querySelector("select");
    return [h("div", { class: "controls" }, weights, h("button", { type: "button", on: { click: out } }, "Show all")), chart.element];
  },
  update(changed) {
    if (!changed.has("weight") && !changed.has("device")) return this.zoomed();
    this.select.value = state.weight;
    this.reset();
  },
});
