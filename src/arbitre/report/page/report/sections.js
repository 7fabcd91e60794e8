// Sections that open by a click or a link, keyboard shortcuts, and tables that can be sorted and copied.

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

const sorted = (rows, column, sign) =>
  rows
    .map((row) => {
      const cell = row.cells[column];
      const text = cell.dataset.sort ?? cell.textContent.trim();
      return { row, text, value: text === "" ? NaN : Number(text) };
    })
    .sort((a, b) => {
      if (a.text === "" || b.text === "") return (a.text === "") - (b.text === ""); // missing values last
      const both = !Number.isNaN(a.value) && !Number.isNaN(b.value);
      return sign * (both ? a.value - b.value : a.text.localeCompare(b.text, data.language));
    })
    .map((one) => one.row);
const sortable = (table) => {
  const buttons = [...table.querySelectorAll("thead button.sort")];
  buttons.forEach((button, column) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of buttons) other.closest("th").removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      body.append(...sorted([...body.rows], column, down ? -1 : 1));
    });
  });
};
document.querySelectorAll("table.sortable").forEach(sortable);

// Copies a text, and says so on the button. Pages that are opened as files may not use the clipboard of the browser.
const copyText = async (whole, button) => {
  let done = false;
  try {
    await navigator.clipboard.writeText(whole);
    done = true;
  } catch {
    const area = make("textarea", { class: "unseen" });
    area.value = whole;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const name = (button.dataset.name ??= button.textContent);
  button.textContent = say(done ? "js.copied" : "js.uncopied");
  setTimeout(() => {
    button.textContent = name;
  }, 1500);
};
const cellText = (cell) => {
  const copied = cell.cloneNode(true);
  for (const small of copied.querySelectorAll("small, svg, .unseen")) small.prepend(" ");
  for (const glyph of copied.querySelectorAll("i")) glyph.append(" ");
  for (const button of copied.querySelectorAll("button.cut")) button.replaceWith(button.closest(".cuttable") ? "" : "…");
  for (const next of copied.querySelectorAll("p + p")) next.prepend("; ");
  const whole = copied.textContent.replace(/\s+/g, " ").trim();
  return cell.matches(".n") ? whole.replace(/−(?=\d)/g, "-") : whole; // programs do not read U+2212 as a minus
};
// The rows of a table as texts, without rows that only group others.
const gridOf = (table) =>
  [...table.rows]
    .filter((row) => row.cells.length > 1)
    .map((row) => [...row.cells].map(cellText));
const markdown = ([head, ...rows]) => {
  const written = (cells) => `| ${cells.map((cell) => cell.replace(/\|/g, "\\|")).join(" | ")} |`;
  return [written(head), written(head.map(() => "---")), ...rows.map(written)].join("\n");
};
const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
const latexText = (whole) => whole.replace(/[\\~^]|[&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
const latex = ([head, ...rows]) => {
  const written = (cells) => `${cells.map(latexText).join(" & ")} \\\\`;
  const body = [written(head), "\\midrule", ...rows.map(written)];
  return [`\\begin{tabular}{${"l".repeat(head.length)}}`, "\\toprule", ...body, "\\bottomrule", "\\end{tabular}"].join("\n");
};
const jsonOf = ([head, ...rows]) =>
  JSON.stringify(rows.map((row) => Object.fromEntries(row.map((cell, place) => [head[place] || "name", cell]))), null, 2);
const FORMS = { markdown, latex, json: jsonOf };
const copier = (name, whole) => {
  const made = button(name, () => copyText(whole(), made));
  return made;
};
for (const tools of document.querySelectorAll(".copies")) {
  tools.hidden = false;
  for (const button of tools.querySelectorAll("button"))
    button.addEventListener("click", () =>
      copyText(button.dataset.text ?? FORMS[button.dataset.copy](gridOf(at(tools.dataset.of))), button),
    );
}
