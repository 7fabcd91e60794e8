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
const filtered = (rows) => {
  const wanted = new Set(ticked());
  const words = plainly(inputs.search.value).split(/\s+/).filter(Boolean);
  const path = inputs.path.value;
  const found = rows.filter((row) => {
    if (!wanted.has(row.class) || (path && !row.faults.includes(path))) return false;
    if (inputs.wrong.checked && !row.wrong_field) return false;
    row.words ??= plainly(JSON.stringify(row.entry));
    return words.every((word) => row.words.includes(word));
  });
  if (inputs.order.value === "worst") found.sort((a, b) => a.entry.quality - b.entry.quality || a.place - b.place);
  if (inputs.order.value === "predicted") found.sort((a, b) => later(order(a, 1), order(b, 1)) || a.place - b.place);
  return found;
};
const narrowed = () =>
  inputs.wrong.checked || inputs.path.value || inputs.search.value || checks.some((box) => !box.checked);
const unfiltered = () => {
  for (const box of checks) box.checked = true;
  inputs.wrong.checked = false;
  inputs.path.value = "";
  inputs.search.value = "";
};
// Updates the filter controls for a document; the counts cover all of its entries, stored or not.
const offer = ({ rows, classes, wrong_fields: wrong }) => {
  const count = (box, value) => {
    box.closest("label").querySelector(".count").textContent = amount(value);
  };
  for (const box of checks) count(box, classes[box.value]);
  count(inputs.wrong, wrong);
  const paths = new Map();
  for (const row of rows) for (const path of row.faults) paths.set(path, (paths.get(path) ?? 0) + 1);
  inputs.path.replaceChildren(
    make("option", { value: "" }, say("js.all")),
    ...[...paths]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, count]) => make("option", { value: path }, `${plain(path || "/")} (${count})`)),
  );
};
