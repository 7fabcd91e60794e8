// The entries of a document: their headings, their fields level by level, and entries that are split over several rows.

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
  const open = () => replace(box, [line(node, deep, "", ""), ...inner.flatMap((part) => lines(part, deep + 1))]);
  const box = line(node, deep, shown(sum), [shown(sum), button(say("js.open"), open, { class: "cut" })]);
  return box;
};
const lines = (node, deep) => {
  const parts = below(node);
  if (!parts.length || flat(node)) return [leafLine(node, deep)];
  if (node.verdict === "correct" && deep >= 0) return [summary(node, deep)];
  const inner = parts.flatMap((part) => lines(part, deep + 1));
  return deep < 0 ? inner : [line(node, deep, "", ""), ...inner];
};

// Shares of entries in rows: with optimal transport, an entry can be in several rows.
const ROUNDING = 1e-6;
const FAINT = 0.01; // smaller shares are not shown
const NOTABLE = 0.05; // minimum share for an entry to count as split or merged
const OTHERS = 4; // maximum number of other parts listed

const index = (place) => (place === null ? "–" : `[${place}]`);
const share = (row, side) => row.mass / row.masses[side];
const partial = (row) => SIDES.some((_, side) => row.masses[side] !== null && share(row, side) < 1 - ROUNDING);

// The entries of a side in order, each with its mass and its rows, in the order of their partners.
const slots = (rows, side) => {
  const found = new Map();
  for (const row of rows)
    if (row[SIDES[side]] !== null) {
      const slot = found.get(row[SIDES[side]]) ?? { mass: row.masses[side], rows: [] };
      slot.rows.push(row);
      found.set(row[SIDES[side]], slot);
    }
  for (const slot of found.values()) slot.rows.sort((a, b) => later(order(a, 1 - side), order(b, 1 - side)));
  return [...found.values()].sort((a, b) => later(order(a.rows[0], side), order(b.rows[0], side)));
};

// Describes the shares of a row's entry: this row, then the largest other rows, with links by `link`.
const sharing = (row, side, rows, link) => {
  if (row.outside || row.masses[side] === null || share(row, side) > 1 - FAINT) return null;
  const parts = together(row, side, rows);
  const real = parts.filter((other) => other.status === "matched" && share(other, side) >= NOTABLE);
  const verdict = real.length > 1 ? ["split", "merged"][side] : null;
  const told = [row, ...parts.filter((other) => other !== row).slice(0, OTHERS)];
  const arrow = ["→", "←"][side];
  const one = (other) => {
    const place = other[SIDES[1 - side]];
    const words = `${percent(share(other, side))} ${arrow} ${place === null ? say("js.nowhere") : index(place)}`;
    return other === row ? make("b", {}, words) : make("a", { href: link(other), tabindex: -1 }, words);
  };
  const rest = 1 - told.reduce((sum, other) => sum + share(other, side), 0);
  return make(
    "span",
    { class: "share" },
    verdict ? [glyph(verdict), " ", say(`verdict.${verdict}`)] : say("js.partly"),
    ` ${index(row[SIDES[side]])} `,
    told.flatMap((other, place) => [place ? " · " : "", one(other)]),
    rest > ROUNDING ? ` · ${percent(rest)} ${arrow} ${say("js.others")}` : "",
  );
};

const heading = ({ outside, entry }) => {
  if (outside) return say("js.rest");
  if (!entry.item && entry.name !== undefined && entry.name !== "") return visible(String(entry.name)); // a field
  const [left, right] = [title(entry, "gold"), title(entry, "predicted")];
  if (!left || !right || left === right) return shown(left || right || "–");
  const alike = (named(entry) ?? entry).verdict === "correct"; // differences within it do not count
  const [gold, predicted] = alike ? [shown(left), shown(right)] : sides(left, right, false, named(entry) ?? entry);
  return [gold, " → ", predicted];
};
// The class of an entry and its quality; outside the entries, the verdicts of the fields with their numbers.
const outcome = (row, spare) => {
  if (row.outside) {
    const counts = [...row.verdicts].filter(([verdict], _, all) => verdict !== "correct" || all.length === 1);
    return counts.map(([verdict, n]) => make("span", { class: "said" }, glyph(verdict), " ", say(`verdict.${verdict}`), ` (${amount(n)})`));
  }
  return [
    row.wrong_field ? make("span", { class: "said wrong" }, glyph("wrong"), " ", say("class.wrong_field")) : null,
    make("span", { class: "said" }, glyph(`class.${row.class}`), " ", say(spare ? "js.spare" : `class.${row.class}`)),
    row.status === "matched" && row.entry.quality < 1
      ? make("data", { class: "quality", value: row.entry.quality }, number(row.entry.quality))
      : null,
  ];
};
const article = (row) => {
  const { entry } = row;
  const where = SIDES.map((side) => index(row[side]));
  const whole = !entry.item; // the document, or one of its fields
  const shares = [0, 1].map((side) => sharing(row, side, state.document.rows, address)).filter(Boolean);
  const spare = shares.length && row.status !== "matched";
  const toggle = make("button", { type: "button", class: "toggle", "aria-label": say("js.toggle"), tabindex: -1 });
  const fields = make("div");
  const box = make(
    "div",
    { class: `row ${row.outside ? "outside" : row.class}`, role: "listitem", tabindex: -1, "data-place": row.place },
    make(
      "header",
      {},
      toggle,
      whole ? null : make("span", { class: "where" }, where[0] === where[1] ? where[0] : where.join(" → ")),
      make("h3", {}, heading(row)),
      outcome(row, spare),
      make("a", { class: "here", href: address(row), "aria-label": say("js.link"), tabindex: -1 }, "#"),
    ),
    shares.length ? make("p", { class: "shares" }, shares) : null,
    fields,
  );
  const open = (wanted) => {
    if (wanted && !fields.childNodes.length) fields.append(fieldTable(entry, row.outside ? say("js.rest") : plain(title(entry, "gold") || title(entry, "predicted") || where.join(" → "))));
    fields.hidden = !wanted;
    toggle.textContent = wanted ? "▾" : "▸";
    toggle.setAttribute("aria-expanded", String(wanted));
  };
  box.toggle = () => open(fields.hidden);
  box.open = () => open(true);
  open(row.outside ? row.faults.length > 0 : !["exact", "missing", "spurious"].includes(row.class));
  return box;
};
