// The list of causes and the examples of the one that is chosen.

const causes = data.causes ?? { rows: [], agreed: null };
const list = at("c-list");
const picked = { cause: null, found: [], place: 0 };

// The names and keys of the causes, as in the list.
const listedCauses = [...(list?.tBodies[0].rows ?? [])].map((row) => row.querySelector("a")).map(({ hash, textContent: name }) => ({ key: new URLSearchParams(hash.slice(1)).get("cause"), name }));
// The causes in the order of the list, with their examples in all systems: the system with the largest cost first.
const causeList = [
  ...(causes.agreed ? [{ ...listedCauses[0], members: [], paths: [], examples: causes.agreed.examples.map((one) => ({ one, subject: Math.max(0, data.subjects.findIndex(({ name }) => one.systems.includes(name))) })) }] : []),
  ...causes.rows.map((row, at) => {
    const members = row.members
      .map((place, subject) => ({ subject, cause: place === null ? null : data.subjects[subject].causes.rows[place] }))
      .filter(({ cause }) => cause !== null);
    const ranked = [...members].sort((a, b) => b.cause.cost - a.cause.cost);
    const examples = ranked.flatMap(({ subject, cause }) => cause.examples.map((one) => ({ one, subject })));
    return { ...listedCauses[at + (causes.agreed ? 1 : 0)], members, examples, paths: members.flatMap(({ cause }) => cause.paths) };
  }),
];
const filter = { path: at("c-path"), system: at("c-system"), text: at("c-text") };
const matching = ({ examples }) => {
  const [path, system] = [filter.path.value, filter.system?.value ?? ""];
  const words = plainly(filter.text.value).split(/\s+/).filter(Boolean);
  return examples.filter((example) => {
    const { one, subject } = example;
    if (path && one.path !== path.slice(1)) return false;
    if (system !== "" && subject !== Number(system) && !one.systems?.includes(data.subjects[Number(system)].name)) return false;
    example.words ??= plainly([one.document, ...contents(one)].join("\n"));
    return words.every((word) => example.words.includes(word));
  });
};
const filtersOf = () => {
  const values = {};
  if (filter.path.value) values.path = filter.path.value.slice(1);
  if (filter.system?.value) values.s = data.subjects[Number(filter.system.value)].name;
  if (filter.text.value) values.q = filter.text.value;
  return values;
};
const causeAddress = (key = picked.cause.key, place = picked.place) =>
  `#${new URLSearchParams({ cause: key, ...(place ? { i: place + 1 } : {}), ...filtersOf() })}`;
const remembered = (push) => {
  if (push === null) return;
  try {
    if (location.hash !== causeAddress()) history[push ? "pushState" : "replaceState"](null, "", causeAddress());
  } catch {
    // not allowed in some frames; the links still work
  }
};

