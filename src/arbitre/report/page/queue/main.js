// The review: one disagreement at a time, its address, the keys, and the start of the page.

const WIDE = matchMedia("(min-width: 62rem)");

const address = () => {
  const values = new URLSearchParams();
  if (view.current) values.set("id", view.current.id);
  for (const [name, value] of Object.entries(filtersNow())) if (value && value !== "all") values.set(name, value);
  if (view.opened) values.set("show", view.opened);
  return `#${values}`;
};
// Makes the state of the page its address: a new entry of the history, unless it replaces the last one.
const remember = (replace = false) => {
  if (address() === location.hash) return;
  try {
    history[replace ? "replaceState" : "pushState"](null, "", address());
  } catch {
    // not allowed in some frames, or too often; the page works without
  }
};
const neighbour = (by) => view.found[view.found.indexOf(view.current) + by];
const caseHead = (one) => {
  at("q-title").replaceChildren(
    ...[visible(brief(one.document)), " ", make("code", {}, breakable(brief(one.pointer || "/")))].flat(2),
  );
  const facts = [
    one.within.map((name) => plain(brief(name, 80))).join(" › "),
    say(`queue.kind.${one.kind}`),
    say("queue.weight", { n: number(one.weight, 3) }),
  ];
  at("q-facts").replaceChildren(
    make("em", { class: isFlagged(one) ? "tag flagged" : "tag" }, say(`queue.flag.${one.flag}`)),
    ` ${facts.filter(Boolean).join(" · ")}`,
  );
};
const showDecision = () =>
  at("q-decision").replaceChildren(
    ...decisionPane(view.current, { settle: decide, withdraw, discard, changed: update }),
  );
// Shows the current disagreement in all panes, each scrolled to what is disputed. All is measured after it is built.
const showCase = () => {
  const one = view.current;
  at("q-panes").hidden = at("q-head").hidden = !one;
  at("q-previous").disabled = !one || !neighbour(-1);
  at("q-next").disabled = !neighbour(1);
  if (one) {
    caseHead(one);
    at("q-source").replaceChildren(...sourcePane(one));
    at("q-annotators").replaceChildren(...annotatorsPane(one));
    showDecision();
  }
  scroll.top = revealed();
  listRows(choose);
  progress();
  const middles = [
    ["q-source", "mark:not(.entry), mark"],
    ["q-annotators", "tr.here"],
    ["q-decision", "none"],
  ].map(([id, mark]) => {
    const [pane, found] = [at(id), at(id).querySelector(mark)];
    return [pane, found ? Math.max(0, found.offsetTop - pane.clientHeight / 2) : 0];
  });
  for (const [pane, top] of [...middles, [at("q-list").parentNode, scroll.top]])
    if (pane.scrollTop !== top) pane.scrollTop = top;
};
const showStored = () => {
  at("q-stored").textContent = say(store.isStored() ? "queue.stored" : "queue.unstored");
};
// Stores the decisions, and takes over those of other tabs.
const storeAll = () => {
  const changed = store.save();
  showStored();
  if (!changed.length) return;
  tell(say("queue.elsewhere", { n: changed.length }));
  if (changed.includes(view.current?.id) && !at("q-decision").contains(document.activeElement)) showDecision();
};
const update = () => {
  storeAll();
  listRows(choose);
  progress();
};
const choose = (one, { replace = false, focus = true } = {}) => {
  view.current = one;
  remember(replace);
  showCase();
  if (focus && one) at("q-title").focus({ preventScroll: WIDE.matches });
};
const move = (by) => neighbour(by) && choose(neighbour(by));
// Goes on to the next disagreement without a decision: after the current one, or else the first.
const advance = () => {
  const from = view.found.indexOf(view.current) + 1;
  const next = [...view.found.slice(from), ...view.found.slice(0, from)].find((one) => !isDone(one));
  if (next) return choose(next);
  showCase();
  at("q-title").focus();
  return at("q-said").append(` ${say("queue.finished")}`);
};
const decisionOn = ({ id }, raw) => [id, { raw, by: at("q-name").value.trim(), note: store.noteFor(id) }];
const decide = (raw) => {
  const one = view.current;
  const wrong = obstacle(one, raw);
  if (wrong) return tell(wrong);
  store.change([decisionOn(one, raw)]);
  store.keepTyped(one.id, "");
  storeAll();
  tell(
    say("queue.just.decided", {
      pointer: plain(brief(one.pointer || "/")),
      value: raw === null ? say("queue.leave_out") : plain(brief(spaced(exact(raw)), 60)),
    }),
  );
  return advance();
};
const withdraw = () => {
  if (!decided.has(view.current.id)) return;
  store.change([[view.current.id, null]]);
  storeAll();
  showCase();
  tell(say("queue.just.withdrawn"));
  at("q-title").focus();
};
const discard = () => {
  store.keepTyped(view.current.id, "");
  showCase();
  at("q-title").focus();
};
const undo = () => {
  const ids = store.undo();
  if (!ids.length) return tell(say("queue.nothing.undone"));
  const one = cases.get(ids[0]);
  if (!view.found.includes(one)) {
    setFilters(new URLSearchParams());
    applyFilters();
  }
  storeAll();
  choose(one);
  return tell(say("queue.undone", { n: ids.length }));
};

