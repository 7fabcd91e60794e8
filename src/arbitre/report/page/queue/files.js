// Export and import of decisions.

const tell = (...parts) => at("q-said").replaceChildren(...parts);
const tellFile = (...parts) => at("q-file-said").replaceChildren(...parts);

// Writes the decisions to a file. `named` is called if the name of the reviewer is missing.
const exported = (unnamed, changed) => {
  const name = at("q-name").value.trim();
  const anonymous = [...decided].filter(([, decision]) => !decision.by);
  if (!decided.size) return tell(say("queue.none.decided"));
  if (anonymous.length && !name) {
    tell(say("queue.name.missing"));
    return unnamed();
  }
  for (const [id, decision] of anonymous) decided.set(id, { ...decision, by: name });
  const url = URL.createObjectURL(new Blob(records(), { type: "application/jsonl" }));
  make("a", { href: url, download: "decisions.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers start the download later
  changed();
  const open = data.disagreements.filter((one) => !decided.has(one.id) && kept(typedOn(one))).length;
  return tell(say("queue.exported", { n: decided.size }), open ? ` ${say("queue.exported.typed", { n: open })}` : "");
};
const REASONS = { "queue.replaced": "queue.replaced.why", "queue.refused": "queue.refused.why", "queue.stale": "queue.stale.why", "queue.unreadable": "queue.unreadable.why" };
const rejected = (name, lines) =>
  lines.length
    ? [
        make("h3", {}, say(name, { n: lines.length })),
        make("p", {}, say(REASONS[name])),
        make(
          "ul",
          {},
          lines.map((line) => make("li", {}, make("code", {}, visible(line)))),
        ),
      ]
    : [];
// Loads the decisions in a text, shows their number, and lists the decisions and notes that were replaced and the lines
// that were not loaded. Returns whether the list has any entries.
const load = (whole) => {
  const { loaded, ...others } = take(whole, obstacle);
  at("q-stale").replaceChildren(
    ...["replaced", "refused", "stale", "unreadable"].flatMap((name) => rejected(`queue.${name}`, others[name])),
  );
  tellFile(say("queue.loaded", { n: loaded.size, replaced: others.replaced.length }));
  return Object.values(others).some((lines) => lines.length);
};
const imported = async (changed) => {
  const [file] = at("q-file").files;
  if (!file) return;
  load(await file.text());
  changed();
  at("q-file").value = "";
};
