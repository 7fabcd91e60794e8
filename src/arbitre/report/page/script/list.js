// The list of entries, rendered on scroll, with one active entry.

const CHUNK = 40; // number of entries rendered at once

const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), {
  rootMargin: "600px",
});
const sentinel = make("div", { class: "sentinel" });
const more = (until = state.drawn) => {
  const end = Math.min(state.found.length, Math.max(state.drawn + CHUNK, until + 1));
  for (const row of state.found.slice(state.drawn, end)) {
    row.box = article(row);
    sentinel.before(row.box);
  }
  state.drawn = end;
  if (state.drawn >= state.found.length) watcher.disconnect();
  else {
    watcher.unobserve(sentinel); // triggers the observer again if the sentinel is still near
    watcher.observe(sentinel);
  }
};

const activate = (row, { scroll = true, focus = true, open = false } = {}) => {
  const place = state.found.indexOf(row);
  if (place < 0) return;
  if (place >= state.drawn) more(place);
  if (state.active?.box) state.active.box.tabIndex = -1;
  state.active = row;
  row.box.tabIndex = 0;
  if (open) row.box.open();
  if (focus) row.box.focus({ preventScroll: true });
  if (scroll) {
    row.box.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => row.box?.scrollIntoView({ block: "center" })); // again, after nearby entries have their final height
  }
  highlight(row);
  remember(row);
};
const step = (by) => {
  const place = state.found.indexOf(state.active);
  const row = state.found[Math.max(0, Math.min(state.found.length - 1, place + by))];
  if (row) activate(row);
};

const status = () => {
  const n = state.rows.length;
  const { entries, faint } = state.document;
  const said = [];
  if (n < entries) said.push(say("js.part", { shown: n, n: entries }));
  if (faint) said.push(say("js.faint", { n: faint }));
  const name = state.rows.some(partial) ? "js.status.moved" : "js.status";
  const part = said.length ? ` (${said.join("; ")})` : "";
  return say(name, { shown: state.found.length, n }) + part;
};
// Renders the list again with the current filters.
const refresh = () => {
  for (const row of state.rows) row.box = null;
  state.found = filtered(state.rows);
  state.drawn = 0;
  state.active = state.found[0] ?? null;
  at("x-list").replaceChildren(...(state.active ? [] : [make("p", { class: "note" }, say("js.none"))]), sentinel);
  watcher.disconnect();
  if (state.active) {
    more();
    state.active.box.tabIndex = 0;
  }
  at("x-status").textContent = status();
};
// Goes to an entry and resets filters that would hide it.
const show = (row) => {
  if (!state.found.includes(row)) {
    unfiltered();
    refresh();
  }
  activate(row, { open: true });
};
