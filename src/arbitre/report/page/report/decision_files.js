// Files of decisions: a table, and JSON Patches (RFC 6902) of the gold of each document.

const FORMAT = "arbitre-decisions/1";
const CELLS = ["system", "document", "run", "pointer", "creates", "gold_pointer", "predicted_pointer", "path", "decision", "gold", "predicted", "value", "absent", "note", "by", "report"];
const UNPLACED = "unknown"; // pointer of a row whose place in gold is unknown
const reportName = () => `${document.querySelector("h1")?.textContent.trim() ?? ""} · ${data.key}`;

// Orders pointers as in a document: positions by number.
const comparePlaces = (left, right) => {
  const [a, b] = [left, right].map((pointer) => (pointer ?? "").split("/"));
  const at = a.findIndex((token, place) => token !== b[place]);
  if (at < 0) return a.length - b.length;
  if (b[at] === undefined) return 1;
  const numbers = [a[at], b[at]].every((token) => /^\d+$/.test(token));
  return numbers ? Number(a[at]) - Number(b[at]) : a[at] < b[at] ? -1 : 1;
};
const compareTexts = (a, b) => Number(a > b) - Number(a < b);
const sortedDecisions = () =>
  [...judged.values()].sort(
    (a, b) => compareTexts(a.document, b.document) || compareTexts(a.run, b.run) || comparePlaces(a.pointer, b.pointer) || comparePlaces(a.predicted_pointer, b.predicted_pointer) || comparePlaces(a.gold_pointer, b.gold_pointer),
  );

