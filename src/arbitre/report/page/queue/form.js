// Forms for values, from the schema of their place. Each control reads as JSON text, so that no number is rounded.

// The functions of a control: `read()` returns its value, or null if it is incomplete; `read(true)` reads what is
// incomplete as a text; `check()` shows what is wrong with it.

const SCALARS = ["string", "number", "integer", "boolean", "null"];
const typesOf = (schema) => [schema.type ?? []].flat();
// One schema instead of several that all apply, as far as a form needs it.
const merged = (schemas) => {
  const parts = schemas.filter(isObject);
  const having = (key) => parts.filter((part) => part[key]).map((part) => part[key]);
  const [properties, required] = [having("properties"), having("required")];
  return {
    ...Object.assign({}, ...parts),
    ...(properties.length ? { properties: Object.assign({}, ...properties) } : {}),
    ...(required.length ? { required: [...new Set(required.flat())] } : {}),
  };
};
// The ways in which a value can satisfy a schema: the members of unions, and one schema for each type.
const waysOf = (schema) => {
  if (!isObject(schema)) return [true];
  const { allOf, anyOf, ...own } = schema;
  if (allOf) return waysOf(merged([{ ...own, ...(anyOf ? { anyOf } : {}) }, ...allOf]));
  if (schema.enum || "const" in schema) return [schema];
  if (anyOf) return anyOf.flatMap((part) => waysOf(Object.keys(own).length ? merged([own, part]) : part));
  const types = typesOf(schema);
  return types.length > 1 ? types.map((type) => ({ ...schema, type })) : [schema];
};
const typeOfWay = (way) => {
  if (!isObject(way)) return "any";
  if (way.enum || "const" in way) return "enum";
  return typesOf(way)[0] ?? (way.properties ? "object" : (way.items ?? way.prefixItems) ? "array" : "any");
};
// The values that a way allows, if they are few.
const valuesOfWay = (way) => {
  const type = typeOfWay(way);
  if (type === "enum") return way.enum ?? [way.const];
  return { boolean: [true, false], null: [null] }[type] ?? null;
};
const isPlain = (way) => [...SCALARS, "any"].includes(typeOfWay(way));
const isOfWay = (way, raw) => {
  const type = typeOf(exact(raw));
  return typeOfWay(way) === type || (type === "integer" && typeOfWay(way) === "number");
};
// The way that a value takes: the first that allows it, else the first of its type, else the first.
const wayOf = (ways, raw) => {
  if (raw === null) return 0;
  const found = [(way) => problemOf(way, raw) === null, (way) => isOfWay(way, raw)].map((fits) => ways.findIndex(fits));
  return found.find((at) => at >= 0) ?? 0;
};
// The value of a new field or item, as JSON text; null where it must be typed.
const blank = (schema) => {
  const [way] = waysOf(schema);
  const type = typeOfWay(way);
  if (type === "array") return "[]";
  if (type !== "object") return "const" in Object(way) ? text(way.const, true) : type === "null" ? "null" : null;
  const parts = (way.required ?? []).map((key) => [key, blank(way.properties?.[key] ?? true)]);
  return objectText(parts.map(([key, raw]) => [key, raw ?? '""']));
};
const every = (texts, written) => (texts.includes(null) ? null : written(texts));

