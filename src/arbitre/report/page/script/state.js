// Where the explorer is: the document, its rows, those that were found, how many of them are drawn, the active one.

const documents = data.subjects.flatMap((subject) =>
  subject.documents.map((document) => ({ ...document, subject: subject.name })),
);
const state = { document: null, rows: [], found: [], drawn: 0, active: null };
