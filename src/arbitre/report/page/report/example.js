// One example of a cause: the entry, field by field, in gold and in every system, beside its source text.

const FEW_FIELDS = 6; // maximum number of correct fields shown around a fault
const FEW_SYSTEMS = 3; // maximum number of systems with a column of their own; one less beside a source text

const tokensOf = (pointer) =>
  pointer.split("/").slice(1).map((token) => token.replace(/~1/g, "/").replace(/~0/g, "~"));
const keptBy = data.subjects.map((subject) => new Map(subject.documents.map((document) => [document.key, document])));
const isPosition = (index) => /^\d+(\/\d+)*$/.test(index);
// The row of an example in a system: that of its gold entry or, without one, of its predicted entry. In other systems, the
// latter only if it is spurious there too and has a name, because positions are not comparable between predictions.
const rowIn = (one, subject, own) => {
  const rows = keptBy[subject].get(one.document)?.rows ?? [];
  if (one.gold_index !== null) {
    const held = rows.filter((row) => row.gold_index === one.gold_index);
    return held.find((row) => subject === own && row.predicted_index === one.predicted_index) ?? held[0];
  }
  if (one.predicted_index === null) return undefined;
  const isSpurious = (row) => row.gold_index === null && !isPosition(row.predicted_index);
  return rows.find((row) => row.predicted_index === one.predicted_index && (subject === own || isSpurious(row)));
};
// The node at a place below another one, by names in gold, or by names in the prediction.
const nodeAt = (node, tokens) => {
  let found = node;
  for (const token of tokens) {
    found = found && below(found).find((part) => String(part.name) === token);
  }
  return found;
};
const lone = (one) => ({
  name: tokensOf(one.path).pop() ?? "",
  verdict: "gold" in one ? ("predicted" in one ? "wrong" : "missing") : "spurious",
  quality: 0,
  ...("gold" in one ? { gold: one.gold } : {}),
  ...("predicted" in one ? { predicted: one.predicted } : {}),
});
// The nodes to compare: those of the entry, else of the value, else the example itself.
const nodesOf = (one, own) => {
  const inEntry = one.gold_index !== null || one.predicted_index !== null;
  const rows = data.subjects.map((_, subject) => rowIn(one, subject, own));
  if (inEntry && rows[own]) return { nodes: rows.map((row) => row?.entry ?? null), rows, whole: true };
  const pointer = one.gold_pointer ?? one.predicted_pointer;
  const nodes = data.subjects.map((_, subject) => {
    const rest = inEntry ? null : keptBy[subject].get(one.document)?.rest;
    return (rest && pointer !== null && nodeAt(rest, tokensOf(pointer))) || null;
  });
  nodes[own] ??= lone(one);
  return { nodes, rows, whole: false };
};
// Whether a node, by its JSON Pointers below the entry, is the fault, around it, or in it.
const relation = (tokens, fault) => {
  const length = Math.min(tokens.length, fault.length);
  return tokens.slice(0, length).every((token, place) => token === fault[place]);
};

const goldOf = (node) => (node ? ("gold" in node ? node.gold : undefined) : undefined);
const isLine = (nodes) =>
  nodes.every((node) => node === null || !below(node).length || flat(node) || ("gold" in node && "predicted" in node));
