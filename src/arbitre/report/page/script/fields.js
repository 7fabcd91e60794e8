// The fields of an entry, level by level: gold, predicted and verdict.

// The children of a node; for an unexpanded value, its fields or items with the same verdict.
const below = (node) => {
  if (node.below) return node.below;
  const value = node.gold ?? node.predicted;
  const both = "gold" in node && "predicted" in node;
  if (scalar(value) || both) return [];
  const side = "gold" in node ? "gold" : "predicted";
  return Object.entries(value).map(([name, inner]) => ({
    name: Array.isArray(value) ? Number(name) : name,
    item: Array.isArray(value),
    verdict: node.verdict,
    quality: node.quality,
    [side]: inner,
  }));
};
// Whether a value is a list of plain values that fit on a line.
const flat = (node) => {
  const short = (value) => scalar(value) && text(value).length <= ROOM;
  const parts = below(node);
  return (
    parts.length > 0 &&
    parts.every((part) => part.item && !part.below && ["gold", "predicted"].every((side) => !(side in part) || short(part[side])))
  );
};
const named = (node) =>
  below(node).find((part) => [part.gold, part.predicted].some((value) => typeof value === "string" && value !== ""));
// The label of a node: its first string, or its own value.
const title = (node, side) => {
  const part = named(node);
  if (part) {
    const value = part.verdict === "correct" && !("predicted" in part) ? part.gold : part[side];
    if (value !== undefined && scalar(value)) return text(value);
  }
  const own = side in node ? node[side] : node.verdict === "correct" ? node.gold : undefined;
  return own === undefined || !(scalar(own) || node.verdict === "wrong type") ? "" : text(own);
};

// A quality with two decimals, or as many as it needs to stay below 1 and below the threshold of its verdict.
const distinct = (quality) => {
  let digits = 2;
  while (digits < 17 && [data.close, 1].some((limit) => quality < limit && Number(quality.toFixed(digits)) >= limit)) digits += 1;
  return number(quality, digits);
};
const mark = (node) => {
  const bare = ["correct", "missing", "spurious"].includes(node.verdict);
  const normalised = node.verdict === "correct" && "predicted" in node && !("reading" in node || "refers" in node) ? ` ${say("js.normalised")}` : "";
  return [glyph(node.verdict), " ", say(`verdict.${node.verdict}`), bare ? normalised : ` ${distinct(node.quality)}`];
};
const labelled = (name) => (name === "" ? shown(name) : breakable(name));
const times = (node) => ("mass" in node ? make("small", {}, ` × ${number(node.mass, 2)}`) : null);
const line = (node, deep, left, right) =>
  make(
    "tr",
    { role: "row", class: `field ${node.verdict.split(" ")[0]} in${Math.min(deep, 4)}` },
    make(
      "th",
      { role: "rowheader", scope: "row", class: "name" },
      node.item ? `[${node.name}]${"to" in node ? ` → [${node.to}]` : ""}` : labelled(String(node.name)),
      times(node),
    ),
    make("td", { role: "cell", class: "side", "data-side": say("js.gold") }, left),
    make("td", { role: "cell", class: "side", "data-side": say("js.predicted") }, right),
    make("td", { role: "cell", class: "mark" }, mark(node)),
  );
