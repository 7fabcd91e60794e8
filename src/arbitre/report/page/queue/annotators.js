// The pane of the annotators: the entry around a disagreement, with the value of each annotator side by side.

// The annotators who have the document, in order.
const annotatorsOf = ({ choices, absent }) => {
  const names = new Set([
    ...choices.flatMap((choice) => choice.annotators),
    ...absent.annotators,
    ...absent.without_vote,
  ]);
  return data.annotators.filter((name) => names.has(name));
};
// A field that is not disputed here: long lists of objects are only counted.
const summary = (value) =>
  isList(value) && value.some((item) => !scalar(item)) && JSON.stringify(value).length > ROOM
    ? say("queue.items", { n: value.length })
    : value;
const heading = (name) => make("th", { scope: "col" }, visible(brief(name)));
const annotatorRow = (place, columns, names, { current, whole }) => {
  const values = columns.map((fields) => (fields.has(place) ? [fields.get(place)] : []));
  const key = JSON.stringify(values[0]);
  const equal = values.every((value) => JSON.stringify(value) === key);
  const having = current || whole ? values.flat() : values.flat().map(summary);
  const cells = contrasted(equal ? having.slice(0, 1) : having);
  const cell = (value) => (value.length ? cells.shift() : absent());
  return make(
    "tr",
    { class: current ? "here" : equal ? "equal" : null, "aria-current": current ? "true" : null },
    make(
      "th",
      { scope: "row" },
      current ? make("i", { "aria-hidden": "true" }, "▸ ") : null,
      breakable(brief(place.slice(1) || "/")),
    ),
    equal
      ? make("td", { colspan: columns.length }, cell(values[0]))
      : values.map((value, at) => make("td", { "data-side": plain(brief(names[at])) }, cell(value))),
  );
};
const annotatorsTable = (one) => {
  const { pointer, versions } = data.entries[one.entry];
  const names = annotatorsOf(one);
  const columns = names.map((name) => new Map(name in versions ? leaves(versions[name]) : []));
  const places = [...new Set(columns.flatMap((fields) => [...fields.keys()]))];
  const here = one.pointer.slice(pointer.length);
  const isHere = (place) => place === here || here.startsWith(`${place}/`);
  if (here && !places.some(isHere)) places.push(here);
  const table = make(
    "table",
    { class: "compared" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("js.field")), names.map(heading))),
    make(
      "tbody",
      {},
      places.map((place) => annotatorRow(place, columns, names, { current: isHere(place), whole: here === "" })),
    ),
  );
  table.style.setProperty("--columns", names.length);
  return table;
};
const annotatorsPane = (one) => [
  make("h3", {}, say("queue.annotators")),
  make("p", { class: "note" }, make("code", {}, breakable(brief(data.entries[one.entry].pointer || "/")))),
  annotatorsTable(one),
];
