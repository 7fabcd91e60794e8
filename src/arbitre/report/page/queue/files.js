// Export and import of decisions, and the start of the page.

const tell = (...parts) => at("q-said").replaceChildren(...parts);

const exported = () => {
  const name = at("q-name").value.trim();
  const unnamed = [...decided.values()].filter((decision) => !decision.by);
  if (!decided.size) return tell(say("queue.none.decided"));
  if (unnamed.length && !name) {
    tell(say("queue.name.missing"));
    return at("q-name").focus();
  }
  for (const decision of unnamed) decision.by = name;
  const url = URL.createObjectURL(new Blob(records(), { type: "application/jsonl" }));
  make("a", { href: url, download: "decisions.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers start the download later
  update();
  return tell(say("queue.exported", { n: decided.size }));
};
const load = (whole) => {
  const { loaded, replaced, stale } = take(whole);
  const list = make("ul", {}, stale.map((line) => make("li", {}, make("code", {}, visible(line)))));
  at("q-stale").replaceChildren(
    ...(stale.length ? [make("h3", {}, say("queue.stale", { n: stale.length })), make("p", {}, say("queue.stale.why")), list] : []),
  );
  listCases();
  return say("queue.loaded", { n: loaded, replaced });
};
const imported = async () => {
  const [file] = at("q-file").files;
  if (!file) return;
  try {
    tell(load(await file.text()));
    update();
  } catch (error) {
    tell(visible(error.message));
  }
  at("q-file").value = "";
};

const start = () => {
  options("q-path", say("js.all"), data.disagreements.map((one) => one.path));
  options("q-document", say("queue.documents"), data.disagreements.map((one) => one.document));
  for (const id of FILTERS) at(id).addEventListener("change", filterCases);
  at("q-list").addEventListener("keydown", pressed);
  at("q-previous").addEventListener("click", () => turn(-1));
  at("q-next").addEventListener("click", () => turn(1));
  at("q-export").addEventListener("click", exported);
  at("q-file").addEventListener("change", imported);
  listen(update);
  load(data.decisions);
  at("q-name").value ||= kept("-name");
  at("q-name").addEventListener("input", () => keep("-name", at("q-name").value.trim()));
  restore();
  listCases();
  restoreView();
  update();
};
if (data.disagreements.length) start();