// A table of the fields of a node. Its head is for screen readers; roles are explicit because cells are laid out as a grid.
const fieldTable = (node, label) => {
  const heads = ["js.field", "gold.column", "predicted.column", "js.verdict"].map((name) =>
    make("th", { role: "columnheader", scope: "col" }, say(name)),
  );
  return make(
    "table",
    { role: "table", class: "fields", "aria-label": label },
    make("thead", { role: "rowgroup", class: "unseen" }, make("tr", { role: "row" }, heads)),
    make("tbody", { role: "rowgroup" }, lines(node, -1)),
  );
};
// The value of an item on a side, with what differs marked.
const chipText = (part, side) => {
  const literal = part.verdict === "wrong type";
  if (part.verdict === "correct" || "refers" in part || !("gold" in part && "predicted" in part)) return shown(text(side in part ? part[side] : part.gold, literal));
  return sides(part.gold, part.predicted, literal, part)[side === "gold" ? 0 : 1];
};
// The title of the entry that a reference points to: a link to the entry if it is in the list.
const referred = (node, side) => {
  const target = node.refers?.[side];
  if (!target) return null;
  if (target.dangling) return make("small", { class: "refers" }, " ", say("js.dangling"));
  const place = side === "gold" ? "gold_index" : "predicted_index";
  const row = "index" in target ? state.document.rows.find((one) => one[place] === target.index) : undefined;
  return make("small", { class: "refers" }, " ", row ? make("a", { href: address(row) }, shown(target.title)) : shown(target.title));
};
const withTitle = (node, left, right) => ("refers" in node ? [[left, referred(node, "gold")], [right, referred(node, "predicted")]] : [left, right]);
const chips = (node, side) => {
  const parts = below(node).filter((part) => side in part || part.verdict === "correct");
  if (side === "predicted") parts.sort((a, b) => (a.to ?? a.name) - (b.to ?? b.name));
  const made = parts.map((part) =>
    make(
      "span",
      { class: `chip ${part.verdict.split(" ")[0]}`, title: say(`verdict.${part.verdict}`) },
      part.verdict === "correct" ? null : glyph(part.verdict),
      chipText(part, side),
      referred(part, side in part || side === "gold" ? side : "predicted"),
      times(part),
    ),
  );
  return folded(made, parts.map((part) => part.verdict !== "correct"));
};
const leafLine = (node, deep) => {
  const place = Math.max(deep, 0);
  if (flat(node)) {
    const one = (side) => (node.verdict !== "correct" && !node.below && !(side in node) ? absent() : chips(node, side));
    return line(node, place, one("gold"), one("predicted"));
  }
  if (node.below) return line(node, place, shown("[]"), shown("[]"));
  if ("reading" in node) {
    const note = make("small", {}, ` (${say("js.accepted", { reading: text(node.reading) })})`);
    return line(node, place, [shown(text(node.gold)), note], shown(text(node.predicted)));
  }
  if (node.verdict === "correct")
    return line(node, place, ...withTitle(node, shown(text(node.gold)), shown(text("predicted" in node ? node.predicted : node.gold))));
  if ("gold" in node && "predicted" in node) {
    const literal = node.verdict === "wrong type" || !scalar(node.gold) || !scalar(node.predicted);
    const both = "refers" in node ? [shown(text(node.gold)), shown(text(node.predicted))] : sides(node.gold, node.predicted, literal, node);
    return line(node, place, ...withTitle(node, ...both));
  }
  return "gold" in node
    ? line(node, place, withTitle(node, shown(text(node.gold)), null)[0], absent())
    : line(node, place, absent(), withTitle(node, null, shown(text(node.predicted)))[1]);
};
// Correct fields are collapsed into one line.
const summary = (node, deep) => {
  const inner = below(node);
  const names = inner.map((part) => title(part, "gold") || (scalar(part.gold) ? text(part.gold) : "")).filter(Boolean);
  const sum = names.length ? names.join("; ") : `${inner.length}`;
  const button = make("button", { type: "button", class: "cut" }, say("js.open"));
  const box = line(node, deep, shown(sum), [shown(sum), button]);
  button.addEventListener("click", () =>
    replace(box, [line(node, deep, "", ""), ...inner.flatMap((part) => lines(part, deep + 1))]),
  );
  return box;
};
const lines = (node, deep) => {
  const parts = below(node);
  if (!parts.length || flat(node)) return [leafLine(node, deep)];
  if (node.verdict === "correct" && deep >= 0) return [summary(node, deep)];
  const inner = parts.flatMap((part) => lines(part, deep + 1));
  return deep < 0 ? inner : [line(node, deep, "", ""), ...inner];
};
