// Reads the values that people type, and checks them against the JSON Schema of their path.

// The JSON text of what was typed: itself if it is JSON, a string for other text, null for malformed JSON.
const typed = (written) => {
  const trimmed = written.trim();
  if (json(trimmed)) return trimmed;
  return trimmed === "" || /^["[{]/.test(trimmed) ? null : JSON.stringify(trimmed);
};
// What to type for a JSON text: the inverse of `typed`. Lists and objects are indented unless that would round a number.
const untyped = (raw) => {
  const value = JSON.parse(raw);
  if (typeof value === "string" && typed(value) === raw) return value;
  return !scalar(value) && JSON.stringify(value) === raw ? JSON.stringify(value, null, 2) : raw;
};

const LISTED = 8; // maximum number of values in a message
const SHORT = 80; // maximum length of each, in characters
const isList = (value) => Array.isArray(value);
const isObject = (value) => !scalar(value) && !isList(value);
const isText = (value) => typeof value === "string";
// Values are those of `exact`: large integers are strings that hold their digits.
const isLarge = (value) => isText(value) && /^\ue000-?\d+$/.test(value);
const isNumber = (value) => typeof value === "number" || isLarge(value);
const TYPES = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value) || isLarge(value),
  number: isNumber,
  string: (value) => isText(value) && !isLarge(value),
  array: isList,
  object: isObject,
};
const typeOf = (value) => Object.keys(TYPES).find((name) => TYPES[name](value));

// A text that is equal for equal values of `exact`, whatever the order of their keys.
const canonical = (value) =>
  JSON.stringify(value, (_, inner) => {
    if (isObject(inner)) return Object.fromEntries(Object.entries(inner).sort());
    return Number.isInteger(inner) && !Number.isSafeInteger(inner) ? LITERAL + BigInt(inner) : inner; // such as 1e22
  });
// Whether two JSON texts are the same value, however they are written. Null, for no value, differs from all others.
const isSame = (left, right) =>
  left === right || (left !== null && right !== null && canonical(exact(left)) === canonical(exact(right)));
const leap = (year) => (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0);
const isDate = (written) => {
  const [year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(written) ?? []).slice(1).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
};
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const FORMATS = {
  date: isDate,
  "date-time": (written) => /^.{10}t/i.test(written) && isDate(written.slice(0, 10)) && TIME.test(written.slice(11)),
};
// Whether a text matches a pattern. The command checks the patterns that a browser cannot read.
const matches = (pattern, written) => {
  try {
    return new RegExp(pattern, "u").test(written);
  } catch {
    return true;
  }
};
const size = (value) => (isText(value) ? [...value].length : isList(value) ? value.length : 0);
// Values of a schema, as text for a message.
const listing = (values) => {
  const texts = values.slice(0, LISTED).map((value) => plain(cut(text(value, true), SHORT)));
  return [...texts, ...(values.length > LISTED ? ["…"] : [])].join(", ");
};
const typeNames = (types) => types.map((name) => say(`check.type.${name}`)).join(say("check.or"));

// A single value as JavaScript has it: large integers as BigInt.
const meant = (value) => {
  if (!isText(value) || !value.startsWith(LITERAL)) return value;
  return isLarge(value) ? BigInt(value.slice(1)) : JSON.parse(value.slice(1));
};
// For each keyword: the values that it applies to, and whether a value satisfies it.
const CHECKS = {
  minimum: [isNumber, (value, bound) => value >= bound],
  maximum: [isNumber, (value, bound) => value <= bound],
  exclusiveMinimum: [isNumber, (value, bound) => value > bound],
  exclusiveMaximum: [isNumber, (value, bound) => value < bound],
  minLength: [TYPES.string, (value, bound) => size(value) >= bound],
  maxLength: [TYPES.string, (value, bound) => size(value) <= bound],
  minItems: [isList, (value, bound) => size(value) >= bound],
  maxItems: [isList, (value, bound) => size(value) <= bound],
  pattern: [TYPES.string, (value, pattern) => matches(pattern, value)],
  format: [TYPES.string, (value, name) => FORMATS[name]?.(value) ?? true],
};
// The first violation of a schema by a value: its place in the value, its message, and the types that a `type` expects.
const violation = (schema, value, place = "") => {
  if (schema === false) return { place, message: say("check.forbidden") };
  if (schema === true) return null;
  const types = [schema.type ?? []].flat();
  if (types.length && !types.some((name) => TYPES[name]?.(value) ?? true)) return mistyped(types, value, place);
  if (schema.enum && !schema.enum.some((one) => canonical(one) === canonical(value)))
    return { place, message: say("check.enum", { values: listing(schema.enum) }) };
  if ("const" in schema && canonical(schema.const) !== canonical(value))
    return { place, message: say("check.enum", { values: listing([schema.const]) }) };
  for (const [name, [applies, holds]] of Object.entries(CHECKS)) {
    if (!(name in schema && applies(value))) continue;
    const bound = isLarge(schema[name]) ? meant(schema[name]) : schema[name];
    if (!holds(meant(value), bound))
      return { place, message: say(name === "format" ? `check.${schema.format}` : `check.${name}`, { bound: plain(String(bound)) }) };
  }
  return inside(schema, value, place) ?? beside(schema, value, place);
};
const mistyped = (types, value, place) => ({
  place,
  types,
  message: say("check.type", { types: typeNames(types), type: say(`check.type.${typeOf(value)}`) }),
});
// A violation by the keys of an object, or by the values in an object or a list.
const inside = (schema, value, place) => {
  const within = (part, inner, token) => violation(part, inner, `${place}/${token}`);
  if (isList(value)) {
    const first = schema.prefixItems ?? [];
    return value.map((inner, at) => within(first[at] ?? schema.items ?? true, inner, at)).find(Boolean) ?? null;
  }
  if (!isObject(value)) return null;
  const lacking = (schema.required ?? []).find((key) => !Object.hasOwn(value, key));
  if (lacking !== undefined) return { place, message: say("check.required", { key: plain(lacking) }) };
  const declared = schema.properties ?? {};
  const of = (key) => (Object.hasOwn(declared, key) ? declared[key] : (schema.additionalProperties ?? true));
  return Object.entries(value).map(([key, inner]) => within(of(key), inner, key)).find(Boolean) ?? null;
};
// A violation of the schemas that apply to the same value: of any in `allOf`, of every one in a union.
const beside = (schema, value, place) => {
  const found = (schema.allOf ?? []).map((part) => violation(part, value, place)).find(Boolean);
  if (found || !schema.anyOf) return found ?? null;
  const violations = schema.anyOf.map((part) => violation(part, value, place));
  if (violations.includes(null)) return null;
  const types = violations.flatMap((one) => (one.place === place && one.types) || []);
  return violations.find((one) => one.place !== place || !one.types) ?? mistyped([...new Set(types)], value, place);
};
// What is wrong with a JSON text by a schema, as a sentence; null if nothing is. Other keywords are left to the command.
const problemOf = (schema, raw) => {
  if (raw === null || !json(raw)) return say("check.malformed");
  const found = violation(schema ?? true, exact(raw));
  if (!found) return null;
  return found.place ? say("check.within", { place: plain(found.place), message: found.message }) : found.message;
};
