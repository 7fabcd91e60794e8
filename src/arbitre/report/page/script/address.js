// URL hash of the page: the document, the entry and the filters.

// Identifies an entry in the URL: by its gold index, or by both indices if that is ambiguous.
const called = (row) => {
  const [gold, predicted] = SIDES.map((side) => row[side]);
  if (gold === null && predicted !== null) return { p: predicted };
  const alone = gold === null || together(row, 0, state.rows).length === 1;
  return alone ? { g: gold ?? "" } : { g: gold, p: predicted ?? "" };
};
const address = (row) => {
  const values = new URLSearchParams();
  if (data.several) values.set("s", state.document.subject);
  values.set("d", state.document.key);
  if (row) for (const [name, place] of Object.entries(called(row))) values.set(name, place);
  const open = ticked();
  if (open.length < checks.length) values.set("show", open.join(" "));
  if (inputs.order.value !== "gold") values.set("order", inputs.order.value);
  if (inputs.wrong.checked) values.set("wrong", "1");
  if (inputs.path.value) values.set("path", inputs.path.value);
  if (inputs.search.value) values.set("q", inputs.search.value);
  return `#${values}`;
};
const remember = (row) => {
  try {
    history.replaceState(null, "", address(row));
  } catch {
    // not allowed in some frames; the links of the entries still work
  }
};
