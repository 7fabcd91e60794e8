// The list of disagreements with their state, and the filters. Only the rows in view are built.

const AROUND = 12; // number of rows that are built above and below those in view
const FILTERS = ["path", "document", "state", "flagged"]; // names of the filters in the address
const view = { found: data.disagreements, current: null, opened: "" };
const filterAt = (name) => at(`q-${name}`);

const stateOf = (one) => {
  if (decided.has(one.id)) return "decided";
  if (settledBy(one)) return "settled";
  return store.typedFor(one.id) ? "typed" : store.noteFor(one.id) ? "noted" : "undecided";
};
const SIGNS = { decided: "●", settled: "◍", typed: "◐", noted: "◔", undecided: "○" };
// A short name for a place: the entry, by its first text, and the place in it.
const firstText = (value) => {
  const [, found] = leaves(value).find(([, inner]) => isText(inner) && inner !== "") ?? [];
  return found === undefined ? null : text(found);
};
const placeOf = ({ within, pointer, entry, choices }) => {
  const inner = pointer.slice(data.entries[entry].pointer.length + 1);
  const name = within.length
    ? within[within.length - 1]
    : inner === "" && choices.length
      ? firstText(choices[0].value)
      : null;
  return [name === null ? null : brief(name, 40), inner || (name === null ? pointer || "/" : null)]
    .filter(Boolean)
    .join(" · ");
};
const rowOf = (one, place, go) => {
  const state = stateOf(one);
  const row = make(
    "a",
    {
      href: `#${new URLSearchParams({ id: one.id })}`,
      class: `row ${state}`,
      tabindex: one === view.current ? 0 : -1,
      "aria-current": one === view.current ? "true" : null,
      title: `${plain(one.document)} ${plain(one.pointer)}`,
    },
    make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[state]),
    make("span", { class: "place" }, plain(placeOf(one))),
    make(
      "span",
      { class: "of" },
      plain(brief(one.document, 40)),
      isFlagged(one) ? ` · ${say(`queue.flag.${one.flag}`)}` : "",
    ),
    make("span", { class: "unseen" }, `, ${say(`queue.state.${state}`)}`),
  );
  row.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(one);
  });
  return make("li", { "aria-setsize": view.found.length, "aria-posinset": place + 1 }, row);
};
// The part of the list that is in view, in pixels. It is kept here, because reading it lays out the page.
const scroll = { top: 0, room: 0, row: 0 };
const measure = () => {
  const frame = at("q-list").parentNode;
  const [row, root] = [at("q-list"), document.documentElement].map((node) => getComputedStyle(node));
  scroll.row = parseFloat(row.getPropertyValue("--row")) * parseFloat(root.fontSize);
  scroll.top = frame.scrollTop;
  scroll.room = frame.clientHeight;
};
// Builds the rows in view again. `go` shows the disagreement of a row.
const listRows = (go) => {
  const list = at("q-list");
  if (!view.found.length) return list.replaceChildren(make("li", { class: "note" }, say("queue.none")));
  const focused = list.contains(document.activeElement);
  const first = Math.max(0, Math.floor(scroll.top / scroll.row) - AROUND);
  const last = Math.min(view.found.length, first + Math.ceil(scroll.room / scroll.row) + 2 * AROUND);
  list.style.paddingTop = `${first * scroll.row}px`;
  list.style.paddingBottom = `${(view.found.length - last) * scroll.row}px`;
  list.replaceChildren(...view.found.slice(first, last).map((one, place) => rowOf(one, first + place, go)));
  if (focused) list.querySelector("[aria-current]")?.focus({ preventScroll: true });
};
// Where the list must be scrolled to for the current row to be in view.
const revealed = () => {
  const place = view.found.indexOf(view.current);
  const top = place * scroll.row;
  const seen = place < 0 || (top >= scroll.top + scroll.row && top <= scroll.top + scroll.room - 2 * scroll.row);
  const most = Math.max(0, view.found.length * scroll.row - scroll.room);
  return seen ? Math.min(scroll.top, most) : Math.min(most, Math.max(0, top - scroll.room / 2 + scroll.row));
};
const progress = () => {
  const n = data.disagreements.length;
  const done = data.disagreements.filter(isDone).length;
  const texts = [say("queue.progress", { done, n })];
  if (view.found.length < n) texts.push(say("queue.shown", { shown: view.found.length, n }));
  at("q-status").textContent = texts.join(" ");
  at("q-bar").max = n;
  at("q-bar").value = done;
  const place = view.found.indexOf(view.current);
  at("q-place").textContent = place < 0 ? "" : say("queue.place", { place: place + 1, n: view.found.length });
};
const filtersNow = () => ({
  path: filterAt("path").value,
  document: filterAt("document").value,
  state: filterAt("state").value,
  flagged: filterAt("flagged").checked ? "1" : "",
});
const setFilters = (values) => {
  for (const name of ["path", "document", "state"]) {
    const input = filterAt(name);
    const value = values.get(name) ?? "";
    input.value = [...input.options].some((option) => option.value === value) ? value : input.options[0].value;
  }
  filterAt("flagged").checked = values.get("flagged") === "1";
};
// Filters apply when they are changed, so that a disagreement stays where it is when it is decided.
const applyFilters = () => {
  const { path, document: name, state, flagged } = filtersNow();
  view.found = data.disagreements.filter(
    (one) =>
      (path === "" || one.path === path.slice(1)) &&
      (name === "" || one.document === name.slice(1)) &&
      (flagged === "" || isFlagged(one)) &&
      (state === "all" || isDone(one) === (state === "decided")),
  );
};
const fillFilter = (name, all, values) => {
  const count = new Map();
  for (const value of values) count.set(value, (count.get(value) ?? 0) + 1);
  const option = ([value, n]) => make("option", { value: `=${value}` }, `${plain(brief(value || "/", 80))} (${n})`);
  filterAt(name).append(make("option", { value: "" }, all), ...[...count].map(option));
};
// The disagreements that match the filters as a table, for print: readings, decisions and notes.
const printed = () => {
  const line = (value, ...who) => make("div", {}, brief(plain(value)), " ", make("small", {}, ...who));
  const cells = (one) => {
    const decision = decided.get(one.id);
    const lacking = one.absent.annotators.length
      ? line("", say("queue.lacking", { names: named(one.absent.annotators) }))
      : null;
    const value = decision ? (decision.raw === null ? say("queue.leave_out") : spaced(exact(decision.raw))) : "";
    return [
      [...one.choices.map((choice) => line(spaced(choice.value), named(choice.annotators))), lacking],
      line(value, outcome(one)),
      visible(store.noteFor(one.id)),
    ].map((content) => make("td", {}, content));
  };
  const heads = ["queue.accept.place", "queue.accept.readings", "queue.decision", "queue.note"];
  const place = (one) =>
    make("th", { scope: "row" }, breakable(brief(one.document)), make("br"), breakable(placeOf(one)));
  return make(
    "table",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        heads.map((name) => make("th", { scope: "col" }, say(name))),
      ),
    ),
    make(
      "tbody",
      {},
      view.found.map((one) => make("tr", {}, place(one), cells(one))),
    ),
  );
};
