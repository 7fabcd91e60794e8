// State of the explorer: document, rows, filtered rows, number of rendered rows, active row.

const documents = data.subjects.flatMap((subject) =>
  subject.documents.map((document) => ({ ...document, subject: subject.name })),
);
const calledDocument = ({ subject, key }) => plain(data.several ? `${subject} / ${key}` : key);
const state = { document: null, rows: [], found: [], drawn: 0, active: null };
