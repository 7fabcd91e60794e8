// The table of documents: one row a document, built and sorted from the data, in parts.

const PART = 50; // number of rows rendered at once
const several = data.several;

// The documents of all systems, worst first, with the scores of each system by its position.
const corpusRows = () => {
  const byKey = new Map();
  data.subjects.forEach((subject, place) => {
    const { keys, failed, kept, ...columns } = subject.table;
    const [lost, held] = [new Set(failed), new Set(kept)];
    keys.forEach((key, row) => {
      if (!byKey.has(key)) byKey.set(key, { key, own: [] });
      const scores = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[row]]));
      byKey.get(key).own[place] = { ...scores, failed: lost.has(row), kept: held.has(row), subject };
    });
  });
  return [...byKey.values()];
};
const scored = (own) => (own === undefined ? null : own.failed ? 0 : own.f1q);
const apartOf = ({ own }) => {
  const known = data.subjects.map((_, place) => scored(own[place])).filter((score) => score !== null && score !== undefined);
  return known.length > 1 ? Math.max(...known) - Math.min(...known) : null;
};
const plainNumber = (name, digits) => ({ name: `js.column.${name}`, value: ({ own }) => own[0][name], digits });
const COLUMNS = several
  ? [
      ...data.subjects.map((subject, place) => ({ text: subject.name, value: ({ own }) => scored(own[place]), place, bar: true })),
      { name: "js.column.apart", value: apartOf, digits: 4 },
    ]
  : [
      plainNumber("quality", 4),
      { name: "js.column.f1q", value: ({ own }) => scored(own[0]), place: 0, bar: true },
      { text: "0 – 1", value: ({ own }) => scored(own[0]), dot: true },
      { name: "js.column.interval", value: ({ own }) => (own[0].low === null ? null : own[0].high - own[0].low), ends: true },
      ...["imq", "irq", "amq"].map((name) => plainNumber(name, 4)),
      ...["gold", "predicted"].map((name) => plainNumber(name, 0)),
    ];
const tableState = { rows: [], column: null, sign: 1, drawn: 0 };

const documentLink = (own, key) => `#${placeIn(own.subject.name, key)}`;
const barOf = (share) =>
  draw(
    "svg",
    { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "track", width: 100, height: 10 }),
    draw("rect", { class: "fill", width: Math.round(share * 1e4) / 100, height: 10 }),
  );
// A score as a dot, and its interval as a line.
const whiskerOf = (score, { low, high }) => {
  const line = low !== null && low < high ? draw("path", { d: `M${2 + low * 200} 1v12m0-6h${(high - low) * 200}m0-6v12` }) : null;
  const dot = draw("circle", { r: 3.4, cx: 2 + score * 200, cy: 7 });
  return draw("svg", { class: "whisker", viewBox: "0 0 204 14", "aria-hidden": "true" }, line, dot);
};
const intervalText = ({ low, high }) => {
  if (low === null) return make("span", { class: "none", title: say("too_few") }, "–");
  if (low === high) return make("span", { class: "none", title: say("no_spread.why") }, say("no_spread"));
  return `[${number(low)}${say("separator")}${number(high)}]`;
};
const scoreCell = (row, column) => {
  const value = column.value(row);
  if (column.ends) return make("td", { class: "n" }, intervalText(row.own[0]));
  if (column.dot) return make("td", {}, value === null ? null : whiskerOf(value, row.own[0]));
  if (value === null || value === undefined) return make("td", { class: "n none" }, "–");
  const words = column.digits === 0 ? amount(value) : number(value);
  const own = row.own[column.place];
  if (!column.bar) return make("td", { class: "n" }, words);
  const shown = own.kept ? make("a", { href: documentLink(own, row.key) }, words) : words;
  return make("td", { class: "n" }, shown, own.failed ? make("em", { class: "tag bad" }, say("js.failed")) : null, barOf(value));
};
const documentRow = (row) => {
  const first = row.own.find((own) => own?.kept);
  const name = first ? make("a", { href: documentLink(first, row.key) }, visible(row.key)) : visible(row.key);
  return make("tr", {}, make("th", { scope: "row" }, name), COLUMNS.map((column) => scoreCell(row, column)));
};
const moreDocuments = (body, status, count = PART) => {
  const next = tableState.rows.slice(tableState.drawn, tableState.drawn + count);
  body.append(...next.map(documentRow));
  tableState.drawn += next.length;
  const left = tableState.rows.length - tableState.drawn;
  const part = button(say("js.show_more", { n: amount(Math.min(PART, left)) }), () => {
    const next = body.rows.length;
    moreDocuments(body, status);
    (body.rows[next].querySelector("a") ?? status.querySelector("button"))?.focus();
  });
  const n = amount(tableState.rows.length);
  status.replaceChildren(...(left ? [say("js.documents.rows", { shown: amount(tableState.drawn), n }), " ", part] : []));
};
const sortDocuments = (column, sign) => {
  const value = column ? column.value : ({ key }) => key;
  const known = tableState.rows.map((row) => ({ row, value: value(row) }));
  known.sort((a, b) => {
    const missing = [a, b].map((one) => one.value === null || one.value === undefined);
    if (missing[0] || missing[1]) return missing[0] - missing[1]; // unknown values last
    return sign * (column ? a.value - b.value : a.value < b.value ? -1 : a.value > b.value ? 1 : 0);
  });
  tableState.rows = known.map((one) => one.row);
};
const drawDocuments = () => {
  tableState.rows = corpusRows();
  const body = make("tbody");
  const status = make("p", { class: "note", role: "status" });
  const heads = [null, ...COLUMNS].map((column) => {
    const words = column === null ? say("js.column.document") : column.text !== undefined ? visible(column.text) : say(column.name);
    const sort = () => {
      const up = cell.getAttribute("aria-sort") !== "ascending";
      for (const other of cell.parentNode.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortDocuments(column, up ? 1 : -1);
      tableState.drawn = 0;
      body.replaceChildren();
      moreDocuments(body, status);
    };
    const cell = make("th", { scope: "col", class: column ? "n" : null }, button(words, sort, { class: "sort" }));
    return cell;
  });
  const table = make("table", { class: "documents" }, make("thead", {}, make("tr", {}, heads)), body);
  const note = make("p", { class: "note" }, say(several ? "js.documents.systems" : "js.documents.single"));
  at("d-table").replaceChildren(note, make("div", { class: "scroll" }, table), status);
  if (several) sortDocuments(COLUMNS[COLUMNS.length - 1], -1); // those on which the systems differ most
  moreDocuments(body, status);
};
