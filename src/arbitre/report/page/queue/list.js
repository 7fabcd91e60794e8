// The list of disagreements, page by page, with filters and keys.

const SIZE = 20; // number of disagreements on a page
const queue = { found: data.disagreements, page: 0 };
const pages = () => Math.max(1, Math.ceil(queue.found.length / SIZE));

const progress = () => {
  const n = data.disagreements.length;
  const texts = [say("queue.progress", { done: data.disagreements.filter(isDone).length, n })];
  if (queue.found.length < n) texts.push(say("queue.shown", { shown: queue.found.length, n }));
  at("q-status").textContent = texts.join(" ");
};
const update = () => {
  const changed = store();
  at("q-stored").textContent = say(changed ? "queue.stored" : "queue.unstored");
  renew(changed ?? []);
  for (const box of at("q-list").children) box.refresh?.();
  progress();
};
// Shows the decisions of other tabs. A disagreement in which something is being typed is left as it is.
const renew = (ids) => {
  for (const [place, box] of [...at("q-list").children].entries())
    if (ids.includes(box.dataset.id) && !box.contains(document.activeElement))
      box.replaceWith(caseOf(cases.get(box.dataset.id), queue.page * SIZE + place, update));
  if (ids.length) at("q-said").textContent = say("queue.elsewhere", { n: ids.length });
};
const listCases = ({ focus = false } = {}) => {
  const first = queue.page * SIZE;
  const shownCases = queue.found.slice(first, first + SIZE);
  const built = shownCases.map((one, place) => caseOf(one, first + place, update));
  at("q-list").start = first + 1;
  at("q-list").replaceChildren(...(built.length ? built : [make("li", { class: "note" }, say("queue.none"))]));
  at("q-page").textContent = say("queue.page", { page: queue.page + 1, pages: pages() });
  at("q-previous").disabled = queue.page === 0;
  at("q-next").disabled = queue.page === pages() - 1;
  progress();
  if (focus) built[0]?.focus();
};
const FILTERS = ["q-path", "q-document", "q-state"];
// The filters and the page, for a reload of this tab.
const keepView = () => keep("-view", JSON.stringify([queue.page, ...FILTERS.map((id) => at(id).value)]), ofTab);
const restoreView = () => {
  const view = kept("-view", ofTab);
  if (view === "") return;
  const [page, ...values] = JSON.parse(view);
  FILTERS.forEach((id, place) => {
    if ([...at(id).options].some((option) => option.value === values[place])) at(id).value = values[place];
  });
  filterCases();
  queue.page = Math.min(page, pages() - 1);
  listCases();
  keepView();
};
const turn = (by) => {
  queue.page = Math.max(0, Math.min(pages() - 1, queue.page + by));
  keepView();
  listCases({ focus: true });
};
// Filters apply when they are changed, so that a disagreement stays where it is when it is decided.
const filterCases = () => {
  const [path, name, state] = FILTERS.map((id) => at(id).value);
  queue.found = data.disagreements.filter(
    (one) =>
      (path === "" || one.path === path.slice(1)) &&
      (name === "" || one.document === name.slice(1)) &&
      (state === "all" || isDone(one) === (state === "decided")),
  );
  queue.page = 0;
  keepView();
  listCases();
};

const options = (id, all, values) => {
  const count = new Map();
  for (const value of values) count.set(value, (count.get(value) ?? 0) + 1);
  const option = ([value, n]) => make("option", { value: `=${value}` }, `${plain(brief(value || "/", 80))} (${n})`);
  at(id).append(make("option", { value: "" }, all), ...[...count].map(option));
};

// Keyboard shortcuts in a disagreement: a digit chooses a reading, j and k go to the next and the previous one.
const pressed = (event) => {
  const box = event.target.closest(".case");
  if (!box || event.ctrlKey || event.altKey || event.metaKey || event.target.matches("textarea, input[type=text]")) return;
  const by = { j: 1, k: -1 }[event.key];
  if (by) {
    const next = by > 0 ? box.nextElementSibling : box.previousElementSibling;
    if (next) next.focus();
    else if (queue.page + by >= 0 && queue.page + by < pages()) turn(by);
  } else if (/^[1-9]$/.test(event.key)) box.querySelectorAll("input[type=radio]")[Number(event.key) - 1]?.click();
  else return;
  event.preventDefault();
};
