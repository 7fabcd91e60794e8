// Drawings of the matching of a document: the map of its pairs, and the matrix of all possible pairs.

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

const CELL = 14; // width of a cell in pixels
const EDGE = 26; // space for the indices before the first cell
const SPARE = 20; // space for unmatched shares after the last cell

const axis = (rows, side) =>
  slots(rows, side).map(({ rows: [row] }) => ({
    place: row[SIDES[side]],
    name: cut(plain(title(row.entry, ["gold", "predicted"][side])), 60),
  }));
const graded = (quality) => (quality === null ? "–" : number(quality, 2));

// The matched pairs, by row and column.
const picks = (rows, axes) =>
  rows
    .filter((row) => row.status === "matched")
    .map((row) => axes.map((along, side) => along.findIndex(({ place }) => place === row[SIDES[side]])))
    .map(([y, x]) => ({ y, x }));
// The pairs of a transport plan, with their shares; unmatched shares are after the last row or column.
const flows = ({ quality, plan }, [gold, predicted]) => {
  const names = (y, x) => ({ row: gold[y]?.place, column: predicted[x]?.place });
  const moved = plan.cells.map(([y, x, mass]) => {
    const [given, taken] = [mass / plan.gold[y][0], mass / plan.predicted[x][0]];
    const said = say("js.flow", { ...names(y, x), gold: percent(given), predicted: percent(taken) });
    const words = `${gold[y].name} / ${predicted[x].name}: ${number(quality[y][x], 2)}. ${said}`;
    return { y, x, part: Math.min(given, 1), look: "moved", words };
  });
  const lost = plan.gold.map(([mass, some], y) => {
    const words = say("js.flow.gold", { ...names(y), share: percent(some / mass) });
    return { y, x: predicted.length, part: some / mass, look: "spare missing", words };
  });
  const put = plan.predicted.map(([mass, some], x) => {
    const words = say("js.flow.predicted", { ...names(null, x), share: percent(some / mass) });
    return { y: gold.length, x, part: some / mass, look: "spare spurious", words };
  });
  return [...moved, ...[...lost, ...put].filter(({ part }) => part)];
};

const drawPlaces = ([gold, predicted]) => {
  const every = (size) => (size > 30 ? 10 : size > 12 ? 5 : 1);
  const some = (along, one) => along.map((entry, place) => (place % every(along.length) ? null : one(entry, place)));
  return [
    some(predicted, ({ place }, x) => draw("text", { x: EDGE + x * CELL + 3, y: EDGE - 5 }, place)),
    some(gold, ({ place }, y) => draw("text", { x: 4, y: EDGE + y * CELL + 10 }, place)),
  ];
};
const drawCells = (qualities, [gold, predicted]) =>
  gold.flatMap((row, y) =>
    predicted.map((column, x) => {
      const quality = qualities[y][x];
      const look = quality === null ? "void" : `cell q${Math.floor(quality * 10)}`;
      return draw(
        "rect",
        { class: look, x: EDGE + x * CELL, y: EDGE + y * CELL, width: CELL, height: CELL },
        draw("title", {}, `${row.name} / ${column.name}: ${graded(quality)}`),
      );
    }),
  );
// Circles, or squares whose area is the matched share.
const drawMade = (made, [gold, predicted]) => {
  const middle = (place, size) => EDGE + (place + 0.5) * CELL + (place === size ? (SPARE - CELL) / 2 + 2 : 0);
  return made.map(({ y, x, part, look, words }) => {
    const [across, down] = [middle(x, predicted.length), middle(y, gold.length)];
    if (part === undefined) return draw("circle", { class: "pick", cx: across, cy: down, r: CELL / 2 - 2.5 });
    const side = Math.sqrt(part) * (CELL - 3);
    return draw(
      "rect",
      { class: look, x: across - side / 2, y: down - side / 2, width: side, height: side },
      draw("title", {}, words),
    );
  });
};

// The numbers of the chart as a table, built when opened.
const matrixTable = (qualities, made, axes, left) => {
  const box = make("details", {}, make("summary", {}, say("js.matrix.table")));
  const value = (y, x) => {
    const quality = qualities[y]?.[x];
    const words = quality === undefined ? "" : graded(quality);
    const one = made.find((other) => other.y === y && other.x === x);
    if (!one) return words;
    if (one.part === undefined) return make("b", {}, `(${words})`);
    return make("b", {}, words ? `${words} (${percent(one.part)})` : percent(one.part));
  };
  box.addEventListener("toggle", () => {
    if (!box.open || box.querySelector("table")) return;
    const [names, heads] = axes.map((along) => [
      ...along.map(({ place }) => index(place)),
      ...(left ? [say("js.spare")] : []),
    ]);
    const head = make(
      "tr",
      {},
      make("td"),
      heads.map((name) => make("th", { scope: "col", class: "n" }, name)),
    );
    const body = names.map((name, y) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        heads.map((_, x) => make("td", { class: "n" }, value(y, x))),
      ),
    );
    box.append(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, body))));
  });
  return box;
};
const metricity = (facts) => {
  if (!facts) return null;
  const rate = facts.pool ? facts.triangle_rate : facts.quadrangle_rate;
  if (rate === null) return null; // too few entries to test an inequality
  const told = hundredths(rate * 100, 1);
  return facts.pool
    ? say("js.metricity", { value: number(facts.metricity), rate: told })
    : say("js.quadrangles", { rate: told });
};
const drawMatrix = (found, rows) => {
  const place = at("x-matrix");
  if (!found) return place.replaceChildren(make("p", { class: "note" }, say("js.matrix.none")));
  const { plan, quality } = found;
  const axes = [axis(rows, 0), axis(rows, 1)];
  const made = plan ? flows(found, axes) : picks(rows, axes);
  const left = plan && [...plan.gold, ...plan.predicted].some(([, some]) => some);
  const [height, width] = axes.map((along) => EDGE + along.length * CELL + 2 + (left ? SPARE : 0));
  const about = say(plan ? "js.matrix.moved" : "js.matrix");
  const picture = draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width: Math.min(width * 1.6, 900), role: "img", "aria-label": about },
    drawPlaces(axes),
    drawCells(quality, axes),
    drawMade(made, axes),
  );
  return place.replaceChildren(
    make("p", { class: "note" }, about),
    picture,
    make("p", {}, metricity(found.metricity)),
    matrixTable(quality, made, axes, left),
  );
};
