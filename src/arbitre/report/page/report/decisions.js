// Decisions of a reviewer on examples: gold is wrong, with the correct value, the prediction is wrong, or unsure.

const CHOICES = ["gold is wrong", "prediction is wrong", "unsure"]; // by key from 1 on, as in the files
const [GOLD_WRONG] = CHOICES;
const rawOf = (one, side) => (side in one ? text(one[side], true) : null);
// The decision on an example before it is made. Its place in gold is a pointer of RFC 6901, or null if it is unknown.
// Values are JSON texts, so that no number is rounded, and null for none.
const blankOf = (one, system) => ({
  document: one.id,
  run: one.run ?? "",
  pointer: one.place === null ? null : one.place.replaceAll("~2", "*"),
  creates: (one.creates ?? []).join(" "), // the types of the lists and objects around the place that gold lacks
  gold_pointer: one.gold_pointer ?? "",
  predicted_pointer: one.predicted_pointer ?? "",
  path: one.path,
  system: (one.systems ?? [system]).filter(Boolean).join(", "),
  gold: rawOf(one, "gold"),
  predicted: rawOf(one, "predicted"),
  decision: "",
  value: null,
  note: "",
  by: "",
});
// Decisions are on places in gold, whatever the system. Items that are added to one list differ by their values. If the
// place is unknown, decisions are on pairs of a gold value and a predicted value.
const idOf = ({ document, run, pointer, gold_pointer, predicted_pointer, path, gold, predicted }) => {
  if (pointer === null) return JSON.stringify([document, run, pointer, gold_pointer, predicted_pointer, path, gold, predicted]);
  return JSON.stringify([document, run, pointer, ...(gold === null && pointer.endsWith("/-") ? [predicted] : [])]);
};
const nameOf = ({ document, run }) => (run ? `${document}/${run}` : document);

const givenTexts = (own, names) => names.filter((name) => own[name]).map((name) => [name, JSON.stringify(own[name])]);
const givenValues = (own, names) => names.filter((name) => own[name] !== null).map((name) => [name, own[name]]);
const runOf = ({ run }) => ["run", JSON.stringify(run || null)];
const TEXTS = ["document", "run", "creates", "gold_pointer", "predicted_pointer", "path", "system", "decision", "note", "by"];
const VALUES = ["gold", "predicted", "value"];
const lineOf = (id, own) =>
  objectText([["id", JSON.stringify(id)], ["pointer", JSON.stringify(own.pointer)], ...givenTexts({ ...own, run: "" }, TEXTS), runOf(own), ...givenValues(own, VALUES)]);
// The decision in a JSON object, with its values as they are written there.
const decisionIn = (whole) => {
  const [raws, { pointer, ...plainly }] = [members(whole), JSON.parse(whole)];
  const made = { pointer: isText(pointer) ? pointer : null };
  for (const name of TEXTS) made[name] = isText(plainly[name]) ? plainly[name] : "";
  for (const name of VALUES) made[name] = raws[name] ?? null;
  return "run" in plainly ? made : { ...made, run: null }; // it may follow the id
};
// The examples as decisions before they are made.
const allBlanks = () => [
  ...data.subjects.flatMap(({ name, causes }) => (causes?.rows ?? []).flatMap(({ examples }) => examples.map((one) => blankOf(one, name)))),
  ...(data.causes?.agreed?.examples ?? []).map((one) => blankOf(one, null)),
];
// A decision of an earlier version, in which the run may follow the id, with id and run apart; null if they are unclear.
const withRun = (own) => {
  if (own.run !== null) return own;
  const found = new Map(allBlanks().filter((one) => nameOf(one) === own.document).map(({ document, run }) => [JSON.stringify([document, run]), { document, run }]));
  return found.size === 1 ? { ...own, ...[...found.values()][0] } : null;
};
const lineIn = (line) => {
  const own = withRun(decisionIn(line));
  return own && [idOf(own), own];
};
const isSameDecision = (a, b) => a.decision === b.decision && isSame(a.value, b.value);
const store = decisionStore(`arbitre-report-${data.key}`, { written: lineOf, read: lineIn, same: isSameDecision });
const judged = store.made;

const desk = { box: null, group: 0 };
const nameInput = make("input", { type: "text", autocomplete: "name", spellcheck: "false", size: 14 });
const reviewer = () => nameInput.value.trim();
const counter = make("span", { role: "status" });
const message = make("p", { class: "note", role: "status" });
const announce = (...parts) => message.replaceChildren(...parts);

