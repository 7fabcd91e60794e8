// An entry of the list: its head, its shares, and its fields when opened.

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
