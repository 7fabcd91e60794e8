// One document: its filters, scores, charts, and its content outside the entries.

// The scores of the document, and those of the first published script.
const drawHead = (chosen) => {
  const { scores, published } = chosen;
  const value = (found) => (found === null || found === undefined ? "–" : number(found));
  const shortly = ["f1q", "imq", "irq", "amq"].flatMap((name, place) => [
    place ? " · " : " ",
    make("code", { title: say(`score.${name}`) }, name),
    ` ${value(scores[name])}`,
  ]);
  const counts = ["gold", "predicted", "matched"];
  const row = ([name, found]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, say(`score.${name}`)),
      make("td", { class: "n" }, value(scores[name])),
      make("td", { class: "n" }, value(found)),
    );
  const rows = Object.entries(published)
    .filter(([name]) => !counts.includes(name))
    .map(row);
  const heads = [say("js.score"), say("js.here"), make("em", { class: "tag" }, say("published.tag"))];
  const head = make(
    "tr",
    {},
    heads.map((name, place) => make("th", { scope: "col", class: place ? "n" : null }, name)),
  );
  at("x-head").replaceChildren(
    make("p", {}, make("b", {}, say("js.document", { name: calledDocument(chosen) })), shortly),
    make(
      "details",
      {},
      make("summary", {}, say("published")),
      make("p", { class: "note" }, say("published.why")),
      make("table", { class: "published" }, make("thead", {}, head), make("tbody", {}, rows)),
    ),
  );
};
const drawRest = (rest) => {
  if (!rest) return at("x-rest").replaceChildren();
  const about = below(rest).flatMap((part, place) => [
    place ? ", " : "",
    visible(String(part.name)),
    " ",
    ...mark(part),
  ]);
  return at("x-rest").replaceChildren(
    make(
      "details",
      {},
      make("summary", {}, say("js.rest") + say("colon"), about),
      fieldTable(rest, say("js.rest")),
    ),
  );
};
const choose = (chosen) => {
  state.document = chosen;
  state.rows = chosen.rows;
  state.rows.forEach((row, place) => {
    row.place = place;
  });
  inputs.document.value = String(documents.indexOf(chosen));
  offer(chosen);
  drawRest(chosen.rest);
  drawHead(chosen);
  drawMap(state.rows);
  drawMatrix(chosen.matrix, state.rows);
};
