// The map: bars for gold entries above and predicted entries below, with lines between pairs.

const MAP = { width: 1000, height: 170, tall: 50 };

const bar = (row, side, top, from, wide) => {
  const [quality, alone] = [row.entry.quality, row.status !== "matched"];
  const high = alone ? MAP.tall - 2 : Math.max(quality * MAP.tall, 1.5);
  const words = [
    cut(plain(title(row.entry, side ? "predicted" : "gold")), 80),
    say(`class.${row.class}`),
  ];
  if (!alone) words.push(number(quality, 2));
  if (partial(row)) words.push(percent(share(row, side)));
  return draw(
    "rect",
    {
      class: `${alone ? "lone " : ""}${row.class}`,
      x: from,
      y: (side ? top : top + MAP.tall - high) + (alone ? 1 - 2 * !side : 0),
      width: Math.max(wide, 0.5),
      height: high,
      "data-row": row.place,
      "vector-effect": "non-scaling-stroke",
    },
    draw("title", {}, words.join(" · ")),
  );
};
// The bars of a side, in frames as wide as the mass of the entry; `middles` collects their centres.
const strip = (slotted, side, top, step, middles) => {
  const gap = Math.min(step * 0.15, 3);
  const drawn = [];
  let x = 0;
  for (const { mass, rows } of slotted) {
    const frame = { class: "frame", x, y: top, width: mass * step, height: MAP.tall, "data-row": rows[0].place };
    drawn.push(draw("rect", frame));
    const room = mass * step - 2 * gap;
    let from = x + gap;
    for (const row of rows) {
      const wide = room * share(row, side);
      const inset = rows.length > 1 ? Math.min(0.5, wide / 8) : 0;
      drawn.push(bar(row, side, top, from + inset, wide - 2 * inset));
      middles.set(row, from + wide / 2);
      from += wide;
    }
    x += mass * step;
  }
  return drawn;
};
const drawMap = (rows) => {
  const entries = [0, 1].map((side) => slots(rows, side));
  const [gold, predicted] = entries.map((slotted) => slotted.length);
  const figure = at("x-map");
  const matched = rows.filter((row) => row.status === "matched");
  if (!matched.length || gold + predicted < 2) return figure.replaceChildren();
  const widest = Math.max(...entries.map((slotted) => slotted.reduce((sum, slot) => sum + slot.mass, 0)));
  const { width, height, tall } = MAP;
  const middles = [new Map(), new Map()];
  const strips = entries.map((slotted, side) =>
    strip(slotted, side, side ? height - tall : 0, width / widest, middles[side]),
  );
  const links = matched.map((row) =>
    draw("path", {
      class: "link",
      "data-link": row.place,
      "vector-effect": "non-scaling-stroke",
      d: `M${middles[0].get(row)} ${tall + 3}L${middles[1].get(row)} ${height - tall - 3}`,
    }),
  );
  const picture = draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width: Math.max(widest * 36, 200),
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": say("js.map.label", { gold, predicted, matched: matched.length }),
    },
    strips,
    links,
  );
  const moved = rows.some(partial) ? ` ${say("js.map.moved")}` : "";
  return figure.replaceChildren(picture, make("figcaption", {}, say("js.map") + moved));
};
const highlight = (row) => {
  const figure = at("x-map");
  for (const old of figure.querySelectorAll(".here, .bar-here")) old.classList.remove("here", "bar-here");
  figure.querySelector(`[data-link="${row.place}"]`)?.classList.add("here");
  for (const one of figure.querySelectorAll(`rect[data-row="${row.place}"]:not(.frame)`)) one.classList.add("bar-here");
};
