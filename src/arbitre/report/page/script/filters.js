// Filters (class, wrong field, path, search) and order of the rows.

const inputs = {
  document: at("x-document"),
  order: at("x-order"),
  path: at("x-path"),
  search: at("x-search"),
  wrong: at("x-wrong"),
};
const checks = [...document.querySelectorAll('input[name="x-show"]')];

const plainly = (value) => value.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const ticked = () => checks.filter((box) => box.checked).map((box) => box.value);
// The texts of a value, as they are and as they are shown, and the names of its fields.
const textsIn = (value) => {
  if (scalar(value)) return [...new Set([String(value), text(value)])];
  return Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...textsIn(inner)]);
};
// The values of a node and the names of its fields, to be searched.
const contents = (node) => [
  typeof node.name === "string" ? node.name : "",
  ...["gold", "predicted", "reading"].filter((side) => side in node).flatMap((side) => textsIn(node[side])),
  ...(node.below ?? []).flatMap(contents),
];
const wordsOf = (row) => (row.words ??= plainly(contents(row.entry).join("\n")));
// Whether a row passes the filters.
const matcher = () => {
  const wanted = new Set(ticked());
  const words = plainly(inputs.search.value).split(/\s+/).filter(Boolean);
  const path = inputs.path.value;
  return (row) =>
    (row.classes ?? [row.class]).some((one) => wanted.has(one)) &&
    (!path || row.faults.includes(path)) &&
    (!inputs.wrong.checked || row.wrong_field) &&
    words.every((word) => wordsOf(row).includes(word));
};
const ORDERS = {
  gold: (a, b) => a.place - b.place,
  predicted: (a, b) => later(order(a, 1), order(b, 1)),
  worst: (a, b) => a.entry.quality - b.entry.quality,
};
const filtered = (rows) => {
  const compare = ORDERS[inputs.order.value];
  const first = (row) => (row.outside ? 0 : 1);
  return rows.filter(matcher()).sort((a, b) => first(a) - first(b) || compare(a, b) || a.place - b.place);
};
const narrowed = () =>
  inputs.wrong.checked || inputs.path.value || inputs.search.value || checks.some((box) => !box.checked);
const unfiltered = () => {
  for (const box of checks) box.checked = true;
  inputs.wrong.checked = false;
  inputs.path.value = "";
  inputs.search.value = "";
};
// Updates the filter controls for a document and a path; the counts of classes cover all entries, stored or not.
const offer = (chosen, path) => {
  const { classes, wrong_fields: wrong } = chosen;
  const count = (box, value) => {
    box.closest("label").querySelector(".count").textContent = amount(value);
  };
  for (const box of checks) count(box, classes[box.value]);
  count(inputs.wrong, wrong);
  const paths = new Map(path ? [[path, 0]] : []);
  for (const row of rowsOf(chosen)) for (const one of row.faults) paths.set(one, (paths.get(one) ?? 0) + 1);
  inputs.path.replaceChildren(
    make("option", { value: "" }, say("js.all")),
    ...[...paths]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([one, n]) => make("option", { value: one }, `${plain(one || "/")} (${amount(n)})`)),
  );
  inputs.path.value = path;
};
