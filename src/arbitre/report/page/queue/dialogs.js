// The dialogs for accepting proposals in one step and for files of decisions.

// The undecided disagreements whose proposal has a majority and can be decided: at the path of one, or in the filters.
const acceptable = (one, scope) =>
  (scope === "path" ? data.disagreements.filter((other) => other.path === one.path) : view.found).filter(
    (other) => !isDone(other) && hasMajority(other) && obstacle(other, proposalOf(other)) === null,
  );
const votesFor = (one) => (one.absent.proposed ? one.absent.annotators : one.choices[0].annotators);
const against = (one) => {
  const others = one.choices
    .filter((choice) => !choice.proposed)
    .map((choice) => [spaced(choice.value), choice.annotators]);
  if (!one.absent.proposed && one.absent.annotators.length)
    others.push([say("queue.leave_out"), one.absent.annotators]);
  return others.map(([value, names]) => `${plain(brief(value, 60))} (${named(names)})`).join("; ");
};
const acceptRow = (one) => {
  const box = make("input", {
    type: "checkbox",
    checked: true,
    "aria-label": say("queue.accept.one", { id: plain(brief(one.id)) }),
  });
  box.checked = true;
  const value = one.absent.proposed ? say("queue.leave_out") : shown(brief(spaced(one.choices[0].value), 160));
  return {
    one,
    box,
    row: make(
      "tr",
      {},
      make("td", {}, box),
      make("th", { scope: "row" }, breakable(brief(one.document, 80)), make("br"), breakable(brief(placeOf(one), 120))),
      make("td", {}, value, " ", make("small", {}, named(votesFor(one)))),
      make("td", {}, against(one)),
    ),
  };
};
// Fills the dialog. `take(chosen)` takes over the proposals of the disagreements that were left ticked.
const fillAccept = (take) => {
  const scope = at("q-scope").value;
  const rows = acceptable(view.current, scope).map(acceptRow);
  const confirm = at("q-confirm");
  const chosen = () => rows.filter(({ box }) => box.checked).map(({ one }) => one);
  const count = () => {
    const n = chosen().length;
    confirm.textContent = say("queue.accept.confirm", { n });
    confirm.disabled = n === 0;
  };
  const heads = ["queue.accept.ticked", "queue.accept.place", "queue.proposal", "queue.accept.against"].map((name) =>
    make("th", { scope: "col" }, say(name)),
  );
  at("q-accept-what").textContent = scope === "path" ? plain(view.current.path || "/") : "";
  at("q-accept-list").replaceChildren(
    rows.length
      ? make(
          "table",
          {},
          make("thead", {}, make("tr", {}, heads)),
          make(
            "tbody",
            {},
            rows.map(({ row }) => row),
          ),
        )
      : make("p", { class: "note" }, say("queue.accept.none")),
  );
  at("q-accept-list").onchange = count;
  confirm.onclick = () => take(chosen());
  count();
};

const tell = (...parts) => at("q-said").replaceChildren(...parts);
const tellFile = (...parts) => at("q-file-said").replaceChildren(...parts);

// Writes the decisions to a file. `named` is called if the name of the reviewer is missing.
const exported = (unnamed, changed) => {
  const name = at("q-name").value.trim();
  if (!decided.size) return tell(say("queue.none.decided"));
  if (!store.sign(name)) {
    tell(say("queue.name.missing"));
    return unnamed();
  }
  saveAs("decisions.jsonl", records().join(""), "application/jsonl");
  changed();
  const open = data.disagreements.filter((one) => !decided.has(one.id) && store.typedFor(one.id)).length;
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