const numberOf = (choice) => [...judged.values()].filter(({ decision }) => decision === choice).length;
const showCounts = () => {
  const [gold, prediction, unsure] = CHOICES.map((choice) => amount(numberOf(choice)));
  const form = { 0: "none", 1: "one" }[judged.size] ?? "many";
  counter.textContent = say(`decide.count.${form}`, { n: amount(judged.size), gold, prediction, unsure });
  keptNote.textContent = judged.size ? say("decide.stored") : "";
  if (!store.isStored()) keptNote.textContent = say("decide.unstored");
};
const keptNote = make("small", {});
// Stores the decisions, and shows those of other tabs.
const storeJudged = () => {
  const changed = store.save();
  if (changed.length) announce(say("decide.elsewhere", { n: amount(changed.length) }));
  if (changed.includes(desk.box?.dataset.id) && !desk.box.contains(document.activeElement)) desk.box.redraw();
  showCounts();
};
const judge = (id, own, typing = false) => {
  store.change([[id, own]], typing);
  storeJudged();
};
const undoDecision = () => {
  const [id] = store.undo();
  if (id === undefined) return announce(say("decide.undo.none"));
  storeJudged();
  if (desk.box?.dataset.id === id) desk.box.redraw();
  const [document, run] = JSON.parse(id);
  return announce(say("decide.undone", { document: plain(nameOf({ document, run })) }));
};

// What the schema says against a value. A problem that the gold value has as well does not count.
const problemWith = (own, raw) => {
  const schema = data.schemas?.[own.path];
  const problem = problemOf(schema, raw);
  return problem !== null && own.gold !== null && problem === problemOf(schema, own.gold) ? null : problem;
};
// The values to choose the correct one from, as JSON texts, null for no value, with the names of the systems that have
// them: the prediction first, then those of other systems.
const candidates = (one, own, subject) => {
  const found = new Map([[own.predicted, own.system ? own.system.split(", ") : []]]);
  const { nodes, whole } = nodesOf(one, subject);
  nodes.forEach((entry, at) => {
    const node = entry && nodeAt(entry, (whole && faultOf(one, subject)) || []);
    if (!node || node.verdict === "correct" || !(node.verdict === "missing" || "predicted" in node)) return;
    const [raw, name] = [node.verdict === "missing" ? null : rawOf(node, "predicted"), data.subjects[at].name];
    if (name && !found.get(raw)?.includes(name)) found.set(raw, [...(found.get(raw) ?? []), name]);
  });
  if (own.gold !== null && own.gold_pointer !== "" && !found.has(null)) found.set(null, []); // not if gold counts as absent
  found.delete(own.gold);
  return [...found].map(([raw, names]) => ({ raw, names }));
};

const valueText = (raw) => {
  const value = JSON.parse(raw);
  return shown(isText(value) ? text(value) : raw);
};
// The value of a decision, or the decision itself if it has none.
const outcomeOf = ({ decision, value }) => {
  if (decision !== GOLD_WRONG) return say(`decide.${decision}`);
  return value === null ? say("decide.leave_out") : plain(cut(value, 80));
};
// The choice of the correct value. `settle({ raw }, typing)` takes it, and `settle(null, typing, written)` keeps what was
// typed if it cannot be taken: it is malformed, the gold value, or not allowed by the schema. Both return the decision.
const valueChoice = (one, own, subject, settle) => {
  const choices = candidates(one, own, subject);
  const decided = own.decision === GOLD_WRONG;
  const before = store.typedFor(idOf(own));
  const known = decided ? choices.findIndex(({ raw }) => isSame(raw, own.value)) : -1;
  const chosen = before ? -1 : known;
  const group = `decide-${(desk.group += 1)}`;
  const said = make("small", { class: "said", id: `${group}-said`, role: "alert" });
  const tell = (problem, found, typing, written) => {
    const now = settle(found, typing, written);
    const still = !found && now.decision ? say("decide.still", { value: outcomeOf(now) }) : null;
    said.textContent = [problem, still].filter(Boolean).join(" ");
  };
  const take = (raw) => {
    const problem = raw === null ? null : problemWith(own, raw);
    tell(problem, problem === null ? { raw } : null, false, "");
    return problem;
  };
  const radio = (checked) => make("input", { type: "radio", name: group, checked });
  const items = choices.map(({ raw, names }, at) => {
    const input = radio(at === chosen);
    input.addEventListener("change", () => take(raw));
    const value = raw === null ? make("em", {}, say("decide.leave_out")) : valueText(raw);
    return make("label", { class: "candidate" }, input, " ", value, names.length ? make("small", {}, " ", plain(names.join(", "))) : null);
  });
  const other = radio(before !== "" || (decided && known < 0));
  const start = decided && known < 0 ? own.value : (own.predicted ?? own.gold);
  const long = !scalar(JSON.parse(start)) || start.length > 60 || /\n|.{61}/.test(before);
  const input = make(long ? "textarea" : "input", { class: "typed", "aria-label": say("decide.other"), "aria-describedby": said.id, spellcheck: "false", autocomplete: "off", ...(long ? { rows: 4 } : { type: "text" }) });
  input.value = before || untyped(start);
  input.hidden = !other.checked;
  // Checks the value in the box, and takes it only after a letter was typed: opening the box decides nothing.
  const check = (typing) => {
    const raw = typed(input.value);
    const problem = raw === null ? say("check.malformed") : isSame(raw, own.gold) ? say("decide.same") : problemWith(own, raw);
    tell(problem, typing && problem === null ? { raw } : null, typing, typing && problem !== null ? input.value : "");
    input.setAttribute("aria-invalid", String(problem !== null));
  };
  input.addEventListener("input", () => {
    other.checked = true;
    check(true);
  });
  other.addEventListener("change", () => {
    input.hidden = false;
    check(false);
    input.focus();
  });
  const line = make("div", { class: "candidate" }, make("label", {}, other, " ", keyed("e"), " ", say("decide.other")), " ", input);
  const box = make("fieldset", { class: "candidates" }, make("legend", {}, say("decide.value")), items, line, said);
  // Takes the prediction; returns whether the schema allows it.
  const takeFirst = () => {
    if (!choices.length || take(choices[0].raw) !== null) return false;
    box.querySelector("input").checked = true;
    return true;
  };
  const edit = () => {
    if (!other.checked) other.click();
    input.focus();
    input.select();
  };
  if (before) check(true);
  return { box, takeFirst, edit };
};