// Dialogs: the list of proposals to accept, the files, and the help. Each has an address.
const DIALOGS = ["accept", "files", "help"];
const show = (name, { push = true } = {}) => {
  for (const other of DIALOGS) if (other !== name && at(`q-dialog-${other}`).open) at(`q-dialog-${other}`).close();
  view.opened = DIALOGS.includes(name) && (name !== "accept" || view.current) ? name : "";
  if (view.opened === "accept") fillAccept(acceptAll);
  showStored();
  if (view.opened && !at(`q-dialog-${name}`).open) at(`q-dialog-${name}`).showModal();
  if (push) remember();
};
const acceptAll = (chosen) => {
  store.change(chosen.map((one) => decisionOn(one, proposalOf(one))));
  storeAll();
  show("");
  tell(say("queue.just.accepted", { n: chosen.length }));
  advance();
};

const KEYS = {
  j: () => move(1),
  n: () => move(1),
  k: () => move(-1),
  p: () => move(-1),
  u: undo,
  w: () => view.current && withdraw(),
  e: () => at("q-other")?.click(),
  r: () => at("q-note")?.focus(),
  a: () => show("accept"),
  f: () => at("q-path").focus(),
  x: () => runExport(),
  "?": () => show("help"),
};
const pressed = (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || view.opened) return;
  const typing = event.target.matches("textarea, select, input");
  if (event.key === "Escape" && typing) at("q-title").focus();
  if (typing && !event.target.matches("[type=checkbox]")) return;
  const digit = digitOf(event);
  const choosing = digit && (() => at("q-decision").querySelector(`[data-key="${digit}"]`)?.click());
  const action = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : choosing;
  if (!action) return;
  event.preventDefault();
  action();
};
const along = (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const next = by && neighbour(by);
  if (!next) return;
  event.preventDefault();
  choose(next, { focus: false });
  at("q-list").querySelector("[aria-current]").focus({ preventScroll: true });
};
const scrolled = () => {
  const before = scroll.top;
  measure();
  if (
    scroll.top !== before ||
    at("q-list").childElementCount < Math.min(view.found.length, scroll.room / scroll.row + AROUND)
  )
    listRows(choose);
};
const runExport = () => {
  const named = () => at("q-name").focus();
  exported(named, update);
};

// Shows the state of the address: filters, disagreement and dialog. Without one, the first undecided disagreement.
const follow = () => {
  const values = new URLSearchParams(location.hash.slice(1));
  setFilters(values);
  applyFilters();
  const asked = cases.get(values.get("id"));
  view.current = asked ?? view.found.find((one) => !isDone(one)) ?? view.found[0] ?? null;
  view.opened = "";
  showCase();
  show(values.get("show") ?? "", { push: false });
};
const filtered = () => {
  applyFilters();
  const one = view.found.includes(view.current)
    ? view.current
    : (view.found.find((other) => !isDone(other)) ?? view.found[0] ?? null);
  choose(one, { focus: false });
};
const start = () => {
  at("q-source").hidden = !data.sources;
  fillFilter(
    "path",
    say("js.all"),
    data.disagreements.map((one) => one.path),
  );
  fillFilter(
    "document",
    say("queue.documents"),
    data.disagreements.map((one) => one.document),
  );
  for (const name of FILTERS) filterAt(name).addEventListener("change", filtered);
  store.restore();
  const { lines, made } = takePrevious();
  // The decisions in the page replace those of earlier visits, but only once, as some may have been withdrawn since.
  const toLoad = lines + ([made, store.kept(madeOn)].includes(data.made) ? "" : data.decisions);
  const hasList = toLoad !== "" && load(toLoad);
  store.keep(madeOn, data.made);
  store.keepName(at("q-name"));
  store.listen(update);
  document.addEventListener("keydown", pressed);
  at("q-list").addEventListener("keydown", along);
  at("q-list").parentNode.addEventListener("scroll", scrolled, { passive: true });
  new ResizeObserver(scrolled).observe(at("q-list").parentNode);
  at("q-previous").addEventListener("click", () => move(-1));
  at("q-next").addEventListener("click", () => move(1));
  at("q-undo").addEventListener("click", undo);
  at("q-export").addEventListener("click", runExport);
  at("q-file").addEventListener("change", () =>
    imported(() => {
      update();
      showCase();
    }),
  );
  at("q-scope").addEventListener("change", () => fillAccept(acceptAll));
  for (const name of DIALOGS) {
    const dialog = at(`q-dialog-${name}`);
    at(`q-open-${name}`).addEventListener("click", () => show(name));
    dialog.addEventListener("close", () => view.opened === name && show(""));
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  }
  addEventListener("popstate", follow);
  addEventListener("beforeprint", () => at("q-print").replaceChildren(printed()));
  addEventListener("afterprint", () => at("q-print").replaceChildren());
  at("q-side").open = WIDE.matches;
  WIDE.addEventListener("change", () => {
    at("q-side").open = WIDE.matches;
  });
  measure();
  follow();
  remember(true);
  if (hasList) show("files", { push: false });
  storeAll();
};
startTheme();
if (data.disagreements.length) start();
