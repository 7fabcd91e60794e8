// Sections of the page: closed until they are asked for, by a click or by a link to something in them.

const openers = new Map(); // what to build when a section is first opened
const onOpen = (id, build) => {
  const box = at(id);
  if (!box) return;
  if (!openers.has(box)) box.addEventListener("toggle", () => box.open && built(box));
  openers.set(box, [...(openers.get(box) ?? []), build]);
};
const built = (box) => {
  const builders = openers.get(box) ?? [];
  openers.set(box, []);
  for (const build of builders) build();
};
// Opens the sections around an element. Their content is there when this returns.
const reveal = (node) => {
  for (let box = node?.closest("details"); box; box = box.parentElement?.closest("details")) {
    box.open = true;
    built(box);
  }
};
// Whether the address names a document, so that keys are about its entries.
const namesDocument = () => new URLSearchParams(location.hash.slice(1)).has("d");
// Goes to the element of a plain address, such as #scores; returns whether there is one.
const followPlain = () => {
  let id = location.hash.slice(1);
  try {
    id = decodeURIComponent(id);
  } catch {
    // not a valid encoding, such as #100%
  }
  const node = at(id);
  if (!node) return false;
  reveal(node);
  node.scrollIntoView();
  return true;
};
// Tables that few readers open are in templates until then.
for (const box of document.querySelectorAll("details.lazy"))
  box.addEventListener(
    "toggle",
    () => {
      const held = box.querySelector("template");
      if (!held) return;
      held.replaceWith(held.content);
      box.querySelectorAll("table.sortable").forEach(sortable);
    },
    { once: true },
  );
const typing = (target) => Boolean(target.closest?.("input, select, textarea, [contenteditable], dialog"));
// Adds a key that works anywhere but where a text is typed.
const onKey = (keys, act) =>
  document.addEventListener("keydown", (event) => {
    const key = keys.includes(event.key) ? event.key : digitOf(event);
    const composed = event.getModifierState("AltGraph"); // such as [ on a French keyboard
    if (!keys.includes(key) || (!composed && (event.ctrlKey || event.altKey)) || event.metaKey || typing(event.target)) return;
    if (act(key) !== false) event.preventDefault();
  });
