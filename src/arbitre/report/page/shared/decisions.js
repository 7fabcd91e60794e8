// Keeps the decisions of a page in the browser, and merges those of several tabs. Some browsers refuse it for files.

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

// What the browser keeps of a page under a key: texts by name, and decisions.
// `ownLines` returns the decisions of this tab as JSON lines by id. `takeLine(id, line)` takes over the line of another
// tab; without a line, the decision was withdrawn there.
const keeping = (key, ownLines, takeLine) => {
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
  const store = () => {
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
  return { kept, keep, store, isStored, restore, listen };
};
