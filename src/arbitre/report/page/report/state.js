// The state of the document view: the document, its rows, their filters and order, and the address that stores them.

const documents = data.subjects.flatMap((subject) =>
  subject.documents.map((document) => ({ ...document, subject: subject.name })),
);
const calledDocument = ({ subject, key }) => plain(data.several ? `${subject} / ${key}` : key);
const state = { document: null, rows: [], found: [], drawn: 0, active: null };

const CLASSES = { correct: "exact", close: "close", wrong: "low", "wrong type": "low" }; // of values, by verdict
// The number of values of each verdict in a node.
const tallied = (node, counts = new Map()) => {
  if (node.below) for (const part of node.below) tallied(part, counts);
  else counts.set(node.verdict, (counts.get(node.verdict) ?? 0) + 1);
  return counts;
};
// The fields outside the entries as a row of their own.
const outsideRow = ({ rest, rest_faults: faults }) => {
  const verdicts = tallied(rest);
  return {
    outside: true,
    verdicts,
    gold_index: null,
    predicted_index: null,
    classes: [...verdicts.keys()].map((verdict) => CLASSES[verdict] ?? verdict),
    wrong_field: [...verdicts.keys()].some((verdict) => !["correct", "close"].includes(verdict)),
    faults,
    entry: rest,
  };
};
// The rows of a document: the fields outside its entries, then its entries.
const rowsOf = (document) => (document.every ??= [...(document.rest ? [outsideRow(document)] : []), ...document.rows]);
const entriesOf = (rows) => rows.filter((row) => !row.outside);

const SIDES = ["gold_index", "predicted_index"];
const together = (row, side, rows) => rows.filter((other) => other[SIDES[side]] === row[SIDES[side]]);
// Sort key of an index in nested lists; rows without an index come last.
const order = (row, side) => (row[SIDES[side]] ?? "Infinity").split("/").map(Number);
const later = (a, b) => {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) if (a[i] !== b[i]) return (a[i] ?? -1) - (b[i] ?? -1);
  return 0;
};

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

// Identifies an entry in the URL: by its gold index, or by both indices if that is ambiguous.
const called = (row, rows = state.document.rows) => {
  if (row.outside) return { outside: 1 };
  const [gold, predicted] = SIDES.map((side) => row[side]);
  if (gold === null && predicted !== null) return { p: predicted };
  const alone = gold === null || together(row, 0, rows).length === 1;
  return alone ? { g: gold ?? "" } : { g: gold, p: predicted ?? "" };
};
// The address of a system's document or, if `entry` identifies a row, of this entry.
const placeIn = (subject, key, entry = {}) => new URLSearchParams({ ...(data.several ? { s: subject } : {}), d: key, ...entry });
const address = (row, document = state.document) => {
  const values = placeIn(document.subject, document.key, row ? called(row) : {});
  const open = ticked();
  if (open.length < checks.length) values.set("show", open.join(" "));
  if (inputs.order.value !== "gold") values.set("order", inputs.order.value);
  if (inputs.wrong.checked) values.set("wrong", "1");
  if (inputs.path.value) values.set("path", inputs.path.value);
  if (inputs.search.value) values.set("q", inputs.search.value);
  return `#${values}`;
};
// Puts the state into the URL. Back returns to the states that were pushed, and to those of other parts of the page.
const remember = (row, push = false) => {
  const hash = address(row);
  if (hash === location.hash) return;
  const other = !new URLSearchParams(location.hash.slice(1)).has("d");
  try {
    history[push || other ? "pushState" : "replaceState"](null, "", hash);
  } catch {
    // not allowed in some frames; the links of the entries still work
  }
};
