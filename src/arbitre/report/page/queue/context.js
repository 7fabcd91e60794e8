// Differences between the readings of the annotators, and the entry that contains them.

const FEW = 12; // maximum number of fields of an entry that is shown at once

// The text of a value, with spaces after the commas and colons of JSON, where lines can break.
const spaced = (value) =>
  scalar(value) ? text(value) : text(value).replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (/^[,:]$/.test(part) ? `${part} ` : part));
const brief = (whole, most = ROOM) => (whole.length > most ? `${cut(whole, most)}…` : whole);
// The first place where a text differs from another.
const parting = (a, b) => {
  let place = 0;
  while (place < a.length && a[place] === b[place]) place += 1;
  return place;
};
// Renders texts: marks in each what differs from the first one, and in the first what differs from any other.
const contrasted = (texts) => {
  const [first, ...rest] = texts;
  const others = rest.filter((other) => other !== first);
  if (!others.length) return texts.map((whole) => shown(whole));
  if (texts.some((whole) => whole === "" || whole.length > ROOM))
    return texts.map((whole) => shown(whole, whole === first ? parting(first, others[0]) : parting(first, whole)));
  const parts = texts.map(signs);
  const same = parts.map((part) => new Array(part.length).fill(true));
  const flags = (found) => found.flatMap((run) => run.parts.map(() => run.same));
  for (let place = 1; place < parts.length; place += 1) {
    const [left, right] = difference(parts[0], parts[place]);
    flags(left).forEach((equal, at) => {
      same[0][at] &&= equal;
    });
    same[place] = flags(right);
  }
  return parts.map((part, place) => make("bdi", {}, marked("mark", runs(part, same[place]))));
};

const step = (token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
// The fields of an entry by pointer. Lists are single values, since their items are not aligned.
const leaves = (value, at = "") =>
  scalar(value) || Array.isArray(value) || !Object.keys(value).length
    ? [[at, value]]
    : Object.entries(value).flatMap(([name, inner]) => leaves(inner, at + step(name)));

const columnsOf = (entry) => [
  ...("proposal" in entry ? [[say("queue.proposal"), entry.proposal]] : []),
  ...data.annotators.filter((name) => name in entry.versions).map((name) => [plain(brief(name)), entry.versions[name]]),
];
const contextTable = (one, entry) => {
  const columns = columnsOf(entry).map(([name, value]) => [name, new Map(leaves(value))]);
  const places = new Set(columns.flatMap(([, fields]) => [...fields.keys()]));
  const here = one.pointer.slice(entry.pointer.length);
  const rows = [...places].map((place) => {
    const present = columns.filter(([, fields]) => fields.has(place));
    const cells = contrasted(present.map(([, fields]) => spaced(fields.get(place))));
    const current = place === here || here.startsWith(`${place}/`);
    return make(
      "tr",
      { class: current ? "here" : null, "aria-current": current ? "true" : null },
      make("th", { scope: "row" }, current ? make("i", { "aria-hidden": "true" }, "▸ ") : null, make("code", {}, breakable(brief(place || "/")))),
      columns.map(([, fields]) => make("td", {}, fields.has(place) ? cells.shift() : absent())),
    );
  });
  const heads = [say("js.field"), ...columns.map(([name]) => name)].map((name) => make("th", { scope: "col" }, name));
  const label = say("queue.context.label", { id: plain(brief(one.id)) });
  return make(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
    make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)),
  );
};
// The entry in the proposed gold, and each annotator's version of it. A long one is rendered when it is opened.
const context = (one) => {
  const entry = data.entries[one.entry];
  const size = Math.max(0, ...columnsOf(entry).map(([, value]) => leaves(value).length));
  const label = say("queue.context.of", { pointer: plain(brief(entry.pointer || "/")) });
  const box = make("details", { class: "list", open: size <= FEW }, make("summary", {}, label));
  const rendered = () => box.childElementCount === 1 && box.append(contextTable(one, entry));
  if (size <= FEW) rendered();
  box.addEventListener("toggle", rendered);
  return box;
};
