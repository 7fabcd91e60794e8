// Decisions by the id of their disagreement. Values are JSON texts, so that no number is rounded.

const decided = new Map(); // id -> { raw: JSON text, or null to leave the value out; by; note }
const cases = new Map(data.disagreements.map((one) => [one.id, one]));
const KEY = `arbitre-queue-${data.key}`;

// The JSON text of what was typed: itself if it is JSON, a string for other text, null for malformed JSON.
const typed = (written) => {
  const trimmed = written.trim();
  if (json(trimmed)) return trimmed;
  return trimmed === "" || /^["[{]/.test(trimmed) ? null : JSON.stringify(trimmed);
};
// What to type for a JSON text: the inverse of `typed`. Lists and objects are indented unless that would round a number.
const untyped = (raw) => {
  const value = JSON.parse(raw);
  if (typeof value === "string" && typed(value) === raw) return value;
  return !scalar(value) && JSON.stringify(value) === raw ? JSON.stringify(value, null, 2) : raw;
};
// The members of a JSON object, as JSON texts by key.
const members = (line) => {
  JSON.parse(line);
  const texts = {};
  let [depth, key, start] = [0, null, 0];
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    const closes = token === "}" || token === "]";
    if (depth === 1 && key !== null && (token === "," || closes)) {
      texts[key] = line.slice(start, index).trim();
      key = null;
    } else if (depth === 1 && key === null && token.startsWith('"')) key = JSON.parse(token);
    else if (depth === 1 && token === ":") start = index + 1;
    if (token === "{" || token === "[") depth += 1;
    else if (closes) depth -= 1;
  }
  return texts;
};

const proposalOf = ({ choices }) => (choices[0]?.proposed ? choices[0].raw : null);
// The disagreement of a value that contains this one and was replaced or left out by a decision, so that this one needs none.
const settledBy = ({ document, pointer }) => {
  for (let place = pointer; place !== ""; ) {
    place = place.slice(0, place.lastIndexOf("/"));
    const above = cases.get(`${document}#${place}`);
    const decision = above && decided.get(above.id);
    if (decision) return decision.raw === proposalOf(above) ? null : above;
  }
  return null;
};
const isDone = (one) => decided.has(one.id) || settledBy(one) !== null;

const record = ({ id, fingerprint }) => {
  const { raw, by, note } = decided.get(id);
  const parts = [`"id": ${JSON.stringify(id)}`, raw === null ? '"absent": true' : `"value": ${raw}`];
  parts.push(`"by": ${JSON.stringify(by)}`);
  if (note) parts.push(`"note": ${JSON.stringify(note)}`);
  return `{${parts.join(", ")}, "fingerprint": ${JSON.stringify(fingerprint)}}\n`;
};
const records = () => data.disagreements.filter((one) => decided.has(one.id)).map(record);

// Reads and writes what the browser keeps; some browsers refuse it for files.
const kept = (name = "", place = () => localStorage) => {
  try {
    return place().getItem(KEY + name) ?? "";
  } catch {
    return "";
  }
};
const keep = (name, value, place = () => localStorage) => {
  try {
    if (value === "") place().removeItem(KEY + name);
    else place().setItem(KEY + name, value);
  } catch {
    // The page says that nothing is kept.
  }
};
const ofTab = () => sessionStorage; // the filters and the page, which differ between tabs
// The note on a disagreement that is not decided yet.
const noteOn = ({ id }) => `-note-${id}`;
// The decisions as this tab last wrote or read them: the whole text, and its lines by id.
let known = { whole: "", lines: new Map() };
const own = (one) => (decided.has(one.id) ? record(one).trim() : undefined);
// Takes over decisions that another tab has changed since, and this tab has not. Returns their disagreements.
const merge = () => {
  const whole = kept();
  if (whole === known.whole) return [];
  const others = new Map(parsed(whole).map((one) => [one.id, one]));
  const changed = data.disagreements.filter((one) => {
    const before = known.lines.get(one.id);
    return own(one) === before && others.get(one.id)?.line.trim() !== before;
  });
  for (const { id } of changed) {
    const other = others.get(id);
    if (other) decided.set(id, { raw: other.raw, by: other.by, note: other.note });
    else decided.delete(id);
  }
  return changed;
};
// Writes the decisions, after those of other tabs were taken over. Returns the disagreements that these decided, or null
// if the browser does not keep decisions after the page is closed; some refuse it for files.
const store = () => {
  const changed = merge();
  const lines = new Map(data.disagreements.filter((one) => decided.has(one.id)).map((one) => [one.id, own(one)]));
  const whole = [...lines.values()].map((line) => `${line}\n`).join("");
  try {
    localStorage.setItem(KEY, whole);
  } catch {
    return null;
  }
  known = { whole, lines };
  return changed;
};

// Reads decisions from JSON lines. Throws an error that names the line.
const parsed = (whole) =>
  whole.split("\n").flatMap((line, place) => {
    if (line.trim() === "") return [];
    try {
      const found = JSON.parse(line);
      const texts = members(line);
      if (typeof found.id !== "string" || "value" in found === (found.absent === true)) throw new Error(line.trim());
      const raw = found.absent === true ? null : texts.value;
      const given = (name) => (typeof found[name] === "string" ? found[name] : "");
      return [{ id: found.id, fingerprint: found.fingerprint, raw, by: given("by"), note: given("note"), line }];
    } catch (error) {
      throw new Error(say("queue.unreadable", { line: place + 1, reason: error.message }));
    }
  });
// Takes over decisions that match the queue. Returns the number of those, of replaced decisions, and the others.
const take = (whole) => {
  const result = { loaded: 0, replaced: 0, stale: [] };
  for (const { id, fingerprint, line, ...decision } of parsed(whole)) {
    const one = cases.get(id);
    if (!one || (fingerprint ?? one.fingerprint) !== one.fingerprint) {
      result.stale.push(line.trim());
      continue;
    }
    const before = decided.get(id);
    if (before && before.raw !== decision.raw) result.replaced += 1;
    decided.set(id, decision);
    result.loaded += 1;
  }
  return result;
};
