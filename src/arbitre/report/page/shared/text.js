// Values as text, with invisible characters made visible and long texts cut.

const ROOM = 320; // maximum length of texts, in characters
const MANY = 30; // maximum length of lists
const HIDDEN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/u;

const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
// Text for places where elements are not allowed.
const plain = (whole) => [...whole].map((character) => (HIDDEN.test(character) ? code(character) : character)).join("");
const asCode = (name) => make("span", { class: "ctl" }, name);
const visible = (whole) => {
  const parts = [];
  let seen = "";
  for (const character of whole) {
    if (character !== "\n" && !HIDDEN.test(character)) {
      seen += character;
      continue;
    }
    if (seen) parts.push(seen);
    seen = "";
    parts.push(asCode(character === "\n" ? "↵" : code(character)));
    if (character === "\n") parts.push(character);
  }
  return seen ? [...parts, seen] : parts;
};
const SPACES = /([^\S\n ])/gu; // unusual spaces
const INVISIBLE = /([^\S\n ]|[\u034f\u200c\u200d\ufe00-\ufe0f])/gu; // the same, and joiners, non-joiners and variation selectors
// A text as it looks apart from the characters that `visible` shows: without invisible ones, and with plain spaces.
const appearance = (whole) => whole.replace(SPACES, " ").replace(INVISIBLE, "");
// Renders a part of a text that differs from another text. Shows unusual spaces, and parts that are only spaces. With
// `showCodes`, also shows the codes of joiners and variation selectors; by default not for emoji, which use them.
const differing = (whole, showCodes = !/\p{Extended_Pictographic}/u.test(whole)) => {
  const blank = /^[^\S\n]+$/u.test(whole);
  const spaces = (part) => [...part].map(() => asCode("␣"));
  return whole.split(showCodes ? INVISIBLE : SPACES).flatMap((part, at) => (at % 2 ? asCode(code(part)) : blank ? spaces(part) : visible(part)));
};
const allShown = (whole) => differing(whole, true);
// A name that may be broken between its parts.
const breakable = (name) => name.split(/(?<=[_.\-/])/).flatMap((part) => [visible(part), make("wbr")]);

const scalar = (value) => value === null || typeof value !== "object";
const LITERAL = "\ue000"; // starts a string that holds the JSON text of another value
const json = (value) => {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};
// The value of a JSON text, in which large integers are strings that hold their digits, as in the values of the page.
const exact = (raw) =>
  JSON.parse(
    raw.replace(/"(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*/g, (part) => {
      if (part.endsWith(":")) return part; // a key
      const large = /^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part));
      return large || String(JSON.parse(part)).startsWith(LITERAL) ? JSON.stringify(LITERAL + part) : part;
    }),
  );
// The text of a value. A string is in quotes only if `literal`, or if it would look like another value.
// Objects and lists are indented by `indent`.
const text = (value, literal, indent) => {
  if (typeof value !== "string")
    return JSON.stringify(value, null, indent).replace(/(?<!\\)"\ue000((?:[^"\\]|\\.)*)"(?!\s*:)/g, (_, part) => JSON.parse(`"${part}"`));
  if (value.startsWith(LITERAL)) return value.slice(1);
  return literal || json(value) ? JSON.stringify(value) : value;
};
// The text of a JSON object, from its keys and the JSON texts of their values.
const objectText = (parts) => `{${parts.map(([key, raw]) => `${JSON.stringify(key)}: ${raw}`).join(", ")}}`;
// Moves a position out of the middle of a character.
const apart = (whole, place) => (/[\uD800-\uDBFF]/.test(whole[place - 1] ?? "") ? place - 1 : place);
const cut = (whole, most) => whole.slice(0, apart(whole, most));
// Renders a text; a long one is cut to the part around a position, with a button for the rest.
const shown = (whole, place = 0, render = appearance(whole).trim() ? visible : allShown) => {
  if (whole === "") return make("span", { class: "absent" }, `“” (${say("js.empty")})`);
  if (whole.length <= ROOM) return make("bdi", {}, render(whole, 0));
  const start = apart(whole, Math.max(0, Math.min(place - Math.floor(ROOM / 3), whole.length - ROOM)));
  const end = apart(whole, start + ROOM);
  const ends = [start > 0 ? "…" : "", end < whole.length ? "…" : ""];
  const part = make("bdi", {}, ends[0], render(whole.slice(start, end), start), ends[1]);
  const open = (event) => {
    event.stopPropagation();
    part.remove();
    replace(more, [make("bdi", { class: "whole" }, visible(whole))]);
  };
  const more = button(say("js.cut", { n: whole.length }), open, { class: "cut" });
  return make("span", { class: "cuttable" }, part, more);
};

// A source text with marks. Each mark has a start, an end and a side, which determines its title.
const sourceText = (whole, marks, titleOf) => {
  const lines = (from, to) => whole.slice(from, to).split("\n").flatMap((line, place) => [place ? "\n" : "", ...visible(line)]);
  const parts = [];
  let end = 0;
  for (const [from, to, side] of [...marks].sort((a, b) => a[0] - b[0])) {
    if (from < end) continue;
    parts.push(...lines(end, from), make("mark", { class: side, title: titleOf(side) }, lines(from, to)));
    end = to;
  }
  return [...parts, ...lines(end)];
};
const glyph = (verdict) => make("i", { "aria-hidden": "true" }, data.glyphs[verdict] ?? "?");
const absent = () => make("span", { class: "absent" }, say("js.nothing"));
// Items with commas between them, which are copied with them but not seen.
const separated = (items) => items.flatMap((item, place) => (place ? [make("span", { class: "separator" }, ", "), item] : [item]));
// The items of a list: of a long one those that differ, with their neighbours, else the first ones. Buttons show the rest.
const folded = (chips, differing = []) => {
  if (!chips.length) return absent();
  const near = (place) => !differing.some(Boolean) || [-1, 0, 1].some((by) => differing[place + by]);
  let room = chips.length > MANY ? MANY : Infinity;
  const made = [];
  let hidden = [];
  const closed = (rest) => {
    const more = button(say("js.more", { n: rest.length }), () => replace(more, separated(rest)), { class: "cut" });
    return more;
  };
  chips.forEach((chip, place) => {
    const kept = room === Infinity || (near(place) && (room -= 1) >= 0);
    if (!kept) return hidden.push(chip);
    if (hidden.length) made.push(closed(hidden));
    hidden = [];
    return made.push(chip);
  });
  return separated(hidden.length ? [...made, closed(hidden)] : made);
};
