// The pane of the decision: the values to choose from, another value, and a note.

const kindOf = (raw) => say(`queue.kind.${typeOf(exact(raw))}`);
const proposed = () => make("em", { class: "tag" }, say("queue.proposed"));
// The decision of a disagreement, as text.
const outcome = (one) => {
  const decision = decided.get(one.id);
  const above = settledBy(one);
  if (!decision) {
    if (above) return say("queue.settled", { pointer: plain(brief(above.pointer)) });
    return say(store.typedFor(one.id) ? "queue.typed" : "queue.open");
  }
  return decision.by ? say("queue.by", { name: plain(decision.by) }) : say("queue.by.nobody");
};
// The schema violation of a value. The value of an annotator is never refused, because it may be valid only after
// normalisation.
const refusalOf = (one, raw) => {
  const isIt = ({ annotators, raw: own }) => annotators.length && isSame(own, raw);
  return one.choices.some(isIt) ? { problem: null, soft: false } : refusal(schemaOf(one), raw);
};
// Why a value cannot be chosen, as a sentence; null if it can.
const obstacle = (one, raw) => {
  if (raw === null) return one.required ? say("queue.required") : null;
  const { problem, soft } = refusalOf(one, raw);
  return soft ? null : problem;
};

// The editor of another value: a form, or the JSON of a list or an object. `accept` takes the value, `discard` drops it.
const editor = (one, accept, discard) => {
  const schema = schemaOf(one);
  const decision = decided.get(one.id);
  const before = store.typedFor(one.id);
  const choice = one.choices[0]?.raw ?? null;
  const start = (before && typed(before)) || (decision ? decision.raw : null) || choice || blank(schema);
  const said = make("p", { class: "said", id: "q-problem", role: "alert" });
  const box = make("div", { class: "editor-box" });
  let [inner, isJson, insisted] = [null, false, null];
  const changed = () => {
    insisted = null;
    said.textContent = "";
    const raw = inner.read();
    store.keepTyped(one.id, raw ?? inner.written?.() ?? inner.read(true));
  };
  const asForm = (raw) => {
    inner = control(
      schema,
      raw,
      plain(brief(one.path.split("/").findLast((token) => token && token !== "*") ?? say("queue.value"))),
      changed,
    );
    box.replaceChildren(...[inner.node].flat());
  };
  const asJson = (raw) => {
    const area = make("textarea", {
      rows: 10,
      spellcheck: "false",
      "aria-label": "JSON",
      "aria-describedby": "q-problem",
    });
    area.value = raw === null ? "" : untyped(raw);
    inner = { node: area, read: () => typed(area.value), written: () => area.value, check: () => {} };
    area.addEventListener("input", changed);
    box.replaceChildren(area);
  };
  const compound = (raw) => raw !== null && !scalar(JSON.parse(raw));
  const turned = button("", () => {
    const raw = inner.read();
    if (isJson && raw === null) return (said.textContent = say("check.malformed"));
    isJson = !isJson;
    (isJson ? asJson : asForm)(raw);
    turned.textContent = say(isJson ? "queue.as.form" : "queue.as.json");
    return box.querySelector("input, select, textarea, button")?.focus();
  });
  turned.textContent = say("queue.as.json");
  const submit = (event) => {
    event?.preventDefault();
    const raw = inner.read();
    inner.check();
    const { problem, soft } = raw === null ? { problem: say("queue.incomplete"), soft: false } : refusalOf(one, raw);
    if (problem && !(soft && insisted === raw)) {
      insisted = soft ? raw : null;
      said.textContent = soft ? `${problem} ${say("queue.insist")}` : problem;
      box.querySelector("[aria-invalid=true]")?.focus();
      return;
    }
    store.keepTyped(one.id, "");
    accept(raw);
  };
  asForm(start);
  if (before && typed(before) === null && inner.written) box.querySelector("input, textarea").value = before;
  const plainValue =
    waysOf(schema).every((way) => isPlain(way) || valuesOfWay(way)) &&
    !compound(start) &&
    !(schema === true && compound(choice));
  const form = make(
    "form",
    { class: "editor", novalidate: true },
    box,
    said,
    make(
      "div",
      { class: "buttons" },
      make("button", { type: "submit" }, say("queue.accept"), " ", keyed("↵")),
      plainValue ? null : turned,
      button(say("queue.discard"), discard),
    ),
  );
  form.addEventListener("submit", submit);
  form.addEventListener("keydown", (event) => {
    const accepts = event.ctrlKey || event.metaKey || !(event.shiftKey || isJson);
    if (event.key === "Enter" && event.target.matches("textarea") && accepts) submit(event);
  });
  return form;
};

