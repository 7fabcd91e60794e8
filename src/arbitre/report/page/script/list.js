// The list of entries, rendered in parts on request, with one active entry. It never grows while the page is scrolled.

const CHUNK = 40; // number of entries rendered at once
const ELSEWHERE = 8; // maximum number of links to other documents

const more = (until = state.drawn) => {
  const most = state.drawn + CHUNK + (state.drawn || !state.found[0]?.outside ? 0 : 1);
  const end = Math.min(state.found.length, Math.max(most, until + 1));
  for (const row of state.found.slice(state.drawn, end)) {
    row.box = article(row);
    at("x-list").append(row.box);
  }
  state.drawn = end;
  offerMore();
};
// Says how many entries are rendered, with buttons for the rest.
const offerMore = () => {
  const left = state.found.length - state.drawn;
  const [n, drawn] = [state.found, state.found.slice(0, state.drawn)].map((rows) => entriesOf(rows).length);
  const button = (count, name) => {
    const one = make("button", { type: "button" }, say(name, { n: count }));
    one.addEventListener("click", () => {
      const next = state.drawn;
      more(next + count - 1);
      activate(state.found[next], { scroll: false });
    });
    return one;
  };
  const part = left > CHUNK ? [button(CHUNK, "js.show_more"), " "] : [];
  at("x-more").replaceChildren(
    ...(left ? [say("js.rows", { shown: drawn, n }), " ", ...part, button(left, "js.show_all")] : []),
  );
};

const activate = (row, { scroll = true, focus = true, open = false, push = false } = {}) => {
  const place = state.found.indexOf(row);
  if (place < 0) return;
  if (place >= state.drawn) more(place);
  if (state.active?.box) state.active.box.tabIndex = -1;
  state.active = row;
  row.box.tabIndex = 0;
  if (open) row.box.open();
  if (focus) row.box.focus({ preventScroll: true });
  if (scroll) row.box.scrollIntoView({ block: "center" });
  highlight(row);
  remember(row, push);
};
const step = (by) => {
  const place = state.found.indexOf(state.active);
  const row = state.found[Math.max(0, Math.min(state.found.length - 1, place + by))];
  if (row) activate(row);
};

const status = () => {
  const [shown, n] = [state.found, state.rows].map((rows) => entriesOf(rows).length);
  const { entries, faint } = state.document;
  const said = [];
  if (n < entries) said.push(say("js.part", { shown: n, n: entries }));
  if (faint) said.push(say("js.faint", { n: faint }));
  const name = state.document.rows.some(partial) ? "js.status.moved" : "js.status";
  const part = said.length ? ` (${said.join("; ")})` : "";
  return say(name, { shown, n }) + part;
};
// Says that no entry is shown, and why.
const nothing = () => {
  if (!narrowed()) return make("p", { class: "note" }, say("js.none.document"));
  const button = make("button", { type: "button" }, say("js.clear"));
  button.addEventListener("click", () => {
    unfiltered();
    refresh();
    remember(null);
    at("x-list").querySelector(".row")?.focus({ preventScroll: true });
  });
  return make("p", { class: "note" }, say("js.none"), " ", button);
};
// Links to other documents with rows that pass the filters.
const elsewhere = () => {
  if (!narrowed()) return [];
  const passes = matcher();
  const others = documents
    .filter((one) => one !== state.document)
    .map((one) => ({ one, n: rowsOf(one).filter(passes).length }))
    .filter(({ n }) => n);
  if (!others.length) return [say("js.elsewhere.none")];
  const links = others.slice(0, ELSEWHERE).map(({ one, n }) => [" ", make("a", { href: address(null, one) }, `${calledDocument(one)} (${amount(n)})`)]);
  return [say("js.elsewhere", { n: others.length }), ...links, others.length > ELSEWHERE ? " …" : ""];
};
// Renders the list again with the current filters.
const refresh = () => {
  for (const row of state.rows) row.box = null;
  state.found = filtered(state.rows);
  state.drawn = 0;
  state.active = state.found[0] ?? null;
  at("x-list").replaceChildren(...(state.active ? [] : [nothing()]));
  at("x-elsewhere").replaceChildren(...elsewhere().flat());
  offerMore();
  if (state.active) {
    more();
    state.active.box.tabIndex = 0;
  }
  at("x-status").textContent = status();
};
// Goes to an entry and resets filters that would hide it.
const show = (row, push = false) => {
  if (!state.found.includes(row)) {
    unfiltered();
    refresh();
  }
  activate(row, { open: true, push });
};
