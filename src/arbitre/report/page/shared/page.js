// Basics of a page: data, texts, numbers, elements and the theme; content is always inserted as text, never as markup.

const data = JSON.parse(document.getElementById("arbitre-data").textContent);

const [GROUP, MARK] = data.language === "fr" ? ["\u202f", ","] : [",", "."];
// Formats a number by the rules of the language, as `Language.number` does in Python: ties are rounded to even, and minus
// is U+2212.
const number = (value, digits = 4) => {
  let text = value.toFixed(digits);
  const last = text[text.length - 1];
  if (Math.abs(value * 2 ** (digits + 1)) % 2 === 1 && last % 2) text = text.slice(0, -1) + (last - 1);
  const [whole, decimals] = text.replace("-", Number(text) ? "−" : "").split(".");
  const grouped = /\d{5}/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, GROUP) : whole;
  return decimals ? grouped + MARK + decimals : grouped;
};
// Formats a count, or a fractional mass with two decimals.
const amount = (value) => number(value, Math.abs(value - Math.round(value)) < 1e-9 ? 0 : 2);
// A text with its values in place of `{name}`: numbers are counts, and `.one` is the singular.
const say = (name, values = {}) =>
  (data.strings[values.n === 1 ? `${name}.one` : name] ?? data.strings[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => {
    const value = values[key] ?? "";
    return typeof value === "number" ? amount(value) : String(value);
  });
const hundredths = (value, digits) => `${number(value, digits)}${data.language === "fr" ? "\u00a0" : ""}%`;
// Formats a share as a percentage; shares strictly between 0 and 1 never become 0% or 100%.
const percent = (share) => {
  const value = share * 100;
  const digits = value < 1 || (value > 99 && value < 100) ? 1 : 0;
  return hundredths(value < 100 ? Math.min(Math.max(value, 0.1), 99.9) : 100, digits);
};

const at = (id) => document.getElementById(id);
const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
};
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
// A button with its attributes, and what a click on it does.
const button = (label, pressed, attributes = {}) => {
  const made = make("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", pressed);
  return made;
};
const keyed = (key) => make("kbd", { "aria-hidden": "true" }, key);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
// Keys that compose a character, as in Chinese or Japanese, are for the text that is typed: Enter ends the composition.
document.addEventListener("keydown", (event) => event.isComposing && event.stopPropagation(), true);
// Replaces an element, such as a button that shows more, by others. If it has the focus, `next` takes it.
const replace = (node, others, next = others[0]) => {
  const focused = node.contains(document.activeElement);
  node.replaceWith(...others);
  if (!focused) return;
  if (next.tabIndex < 0) next.tabIndex = -1;
  next.focus({ preventScroll: true });
};
// The digit of a key, also where digits need the shift key, as on French keyboards.
const digitOf = ({ key, code, shiftKey }) =>
  /^[0-9]$/.test(key) ? key : shiftKey ? null : (/^Digit([0-9])$/.exec(code)?.[1] ?? null);

const THEMES = ["auto", "light", "dark"];
// Shows the button of the theme.
const startTheme = () => {
  at("theme").hidden = false;
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme ?? "auto";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    at("theme").querySelector("span").textContent = say(`theme.${next}`);
  });
};