const valueCell = (node, gold) => {
  if (node === null || node.verdict === "missing" || (node.verdict !== "correct" && !("predicted" in node) && !node.below)) return absent();
  if (flat(node) || (node.below && !below(node).length)) return chips(node, "predicted");
  if (node.verdict === "correct") return shown(text("predicted" in node ? node.predicted : node.gold));
  if (node.verdict === "spurious") return entire("ins", text(node.predicted));
  if (gold === undefined) return shown(text(node.predicted));
  return sides(node.gold, node.predicted, node.verdict === "wrong type" || !scalar(node.gold) || !scalar(node.predicted), node)[1];
};
// The value in gold, marked where the prediction of the example differs; unmarked if it has no such entry.
const goldCell = (node, any, unmarked) => {
  const source = node && node.verdict !== "spurious" ? node : any;
  if (!source || source.verdict === "spurious") return absent();
  const value = goldOf(source);
  if (unmarked && value !== undefined && (scalar(value) || flat(source))) return shown(Array.isArray(value) ? value.map((one) => text(one)).join(", ") : text(value));
  if (flat(source)) return chips(source, "gold");
  if (value === undefined) return shown("");
  if (source.verdict === "missing") return entire("del", text(value));
  if (source.verdict === "correct" || !("predicted" in source)) return shown(text(value));
  return sides(value, source.predicted, source.verdict === "wrong type" || !scalar(value) || !scalar(source.predicted), source)[0];
};
const verdictOf = (node) => (node === null ? null : make("span", { class: "mark" }, mark(node)));
// Values of many systems at one place, grouped by value.
const groupsOf = (nodes, shownSystems) => {
  const groups = new Map();
  nodes.forEach((node, subject) => {
    if (shownSystems.includes(subject)) return;
    const key = node === null || node.verdict === "missing" ? "" : JSON.stringify([node.verdict === "correct", node.predicted ?? node.gold ?? below(node)]);
    if (!groups.has(key)) groups.set(key, { node, names: [] });
    groups.get(key).names.push(data.subjects[subject].name);
  });
  return [...groups.values()].sort((a, b) => b.names.length - a.names.length);
};
const othersCell = (nodes, systems, gold) =>
  groupsOf(nodes, systems).map(({ node, names }) =>
    make("p", { class: "group", title: plain(names.join(", ")) }, make("b", {}, names.length === 1 ? [visible(names[0]), say("colon")] : say("js.systems", { n: names.length })), " ", valueCell(node, gold), " ", verdictOf(node)),
  );
const systemCell = (nodes, subject, gold, { gone, inGold }) => {
  const side = { "data-side": plain(data.subjects[subject].name ?? say("predicted.column")) };
  const lack = () => (inGold ? [glyph("missing"), " ", say("verdict.missing")] : absent());
  if (gone.has(subject)) return make("td", { class: "gone", ...side }, gone.get(subject) ? lack() : null);
  const node = nodes[subject];
  return make("td", { class: (node?.verdict ?? "missing").split(" ")[0], ...side }, valueCell(node, gold), " ", verdictOf(node));
};
const fieldRow = (nodes, deep, how) => {
  const { own, systems, fault, tokens, gone } = how;
  const any = nodes.find((node) => node !== null && node.verdict !== "spurious") ?? nodes.find((node) => node !== null);
  const mine = nodes[own];
  const hit = fault !== null && tokens.length >= fault.length && relation(tokens, fault);
  const gold = goldOf(any);
  const name = any.item ? `[${any.name}]` : labelled(String(any.name));
  const row = make(
    "tr",
    { class: `${hit ? "hit " : ""}in${Math.min(deep, 4)}` },
    make("th", { scope: "row" }, name),
    make("td", { class: "gold-side", "data-side": say("gold.column") }, goldCell(gone.has(own) ? null : mine, any, gone.has(own))),
    systems.map((subject) => systemCell(nodes, subject, gold, how)),
    systems.length < nodes.length ? make("td", { class: "others", "data-side": say("js.others") }, hit || how.state.first ? othersCell(nodes, systems, gold) : null) : null,
  );
  how.state.first = false;
  for (const subject of gone.keys()) gone.set(subject, false);
  return row;
};
// The parts of several nodes, paired by their names in gold; spurious parts stand alone.
const partsOf = (nodes) => {
  const groups = new Map();
  nodes.forEach((node, subject) => {
    for (const part of node === null ? [] : below(node)) {
      const alone = part.verdict === "spurious";
      const key = `${alone ? (part.item ? `+${subject}` : "+") : "="}${part.name}`;
      if (!groups.has(key)) groups.set(key, { name: String(part.name), alone, nodes: nodes.map(() => null) });
      groups.get(key).nodes[subject] = part;
    }
  });
  return [...groups.values()].sort((a, b) => a.alone - b.alone);
};
const allCorrect = (nodes) => nodes.every((node) => node?.verdict === "correct");
const fieldRows = (nodes, deep, how) => {
  if (isLine(nodes)) return [fieldRow(nodes, Math.max(deep, 0), how)];
  const parts = partsOf(nodes);
  const quiet = parts.filter((part) => allCorrect(part.nodes));
  const folded = deep < 0 && quiet.length > FEW_FIELDS ? new Set(quiet.slice(FEW_FIELDS - 1)) : new Set();
  const rows = parts.flatMap((part) => {
    const tokens = [...how.tokens, part.name];
    const inner = allCorrect(part.nodes) && !isLine(part.nodes) ? null : fieldRows(part.nodes, deep + 1, { ...how, tokens });
    const made = inner ?? [fieldRow(part.nodes.map((node) => ({ ...node, below: undefined, gold: "…", predicted: "…" })), Math.max(deep + 1, 0), { ...how, tokens })];
    if (folded.has(part)) for (const row of made) row.hidden = true;
    return made;
  });
  if (deep >= 0) return [headRow(nodes, deep, how), ...rows];
  if (!folded.size) return rows;
  const open = () => {
    const next = rows.find((row) => row.hidden);
    for (const row of rows) row.hidden = false;
    replace(line, [], next);
  };
  const more = button(say("js.correct.more", { n: folded.size }), open, { class: "cut" });
  const line = make("tr", {}, make("td", { colspan: how.systems.length + 3 }, more));
  return [...rows, line];
};
const headRow = (nodes, deep, { systems }) => {
  const any = nodes.find((node) => node !== null);
  const name = any.item ? `[${any.name}]` : labelled(String(any.name));
  return make("tr", { class: `in${Math.min(deep, 4)}` }, make("th", { scope: "row", colspan: systems.length + 3 }, name));
};
// The systems with a column of their own: all if they are few, else the one of the example.
const columnsFor = (own, { source }) => (data.subjects.length <= FEW_SYSTEMS - (source ? 1 : 0) ? data.subjects.map((_, place) => place) : [own]);
// The fault by its names below the entry; null if the whole entry is the fault.
const faultOf = (one, subject) => {
  const pointer = one.gold_pointer ?? one.predicted_pointer;
  if (pointer === null || (one.gold_index === null && one.predicted_index === null)) return null;
  const tokens = tokensOf(pointer).slice(data.subjects[subject].depth);
  return tokens.length ? tokens : null;
};
const comparisonTable = (one, own) => {
  const { nodes, whole } = nodesOf(one, own);
  const systems = columnsFor(own, one);
  const heads = [
    make("th", { scope: "col" }, say("js.field")),
    make("th", { scope: "col" }, say("gold.column")),
    systems.map((subject) => make("th", { scope: "col", class: subject === own && data.several ? "own" : null }, visible(data.subjects[subject].name ?? say("predicted.column")))),
    systems.length < nodes.length ? make("th", { scope: "col" }, say("js.systems.others", { n: nodes.length - systems.length })) : null,
  ];
  // systems without the entry say so once, in the first row
  const gone = new Map(whole ? systems.filter((subject) => nodes[subject] === null || nodes[subject].verdict === "missing").map((subject) => [subject, true]) : []);
  // other systems are shown beside the fault, or beside the first field if the whole entry is the fault
  const fault = faultOf(one, own);
  const how = { own, systems, fault, tokens: [], gone, inGold: one.gold_index !== null, state: { first: fault === null } };
  const rows = fieldRows(nodes, -1, how);
  return make("table", { class: "compared" }, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows));
};

