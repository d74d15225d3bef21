// The page of a run that lasts: it reads its file again while news comes, and goes on as it was left. What is chosen is in the address, which a
// reload keeps; what is typed, opened and scrolled is in the state of its entry in the history.

const LOOK = ["superstep", "tile", "from", "to"];

const follower = {
  between: 1000 * Number(document.documentElement.dataset.again || 0),  // pages in ms; 0 where the run has ended
  patience: 600_000,  // without news, in ms
  left: history.state || {},  // how the page before was left
  timer: null,
  untouched: true,

  get news() { return run().report.supersteps; },
  get quiet() { return Date.now() - this.since; },

  /// Whether superstep, tile and window are still those that the page began with: then a longer run has others.
  atFirstLook(chosen) {
    this.untouched = this.left.untouched ?? !LOOK.some((key) => key in chosen);
    return this.untouched;
  },
  /// Goes on as the page before was left.
  begin() {
    this.since = this.left.news === this.news ? this.left.since : Date.now();
    this.restore();
    if (!this.between) return;
    listeners.add((keys) => { if (LOOK.some((key) => keys.has(key))) this.untouched = false; });
    for (const event of ["keydown", "pointerdown", "wheel", "scroll"]) window.addEventListener(event, () => this.wait(), { passive: true });
    window.addEventListener("pointermove", (event) => { if (event.buttons) this.wait(); });
    this.wait();
  },
  /// Nobody's hand is moved away: it waits anew whenever something is touched, and longer when little comes.
  wait() {
    clearTimeout(this.timer);
    const isOver = this.quiet >= this.patience;
    this.say(isOver);
    if (!isOver) this.timer = setTimeout(() => (this.isBusy() ? this.wait() : this.again()), Math.max(this.between, this.quiet / 10));
  },
  /// Whether the page does something that another would not go on with: it plays, shows its keys, or has text that is marked.
  isBusy() { return player.timer !== null || document.querySelector("dialog[open]") !== null || !getSelection().isCollapsed; },
  again(since = this.since) {
    history.replaceState({ ...this.leave(), since }, "");
    location.reload();
  },
  say(isOver) {
    const so = `The run lasts: this page has its first ${counted(this.news, "superstep")}`, none = `For ${time(this.quiet, 1000)} no more has come`;
    const banner = h("div", { class: "banner", role: "note" },
      isOver ? `${so}. ${none}, so it is not read again: the run takes long over a superstep, or nobody watches it. ` : `${so}, and is read again as it grows.${this.quiet > 60_000 ? ` ${none}.` : ""}`,
      isOver && h("button", { type: "button", on: { click: () => this.again(Date.now()) } }, "Read again"));
    document.getElementById("follow").replaceChildren(banner);
  },

  /// Controls, by names that they have in the next page too.
  parts() {
    const times = new Map(), out = new Map();
    for (const part of document.querySelectorAll("input, select, button, summary, canvas, a")) {
      const label = part.tagName === "CANVAS" ? "" : part.getAttribute("aria-label") || part.textContent, name = [part.closest("section")?.id, part.tagName, label].join(" ");
      times.set(name, (times.get(name) || 0) + 1);
      out.set(`${name} ${times.get(name)}`, part);
    }
    return out;
  },
  leave() {
    const parts = [...this.parts()], { activeElement: focus, scrollingElement } = document, isText = focus.matches("input[type=search]");
    return {
      news: this.news, untouched: this.untouched, scroll: scrollingElement.scrollTop, search: document.getElementById("search").value,
      focus: parts.find(([, part]) => part === focus)?.[0], caret: isText ? [focus.selectionStart, focus.selectionEnd] : null,
      open: parts.filter(([, part]) => part.parentElement.open && part.tagName === "SUMMARY").map(([name]) => name),
      checked: parts.filter(([, part]) => part.type === "checkbox").map(([name, part]) => [name, part.checked]),
    };
  },
  restore() {
    const { open = [], checked = [], search, focus, caret, scroll } = this.left, parts = this.parts();
    for (const name of open) parts.get(name)?.parentElement.setAttribute("open", "");
    for (const [name, is] of checked) if (parts.has(name) && parts.get(name).checked !== is) parts.get(name).click();
    const input = document.getElementById("search");
    input.value = search || "";
    parts.get(focus)?.focus({ preventScroll: true });
    if (caret) document.activeElement.setSelectionRange?.(...caret);
    if (document.activeElement === input) input.dispatchEvent(new Event("input"));
    // Charts get their heights in the next frame.
    if (scroll) requestAnimationFrame(() => requestAnimationFrame(() => { document.scrollingElement.scrollTop = scroll; }));
    history.replaceState(null, "");
  },
};
