// Values on the page: the fields of entries, differences between them, and the schema of their places.

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
