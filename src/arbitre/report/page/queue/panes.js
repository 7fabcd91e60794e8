// The panes of the source and of the annotators, with the differences between the annotators' values.

const brief = (whole, most = ROOM) => (whole.length > most ? `${cut(whole, most)}…` : whole);
const named = (list) => list.map((name) => plain(brief(name))).join(", ");
const step = (token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
// The fields of an entry by pointer. Lists are single values, since their items are not aligned.
const leaves = (value, at = "") =>
  scalar(value) || Array.isArray(value) || !Object.keys(value).length
    ? [[at, value]]
    : Object.entries(value).flatMap(([name, inner]) => leaves(inner, at + step(name)));
// The text of a value: objects in lists as their fields, other JSON with spaces after commas and colons, where lines can break.
const spaced = (value) => {
  if (isList(value) && value.length && value.every((item) => isObject(item) && Object.keys(item).length))
    return value
      .map(
        (item) =>
          `• ${leaves(item)
            .map(([place, inner]) => `${place.slice(1)}: ${spaced(inner)}`)
            .join("; ")}`,
      )
      .join(" ");
  return scalar(value)
    ? text(value)
    : text(value).replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (/^[,:]$/.test(part) ? `${part} ` : part));
};
// The parts of a value that are compared: the items of a list of single values, else the characters of its text.
const partsOf = (value) =>
  isList(value) && value.every(scalar)
    ? ["[", ...value.flatMap((item, place) => (place ? [", ", text(item, true)] : [text(item, true)])), "]"]
    : signs(spaced(value));
const alike = (left, right) => {
  const size = (found) => found.reduce((sum, run) => sum + (run.same ? run.parts.join("").length : 0), 0);
  return (
    size(left) + size(right) >= HALF * [...left, ...right].reduce((sum, run) => sum + run.parts.join("").length, 0)
  );
};
const marked = (tag, found, showCodes) =>
  found.map(({ same, parts }) => {
    const whole = parts.join("");
    return same ? visible(whole) : make(tag, {}, differing(whole, showCodes));
  });
// Renders values: marks in each what differs from the first one, and in the first what differs from any other. Values that
// have less than half in common are marked as a whole.
const contrasted = (values) => {
  const texts = values.map(spaced);
  const distinct = [...new Set(texts)];
  const [first, ...others] = distinct;
  if (!others.length) return texts.map((whole) => shown(whole));
  if (distinct.some((whole) => whole.length > ROOM))
    return texts.map((whole) =>
      whole === "" ? shown(whole) : whole === first ? prose(first, others[0])[0] : prose(first, whole)[1],
    );
  const showCodes = new Set(distinct.map(appearance)).size < distinct.length || undefined;
  const parts = distinct.map((whole) => partsOf(values[texts.indexOf(whole)]));
  const same = parts.map((part) => new Array(part.length).fill(true));
  const flags = (found) => found.flatMap((run) => run.parts.map(() => run.same));
  for (let place = 1; place < parts.length; place += 1) {
    const [left, right] = difference(parts[0], parts[place]);
    const whole = !alike(left, right);
    flags(left).forEach((equal, at) => {
      same[0][at] &&= equal && !whole;
    });
    same[place] = flags(right).map((equal) => equal && !whole);
  }
  return texts.map((whole) => {
    const at = distinct.indexOf(whole);
    return whole === "" ? shown(whole) : make("bdi", {}, marked("mark", runs(parts[at], same[at]), showCodes));
  });
};

const FEW = 12; // maximum number of fields of a value that is shown as one choice
// Renders the values of one place: objects field by field, all others as a text.
const rendered = (values) => {
  if (!values.every((value) => isObject(value) && Object.keys(value).length)) return contrasted(values);
  const fields = values.map((value) => new Map(leaves(value)));
  const boxes = values.map(() => make("dl", { class: "fields" }));
  for (const place of new Set(fields.flatMap((own) => [...own.keys()]))) {
    const having = fields.flatMap((own, at) => (own.has(place) ? [at] : []));
    const cells = contrasted(having.map((at) => fields[at].get(place)));
    having.forEach((at, number) => {
      const box = boxes[at];
      if (box.childElementCount === FEW) box.append(make("div", {}, make("dt", {}, "…")));
      if (box.childElementCount > FEW) return;
      box.append(make("div", {}, make("dt", {}, breakable(brief(place.slice(1)))), " ", make("dd", {}, cells[number])));
    });
  }
  return boxes;
};

const schemaOf = ({ path }) => data.schemas?.[path] ?? true;
const withoutFormats = (schema) => {
  if (isList(schema)) return schema.map(withoutFormats);
  if (!isObject(schema)) return schema;
  const { format, ...others } = schema;
  const inner = (key, part) =>
    ["enum", "const"].includes(key)
      ? part
      : key === "properties"
        ? Object.fromEntries(Object.entries(part).map(([name, one]) => [name, withoutFormats(one)]))
        : withoutFormats(part);
  return Object.fromEntries(Object.entries(others).map(([key, part]) => [key, inner(key, part)]));
};
// What the schema says against a value. `soft` problems do not prevent a decision: formats that the command does not check.
const refusal = (schema, raw) => {
  const problem = problemOf(schema, raw);
  return { problem, soft: problem !== null && !data.formats && problemOf(withoutFormats(schema), raw) === null };
};

const sourcePane = (one) => {
  const title = make("h3", {}, say("queue.source"));
  const found = data.sources?.[one.source];
  if (!found) return [title, make("p", { class: "note" }, say("queue.source.none"))];
  const file = make("code", {}, visible(found.file));
  const open = () => make("a", { href: found.image, target: "_blank", rel: "noopener" }, say("queue.source.image"));
  const head = make("p", { class: "note" }, file, found.image ? [" · ", open()] : null);
  if (found.text === undefined) return [title, head];
  const { text: whole, start, end } = found;
  const parts = [start > 0 ? "… " : "", sourceText(whole, one.marks, (side) => say(`queue.source.${side}`)), end ? "" : " …"];
  const lost = one.marks.some(([, , side]) => side !== "entry")
    ? null
    : make("p", { class: "note" }, say("queue.source.unfound"));
  return [title, head, lost, make("p", { class: "page", dir: "auto" }, parts)].filter(Boolean);
};

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