// The pane of a decision. `settle(raw)` decides, `withdraw` withdraws, `discard` drops what was typed, `changed` follows
// every change of a note.
const decisionPane = (one, { settle, withdraw, discard, changed }) => {
  const decision = decided.get(one.id);
  const values = rendered(one.choices.map((choice) => choice.value));
  const said = make("p", { class: "outcome" }, outcome(one));
  const pick = (key, raw, label, describedBy) => {
    const wrong = obstacle(one, raw);
    const chosen = decision !== undefined && isSame(decision.raw, raw);
    const made = button(key, () => settle(raw), {
      class: "pick",
      "data-key": key,
      "aria-label": label,
      "aria-describedby": describedBy,
      "aria-pressed": String(chosen),
      "aria-disabled": wrong ? "true" : null,
    });
    return { made, wrong: wrong ? make("small", { class: raw === null ? "who" : "said" }, wrong) : null, chosen };
  };
  const item = ({ made, wrong, chosen }, id, value, who) => {
    const row = make(
      "li",
      { class: chosen ? "choice chosen" : "choice" },
      made,
      make(
        "div",
        { id, class: "what" },
        make("div", { class: "value" }, value),
        make("div", { class: "who" }, who),
        wrong,
      ),
    );
    row.addEventListener("click", (event) => {
      if (!event.target.closest("button") && !String(getSelection())) made.click();
    });
    return row;
  };
  const choices = one.choices.map((choice, at) => {
    const key = at < 9 ? String(at + 1) : "";
    const label = say("queue.choose", { n: at + 1 });
    return item(pick(key, choice.raw, label, `q-choice-${at}`), `q-choice-${at}`, values[at], [
      named(choice.annotators),
      " ",
      choice.proposed ? proposed() : null,
    ]);
  });
  const lacking = [
    one.absent.annotators.length ? say("queue.lacking", { names: named(one.absent.annotators) }) : "",
    one.absent.without_vote.length ? say("queue.no_vote", { names: named(one.absent.without_vote) }) : "",
  ].filter(Boolean);
  const left = pick("0", null, say("queue.leave_out"), "q-choice-none");
  choices.push(
    item(left, "q-choice-none", say("queue.leave_out"), [
      lacking.join("; "),
      " ",
      one.absent.proposed ? proposed() : null,
    ]),
  );
  const other =
    decision !== undefined && decision.raw !== null && !one.choices.some(({ raw }) => isSame(raw, decision.raw));
  const slot = make("div", { id: "q-editor" });
  const open = () => {
    if (!slot.childElementCount) slot.append(editor(one, settle, discard));
    opener.setAttribute("aria-expanded", "true");
    const first = slot.querySelector("input, select, textarea, button");
    first?.focus();
    if (first?.matches("input, textarea")) first.select();
  };
  const opener = button([keyed("e"), " ", say("queue.other")], open, {
    id: "q-other",
    "aria-expanded": "false",
    "aria-controls": "q-editor",
  });
  const mine = other
    ? make(
        "p",
        { class: "choice chosen own" },
        rendered([exact(decision.raw)])[0],
        " ",
        make("small", {}, kindOf(decision.raw)),
      )
    : null;
  if (store.typedFor(one.id)) {
    slot.append(editor(one, settle, discard));
    opener.setAttribute("aria-expanded", "true");
  }
  const note = make("textarea", { id: "q-note", rows: 2 });
  note.value = store.noteFor(one.id);
  note.addEventListener("input", () => {
    store.keepNote(one.id, note.value.trim());
    changed();
  });
  const undone = button([keyed("w"), " ", say("queue.withdraw")], withdraw, {
    id: "q-withdraw",
    hidden: decision === undefined,
  });
  return [
    make("h3", {}, say("queue.decision")),
    said,
    make("ol", { class: "choices" }, choices),
    mine,
    make("p", {}, opener, " ", undone),
    slot,
    make("label", { class: "remark" }, make("span", {}, keyed("r"), " ", say("queue.note")), note),
  ].filter(Boolean);
};
