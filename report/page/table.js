// A table that fits its box, sorts, filters, turns pages, and copies itself as comma-separated values.

const NAMELESS = "(no name)";

/// Rows of a table that is as `report --view --json` has it, as objects.
const namedRows = ({ columns, rows }) => rows.map((cells) => Object.fromEntries(columns.map(({ name }, i) => [name, cells[i]])));

/// A column of numbers.
const number = (name, title, unit, extra = {}) => ({ name, title, unit, number: true, ...extra });

/// A text that keeps its end where its cell is too narrow: long names are told apart by it.
function withEnd(text) {
  const end = 12;
  return text.length > 2 * end ? h("span", { class: "ends" }, h("span", {}, text.slice(0, -end)), h("span", {}, text.slice(-end))) : text;
}

const tableOf = new WeakMap();
/// Lets tables that are printed have all their rows, or those of before.
function printTables(begins) {
  for (const element of document.querySelectorAll(".paged")) if (!element.closest("details:not([open])")) tableOf.get(element).printed(begins);
}

class Table {
  /// `columns`: {name, title, unit, value(row), text(row), number, choose(row), bar(row), meaning, detail: not in print, shorten: where its texts are long,
  /// spare: where the box is too narrow those with the greatest are left out first, and of equals the last}; `rows` a list or a function.
  constructor({ caption, columns, rows, sort, descending = true, page = 50, filter = false, chosen, label }) {
    Object.assign(this, { columns, rows, descending, page, chosen });
    this.id = (label || caption).toLowerCase().replace(/[^a-z0-9]+/g, "-");
    this.first = 0;
    this.words = (filter && tableChoices.get(`${this.id}.filter`)) || "";
    this.sortBy = columns.find((column) => column.name === sort);
    const [, back, by] = (tableChoices.get(`${this.id}.sort`) || "").match(/^(-?)(.*)$/), chosenColumn = columns.find((column) => column.name === by);
    if (chosenColumn) Object.assign(this, { sortBy: chosenColumn, descending: back === "-" });
    this.head = h("tr");
    this.body = h("tbody");
    this.note = h("span", { class: "note", role: "status" });
    this.turn = h("span", { class: "tools pages" },
      h("button", { type: "button", class: "quiet", on: { click: () => this.show(this.first - this.page) } }, "‹ Before"),
      h("button", { type: "button", class: "quiet", on: { click: () => this.show(this.first + this.page) } }, "Next ›"));
    const search = filter && h("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${label || caption}`, value: this.words, on: { input: (event) => this.filter(event.target.value) } });
    this.folds = h("button", { type: "button", class: "quiet folds", hidden: true, on: { click: () => this.fit(!this.whole) } });
    this.copied = h("button", { type: "button", class: "quiet", on: { click: () => this.copyCsv() } }, "Copy CSV");
    this.box = h("div", { class: "table", tabindex: 0, role: "region", "aria-label": label || caption },
      h("table", {}, h("caption", {}, caption), h("thead", {}, this.head), this.body));
    this.element = h("div", { class: "paged" }, h("div", { class: "table-tools" }, search, this.copied, this.folds, this.note, this.turn), this.box);
    tableOf.set(this.element, this);
    new ResizeObserver(() => requestAnimationFrame(() => this.box.clientWidth === this.fitted || this.fit())).observe(this.box);
    for (const column of columns) {
      column.head = h("th", { scope: "col", class: (column.number ? "number" : "") + (column.detail ? " detail" : ""), title: column.meaning },
        h("button", { type: "button", on: { click: () => this.sort(column) } }, column.title + (column.unit ? ` (${column.unit})` : "")));
      this.head.append(column.head);
    }
    this.show(0);
  }
  value(column, row) { return column.value ? column.value(row) : row[column.name]; }
  text(column, row) {
    if (column.text) return column.text(row);
    const value = this.value(column, row);
    return column.number ? grouped(value) : String(value ?? "");
  }
  sort(column) {
    this.descending = this.sortBy === column ? !this.descending : Boolean(column.number);
    this.sortBy = column;
    chooseTable(`${this.id}.sort`, `${this.descending ? "-" : ""}${column.name}`);
    this.show(0);
  }
  filter(words) {
    this.words = words;
    chooseTable(`${this.id}.filter`, words);
    this.show(0);
  }
  /// Rows that the filter leaves, in order.
  list() {
    let rows = typeof this.rows === "function" ? this.rows() : this.rows;
    if (this.words) {
      const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
      rows = rows.filter((row) => {
        const text = this.columns.map((column) => this.text(column, row)).join(" ").toLowerCase();
        return words.every((word) => text.includes(word));
      });
    }
    if (!this.sortBy) return rows;
    const sign = this.descending ? -1 : 1, value = (row) => this.value(this.sortBy, row);
    const order = (a, b) => (typeof a === "string" ? a.localeCompare(b) : (Number.isNaN(a) ? -1 : a) - (Number.isNaN(b) ? -1 : b));
    return [...rows].sort((a, b) => sign * order(value(a), value(b)));
  }
  show(first) {
    const rows = this.list();
    this.first = this.page === Infinity ? 0 : clamp(first, 0, Math.max(0, Math.floor((rows.length - 1) / this.page) * this.page));
    for (const column of this.columns)
      column.head.setAttribute("aria-sort", column !== this.sortBy ? "none" : this.descending ? "descending" : "ascending");
    replaceWithin(this.body, ...rows.slice(this.first, this.first + this.page).map((row) => this.line(row)));
    const last = Math.min(rows.length, this.first + this.page);
    this.note.textContent = rows.length > this.page ? `${grouped(this.first + 1)}–${grouped(last)} of ${grouped(rows.length)}` : counted(rows.length, "row");
    this.turn.hidden = rows.length <= this.page;
    this.fit();
  }
  /// Leaves out spare columns until the others fit the box, or none where the `whole` table is asked for.
  fit(whole = this.whole) {
    this.whole = whole;
    this.fitted = this.box.clientWidth;
    const fold = (column, folded) => {
      for (const row of [this.head, ...this.body.rows]) row.cells[this.columns.indexOf(column)].classList.toggle("folded", folded);
    };
    const spare = this.columns.slice(1).reverse().sort((a, b) => (b.spare || 0) - (a.spare || 0));
    for (const column of spare) fold(column, false);
    let folded = 0;
    while (!whole && folded < spare.length && this.box.scrollWidth > this.box.clientWidth) fold(spare[folded++], true);
    this.folds.hidden = !whole && folded === 0;
    this.folds.textContent = whole ? "Fit columns" : counted(folded, "more column");
  }
  /// All rows while the page is printed, then those of before.
  printed(begins) {
    if (begins) this.onScreen = [this.first, this.page];
    const [first, page] = begins ? [0, Infinity] : this.onScreen;
    this.page = page;
    this.show(first);
  }
  line(row) {
    const cells = this.columns.map((column, i) => {
      const text = this.text(column, row), shown = brief(text), content = column.shorten ? withEnd(shown) : shown;
      const cell = h(i === 0 && !column.number ? "th" : "td", { scope: i === 0 && !column.number ? "row" : undefined, class: column.number ? "number" : column.shorten ? "text short cut" : shown.length <= 32 ? "text short" : "text", title: column.shorten && shown },
        column.choose ? h("button", { type: "button", class: "link", on: { click: () => column.choose(row) } }, content || NAMELESS) : content);
      if (column.style) cell.className += " " + column.style(row);
      if (column.detail) cell.className += " detail";
      const least = 0.1;  // of the cell's width: a shorter bar is a dot, which says nothing
      if (column.bar && column.bar(row) >= least) {
        const bar = h("span", { class: "bar", "aria-hidden": "true" });
        bar.style.width = `${100 * clamp(column.bar(row), 0, 1)}%`;
        cell.append(bar);
      }
      return cell;
    });
    return h("tr", { class: this.chosen && this.chosen(row) ? "chosen" : "" }, cells);
  }
  csv() {
    const plain = (column, row) => (column.number ? this.value(column, row) : this.text(column, row));
    return csv([this.columns.map((column) => column.title + (column.unit ? ` (${column.unit})` : "")),
                ...this.list().map((row) => this.columns.map((column) => plain(column, row)))]);
  }
  async copyCsv() {
    await copy(this.csv());
    this.copied.textContent = "Copied";
    setTimeout(() => { this.copied.textContent = "Copy CSV"; }, 1500);
  }
}
