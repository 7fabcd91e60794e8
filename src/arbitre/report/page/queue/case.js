// One disagreement: its readings, the decision, and its context.

const names = (list) => list.map((name) => plain(brief(name))).join(", ");
const kindOf = (raw) => {
  const value = JSON.parse(raw);
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
};
const proposed = () => make("em", { class: "tag" }, say("queue.proposed"));

// The decision of a disagreement, as text.
const outcome = (one) => {
  const decision = decided.get(one.id);
  const above = settledBy(one);
  if (!decision) return above ? say("queue.settled", { pointer: plain(brief(above.pointer)) }) : say("queue.open");
  return decision.by ? say("queue.by", { name: plain(decision.by) }) : say("queue.by.nobody");
};
// Builds the item of the list. `changed` is called after every change of a decision, and refreshes all items.
const caseOf = (one, rank, changed) => {
  const title = `q-title-${rank}`;
  const group = `q-choice-${rank}`;
  const radio = (attributes = {}) => make("input", { type: "radio", name: group, ...attributes });
  const box = make("li", { class: "case", tabindex: "-1", "data-id": one.id });
  const said = make("span", {});
  const withdraw = make("button", { type: "button", class: "cut" }, say("queue.withdraw"));
  const note = make("input", { type: "text", class: "grow" });
  const other = radio({ value: "other", "aria-label": say("queue.other") });
  const written = make("textarea", { rows: "1", spellcheck: "false", "aria-label": `${say("queue.other")}: ${brief(one.pointer)}` });
  const checked = make("small", { id: `q-checked-${rank}` });
  written.setAttribute("aria-describedby", checked.id);
  const leave = radio({ value: "absent" });

  box.refresh = () => {
    said.textContent = outcome(one);
    withdraw.hidden = !decided.has(one.id);
    box.classList.toggle("done", isDone(one));
  };
  const decide = (raw) => {
    decided.set(one.id, { raw, by: at("q-name").value.trim(), note: note.value.trim() });
    keep(noteOn(one), "");
    changed();
  };
  const check = () => {
    const raw = typed(written.value);
    written.setAttribute("aria-invalid", String(raw === null));
    checked.textContent = raw === null ? say("check.malformed") : say(`queue.kind.${kindOf(raw)}`);
    written.rows = Math.min(16, written.value.split("\n").length);
    return raw;
  };
  const decideTyped = () => {
    const raw = check();
    if (raw !== null) return decide(raw);
    decided.delete(one.id);
    return changed();
  };

  const values = contrasted(one.choices.map((choice) => spaced(choice.value)));
  const radios = one.choices.map((choice) => {
    const input = radio();
    input.addEventListener("change", () => decide(choice.raw));
    return input;
  });
  const choices = one.choices.map((choice, place) =>
    make(
      "label",
      { class: "choice" },
      radios[place],
      make("span", { class: "value" }, values[place]),
      make("span", { class: "who" }, names(choice.annotators), " ", choice.proposed ? proposed() : null),
    ),
  );
  other.addEventListener("change", () => {
    if (!written.value && one.choices.length) written.value = untyped(one.choices[0].raw);
    decideTyped();
    written.focus();
  });
  written.addEventListener("input", () => {
    other.checked = true;
    decideTyped();
  });
  leave.addEventListener("change", () => decide(null));
  note.addEventListener("input", () => {
    if (!decided.has(one.id)) return keep(noteOn(one), note.value.trim());
    decided.get(one.id).note = note.value.trim();
    return changed();
  });
  withdraw.addEventListener("click", () => {
    decided.delete(one.id);
    keep(noteOn(one), note.value.trim());
    for (const input of box.querySelectorAll("input[type=radio]")) input.checked = false;
    changed();
    box.focus();
  });

  note.value = kept(noteOn(one));
  const before = decided.get(one.id);
  if (before) {
    const place = one.choices.findIndex((choice) => choice.raw === before.raw);
    (before.raw === null ? leave : (radios[place] ?? other)).checked = true;
    note.value = before.note;
    if (other.checked) {
      written.value = untyped(before.raw);
      check();
    }
  }
  const lacking = [
    one.absent.annotators.length ? say("queue.lacking", { names: names(one.absent.annotators) }) : "",
    one.absent.without_vote.length ? say("queue.no_vote", { names: names(one.absent.without_vote) }) : "",
  ].filter(Boolean);
  fill(box, {}, [
    make("h3", { id: title }, visible(brief(one.document)), " ", make("code", {}, breakable(brief(one.pointer || "/")))),
    one.within.length ? make("p", {}, one.within.map((name) => plain(brief(name, 80))).join(" › ")) : null,
    make(
      "p",
      { class: "note" },
      [say(`queue.kind.${one.kind}`), say(`queue.flag.${one.flag}`), say("queue.weight", { n: number(one.weight, 3) })].join(" · "),
    ),
    make(
      "fieldset",
      { "aria-labelledby": title },
      choices,
      make("div", { class: "choice" }, other, make("label", { class: "value" }, say("queue.other"), " ", written, checked)),
      make(
        "label",
        { class: "choice" },
        leave,
        make("span", { class: "value" }, say("queue.leave_out")),
        make("span", { class: "who" }, lacking.join("; "), " ", one.absent.proposed ? proposed() : null),
      ),
    ),
    make("p", { class: "outcome" }, said, " ", withdraw, make("label", { class: "remark" }, say("queue.note"), " ", note)),
    context(one),
  ]);
  box.refresh();
  return box;
};
