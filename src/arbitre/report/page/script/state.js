// State of the explorer: document, rows, filtered rows, number of rendered rows, active row.

const documents = data.subjects.flatMap((subject) =>
  subject.documents.map((document) => ({ ...document, subject: subject.name })),
);
const calledDocument = ({ subject, key }) => plain(data.several ? `${subject} / ${key}` : key);
const state = { document: null, rows: [], found: [], drawn: 0, active: null };

const CLASSES = { correct: "exact", close: "close", wrong: "low", "wrong type": "low" }; // of values, by verdict
// The number of values of each verdict in a node.
const tallied = (node, counts = new Map()) => {
  if (node.below) for (const part of node.below) tallied(part, counts);
  else counts.set(node.verdict, (counts.get(node.verdict) ?? 0) + 1);
  return counts;
};
// The fields outside the entries as a row of their own.
const outsideRow = ({ rest, rest_faults: faults }) => {
  const verdicts = tallied(rest);
  return {
    outside: true,
    verdicts,
    gold_index: null,
    predicted_index: null,
    classes: [...verdicts.keys()].map((verdict) => CLASSES[verdict] ?? verdict),
    wrong_field: [...verdicts.keys()].some((verdict) => !["correct", "close"].includes(verdict)),
    faults,
    entry: rest,
  };
};
// The rows of a document: the fields outside its entries, then its entries.
const rowsOf = (document) => (document.every ??= [...(document.rest ? [outsideRow(document)] : []), ...document.rows]);
const entriesOf = (rows) => rows.filter((row) => !row.outside);