// A link to the scan, and the source text around the entry, with the values marked where they occur.
const sourceBox = (source) => {
  const { file, image, text: whole, start, marks } = source;
  const name = image ? plain(decodeURIComponent(image.split("/").pop())) : null;
  const open = () => make("a", { href: image, target: "_blank", rel: "noopener" }, say("js.source.image", { file: name }));
  const link = image ? make("p", {}, open()) : null;
  if (whole === undefined) return make("div", { class: "source" }, link);
  const found = marks.some(([, , side]) => side !== "entry");
  return make(
    "div",
    { class: "source", role: "region", tabindex: 0, "aria-label": say("js.source") },
    link,
    make("p", { class: "note" }, make("code", {}, visible(file)), found ? null : ` ${say("js.source.none")}`),
    make("p", { class: "page", dir: "auto" }, start > 0 ? "… " : "", sourceText(whole, marks, (side) => say(`js.source.${side}`))),
  );
};
// The values of an example as a table of texts, to be copied.
const exampleGrid = (one, own) => gridOf(comparisonTable(one, own));
// An example as JSON, with its numbers as they are in the files.
const exampleJson = (one, system) => {
  const facts = Object.entries({ ...one, system: system ?? undefined, source: one.source?.file }).filter(([, value]) => value !== undefined);
  const raw = ([name, value]) => (name === "gold" || name === "predicted" ? text(value, true, 2) : JSON.stringify(value, null, 2));
  const lines = facts.map((fact) => `  ${JSON.stringify(fact[0])}: ${raw(fact).replaceAll("\n", "\n  ")}`);
  return `{\n${lines.join(",\n")}\n}`;
};
