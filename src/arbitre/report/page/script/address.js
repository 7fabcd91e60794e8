// URL hash of the page: the document, the entry and the filters.

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