let controls = 0;
const identity = () => `q-control-${(controls += 1)}`;
// A control that shows what is wrong with its value while it is typed.
const checking = (schema, input, read, changed) => {
  const id = identity();
  const said = make("small", { id, class: "said" });
  input.setAttribute("aria-describedby", id);
  const check = () => {
    const raw = read();
    const problem = raw === null && input.value.trim() === "" ? say("queue.empty_value") : refusal(schema, raw).problem;
    input.setAttribute("aria-invalid", String(problem !== null));
    said.textContent = problem ?? "";
  };
  input.addEventListener("input", () => {
    check();
    changed();
  });
  return { node: [input, said], read, check, written: () => input.value };
};
const textControl = (schema, way, raw, label, changed) => {
  const literal = typeOfWay(way) === "string" && waysOf(schema).length === 1;
  const value = raw === null ? "" : literal && isText(JSON.parse(raw)) ? JSON.parse(raw) : untyped(raw);
  const long = value.length > 40 || value.includes("\n");
  const numeric = ["integer", "number"].includes(typeOfWay(way)) && waysOf(schema).length === 1;
  const input = make(long ? "textarea" : "input", {
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
    ...(long
      ? { rows: Math.min(8, Math.ceil(value.length / 30)) }
      : { type: "text", inputmode: numeric ? "decimal" : null }),
  });
  input.value = value;
  return checking(
    schema,
    input,
    (partial) => {
      const raw = literal ? JSON.stringify(input.value) : typed(input.value);
      return partial ? (raw ?? JSON.stringify(input.value)) : raw;
    },
    changed,
  );
};
const choiceControl = (schema, values, raw, label, changed) => {
  const option = (value, at) => make("option", { value: at }, plain(brief(text(value, false), 80)));
  const input = make("select", { "aria-label": label }, make("option", { value: "" }, "—"), values.map(option));
  const at = raw === null ? -1 : values.findIndex((value) => canonical(value) === canonical(exact(raw)));
  input.value = at < 0 ? "" : String(at);
  return checking(
    schema,
    input,
    (partial) => (input.value !== "" ? text(values[Number(input.value)], true) : partial ? '""' : null),
    changed,
  );
};
const objectControl = (way, raw, label, changed) => {
  const texts = raw !== null && isObject(JSON.parse(raw)) ? members(raw) : {};
  const declared = isObject(way) ? (way.properties ?? {}) : {};
  const required = isObject(way) ? (way.required ?? []) : [];
  const others = isObject(way) ? (way.additionalProperties ?? true) : true;
  const schemaFor = (key) => (Object.hasOwn(declared, key) ? declared[key] : others);
  const fields = new Map();
  const box = make("div", { class: "form-fields" });
  const names = make("datalist", { id: identity() });
  const name = make("input", {
    type: "text",
    list: names.id,
    "aria-label": say("queue.form.name", { label }),
    placeholder: say("queue.form.new"),
    autocomplete: "off",
  });
  const offer = () =>
    names.replaceChildren(
      ...Object.keys(declared)
        .filter((key) => !fields.has(key))
        .map((key) => make("option", { value: key })),
    );
  const add = (key, value) => {
    const field = control(schemaFor(key), value, plain(key), changed);
    const remove = required.includes(key)
      ? null
      : button(
          "×",
          () => {
            fields.delete(key);
            row.remove();
            offer();
            name.focus();
            changed();
          },
          { class: "cut", "aria-label": say("queue.form.remove", { name: plain(key) }) },
        );
    const row = make(
      "div",
      { class: "form-field" },
      make("span", { class: "form-label" }, breakable(key), required.includes(key) ? " *" : null),
      make("div", {}, field.node),
      remove,
    );
    fields.set(key, field);
    box.append(row);
    offer();
    return row;
  };
  for (const [key, value] of Object.entries(texts)) add(key, value);
  for (const key of required) if (!fields.has(key)) add(key, blank(schemaFor(key)));
  const added = () => {
    const key = name.value;
    if (key === "" || fields.has(key) || schemaFor(key) === false) return;
    name.value = "";
    const row = add(key, blank(schemaFor(key)));
    row.querySelector("input, select, textarea, button")?.focus();
    changed();
  };
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    added();
  });
  const closed = others === false && Object.keys(declared).every((key) => required.includes(key));
  const adder = closed ? null : make("div", { class: "form-add" }, name, names, button(say("queue.form.field"), added));
  const read = (partial) =>
    every(
      [...fields.values()].map((field) => field.read(partial)),
      (found) => objectText([...fields.keys()].map((key, at) => [key, found[at]])),
    );
  return {
    node: make("fieldset", { class: "form" }, make("legend", {}, label), box, adder),
    read,
    check: () => fields.forEach((field) => field.check()),
  };
};
const listControl = (way, raw, label, changed) => {
  const texts = raw !== null && isList(JSON.parse(raw)) ? Object.values(members(raw)) : [];
  const schemaAt = (at) => (isObject(way) ? (way.prefixItems?.[at] ?? way.items ?? true) : true);
  const items = [];
  const box = make("ol", { class: "form-items" });
  const add = (value) => {
    const at = items.length;
    const item = control(schemaAt(at), value, say("queue.form.item", { label, n: at + 1 }), changed);
    const remove = button(
      "×",
      () => {
        items.splice(items.indexOf(item), 1);
        row.remove();
        (box.lastElementChild?.querySelector("input, select, textarea, button") ?? more).focus();
        changed();
      },
      { class: "cut", "aria-label": say("queue.form.remove", { name: say("queue.form.item", { label, n: at + 1 }) }) },
    );
    const row = make("li", {}, make("div", {}, item.node), remove);
    items.push(item);
    box.append(row);
    return row;
  };
  for (const value of texts) add(value);
  const more = button(
    say("queue.form.add"),
    () => {
      const row = add(blank(schemaAt(items.length)));
      row.querySelector("input, select, textarea, button").focus();
      changed();
    },
    { "aria-label": say("queue.form.add.to", { label }) },
  );
  const read = (partial) =>
    every(
      items.map((item) => item.read(partial)),
      (found) => `[${found.join(", ")}]`,
    );
  return {
    node: make("fieldset", { class: "form" }, make("legend", {}, label), box, more),
    read,
    check: () => items.forEach((item) => item.check()),
  };
};
const controlOfWay = (schema, way, raw, label, changed) => {
  const type = typeOfWay(way);
  const given = raw === null || type !== "any" ? type : typeOf(exact(raw));
  if (given === "object") return objectControl(way, raw, label, changed);
  if (given === "array") return listControl(way, raw, label, changed);
  return textControl(schema, way, raw, label, changed);
};
// A control for a value. If it may be of several kinds, the kind is chosen first; single values need no choice.
const control = (schema, raw, label, changed) => {
  const ways = waysOf(schema);
  const listed = ways.map(valuesOfWay);
  if (!listed.includes(null)) return choiceControl(schema, listed.flat(), raw, label, changed);
  if (ways.length === 1 || ways.every(isPlain))
    return controlOfWay(schema, ways.length === 1 ? ways[0] : true, raw, label, changed);
  let chosen = wayOf(ways, raw);
  const own = raw !== null && (isOfWay(ways[chosen], raw) || problemOf(ways[chosen], raw) === null) ? raw : null;
  let inner = controlOfWay(ways[chosen], ways[chosen], own ?? blank(ways[chosen]), label, changed);
  const option = (way, at) =>
    make(
      "option",
      { value: at },
      `${say(`queue.kind.${typeOfWay(way)}`)}${ways.filter((other) => typeOfWay(other) === typeOfWay(way)).length > 1 ? ` ${at + 1}` : ""}`,
    );
  const select = make("select", { "aria-label": say("queue.form.kind", { label }) }, ways.map(option));
  select.value = String(chosen);
  const box = make("div", { class: "form-way" }, inner.node);
  select.addEventListener("change", () => {
    chosen = Number(select.value);
    inner = controlOfWay(ways[chosen], ways[chosen], blank(ways[chosen]), label, changed);
    box.replaceChildren(...[inner.node].flat());
    changed();
  });
  return { node: [select, box], read: (partial) => inner.read(partial), check: () => inner.check() };
};
