// Decisions by the id of their disagreement. Values are JSON texts, so that no number is rounded.

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

const lineOf = (id, { raw, by, note }) => {
  const parts = [`"id": ${JSON.stringify(id)}`, raw === null ? '"absent": true' : `"value": ${raw}`];
  parts.push(`"by": ${JSON.stringify(by)}`);
  if (note) parts.push(`"note": ${JSON.stringify(note)}`);
  return `{${parts.join(", ")}, "fingerprint": ${JSON.stringify(cases.get(id).fingerprint)}}`;
};
const records = () => data.disagreements.filter(({ id }) => decided.has(id)).map(({ id }) => `${lineOf(id, decided.get(id))}\n`);

// Reads a decision from a line. Throws an error if it is none.
const parsed = (line) => {
  const found = JSON.parse(line);
  if (typeof found?.id !== "string" || "value" in found === (found.absent === true)) throw new Error(line.trim());
  const given = (name) => (typeof found[name] === "string" ? found[name] : "");
  const raw = found.absent === true ? null : members(line).value;
  return { id: found.id, fingerprint: found.fingerprint, raw, by: given("by"), note: given("note") };
};
const ofThisQueue = (line) => {
  const { id, raw, by, note } = parsed(line);
  return cases.has(id) ? [id, { raw, by, note }] : null;
};
const isSameRaw = (a, b) => isSame(a.raw, b.raw);
const keyOf = (queue) => `arbitre-queue-${queue}`;
// Each decision is { raw, by, note }; `raw` is a JSON text, or null to leave the value out.
const store = decisionStore(keyOf(data.key), { written: lineOf, read: ofThisQueue, same: isSameRaw });
const decided = store.made;
const madeOn = "-made"; // the digest that the decisions in the page had when they were last loaded
// Copies the notes, typed values and reviewer name of the previous queue at this address. Returns its decisions as JSON
// lines, and its digest (see `madeOn`); both are empty if there was no previous queue, or if it is the same queue.
const addressKey = `at-${globalThis.location.pathname}`;
const takePrevious = () => {
  const before = store.kept("", keyOf(addressKey));
  store.keep("", data.key, keyOf(addressKey));
  if (before === "" || before === data.key) return { lines: "", made: "" };
  store.inherit(keyOf(before), data.disagreements.map(({ id }) => id));
  return { lines: store.kept("", keyOf(before)), made: store.kept(madeOn, keyOf(before)) };
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
      if (decision.raw !== null && !decided.has(id) && !store.typedFor(id)) store.keepTyped(id, decision.raw);
      continue;
    }
    const before = decided.has(id) ? lineOf(id, decided.get(id)) : JSON.stringify({ id, note: store.noteFor(id) });
    if (store.take(id, decision)) result.replaced.push(before);
    result.loaded.add(id);
  }
  return result;
};
