// Search, help, print, and the address of the page; starts all parts.

const MOST = 30; // maximum number of results

const dialogOf = (label, ...content) => {
  const close = button(say("js.close"), () => dialog.close(), { class: "close" });
  const dialog = make("dialog", { "aria-label": label }, content, close);
  // A press outside closes the dialog; not a click, which also ends the selection of a text.
  dialog.addEventListener("mousedown", ({ clientX: x, clientY: y }) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    if (x < left || x > right || y < top || y > bottom) dialog.close();
  });
  document.body.append(dialog);
  return dialog;
};
// The entries of all kept documents whose id, values or field names contain all words.
const searched = (whole) => {
  const words = plainly(whole).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const { name, documents: own } of data.subjects)
    for (const document of own) {
      const key = plainly(document.key);
      if (words.every((word) => key.includes(word))) found.push({ name, document, row: null });
      for (const row of document.rows) {
        const own = wordsOf(row);
        if (words.every((word) => own.includes(word) || key.includes(word)) && words.some((word) => own.includes(word)))
          found.push({ name, document, row });
      }
    }
  return found;
};
const result = ({ name, document, row }) => {
  const values = placeIn(name, document.key, row ? called(row, document.rows) : {});
  const words = row ? title(row.entry, "gold") || title(row.entry, "predicted") : "";
  const where = [data.several ? name : null, document.key].filter(Boolean).join(" / ");
  return make(
    "li",
    {},
    make("a", { href: `#${values}` }, make("b", {}, visible(words ? cut(words, 120) : document.key)), " ", make("small", {}, visible(where))),
    row ? make("small", {}, " ", glyph(`class.${row.class}`), " ", say(`class.${row.class}`)) : null,
  );
};
const startSearch = () => {
  const box = make("input", { type: "search", autocomplete: "off", spellcheck: "false", "aria-label": say("js.search") });
  const status = make("p", { class: "note", role: "status" });
  const hits = make("ul", { class: "hits" });
  const dialog = dialogOf(say("js.search"), make("label", {}, say("js.search"), " ", box), status, hits);
  const rows = data.subjects.reduce((sum, { documents: own }) => sum + own.reduce((n, { rows: held }) => n + held.length, 0), 0);
  const kept = new Set(data.subjects.flatMap(({ documents: own }) => own.map(({ key }) => key))).size;
  const scope = say("js.search.scope", { rows: amount(rows), kept: amount(kept), documents: amount(data.documents) });
  const draw = () => {
    const found = searched(box.value);
    hits.replaceChildren(...found.slice(0, MOST).map(result));
    status.textContent = box.value.trim() ? `${say("js.search.found", { n: amount(found.length) })} ${scope}` : scope;
  };
  let pause = 0;
  box.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(draw, 120);
  });
  dialog.addEventListener("keydown", (event) => {
    const links = [...hits.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === box) {
      clearTimeout(pause);
      draw();
      hits.querySelector("a")?.click();
    } else if (event.key === "ArrowDown") (links[place + 1] ?? links[0])?.focus();
    else if (event.key === "ArrowUp") (place > 0 ? links[place - 1] : box).focus();
    else return;
    event.preventDefault();
  });
  hits.addEventListener("click", (event) => event.target.closest("a") && dialog.close());
  const openSearch = () => {
    dialog.showModal();
    draw();
    box.select();
  };
  at("find").hidden = false;
  at("find").addEventListener("click", openSearch);
  onKey(["/"], () => (namesDocument() ? false : openSearch())); // the view of a document has a search of its own
};
const KEYS = ["n p", "[ ]", "/", "1 2 3", "e", "r", "u", "j k", "?"];
const startHelp = () => {
  const rows = KEYS.map((keys) =>
    make("tr", {}, make("th", { scope: "row" }, keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("td", {}, say(`js.key.${keys}`))),
  );
  const dialog = dialogOf(say("help"), make("h2", {}, say("help")), make("table", {}, make("tbody", {}, rows)));
  at("help").hidden = false;
  at("help").addEventListener("click", () => dialog.showModal());
  onKey(["?"], () => dialog.showModal());
};

const PRINTED = { causes: 10, examples: 5, lines: 6 }; // maximum numbers of causes, examples, and lines of an example

// A copy of a table with its first rows, without the columns that explain scores.
const copied = (id, most = Infinity) => {
  const source = at(id);
  if (!source) return null;
  const table = source.cloneNode(true);
  table.removeAttribute("id");
  for (const one of table.querySelectorAll("[id], .says, th:last-child:not(.n, [scope=row]), tr.group")) if (!one.matches("tbody")) one.remove();
  for (const row of table.querySelectorAll("tr[hidden]")) row.hidden = false; // hidden by a filter
  [...table.querySelectorAll("tbody tr")].forEach((row, place) => place >= most && row.remove());
  return table;
};
// The first example of each of the most important causes, then their second ones, until there are enough.
const chosenExamples = () => {
  const rounds = Math.max(0, ...causeList.map(({ examples }) => examples.length));
  const found = [];
  for (let round = 0; round < rounds && found.length < PRINTED.examples; round += 1)
    for (const cause of causeList) if (cause.examples[round] && found.length < PRINTED.examples) found.push({ cause, ...cause.examples[round] });
  return found;
};
const printedExample = ({ cause, one, subject }, place) => {
  const table = comparisonTable(one, subject);
  const rows = [...table.tBodies[0].rows];
  const hits = rows.filter((row) => row.matches(".hit"));
  const wanted = new Set([rows[0], ...(hits.length ? hits : rows)].slice(0, PRINTED.lines));
  for (const row of rows) if (!wanted.has(row)) row.remove();
  return make(
    "article",
    {},
    make("h3", {}, `${place + 1}. `, visible(cause.name)),
    make("p", { class: "where" }, make("b", {}, visible(one.document)), " ", make("code", {}, visible(one.gold_pointer ?? one.predicted_pointer ?? one.path))),
    table,
  );
};
const printed = make("section", { id: "printed", "aria-hidden": "true" });
const startPrint = () => {
  document.querySelector("main").append(printed);
  window.addEventListener("beforeprint", fillPrinted);
  window.addEventListener("afterprint", () => printed.replaceChildren());
};
const fillPrinted = () => {
  const examples = chosenExamples();
  const hidden = causeList.length - PRINTED.causes;
  printed.replaceChildren(
    ...[
      make("h2", {}, say("nav.scores")),
      copied("t-macro"),
      ...(list ? [make("h2", {}, say("nav.causes")), copied("c-list", PRINTED.causes), hidden > 0 ? make("p", { class: "note" }, say("js.more.rows", { n: hidden })) : null] : []),
      ...(examples.length ? [make("h2", {}, say("js.examples")), ...examples.map(printedExample)] : []),
    ].filter(Boolean),
  );
};

const route = () => {
  if (namesDocument()) reveal(at("explorer"));
  return (list && followCause()) || (documents.length > 0 && follow()) || (location.hash.length > 1 && followPlain());
};

startTheme();
if (documents.length) onOpen("documents", startExplorer);
if (at("d-table")) onOpen("documents", drawDocuments);
startDecisions();
if (list) startCauses();
startSearch();
startHelp();
startPrint();
window.addEventListener("hashchange", route);
const went = route();
if (list && !picked.cause) showCause(causeList[0], 0, { push: went ? null : false });
