// The pane of the source text: the part around the entry, with the values marked where they occur.

// A text with its line breaks, which are not marked as in values.
const lined = (whole) => whole.split("\n").flatMap((line, place) => [place ? "\n" : "", ...visible(line)]);
const sourcePane = (one) => {
  const title = make("h3", {}, say("queue.source"));
  const found = data.sources?.[one.source];
  if (!found) return [title, make("p", { class: "note" }, say("queue.source.none"))];
  const file = make("code", {}, visible(found.file));
  const open = () => make("a", { href: found.image, target: "_blank", rel: "noopener" }, say("queue.source.image"));
  const head = make("p", { class: "note" }, file, found.image ? [" · ", open()] : null);
  if (found.text === undefined) return [title, head];
  const { text: whole, start, end } = found;
  const parts = [start > 0 ? "… " : ""];
  let place = 0;
  for (const [from, to, side] of one.marks) {
    parts.push(
      lined(whole.slice(place, from)),
      make("mark", { class: side, title: say(`queue.source.${side}`) }, lined(whole.slice(from, to))),
    );
    place = to;
  }
  parts.push(lined(whole.slice(place)), end ? "" : " …");
  const lost = one.marks.some(([, , side]) => side !== "entry")
    ? null
    : make("p", { class: "note" }, say("queue.source.unfound"));
  return [title, head, lost, make("p", { class: "page", dir: "auto" }, parts)].filter(Boolean);
};
