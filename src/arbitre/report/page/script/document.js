// One document: its filters, scores and charts, and why it failed.

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
    ...[
      make("p", {}, make("b", {}, say("js.document", { name: calledDocument(chosen) })), shortly),
      failureOf(chosen),
      make(
        "details",
        {},
        make("summary", {}, say("published")),
        make("p", { class: "note" }, say("published.why")),
        make("table", { class: "published" }, make("thead", {}, head), make("tbody", {}, rows)),
      ),
    ].filter(Boolean),
  );
};
// Why a document has no usable prediction, and the beginning of the answer that could not be read.
const failureOf = ({ failed, reason, raw } = {}) => {
  if (!failed) return null;
  const words = reason ? say("js.failed.reason", { reason: plain(reason) }) : say("js.failed.none");
  const name = raw?.characters > [...(raw?.text ?? "")].length ? "js.failed.beginning" : "js.failed.raw";
  const answer = raw ? [make("p", { class: "note" }, say(name, { n: raw.characters })), make("pre", {}, shown(raw.text))] : null;
  return make("div", { class: "failure" }, make("p", {}, glyph("wrong type"), " ", words), answer);
};
// Shows a document. The filters stay as they are, also a path that has no faults in it.
const choose = (chosen, path = inputs.path.value) => {
  for (const row of state.rows) row.box = null;
  state.document = chosen;
  state.rows = rowsOf(chosen);
  state.rows.forEach((row, place) => {
    row.place = place;
  });
  inputs.document.value = String(documents.indexOf(chosen));
  offer(chosen, path);
  drawHead(chosen);
  drawMap(chosen.rows);
  drawMatrix(chosen.matrix, chosen.rows);
};
