// Stores the decisions of a page in the browser, merges decisions from other tabs and files, undoes and exports them.

// The members of a JSON object, as JSON texts by key; those of a list by position.
const members = (whole) => {
  const listed = isList(JSON.parse(whole));
  const texts = Object.create(null); // a key may be __proto__
  let [depth, key, start] = [0, listed ? 0 : null, 0];
  for (const { 0: token, index } of whole.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    const [opens, closes] = [/^[{[]/.test(token), /^[}\]]/.test(token)];
    if (depth === 1 && (closes || token === ",")) {
      const part = whole.slice(start, index).trim();
      if (part !== "") texts[key] = part; // empty if the object or list is
      [key, start] = [listed ? key + 1 : null, index + 1];
    } else if (depth === 1 && key === null && token.startsWith('"')) key = JSON.parse(token);
    else if ((depth === 1 && token === ":") || (depth === 0 && opens)) start = index + 1;
    depth += Number(opens) - Number(closes);
  }
  return texts;
};
// The JSON lines of a text, by their id. Lines without one are left out.
const linesById = (whole) => {
  const lines = whole.split("\n").flatMap((line) => {
    const { id } = json(line) ? (JSON.parse(line) ?? {}) : {};
    return typeof id === "string" ? [[id, line.trim()]] : [];
  });
  return new Map(lines);
};

// The decisions of a page by id, each with a `note` and its reviewer (`by`), and the texts that the browser stores with
// them under a key. Some browsers store nothing for local files. `written(id, decision)` returns a decision as a JSON
// line; `read(line)` returns the id and the decision, or null if the line does not belong to this page. `same` compares
// two decisions.
const decisionStore = (key, { written, read, same }) => {
  const made = new Map();
  const steps = []; // that can be undone: the earlier decision by id, null if there was none
  let known = { whole: "", lines: new Map() }; // the decisions as this tab last wrote or read them
  const unsaved = new Map(); // texts that the browser refused to store, by key and name; lost when the page is closed
  const kept = (name = "", prefix = key) => {
    const whole = prefix + name;
    if (whole !== key && unsaved.has(whole)) return unsaved.get(whole);
    try {
      return localStorage.getItem(whole) ?? "";
    } catch {
      return "";
    }
  };
  const keep = (name, value, prefix = key) => {
    const whole = prefix + name;
    try {
      if (value === "" && whole !== key) localStorage.removeItem(whole);
      else localStorage.setItem(whole, value);
      unsaved.delete(whole);
      return true;
    } catch {
      unsaved.set(whole, value);
      return false;
    }
  };
  const noteOn = (id) => `-note-${id}`; // a note without a decision
  const typedOn = (id) => `-typed-${id}`; // a typed value that is not a decision yet, as JSON text or as it was typed
  const typedFor = (id) => kept(typedOn(id));
  const keepTyped = (id, value) => keep(typedOn(id), value);
  const noteFor = (id) => made.get(id)?.note ?? kept(noteOn(id));
  const keepNote = (id, note) => {
    if (made.has(id)) made.set(id, { ...made.get(id), note });
    keep(noteOn(id), made.has(id) ? "" : note);
  };
  // Shows the name of the reviewer in a box, and stores changes.
  const keepName = (input) => {
    input.value ||= kept("-name");
    input.addEventListener("input", () => keep("-name", input.value.trim()));
  };

  // Copies the name, the notes and the typed values that are stored under another key, unless this key has its own.
  const inherit = (other, ids) => {
    for (const name of ["-name", ...ids.flatMap((id) => [noteOn(id), typedOn(id)])])
      if (!kept(name)) keep(name, kept(name, other));
  };

  const put = (id, decision) => {
    const note = noteFor(id);
    if (decision) made.set(id, decision);
    else made.delete(id);
    keep(noteOn(id), decision ? "" : note);
  };
  // Changes decisions by id in one step; null withdraws one. All changes while a text is typed are one step.
  const change = (changes, typing = false) => {
    const last = steps.at(-1);
    if (!(typing && last?.typing && last.before[0][0] === changes[0][0]))
      steps.push({ typing, before: changes.map(([id]) => [id, made.get(id) ?? null]) });
    for (const [id, decision] of changes) put(id, decision);
  };
  // Undoes the last step. Notes stay, unless they were typed in it. Returns the ids.
  const undo = () => {
    const { typing, before } = steps.pop() ?? { before: [] };
    for (const [id, decision] of before) put(id, decision && !typing ? { ...decision, note: noteFor(id) } : decision);
    return before.map(([id]) => id);
  };
  // Adopts a decision from a file. Your note is kept if the decision is the same and has no note. Returns whether a
  // decision or a note was replaced.
  const take = (id, decision) => {
    const [before, note] = [made.get(id), noteFor(id)];
    const agrees = !before || same(before, decision);
    made.set(id, { ...decision, note: decision.note || (agrees ? note : "") });
    return !agrees || Boolean(note && decision.note && note !== decision.note);
  };
  // Adds the reviewer to decisions without one. Returns whether all decisions now have a reviewer.
  const sign = (by) => {
    const unsigned = [...made].filter(([, decision]) => !decision.by);
    if (by) for (const [id, decision] of unsigned) made.set(id, { ...decision, by });
    return by !== "" || unsigned.length === 0;
  };

  const ownLines = () => new Map([...made].map(([id, decision]) => [id, written(id, decision)]));
  const takeLine = (id, line) => {
    const found = line ? read(line) : null;
    if (found) made.set(...found);
    else made.delete(id);
  };
  // Takes over the decisions that another tab has changed since, and this tab has not. Returns their ids.
  const merge = () => {
    const whole = kept();
    if (whole === known.whole) return [];
    const [mine, others] = [ownLines(), linesById(whole)];
    const ids = [...new Set([...known.lines.keys(), ...others.keys()])];
    const changed = ids.filter((id) => mine.get(id) === known.lines.get(id) && others.get(id) !== known.lines.get(id));
    for (const id of changed) takeLine(id, others.get(id));
    return changed;
  };
  // Merges the decisions of other tabs, then stores all decisions, and the texts that the browser refused before.
  // Returns the ids of the merged decisions.
  const save = () => {
    const changed = merge();
    const lines = ownLines();
    const whole = [...lines.values()].map((line) => `${line}\n`).join("");
    if (keep("", whole)) known = { whole, lines };
    for (const [name, value] of [...unsaved]) if (name !== key) keep(name, value, "");
    return changed;
  };
  // Whether the browser keeps everything after the page is closed.
  const isStored = () => unsaved.size === 0;
  // Takes over the decisions of earlier visits.
  const restore = () => {
    const whole = kept();
    for (const [id, line] of linesById(whole)) takeLine(id, line);
    known = { whole, lines: ownLines() };
  };
  const listen = (whenChanged) => addEventListener("storage", (event) => event.key === key && whenChanged());
  return { made, kept, keep, noteFor, keepNote, typedFor, keepTyped, keepName, inherit, change, undo, take, sign, save, isStored, restore, listen };
};
const saveAs = (name, whole, type) => {
  const url = URL.createObjectURL(new Blob([whole], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // some browsers start the download later
};