// The controls for the decision on an example of a system, or of several that agree.
const decisionBox = (one, system) => {
  const blank = blankOf(one, system);
  const id = idOf(blank);
  const subject = Math.max(0, data.subjects.findIndex(({ name }) => name === (one.systems?.[0] ?? system)));
  const box = make("section", { class: "decide", "aria-label": say("decide"), "data-id": id });
  desk.box = box;
  let values = null;
  const own = () => judged.get(id) ?? { ...blank, note: store.noteFor(id) };
  const settled = (decision, value) => ({ ...own(), decision, value, note: note.value.trim(), by: reviewer() || own().by });
  const note = make("input", { type: "text", class: "grow", "aria-label": say("decide.note"), placeholder: say("decide.note"), autocomplete: "off" });
  note.addEventListener("input", () => {
    if (judged.has(id)) judge(id, { ...own(), note: note.value.trim() }, true);
    else {
      store.keepNote(id, note.value.trim());
      showCounts();
    }
  });
  const buttons = CHOICES.map((choice, at) => button([keyed(at + 1), " ", say(`decide.${choice}`)], () => box.press(at + 1), { "aria-keyshortcuts": at + 1 }));
  const outcome = make("p", { class: "outcome" });
  const slot = make("div", {});
  const refresh = () => {
    const { decision, by } = own();
    const pressed = decision || (values && GOLD_WRONG);
    buttons.forEach((one, at) => one.setAttribute("aria-pressed", String(pressed === CHOICES[at])));
    const who = by ? say("decide.by", { name: plain(by) }) : say("decide.by.nobody");
    const lost = blank.pointer === null && decision === GOLD_WRONG ? ` ${say("decide.unplaced")}` : "";
    outcome.textContent = decision ? who + lost : values ? say("decide.incomplete") : "";
    box.classList.toggle("done", Boolean(decision));
  };
  const settle = (found, typing, written = "") => {
    store.keepTyped(id, written);
    if (found) judge(id, settled(GOLD_WRONG, found.raw), typing);
    else showCounts();
    refresh();
    return own();
  };
  // Opens the choice of the correct value. The decision is made with the prediction, if the schema allows it.
  const open = () => {
    values = valueChoice(one, own(), subject, settle);
    slot.replaceChildren(values.box);
  };
  box.redraw = () => {
    note.value = own().note;
    values = null;
    slot.replaceChildren();
    if (own().decision === GOLD_WRONG || store.typedFor(id)) open();
    refresh();
  };
  box.press = (key) => {
    const choice = CHOICES[key - 1];
    if (choice !== GOLD_WRONG) {
      store.keepTyped(id, "");
      judge(id, settled(choice, null));
      return box.redraw();
    }
    if (own().decision === GOLD_WRONG) return undefined;
    open();
    return !store.typedFor(id) && values.takeFirst() ? undefined : values.edit();
  };
  box.edit = () => {
    if (!values) open();
    values.edit();
  };
  box.note = () => note.focus();
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || (event.key === "Enter" && event.target.matches("input[type=text]"))) {
      event.preventDefault();
      buttons[0].focus();
    }
  });
  box.append(make("div", { class: "verdicts" }, buttons, make("label", { class: "grow" }, keyed("r"), " ", note), outcome), slot);
  box.redraw();
  return box;
};
const onBox = (act) => (key) => (desk.box?.isConnected && !namesDocument() ? act(desk.box, key) : false);
const startDecisions = () => {
  store.keepName(nameInput);
  store.restore();
  store.listen(storeJudged);
  showCounts();
  onKey(["1", "2", "3"], onBox((box, key) => box.press(Number(key))));
  onKey(["e"], onBox((box) => box.edit()));
  onKey(["r"], onBox((box) => box.note()));
  onKey(["u"], undoDecision);
};
