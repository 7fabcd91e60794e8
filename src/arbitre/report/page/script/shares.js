// Shares of entries in rows: with optimal transport, an entry can be in several rows.

const SIDES = ["gold_index", "predicted_index"];
const ROUNDING = 1e-6;
const FAINT = 0.01; // smaller shares are not shown
const NOTABLE = 0.05; // minimum share for an entry to count as split or merged
const OTHERS = 4; // maximum number of other parts listed

const index = (place) => (place === null ? "–" : `[${place}]`);
const share = (row, side) => row.mass / row.masses[side];
const partial = (row) => SIDES.some((_, side) => row.masses[side] !== null && share(row, side) < 1 - ROUNDING);
const together = (row, side, rows) => rows.filter((other) => other[SIDES[side]] === row[SIDES[side]]);

// Sort key of an index in nested lists; rows without an index come last.
const order = (row, side) => (row[SIDES[side]] ?? "Infinity").split("/").map(Number);
const later = (a, b) => {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) if (a[i] !== b[i]) return (a[i] ?? -1) - (b[i] ?? -1);
  return 0;
};
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
