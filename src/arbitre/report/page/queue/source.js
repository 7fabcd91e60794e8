// The pane of the source text: the part around the entry, with the values marked where they occur.

const sourcePane = (one) => {
  const title = make("h3", {}, say("queue.source"));
  const found = data.sources?.[one.source];
  if (!found) return [title, make("p", { class: "note" }, say("queue.source.none"))];
  const image = (file) => make("p", {}, make("a", { href: file.image, target: "_blank", rel: "noopener" }, say("queue.source.image", { file: plain(file.file) })));
  if (found.image) return [title, image(found)];
  const { text: whole, start, end } = found;
  const parts = [start > 0 ? "… " : ""];
  let place = 0;
  for (const [from, to, side] of one.marks) {
    if (from < place) continue;
    parts.push(visible(whole.slice(place, from)), make("mark", { class: side }, visible(whole.slice(from, to))));
    place = to;
  }
  parts.push(visible(whole.slice(place)), end ? "" : " …");
  return [title, make("p", { class: "note" }, make("code", {}, visible(found.file))), make("p", { class: "page", dir: "auto" }, parts)];
};