const rowOfCause = ({ key }) => list.tBodies[0].rows[causeList.findIndex((one) => one.key === key)];
// Hides the causes without an example that the filters let through, and says how many are left.
const narrowCauses = () => {
  let [left, kept] = [0, 0];
  for (const cause of causeList) {
    const n = matching(cause).length;
    rowOfCause(cause).hidden = n === 0 && Object.keys(filtersOf()).length > 0;
    left += n > 0;
    kept += n;
  }
  const narrowed = Object.keys(filtersOf()).length > 0;
  at("c-found").textContent = narrowed ? say("js.causes.found", { n: amount(left), examples: amount(kept) }) : "";
};
// What the cause costs each system, and what to do about it.
const causeFacts = (cause, subject) => {
  const own = cause.members.filter((member) => cause.members.length <= FEW_SYSTEMS || member.subject === subject);
  const rest = cause.members.length - own.length;
  const facts = own.map(({ subject, cause: one }) =>
    make(
      "span",
      { class: "fact" },
      data.several ? [make("b", {}, visible(data.subjects[subject].name)), say("colon")] : null,
      say("js.cause.fact", { n: amount(one.count), documents: amount(one.documents), cost: number(one.cost, 3), gain: number(one.gain, 3) }),
    ),
  );
  if (rest) facts.push(make("span", { class: "fact" }, say(rest === 1 ? "js.cause.more.one" : "js.cause.more", { n: rest })));
  const first = (own[0] ?? cause.members[0])?.cause;
  const advice = first ? make("p", { class: "advice" }, data.language === "en" && first.advice ? visible(first.advice) : say(`advice.${first.kind}`)) : null;
  const change = first?.change ? copier(say("js.copy.overlay"), () => JSON.stringify(first.change, null, 2)) : null;
  const alike = first?.forgiving ? make("em", { class: "tag bad" }, say("js.forgiving")) : null;
  return make("div", { class: "facts" }, facts.flatMap((fact) => [fact, " "]), advice, alike, change ? [" ", change] : null);
};
const wholeEntry = (one, subject) => {
  const document = keptBy[subject].get(one.document);
  if (!document) return null;
  const row = rowIn(one, subject, subject);
  return make("a", { class: "button", href: `#${placeIn(data.subjects[subject].name, one.document, row ? called(row, document.rows) : {})}` }, say("js.entry.whole"));
};
// Scrolls a box, but not the page, so that an element in it is visible.
const showWithin = (box, node) => {
  if (!box) return;
  box.scrollTop = 0;
  const [outer, inner] = [box, node ?? box].map((one) => one.getBoundingClientRect());
  if (inner.bottom > outer.bottom && node) box.scrollTop = inner.top - outer.top - outer.height / 3;
};
// Tells screen readers which example is shown, but only if it changes: at each letter of a filter, the same one is drawn.
const tellExample = ({ cause, found, place }) => {
  const words = found.length ? say("js.example", { i: place + 1, n: found.length }) : say(cause.examples.length ? "js.example.none" : "js.example.unkept");
  const told = plain(`${cause.name}${say("colon")}${words}`);
  if (at("c-place").textContent !== told) at("c-place").textContent = told;
};
const drawExample = () => {
  const { cause, found, place } = picked;
  tellExample(picked);
  const box = at("c-example");
  const key = box.contains(document.activeElement) ? document.activeElement.getAttribute("aria-keyshortcuts") : null;
  const step = (name, by) => button(name, () => turnExample(by), { disabled: !found[place + by], "aria-keyshortcuts": by > 0 ? "n" : "p" });
  const head = make("header", {}, make("h3", {}, visible(cause.name)), causeFacts(cause, found[place]?.subject ?? cause.members[0]?.subject));
  if (!found.length) return box.replaceChildren(head, make("p", { class: "note" }, say(cause.examples.length ? "js.example.none" : "js.example.unkept")));
  const { one, subject } = found[place];
  const named = data.several && !one.systems ? say("js.example.of", { system: plain(data.subjects[subject].name) }) : "";
  const drawn = one.costliest === false ? ` · ${say("js.example.drawn")}` : "";
  const grid = () => exampleGrid(one, subject);
  const tools = make(
    "p",
    { class: "tools" },
    wholeEntry(one, subject),
    copier(say("js.copy.link"), () => location.href.split("#")[0] + causeAddress()),
    copier(say("js.copy.json"), () => exampleJson(one, data.subjects[subject].name)),
    copier("Markdown", () => markdown(grid())),
    copier("LaTeX", () => latex(grid())),
  );
  const turn = make(
    "nav",
    { class: "turn", "aria-label": say("js.examples") },
    step(`‹ ${say("js.example.previous")}`, -1),
    make("b", {}, say("js.example", { i: place + 1, n: found.length })),
    step(`${say("js.example.next")} ›`, 1),
    tools,
  );
  const where = make("p", { class: "where" }, make("b", {}, visible(one.document)), " ", make("code", {}, visible(one.gold_pointer ?? one.predicted_pointer ?? one.path)), ` ${named}${drawn}`);
  const table = make("div", { class: "scroll" }, comparisonTable(one, subject));
  const body = make("div", { class: one.source ? "beside" : "alone" }, one.source ? sourceBox(one.source) : null, table);
  box.replaceChildren(...[head, turn, where, failureOf(keptBy[subject].get(one.document)), body, decisionBox(one, data.subjects[subject].name)].filter(Boolean));
  if (key) (turn.querySelector(`button[aria-keyshortcuts="${key}"]:enabled`) ?? turn.querySelector("button:enabled"))?.focus({ preventScroll: true });
  showWithin(box, body.querySelector("tr.hit"));
  showWithin(body.querySelector(".source"), body.querySelector(".source mark"));
};
const showCause = (cause, place = 0, { push = true } = {}) => {
  if (picked.cause) rowOfCause(picked.cause).removeAttribute("aria-current");
  picked.cause = cause;
  picked.found = matching(cause);
  picked.place = Math.max(0, Math.min(place, picked.found.length - 1));
  const row = rowOfCause(cause);
  row.setAttribute("aria-current", "true");
  const pane = row.closest(".scroll");
  if (pane.scrollHeight > pane.clientHeight) {
    const [top, bottom] = [row.offsetTop - row.offsetHeight, row.offsetTop + row.offsetHeight];
    if (top < pane.scrollTop || bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = top;
  }
  drawExample();
  remembered(push);
};
const turnExample = (by) => {
  const place = picked.place + by;
  if (!picked.found[place]) return;
  picked.place = place;
  drawExample();
  remembered(true);
};
const turnCause = (by) => {
  const rows = causeList.filter((cause) => !rowOfCause(cause).hidden);
  const next = rows[rows.indexOf(picked.cause) + by];
  if (next) showCause(next);
};
// Goes to the example in the address; returns whether there is one.
const followCause = () => {
  const values = new URLSearchParams(location.hash.slice(1));
  if (!values.has("cause")) return false;
  const wanted = causeList.find(({ key }) => key === values.get("cause"));
  if (!wanted) return false;
  const select = (input, value) => {
    if (input && [...input.options].some((option) => option.value === value)) input.value = value;
  };
  select(filter.path, values.has("path") ? `=${values.get("path")}` : "");
  const system = data.subjects.findIndex(({ name }) => name === values.get("s"));
  select(filter.system, system < 0 ? "" : String(system));
  filter.text.value = values.get("q") ?? "";
  narrowCauses();
  showCause(wanted, Number(values.get("i") ?? 1) - 1, { push: false });
  return true;
};
const startCauses = () => {
  at("causes").append(decisionsSummary());
  const paths = [...new Set(causeList.flatMap(({ examples }) => examples.map(({ one }) => one.path)))].sort();
  filter.path.append(...paths.map((path) => make("option", { value: `=${path}` }, plain(path || "/"))));
  at("c-filters").hidden = false;
  at("c-status").prepend(make("span", { id: "c-found", role: "status" }), " ");
  const changedFilters = () => {
    narrowCauses();
    const first = rowOfCause(picked.cause).hidden ? causeList.find((cause) => !rowOfCause(cause).hidden) : picked.cause;
    showCause(first ?? picked.cause, 0, { push: false });
  };
  for (const input of Object.values(filter)) input?.addEventListener("input", changedFilters);
  list.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-cause]");
    if (!row || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    showCause(causeList[[...list.tBodies[0].rows].indexOf(row)]);
  });
  onKey(["n", "p"], (key) => turnExample(key === "n" ? 1 : -1));
  onKey(["]", "["], (key) => turnCause(key === "]" ? 1 : -1));
  narrowCauses();
};
