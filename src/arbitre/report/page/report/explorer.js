// The view of one document: its scores, the list of its entries (rendered in parts), and event handlers.

// The scores of the document, and those of the first published script.
const drawHead = (chosen) => {
  const { scores, published } = chosen;
  const value = (found) => (found === null || found === undefined ? "–" : number(found));
  const shortly = ["f1q", "imq", "irq", "amq"].flatMap((name, place) => [
    place ? " · " : " ",
    make("code", { title: say(`score.${name}`) }, name),
    ` ${value(scores[name])}`,
  ]);
  const counts = ["gold", "predicted", "matched"];
  const row = ([name, found]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, say(`score.${name}`)),
      make("td", { class: "n" }, value(scores[name])),
      make("td", { class: "n" }, value(found)),
    );
  const rows = Object.entries(published)
    .filter(([name]) => !counts.includes(name))
    .map(row);
  const heads = [say("js.score"), say("js.here"), make("em", { class: "tag" }, say("published.tag"))];
  const head = make(
    "tr",
    {},
    heads.map((name, place) => make("th", { scope: "col", class: place ? "n" : null }, name)),
  );
  at("x-head").replaceChildren(
    ...[
      make("p", {}, make("b", {}, say("js.document", { name: calledDocument(chosen) })), shortly),
      failureOf(chosen),
      make(
        "details",
        {},
        make("summary", {}, say("published")),
        make("p", { class: "note" }, say("published.why")),
        make("table", { class: "published" }, make("thead", {}, head), make("tbody", {}, rows)),
      ),
    ].filter(Boolean),
  );
};
// Why a document has no usable prediction, and the beginning of the answer that could not be read.
const failureOf = ({ failed, reason, raw } = {}) => {
  if (!failed) return null;
  const words = reason ? say("js.failed.reason", { reason: plain(reason) }) : say("js.failed.none");
  const name = raw?.characters > [...(raw?.text ?? "")].length ? "js.failed.beginning" : "js.failed.raw";
  const answer = raw ? [make("p", { class: "note" }, say(name, { n: raw.characters })), make("pre", {}, shown(raw.text))] : null;
  return make("div", { class: "failure" }, make("p", {}, glyph("wrong type"), " ", words), answer);
};
// Shows a document. The filters stay as they are, also a path that has no faults in it.
const choose = (chosen, path = inputs.path.value) => {
  for (const row of state.rows) row.box = null;
  state.document = chosen;
  state.rows = rowsOf(chosen);
  state.rows.forEach((row, place) => {
    row.place = place;
  });
  inputs.document.value = String(documents.indexOf(chosen));
  offer(chosen, path);
  drawHead(chosen);
  drawMap(chosen.rows);
  drawMatrix(chosen.matrix, chosen.rows);
};

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
  const offered = (count, name) =>
    button(say(name, { n: count }), () => {
      const next = state.drawn;
      more(next + count - 1);
      activate(state.found[next], { scroll: false });
    });
  const part = left > CHUNK ? [offered(CHUNK, "js.show_more"), " "] : [];
  at("x-more").replaceChildren(
    ...(left ? [say("js.rows", { shown: drawn, n }), " ", ...part, offered(left, "js.show_all")] : []),
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
  const clear = button(say("js.clear"), () => {
    unfiltered();
    refresh();
    remember(null);
    at("x-list").querySelector(".row")?.focus({ preventScroll: true });
  });
  return make("p", { class: "note" }, say("js.none"), " ", clear);
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

const changed = () => {
  refresh();
  remember(null);
};
const offerDocuments = () =>
  documents.forEach((one, place) => {
    const words = say(one.failed ? "js.option.failed" : "js.option", { name: calledDocument(one), quality: number(one.quality, 2) });
    inputs.document.append(make("option", { value: place }, words));
  });
const listenToFilters = () => {
  inputs.document.addEventListener("change", () => {
    choose(documents[Number(inputs.document.value)]);
    refresh();
    remember(null, true);
  });
  for (const input of [inputs.order, inputs.path, inputs.wrong, ...checks]) input.addEventListener("change", changed);
  let pause = 0;
  inputs.search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(changed, 120);
  });
};
const listenToEntries = () => {
  const list = at("x-list");
  list.addEventListener("keydown", (event) => {
    if (event.target.closest("a, button, input, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in moves) step(moves[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && state.active?.box) state.active.box.toggle();
    else return;
    event.preventDefault();
  });
  const rowOf = (node) => state.rows[Number(node.closest(".row").dataset.place)];
  list.addEventListener("focusin", (event) => {
    const row = event.target.closest(".row") && rowOf(event.target);
    if (row && row !== state.active) activate(row, { scroll: false, focus: false });
  });
  list.addEventListener("click", (event) => {
    if (!event.target.closest(".row > header") || event.target.closest("a, button.cut")) return;
    const row = rowOf(event.target);
    row.box.toggle();
    activate(row, { scroll: false, push: true });
  });
  at("x-map").addEventListener("click", (event) => {
    const place = event.target.closest("[data-row]")?.dataset.row;
    if (place !== undefined) show(state.rows[Number(place)], true);
  });
};
const listenToKeys = () =>
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && namesDocument() && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      inputs.search.focus();
    } else if (event.key === "Escape" && namesDocument() && narrowed() && !event.defaultPrevented && !event.target.closest?.("dialog")) {
      const row = at("x-list").contains(document.activeElement) ? state.active : null;
      unfiltered();
      changed();
      if (row) activate(row);
    } else if (event.key === "Enter" && event.target === inputs.search && state.found.length) activate(state.found[0]);
  });

const begin = () => {
  choose(documents.find((one) => !one.failed) ?? documents[0]);
  refresh();
};
// Goes to the entry in the URL; returns whether the URL names a document. Says so if the page does not have it.
const follow = () => {
  const values = new URLSearchParams(location.hash.slice(1));
  if (!values.has("d")) return false;
  const chosen = documents.find(
    (one) => one.key === values.get("d") && (!values.has("s") || one.subject === values.get("s")),
  );
  const lacking = (name, place) => {
    at("x-status").prepend(`${say(name, { name: plain(place) })} `);
    at("x-status").scrollIntoView();
    return true;
  };
  if (!chosen) {
    if (!state.document) begin();
    at("x-status").textContent = status();
    return lacking("js.lacking.document", values.get("d"));
  }
  for (const box of checks) box.checked = !values.has("show") || values.get("show").split(" ").includes(box.value);
  inputs.wrong.checked = values.has("wrong");
  inputs.search.value = values.get("q") ?? "";
  const wanted = values.get("order");
  inputs.order.value = wanted in ORDERS ? wanted : "gold";
  choose(chosen, values.get("path") ?? "");
  refresh();
  const known = (one) => {
    const own = called(one);
    if (own.outside || values.has("outside")) return Boolean(own.outside) && values.has("outside");
    if (!values.has("g")) return own.g === undefined && own.p === values.get("p");
    return own.g === values.get("g") && (own.p ?? "") === (values.get("p") ?? own.p ?? "");
  };
  const asked = ["g", "p", "outside"].filter((name) => values.has(name));
  const row = asked.length ? state.rows.find(known) : undefined;
  if (row) show(row);
  else if (asked.length) return lacking("js.lacking.entry", values.get(asked[0]));
  else at("explorer").scrollIntoView();
  return true;
};

const startExplorer = () => {
  at("app").hidden = false;
  offerDocuments();
  listenToFilters();
  listenToEntries();
  listenToKeys();
  begin();
};