// A text that no spreadsheet runs as a formula.
const guarded = (whole) => (/^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(whole) ? `'${whole}` : whole);
// The JSON text of the value in a cell. Spreadsheets save booleans as TRUE and FALSE, or as words of another language.
const BOOLEANS = Object.fromEntries(
  [
    ["true", "TRUE VRAI WAHR WAAR VERO VERDADERO VERDADEIRO"],
    ["false", "FALSE FAUX FALSCH ONWAAR FALSO"],
  ].flatMap(([raw, words]) => words.split(" ").map((word) => [word, raw])),
);
const valueIn = (cell) => BOOLEANS[cell.trim()] ?? typed(cell);
// A value in a cell: JSON, or a text without quotes if no program reads it as something else, such as a date.
const cellOf = (raw) => {
  if (raw === null) return "";
  const value = JSON.parse(raw);
  return isText(value) && /^\p{L}(?:[^\d]*[\p{L}\p{P}])?$/u.test(value) && valueIn(value) === raw ? value : raw;
};
const quoted = (cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const tableText = () => {
  const report = reportName();
  const rows = sortedDecisions().map((own) => {
    const cells = { ...own, report, pointer: own.pointer ?? UNPLACED, absent: own.decision === GOLD_WRONG && own.value === null ? "true" : "" };
    return CELLS.map((name) => quoted(VALUES.includes(name) ? cellOf(own[name]) : guarded(cells[name])));
  });
  return [CELLS, ...rows].map((cells) => `${cells.join(",")}\n`).join("");
};

const operationsOf = (own) => {
  const path = ["path", JSON.stringify(own.pointer)];
  const op = own.gold === null ? "add" : own.value === null ? "remove" : "replace";
  const more = [runOf(own), ...givenTexts({ ...own, at: own.path }, ["system", "at", "creates", "gold_pointer", "predicted_pointer", "note", "by"]), ...givenValues(own, ["predicted"])];
  const change = [["op", JSON.stringify(op)], path, ...(op === "remove" ? [] : [["value", own.value]]), ...more];
  return [...(op === "add" ? [] : [objectText([["op", '"test"'], path, ["value", own.gold]])]), objectText(change)];
};
// Operations that add the lists and objects around the values that gold lacks, once each.
const containersOf = (own, created) => {
  const [tokens, types] = [own.pointer.split("/"), own.creates.split(" ").filter(Boolean)];
  return types.flatMap((type, at) => {
    const path = tokens.slice(0, tokens.length - types.length + at).join("/");
    if (created.has(path)) return [];
    created.add(path);
    return [objectText([["op", '"add"'], ["path", JSON.stringify(path)], ["value", type === "array" ? "[]" : "{}"], ["container", "true"]])];
  });
};
const changeOf = ({ document, pointer, gold, value }) => JSON.stringify([document, pointer, ...(gold === null && pointer.endsWith("/-") ? [value] : [])]);
// The patches and the other decisions: those that change nothing, and those on a place that the patch changes already,
// for another run. Items of lists are removed last, from the end, so that no pointer changes before its turn.
const patchText = () => {
  const all = sortedDecisions();
  const placed = all.filter(({ decision, pointer }) => decision === GOLD_WRONG && pointer !== null);
  const first = new Map([...placed].reverse().map((own) => [changeOf(own), own]));
  const changes = placed
    .filter((own) => first.get(changeOf(own)) === own)
    .sort((a, b) => compareTexts(a.document, b.document) || comparePlaces(a.pointer, b.pointer));
  const isRemoval = ({ gold, value }) => gold !== null && value === null;
  const turns = [...changes.filter((own) => !isRemoval(own)), ...changes.filter(isRemoval).reverse()];
  const patches = [...new Set(changes.map((own) => own.document))].map((name) => {
    const created = new Set();
    const operations = turns.filter((own) => own.document === name).flatMap((own) => [...containersOf(own, created), ...operationsOf(own)]);
    return `  ${JSON.stringify(name)}: [\n   ${operations.join(",\n   ")}\n  ]`;
  });
  const others = all
    .filter((own) => !changes.includes(own))
    .map((own) => objectText([["pointer", JSON.stringify(own.pointer)], runOf(own), ...givenTexts({ ...own, at: own.path }, ["document", "decision", "system", "at", "creates", "gold_pointer", "predicted_pointer", "note", "by"]), ...givenValues(own, VALUES)]));
  const block = (lines, ends) => (lines.length ? `${ends[0]}\n${lines.join(",\n")}\n ${ends[1]}` : ends);
  return `{\n "format": ${JSON.stringify(FORMAT)},\n "report": ${JSON.stringify(reportName())},\n "patches": ${block(patches, "{}")},\n "others": ${block(others.map((one) => `  ${one}`), "[]")}\n}\n`;
};

// The rows of a CSV text, separated by commas, semicolons or tabs.
const csvRows = (table) => {
  const body = table.replace(/^\ufeff/, "");
  const separator = [...",;\t"].find((sign) => body.split("\n", 1)[0].includes(`document${sign}`)) ?? ",";
  const [rows, pattern] = [[[]], new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\r\\n${separator}]*))(${separator}|\\r?\\n|$)`, "gy")];
  let read = 0;
  for (const [whole, inQuotes, bare, end] of body.matchAll(pattern)) {
    rows.at(-1).push(inQuotes === undefined ? bare : inQuotes.replaceAll('""', '"'));
    if (end !== separator) rows.push([]);
    read += whole.length;
  }
  if (read < body.length) throw new Error(say("decide.unreadable"));
  return rows.filter((row) => row.length > 1);
};
const unguarded = (cell) => (guarded(cell.slice(1)) === cell ? cell.slice(1) : cell);
const inTable = (whole) => {
  const [head = [], ...rows] = csvRows(whole);
  if (!["document", "pointer", "decision"].every((name) => head.includes(name))) throw new Error(say("decide.unreadable"));
  return rows.map((row) => {
    const cells = Object.fromEntries(head.map((name, at) => [name, row[at] ?? ""]));
    const own = { pointer: cells.pointer === UNPLACED ? null : cells.pointer };
    for (const name of TEXTS) own[name] = unguarded(cells[name] ?? "");
    if (!head.includes("run")) own.run = null; // it may follow the id
    for (const name of VALUES) own[name] = (cells[name] ?? "") === "" ? null : valueIn(cells[name]);
    own.decision = own.decision.trim().toLowerCase();
    const malformed = VALUES.some((name) => cells[name] && own[name] === null);
    const leftOut = BOOLEANS[(cells.absent ?? "").trim().toUpperCase()] === "true";
    const incomplete = own.decision === GOLD_WRONG && (own.value === null) !== leftOut;
    return malformed || incomplete ? { ...own, decision: "" } : own;
  });
};
const inPatches = (whole) => {
  const parts = members(whole);
  if (JSON.parse(parts.format ?? "null") !== FORMAT) throw new Error(say("decide.unreadable"));
  const changes = Object.entries(members(parts.patches)).flatMap(([name, patch]) => {
    const tested = {};
    return Object.values(members(patch)).flatMap((operation) => {
      const { op, path, at = "", container = false } = JSON.parse(operation);
      if (container) return [];
      if (op === "test") {
        tested[path] = members(operation).value;
        return [];
      }
      return [{ ...decisionIn(operation), document: name, pointer: path, path: at, decision: GOLD_WRONG, gold: tested[path] ?? null }];
    });
  });
  const others = Object.values(members(parts.others ?? "[]")).map((one) => ({ ...decisionIn(one), path: JSON.parse(one).at ?? "" }));
  return [...changes, ...others];
};
// Takes over decisions. Those on gold values that have changed since, and those that are invalid, are refused.
const takeDecisions = (found) => {
  const known = new Map(allBlanks().map((own) => [idOf(own), own]));
  const result = { loaded: 0, replaced: 0, refused: [] };
  for (const given of found) {
    const own = withRun(given);
    const id = own && idOf(own);
    const now = known.get(id);
    if (now && own.gold === null && now.gold_pointer === "") own.gold = now.gold; // a value that counts as absent
    const stale = now && !isSame(now.gold, own.gold);
    if (!own || stale || !CHOICES.includes(own.decision) || !own.document) {
      result.refused.push(given);
      continue;
    }
    result.replaced += Number(store.take(id, own));
    result.loaded += 1;
  }
  return result;
};

// Exports the decisions, with the name of the reviewer.
const exportDecisions = (name, textOf, type) => {
  if (!judged.size) return announce(say("decide.none"));
  if (!store.sign(reviewer())) {
    announce(say("decide.name.missing"));
    return nameInput.focus();
  }
  storeJudged();
  saveAs(name, textOf(), type);
  return announce(say("decide.exported", { n: amount(judged.size), file: name }));
};
const importDecisions = async (input) => {
  const [file] = input.files;
  if (!file) return;
  try {
    const whole = await file.text();
    const { loaded, replaced, refused } = takeDecisions(json(whole) ? inPatches(whole) : inTable(whole));
    const places = refused.map((own) => make("li", {}, visible(`${nameOf(own)} `), make("code", {}, visible(own.pointer ?? (own.gold_pointer || own.predicted_pointer || "?")))));
    const why = refused.length ? [" ", say("decide.stale", { n: amount(refused.length) }), make("ul", {}, places)] : [];
    announce(say("decide.loaded", { n: amount(loaded), replaced: amount(replaced) }), ...why);
  } catch (error) {
    announce(visible(error.message));
  }
  input.value = "";
  storeJudged();
  desk.box?.redraw();
};

// The number of decisions, the name of the reviewer, and the files.
const decisionsSummary = () => {
  const file = make("input", { type: "file", class: "unseen", accept: ".csv,.json", "aria-label": say("decide.load") });
  file.addEventListener("change", () => importDecisions(file));
  return make(
    "section",
    { class: "decisions", "aria-label": say("decide.decisions") },
    counter,
    make("label", {}, say("decide.name"), " ", nameInput),
    button("CSV", () => exportDecisions("decisions.csv", tableText, "text/csv"), { "aria-label": say("decide.export", { form: "CSV" }) }),
    button("JSON Patch", () => exportDecisions("decisions.json", patchText, "application/json"), { "aria-label": say("decide.export", { form: "JSON Patch" }) }),
    button(say("decide.load"), () => file.click()),
    file,
    button([keyed("u"), " ", say("decide.undo")], undoDecision),
    keptNote,
    message,
  );
};
