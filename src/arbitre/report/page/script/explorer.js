// Event handlers of the explorer (mouse, keyboard, URL); the last file of the script, which starts it.

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
if (documents.length) onOpen("documents", startExplorer);
