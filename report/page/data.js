// The documents of the page: one or two runs, as report/page/page_data.cpp writes them.

/// Whole numbers that were packed: base64, LEB128, zigzag, differences.
function unpack(text) {
  const bytes = atob(text);
  const numbers = [];
  let before = 0, value = 0, scale = 1;
  for (let i = 0; i < bytes.length; ++i) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte & 128) continue;
    before += value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    numbers.push(before);
    value = 0;
    scale = 1;
  }
  return Float64Array.from(numbers);
}

/// Columns of one table by name, unpacked when they are first asked for.
class Columns {
  constructor(raw) {
    this.raw = raw || {};
    this.known = new Map();
  }
  has(name) { return Object.hasOwn(this.raw, name); }
  get(name) {
    if (!this.known.has(name)) {
      const raw = this.has(name) ? this.raw[name] : "";
      this.known.set(name, typeof raw === "string" ? unpack(raw) : raw);
    }
    return this.known.get(name);
  }
  /// Each row as an object.
  rows() {
    const names = Object.keys(this.raw);
    if (!names.length) return [];
    return Array.from(this.get(names[0]), (_, i) =>
      Object.fromEntries(names.map((name) => [name, this.get(name)[i]])));
  }
}

/// Operations that share a step, with their shares of it, as in reports.
function withShares(operations) {
  const whole = operations.reduce((sum, operation) => sum + operation.weight, 0);
  return whole ? operations.map((operation) => ({ ...operation, share: operation.weight / whole })) : [];
}

const PARTS = ["exchange", "compute", "sync", "host"];
const KINDS = ["compute", "exchange", "host", "control", "loop", "branch", "arm"];
const SOURCES = ["measured", "published", "derived", "assumed", "extrapolated", "user"];

class Run {
  constructor(doc, label) {
    this.doc = doc;
    this.label = label;
    this.report = doc.report;
    this.clock = doc.report.clock_hz;
    this.tables = new Map();
    this.row = this.table("/supersteps").get("row");
    this.count = this.row.length;
    this.distinct = this.table("distinct");
    this.start = this.table("/supersteps").get("start_cycle");
    this.usedTiles = this.table("/program").get("used_tile");
    this.tileIndex = new Map(Array.from(this.usedTiles, (tile, i) => [tile, i]));
    this.operationNames = this.table("/program/operation").get("name");
    this.operationsAlone = new Set([...this.operationNames, ...this.table("fused").get("name")]);
    this.steps = this.readSteps();
    this.memoryByCategory = this.table("/memory").get("bytes").map(unpack);
    this.counterparts = new Map();
    this.traffic = [];  // by row of `distinct`, as the timeline comes to know it
    this.profiles = {};
    for (const [kind, columns] of Object.entries(doc.profiles))
      for (const [name, rows] of Object.entries(columns)) this.profiles[`${kind}/${name}`] = { rows, known: new Map() };
    /// Cycles from the first superstep to each one, with the host and without.
    this.deviceStart = new Float64Array(this.count + 1);
    this.wholeStart = new Float64Array(this.count + 1);
    for (let s = 0; s < this.count; ++s) {
      this.deviceStart[s + 1] = this.deviceStart[s] + this.device(s);
      this.wholeStart[s + 1] = this.wholeStart[s] + this.device(s) + this.value("host_cycles", s);
    }
  }
  table(path) {
    if (!this.tables.has(path)) this.tables.set(path, new Columns(this.doc.tables[path]));
    return this.tables.get(path);
  }
  readSteps() {
    const sums = this.table("step_sums").rows(), fused = new Map();
    for (const row of this.table("fused").rows()) fused.set(row.step, [...(fused.get(row.step) || []), row]);
    return this.table("/program/step").rows().map((step, number) => ({
      ...step, number, kindName: KINDS[step.kind], operationName: this.operationNames[step.operation],
      sums: sums[number] || { count: 0, runs: 0, compute_cycles: 0, exchange_cycles: 0, sync_cycles: 0, host_cycles: 0,
                              critical_tile: 0, tile_cycles: 0, peak_cycles: 0 },
      fused: withShares(fused.get(number) || []),
    }));
  }
  /// What superstep `s` has in a column.
  value(name, s) { return this.distinct.get(name)[this.row[s]]; }
  of(name, s) { return this.table("/supersteps").get(name)[s]; }
  device(s) { return this.value("exchange_cycles", s) + this.value("compute_cycles", s) + this.value("sync_cycles", s); }
  /// Steps that the critical tile launches in a superstep, with their cycles.
  launches(s) {
    const first = this.distinct.get("first_launch"), row = this.row[s], table = this.table("launches");
    const out = [];
    for (let i = first[row]; i < first[row + 1]; ++i)
      // Only other tiles launch what has runs and no cycles.
      if (table.get("cycles")[i] || !table.get("runs")[i]) out.push({ step: table.get("step")[i], cycles: table.get("cycles")[i], runs: table.get("runs")[i] });
    return out;
  }
  /// Whether the page has all supersteps of the run.
  get complete() { return this.count > 0 && this.count === this.report.supersteps; }
  get hasTiles() { return Object.keys(this.profiles).length > 0; }
  /// A row of used tiles of a superstep, or nothing where the page or the trace has none.
  tiles(column, s) { return this.tileRow(column, this.profileOf(column, s)); }
  profileOf(column, s) { return this.value(column.startsWith("compute") ? "compute_profile" : "exchange_profile", s); }
  /// The same by its number, which many supersteps may have.
  tileRow(column, number) {
    const profile = this.profiles[column];
    if (!profile) return null;
    if (!profile.known.has(number)) {
      const text = profile.rows[number];
      profile.known.set(number, text ? unpack(text) : null);
    }
    return profile.known.get(number);
  }
  /// What a name of this run is in the other: of an operation, of one alone, or of a group of them; nothing where only this run has it.
  counterpart(kind, name) { return this.counterparts.get(kind)?.get(name); }
  /// That an operation has no row in the other run as it is fused there, as a text, where that is so.
  fusedInOther(name) {
    const there = runs.find((r) => r !== this);
    return there.table("fused").get("name").includes(this.counterpart("alone", name)) ? `fused in ${there.label}` : "";
  }
  stepName(number) { return number < this.steps.length ? this.steps[number].name : "control"; }
  parameter(name) {
    const table = this.table("/machine/parameter");
    const i = table.get("name").indexOf(name);
    return i < 0 ? null : table.get("value")[i];
  }
  /// The value of a row of /machine/parameter as a text: a name where its key has names.
  parameterText({ name, value }) { return this.doc.key_names[name]?.[value] ?? (Number.isInteger(value) ? grouped(value) : few(value)); }
  /// What the program calls streams, and the tensors of arguments, by their names.
  get labels() { return new Map(this.table("/program/stream").rows().map(({ name, label }) => [name, label])); }
  get limit() { return this.report.memory.tile_bytes; }
  meaning(path) { return (this.doc.meanings[path] || ["", ""])[1]; }
}

/// Lets each run know what its names are in the other; the documents have it as `report diff` does.
function pairUp([before, after]) {
  for (const [kind, names] of Object.entries(after.doc.counterparts)) {
    const pairs = Object.entries(names);
    after.counterparts.set(kind, new Map(pairs));
    before.counterparts.set(kind, new Map(pairs.map(([is, was]) => [was, is])));
  }
}
