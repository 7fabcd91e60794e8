// Decisions by the id of their disagreement. Values are JSON texts, so that no number is rounded.

const decided = new Map(); // id -> { raw: JSON text, or null to leave the value out; by; note }
const cases = new Map(data.disagreements.map((one) => [one.id, one]));

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

// Takes over the line of a decision that was made in another tab or earlier; withdraws the decision without one.
const adopt = (id, line) => {
  if (!line) decided.delete(id);
  else if (cases.has(id)) for (const { raw, by, note } of parsed(line)) decided.set(id, { raw, by, note });
};
const own = () => new Map(data.disagreements.filter((one) => decided.has(one.id)).map((one) => [one.id, record(one).trim()]));
const { kept, keep, store, restore, listen } = keeping(`arbitre-queue-${data.key}`, own, adopt);
// The note on a disagreement that is not decided yet.
const noteOn = ({ id }) => `-note-${id}`;

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
