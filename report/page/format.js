// Elements and numbers as text. What a trace says only ever becomes text nodes and attributes.

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/// Puts children in the place of others; where one of these has the focus, what is at its place has it then.
function replaceWithin(element, ...children) {
  const controls = () => [...element.querySelectorAll("button, input, select, summary, canvas, [tabindex]")], at = controls().indexOf(document.activeElement);
  element.replaceChildren(...children);
  if (at >= 0) controls()[at]?.focus({ preventScroll: true });
}

/// JSON whose texts have characters that turn the order of others (UAX #9) as `\u202e`, which a name cannot pretend to be others with.
const asWritten = (json) => json.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

const grouped = (n) => (Number.isFinite(n) ? Math.round(n).toLocaleString("en-US") : "–");
const percent = (part, whole, digits = 1) => (whole ? ((100 * part) / whole).toFixed(digits) + " %" : "–");
const decimal = (n, digits = 2) => (Number.isFinite(n) ? n.toFixed(digits) : "–");
/// Three digits of a real number, or all of a large one.
const few = (n) => (n >= 100 ? grouped(n) : String(+n.toPrecision(3)));
const counted = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;
/// What moved, in percent of what it was, or how many times as much it is where that is easier to read.
const relativeText = (moved) => (moved >= 1000 ? `×${moved >= 9900 ? grouped(1 + moved / 100) : decimal(1 + moved / 100, 1)}` : `${signedText(moved, (n) => decimal(n, 1))}`);
/// A number with its sign as `text` writes it; what is written as nothing has none.
function signedText(n, text) {
  const shown = text(Math.abs(n));
  return parseFloat(shown) === 0 ? shown.replace(/^0(\.0+)?/, "±0") : (n < 0 ? "−" : n > 0 ? "+" : "±") + shown;
}
const signed = (n) => (n > 0 ? "+" : n < 0 ? "−" : "±") + grouped(Math.abs(n));

/// The beginning of a text that nobody reads; commands and sources are whole.
const brief = (text) => (text.length > 1000 ? `${text.slice(0, 120)}… (${grouped(text.length)} characters)` : text);
const fileName = (path) => path.replace(/^.*\//, "");

function scaled(n, units, step) {
  let unit = 0;
  while (Math.abs(n) >= step && unit + 1 < units.length) {
    n /= step;
    ++unit;
  }
  const digits = unit === 0 || Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
  return `${n.toFixed(digits)} ${units[unit]}`.trim();
}
const short = (n) => scaled(n, ["", "k", "M", "G", "T"], 1000);
const bytes = (n) => scaled(n, ["B", "KiB", "MiB", "GiB"], 1024);
function time(cycles, clock) {
  if (!clock) return "";
  const ns = (cycles / clock) * 1e9;
  return ns < 1e3 ? scaled(Math.round(ns), ["ns"], 1000) : scaled(ns / 1e3, ["µs", "ms", "s"], 1000);
}

/// Round numbers from `low` to `high` for an axis, about so many.
function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const out = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) out.push(t);
  return out;
}

/// Rows as comma-separated values (RFC 4180).
function csv(rows) {
  const field = (value) => {
    // A spreadsheet takes a text that begins so for a formula.
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function download(name, blob) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/// A binary search: the first index whose value is greater than `x`, minus one.
function floorIndex(values, x) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
