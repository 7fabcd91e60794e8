// Basics of the page: data, texts, numbers and elements; content is always inserted as text, never as markup.

const data = JSON.parse(document.getElementById("arbitre-data").textContent);

const say = (name, values = {}) =>
  (data.strings[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));

const number = (value, digits = 4) => {
  const text = value.toFixed(digits);
  return data.language === "fr" ? text.replace(".", ",") : text;
};
// Formats a count, or a fractional mass with two decimals.
const amount = (value) => (Math.abs(value - Math.round(value)) < 1e-9 ? String(Math.round(value)) : number(value, 2));
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
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
