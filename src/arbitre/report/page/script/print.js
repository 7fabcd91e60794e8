// The printed page: the verdict, the scores, the causes, and a few examples.

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
document.querySelector("main").append(printed);
window.addEventListener("beforeprint", () => {
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
});
window.addEventListener("afterprint", () => printed.replaceChildren());
