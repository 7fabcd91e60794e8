// Decisions by the id of their disagreement. Values are JSON texts, so that no number is rounded.

const decided = new Map(); // id -> { raw: JSON text, or null to leave the value out; by; note }
const cases = new Map(data.disagreements.map((one) => [one.id, one]));

const proposalOf = ({ choices }) => (choices[0]?.proposed ? choices[0].raw : null);
// The disagreement of a value that contains this one and was replaced or left out by a decision, so that this one needs none.
const settledBy = ({ document, pointer }) => {
  for (let place = pointer; place !== "";) {
    place = place.slice(0, place.lastIndexOf("/"));
    const above = cases.get(`${document}#${place}`);
    const decision = above && decided.get(above.id);
    if (decision) return isSame(decision.raw, proposalOf(above)) ? null : above;
  }
  return null;
};
const isDone = (one) => decided.has(one.id) || settledBy(one) !== null;
const isFlagged = ({ flag }) => flag !== "not unanimous";
// Whether more than half of the votes are for the proposal.
const hasMajority = ({ choices, absent }) => {
  const votes = choices.reduce((sum, choice) => sum + choice.annotators.length, absent.annotators.length);
  const own = absent.proposed ? absent.annotators.length : (choices[0]?.annotators.length ?? 0);
  return 2 * own > votes;
};

const record = ({ id, fingerprint }) => {
  const { raw, by, note } = decided.get(id);
  const parts = [`"id": ${JSON.stringify(id)}`, raw === null ? '"absent": true' : `"value": ${raw}`];
  parts.push(`"by": ${JSON.stringify(by)}`);
  if (note) parts.push(`"note": ${JSON.stringify(note)}`);
  return `{${parts.join(", ")}, "fingerprint": ${JSON.stringify(fingerprint)}}\n`;
};
const records = () => data.disagreements.filter((one) => decided.has(one.id)).map(record);

// Reads a decision from a line. Throws an error if it is none.
const parsed = (line) => {
  const found = JSON.parse(line);
  if (typeof found?.id !== "string" || "value" in found === (found.absent === true)) throw new Error(line.trim());
  const given = (name) => (typeof found[name] === "string" ? found[name] : "");
  const raw = found.absent === true ? null : members(line).value;
  return { id: found.id, fingerprint: found.fingerprint, raw, by: given("by"), note: given("note") };
};
// Takes over the line of a decision that was made in another tab or earlier; withdraws the decision without one.
const adopt = (id, line) => {
  if (!line) decided.delete(id);
  else if (cases.has(id)) {
    const { raw, by, note } = parsed(line);
    decided.set(id, { raw, by, note });
  }
};
const madeHere = () =>
  new Map(data.disagreements.filter((one) => decided.has(one.id)).map((one) => [one.id, record(one).trim()]));
const keyOf = (queue) => `arbitre-queue-${queue}`;
const { kept, keep, store, isStored, restore, listen } = keeping(keyOf(data.key), madeHere, adopt);
const nameOn = "-name"; // the name of the reviewer
const madeOn = "-made"; // the digest that the decisions in the page had when they were last loaded
const noteOn = ({ id }) => `-note-${id}`; // the note on a disagreement that is not decided
const typedOn = ({ id }) => `-typed-${id}`; // a value that was typed and not accepted, as JSON text or as it was typed
// Copies the notes, typed values and reviewer name of the previous queue at this address. Returns its decisions as JSON
// lines, and its digest (see `madeOn`); both are empty if there was no previous queue, or if it is the same queue.
const addressKey = `at-${globalThis.location.pathname}`;
const takePrevious = () => {
  const before = kept("", keyOf(addressKey));
  keep("", data.key, keyOf(addressKey));
  if (before === "" || before === data.key) return { lines: "", made: "" };
  for (const name of [nameOn, ...data.disagreements.flatMap((one) => [noteOn(one), typedOn(one)])])
    if (!kept(name)) keep(name, kept(name, keyOf(before)));
  return { lines: kept("", keyOf(before)), made: kept(madeOn, keyOf(before)) };
};

// Steps that can be undone, each as the decisions before it by id, with null for none.
const steps = [];
const put = (id, decision) => {
  const note = decided.get(id)?.note ?? kept(noteOn({ id }));
  if (decision) decided.set(id, { ...decision, note });
  else decided.delete(id);
  keep(noteOn({ id }), decision ? "" : note);
};
// Changes decisions in one step: [id, { raw, by }], or null to withdraw the decision. Notes stay as they are.
const change = (changes) => {
  steps.push(changes.map(([id]) => [id, decided.get(id) ?? null]));
  for (const [id, decision] of changes) put(id, decision);
};
// Takes back the last step. Returns its ids.
const takeBack = () => {
  const step = steps.pop() ?? [];
  for (const [id, before] of step) put(id, before);
  return step.map(([id]) => id);
};

// Loads the decisions in JSON lines that match the queue. Returns their ids, the decisions and notes that they replaced
// (as JSON lines), and the lines that were not loaded: stale decisions, lines that are not decisions, and decisions with
// a value that cannot be used here, which is kept as a typed value.
const take = (whole, obstacleTo) => {
  const result = { loaded: new Set(), replaced: [], stale: [], unreadable: [], refused: [] };
  for (const line of whole
    .split("\n")
    .map((text) => text.trim())
    .filter(Boolean)) {
    let found = null;
    try {
      found = parsed(line);
    } catch {
      result.unreadable.push(line);
      continue;
    }
    const { id, fingerprint, ...decision } = found;
    const one = cases.get(id);
    if (!one || (fingerprint ?? one.fingerprint) !== one.fingerprint) {
      result.stale.push(line);
      continue;
    }
    if (obstacleTo(one, decision.raw)) {
      result.refused.push(line);
      if (decision.raw !== null && !decided.has(id) && !kept(typedOn(one))) keep(typedOn(one), decision.raw);
      continue;
    }
    const before = decided.get(id);
    const same = !before || isSame(before.raw, decision.raw);
    const note = before ? before.note : kept(noteOn(one));
    if (!same || (note && decision.note && note !== decision.note))
      result.replaced.push(before ? record(one).trim() : JSON.stringify({ id, note }));
    decided.set(id, { ...decision, note: decision.note || (same ? note : "") });
    result.loaded.add(id);
  }
  return result;
};
