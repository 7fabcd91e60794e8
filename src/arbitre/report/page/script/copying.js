// Copies links, tables and values in the formats of papers and programs.

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
  return copied.textContent.replace(/\s+/g, " ").trim();
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
  const button = make("button", { type: "button" }, name);
  button.addEventListener("click", () => copyText(whole(), button));
  return button;
};
for (const tools of document.querySelectorAll(".copies")) {
  tools.hidden = false;
  for (const button of tools.querySelectorAll("button"))
    button.addEventListener("click", () =>
      copyText(button.dataset.text ?? FORMS[button.dataset.copy](gridOf(at(tools.dataset.of))), button),
    );
}
