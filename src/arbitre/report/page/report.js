"use strict";
// The explorer of a report: everything from data is put in as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("arbitre-data").textContent);
  const CHUNK = 40; // entries are drawn in such portions, as the reader comes to them
  const ROOM = 320; // longer texts are cut
  const ALIKE = 2500; // longer texts are not held against each other letter by letter
  const CELLS = 400000; // nor those whose differing parts are too long
  const MANY = 30; // longer lists are cut

  const say = (name, values = {}) =>
    (data.strings[name] ?? name).replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
  const number = (value, digits = 4) => {
    const text = value.toFixed(digits);
    return data.language === "fr" ? text.replace(".", ",") : text;
  };
  const percent = (share) => {
    const value = share * 100;
    const digits = value < 1 || (value > 99 && value < 100) ? 1 : 0;
    const shown = value < 100 ? Math.min(Math.max(value, 0.1), 99.9) : 100;
    return `${number(shown, digits)}${data.language === "fr" ? "\u00a0" : ""}%`;
  };
  const at = (id) => document.getElementById(id);
  const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return node;
  };

  // --- the theme

  const theme = at("theme");
  const themes = ["auto", "light", "dark"];
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? "auto";
    const next = themes[(themes.indexOf(now) + 1) % themes.length];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    theme.querySelector("span").textContent = say(`theme.${next}`);
  });

  // --- sorting of tables

  const sortable = (table) => {
    const buttons = [...table.querySelectorAll("thead button.sort")];
    buttons.forEach((button, column) => {
      button.addEventListener("click", () => {
        const head = button.closest("th");
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of buttons) other.closest("th").removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const keyed = [...body.rows].map((row) => {
          const cell = row.cells[column];
          const text = cell.dataset.sort ?? cell.textContent.trim();
          return { row, text, value: text === "" ? NaN : Number(text) };
        });
        const sign = down ? -1 : 1;
        keyed.sort((a, b) => {
          if (a.text === "" || b.text === "") return (a.text === "") - (b.text === ""); // no value: at the end
          const both = !Number.isNaN(a.value) && !Number.isNaN(b.value);
          return sign * (both ? a.value - b.value : a.text.localeCompare(b.text, data.language));
        });
        body.append(...keyed.map((one) => one.row));
      });
    });
  };
  document.querySelectorAll("table.sortable").forEach(sortable);

  // --- values as text

  const HIDDEN =
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/u;
  const hidden = (sign) => {
    const code = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return make("span", { class: "ctl" }, `U+${code}`);
  };
  const visible = (text) => {
    const parts = [];
    let plain = "";
    for (const sign of text) {
      if (sign !== "\n" && !HIDDEN.test(sign)) {
        plain += sign;
        continue;
      }
      if (plain) parts.push(plain);
      plain = "";
      if (sign === "\n") parts.push(make("span", { class: "ctl" }, "↵"), "\n");
      else parts.push(hidden(sign));
    }
    return plain ? [...parts, plain] : parts;
  };
  const scalar = (value) => value === null || typeof value !== "object";
  const text = (value, literal) => (typeof value === "string" && !literal ? value : JSON.stringify(value));
  const shown = (whole, render = visible) => {
    if (whole === "") return make("span", { class: "absent" }, `“” (${say("js.empty")})`);
    if (whole.length <= ROOM) return make("bdi", {}, render(whole));
    return long(whole, 0, render);
  };
  // A part of a long text, around the place where it begins to differ; all of it when asked for.
  const long = (whole, place, render = visible) => {
    const start = Math.max(0, Math.min(place - ROOM / 3, whole.length - ROOM));
    const box = make("span", { class: "cuttable" });
    const button = make("button", { type: "button", class: "cut" }, say("js.cut", { n: whole.length }));
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      box.replaceChildren(make("bdi", { class: "whole" }, visible(whole)));
    });
    const part = render(whole.slice(start, start + ROOM));
    const ends = [start > 0 ? "…" : "", start + ROOM < whole.length ? "…" : ""];
    box.append(make("bdi", {}, ends[0], part, ends[1]), button);
    return box;
  };

  // --- differences between two texts

  const signs = (whole) =>
    typeof Intl.Segmenter === "function"
      ? [...new Intl.Segmenter(data.language).segment(whole)].map((one) => one.segment)
      : [...whole];
  const difference = (a, b) => {
    let head = 0;
    while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
    let tail = 0;
    while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
      tail += 1;
    const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
    const same = [new Array(x.length).fill(false), new Array(y.length).fill(false)];
    if (x.length * y.length <= CELLS) common(x, y, same);
    const pad = (flags) => [...new Array(head).fill(true), ...flags, ...new Array(tail).fill(true)];
    return [runs(a, pad(same[0])), runs(b, pad(same[1]))];
  };
  // Marks the longest common subsequence.
  const common = (x, y, same) => {
    const width = y.length + 1;
    const best = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i -= 1)
      for (let j = y.length - 1; j >= 0; j -= 1)
        best[i * width + j] =
          x[i] === y[j]
            ? best[(i + 1) * width + j + 1] + 1
            : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    let [i, j] = [0, 0];
    while (i < x.length && j < y.length) {
      if (x[i] === y[j]) {
        same[0][i] = same[1][j] = true;
        i += 1;
        j += 1;
      } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i += 1;
      else j += 1;
    }
  };
  const runs = (all, same) => {
    const found = [];
    all.forEach((sign, place) => {
      const last = found[found.length - 1];
      if (last && last.same === same[place]) last.parts.push(sign);
      else found.push({ same: same[place], parts: [sign] });
    });
    return found;
  };
  const marked = (tag, parts) =>
    parts.map((part) => {
      const whole = visible(part.parts.join(""));
      return part.same ? whole : make(tag, {}, whole);
    });
  // Two lists of plain values that are compared as one: which of them only one side has.
  const listed = (gold, predicted) => {
    const [lost, put] = difference(...[gold, predicted].map((list) => list.map((value) => text(value, true))));
    const one = (tag, found, verdict) =>
      found.flatMap(({ same, parts }) =>
        parts.map((part) =>
          same
            ? make("span", { class: "chip" }, shown(part))
            : make("span", { class: `chip ${verdict}` }, glyph(verdict), make(tag, {}, shown(part))),
        ),
      );
    return [folded(one("del", lost, "missing")), folded(one("ins", put, "spurious"))];
  };
  const folded = (chips) => {
    if (chips.length <= MANY) return chips.length ? chips : absent();
    const button = make("button", { type: "button", class: "cut" }, say("js.more", { n: chips.length }));
    const rest = chips.slice(MANY);
    button.addEventListener("click", () => button.replaceWith(...rest));
    return [...chips.slice(0, MANY), button];
  };
  const glyph = (verdict) => make("i", { "aria-hidden": "true" }, data.glyphs[verdict] ?? "?");
  const absent = () => make("span", { class: "absent" }, say("js.nothing"));
  const sides = (gold, predicted, literal) => {
    if ([gold, predicted].every((side) => Array.isArray(side) && side.length <= ALIKE && side.every(scalar)))
      return listed(gold, predicted);
    const [left, right] = [text(gold, literal), text(predicted, literal)];
    if (left === right || left === "" || right === "") return [shown(left), shown(right)];
    if (Math.max(left.length, right.length) <= ALIKE) {
      const [lost, put] = difference(signs(left), signs(right));
      if (Math.max(left.length, right.length) <= ROOM)
        return [make("bdi", {}, marked("del", lost)), make("bdi", {}, marked("ins", put))];
    }
    let place = 0;
    while (place < left.length && left[place] === right[place]) place += 1;
    const cut = (whole, tag) => {
      if (whole.length <= ROOM)
        return make("bdi", {}, visible(whole.slice(0, place)), make(tag, {}, visible(whole.slice(place))));
      const start = Math.max(0, Math.min(place - ROOM / 3, whole.length - ROOM));
      const render = (part) => [
        visible(part.slice(0, place - start)),
        make(tag, {}, visible(part.slice(place - start))),
      ];
      return long(whole, place, render);
    };
    return [cut(left, "del"), cut(right, "ins")];
  };

  // --- the explorer

  if (!at("app")) return;
  const documents = data.subjects.flatMap((subject) =>
    subject.documents.map((document) => ({ ...document, subject: subject.name })),
  );
  if (!documents.length) return;
  at("app").hidden = false;
  const inputs = { document: at("x-document"), order: at("x-order"), path: at("x-path"), search: at("x-search") };
  const checks = [...document.querySelectorAll('input[name="x-show"]')];
  const state = { document: null, rows: [], found: [], drawn: 0, active: null };

  const kind = (row) =>
    row.status !== "matched" ? row.status : row.entry.verdict === "wrong type" ? "wrong" : row.entry.verdict;
  const plainly = (value) => value.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  // What a node holds; of a value that is not opened in the data, its own fields or items with the same verdict.
  const below = (node) => {
    if (node.below) return node.below;
    const value = node.gold ?? node.predicted;
    const both = "gold" in node && "predicted" in node;
    if (scalar(value) || both) return [];
    const side = "gold" in node ? "gold" : "predicted";
    return Object.entries(value).map(([name, inner]) => ({
      name: Array.isArray(value) ? Number(name) : name,
      item: Array.isArray(value),
      verdict: node.verdict,
      quality: node.quality,
      [side]: inner,
    }));
  };
  const flat = (node) => {
    const parts = below(node);
    return (
      parts.length > 0 &&
      parts.every(
        (part) =>
          part.item && !part.below && ["gold", "predicted"].every((side) => !(side in part) || scalar(part[side])),
      )
    );
  };
  const named = (node) =>
    below(node).find((part) => [part.gold, part.predicted].some((value) => typeof value === "string" && value !== ""));
  const title = (node, side) => {
    const part = named(node);
    if (part) {
      const value = part.verdict === "correct" && !("predicted" in part) ? part.gold : part[side];
      if (typeof value === "string") return value;
    }
    const own = node[side] ?? (node.verdict === "correct" ? node.gold : undefined);
    return own === undefined || !scalar(own) ? "" : text(own);
  };
  const mark = (node) => {
    const bare = ["correct", "missing", "spurious"].includes(node.verdict);
    const normalised = node.verdict === "correct" && "predicted" in node ? ` ${say("js.normalised")}` : "";
    return [
      glyph(node.verdict),
      " ",
      say(`verdict.${node.verdict}`),
      bare ? normalised : ` ${number(node.quality, 2)}`,
    ];
  };

  const words = (name) => name.split(/(?<=[_.\-/])/).flatMap((part) => [visible(part), make("wbr")]);
  const times = (node) => ("mass" in node ? make("small", {}, ` × ${number(node.mass, 2)}`) : null);
  const line = (node, deep, left, right) =>
    make(
      "div",
      { class: `field ${node.verdict.split(" ")[0]} in${Math.min(deep, 4)}` },
      make(
        "div",
        { class: "name" },
        node.item ? `[${node.name}]${"to" in node ? ` → [${node.to}]` : ""}` : words(String(node.name)),
        times(node),
      ),
      make("div", { class: "side", "data-side": say("js.gold") }, left),
      make("div", { class: "side", "data-side": say("js.predicted") }, right),
      make("div", { class: "mark" }, mark(node)),
    );
  const chips = (node, side) => {
    const parts = below(node).filter((part) => side in part || part.verdict === "correct");
    const name = side === "gold" ? "name" : "to";
    if (side === "predicted") parts.sort((a, b) => (a[name] ?? a.name) - (b[name] ?? b.name));
    if (!parts.length) return absent();
    const made = parts.map((part) => {
      const value = part[side] ?? part.gold;
      const sign = part.verdict === "correct" ? null : glyph(part.verdict);
      return make(
        "span",
        { class: `chip ${part.verdict.split(" ")[0]}`, title: say(`verdict.${part.verdict}`) },
        sign,
        shown(text(value, part.verdict === "wrong type")),
        times(part),
      );
    });
    return folded(made);
  };
  // What is right is summed up in one line, and opened when asked for.
  const summary = (node, deep) => {
    const inner = below(node);
    const names = inner
      .map((part) => title(part, "gold") || (scalar(part.gold) ? text(part.gold) : ""))
      .filter(Boolean);
    const sum = names.length ? names.join("; ") : `${inner.length}`;
    const button = make("button", { type: "button", class: "cut" }, say("js.open"));
    const box = line(node, deep, shown(sum), [shown(sum), button]);
    button.addEventListener("click", () =>
      box.replaceWith(line(node, deep, "", ""), ...inner.flatMap((part) => lines(part, deep + 1))),
    );
    return box;
  };
  const lines = (node, deep) => {
    const parts = below(node);
    if (!parts.length || flat(node)) return [leafLine(node, deep)];
    if (node.verdict === "correct" && deep >= 0) return [summary(node, deep)];
    const inner = parts.flatMap((part) => lines(part, deep + 1));
    return deep < 0 ? inner : [line(node, deep, "", ""), ...inner];
  };
  const leafLine = (node, deep) => {
    const place = Math.max(deep, 0);
    if (flat(node)) {
      const one = (side) =>
        node.verdict !== "correct" && !node.below && !(side in node) ? absent() : chips(node, side);
      return line(node, place, one("gold"), one("predicted"));
    }
    if (node.below) return line(node, place, shown("[]"), shown("[]"));
    if (node.verdict === "correct" && !("predicted" in node))
      return line(node, place, shown(text(node.gold)), shown(text(node.gold)));
    if (node.verdict === "correct") return line(node, place, shown(text(node.gold)), shown(text(node.predicted)));
    if ("gold" in node && "predicted" in node) {
      const literal = node.verdict === "wrong type" || !scalar(node.gold) || !scalar(node.predicted);
      return line(node, place, ...sides(node.gold, node.predicted, literal));
    }
    return "gold" in node
      ? line(node, place, shown(text(node.gold)), absent())
      : line(node, place, absent(), shown(text(node.predicted)));
  };

  // --- where mass is moved, an entry may be in several rows

  const SIDES = ["gold_index", "predicted_index"];
  const ROUNDING = 1e-6;
  const FAINT = 0.01; // nothing is said of less
  const NOTABLE = 0.05; // a smaller share does not make an entry split or merged
  const OTHERS = 4; // so many other parts are named
  const index = (place) => (place === null ? "–" : `[${place}]`);
  const share = (row, side) => row.mass / row.masses[side];
  const partial = (row) => SIDES.some((_, side) => row.masses[side] !== null && share(row, side) < 1 - ROUNDING);
  const together = (row, side) => state.rows.filter((other) => other[SIDES[side]] === row[SIDES[side]]);
  // How an entry of a row is shared out: the part that is here, then the greatest others.
  const sharing = (row, side) => {
    if (row.masses[side] === null || share(row, side) > 1 - FAINT) return null;
    const rows = together(row, side);
    const real = rows.filter((other) => other.status === "matched" && share(other, side) >= NOTABLE);
    const verdict = real.length > 1 ? ["split", "merged"][side] : null;
    const told = [row, ...rows.filter((other) => other !== row).slice(0, OTHERS)];
    const arrow = ["→", "←"][side];
    const one = (other) => {
      const place = other[SIDES[1 - side]];
      const words = `${percent(share(other, side))} ${arrow} ${place === null ? say("js.nowhere") : index(place)}`;
      return other === row ? make("b", {}, words) : make("a", { href: address(other), tabindex: -1 }, words);
    };
    const rest = 1 - told.reduce((sum, other) => sum + share(other, side), 0);
    return make(
      "span",
      { class: "share" },
      verdict ? [glyph(verdict), " ", say(`verdict.${verdict}`)] : say("js.partly"),
      ` ${index(row[SIDES[side]])} `,
      told.flatMap((other, place) => [place ? " · " : "", one(other)]),
      rest > ROUNDING ? ` · ${percent(rest)} ${arrow} ${say("js.others")}` : "",
    );
  };

  // What an entry is called in an address: by gold where it can be, by both where that is not enough.
  const called = (row) => {
    const [gold, predicted] = SIDES.map((side) => row[side]);
    if (gold === null && predicted !== null) return { p: predicted };
    const alone = gold === null || together(row, 0).length === 1;
    return alone ? { g: gold ?? "" } : { g: gold, p: predicted ?? "" };
  };
  const address = (row) => {
    const values = new URLSearchParams();
    if (data.several) values.set("s", state.document.subject);
    values.set("d", state.document.key);
    if (row) for (const [name, place] of Object.entries(called(row))) values.set(name, place);
    const open = checks.filter((box) => box.checked).map((box) => box.value);
    if (open.length < checks.length) values.set("show", open.join(" "));
    if (inputs.order.value !== "gold") values.set("order", inputs.order.value);
    if (inputs.path.value) values.set("path", inputs.path.value);
    if (inputs.search.value) values.set("q", inputs.search.value);
    return `#${values}`;
  };
  const remember = (row) => {
    try {
      history.replaceState(null, "", address(row));
    } catch {
      // a page in a frame may not say where it is; the links of the entries still do
    }
  };

  const article = (row) => {
    const { entry } = row;
    const [left, right] = [title(entry, "gold"), title(entry, "predicted")];
    const alike = (named(entry) ?? entry).verdict === "correct"; // what differs then does not count
    const names =
      left && right && left !== right
        ? alike
          ? [shown(left), shown(right)]
          : sides(left, right)
        : [shown(left || right || "–")];
    const heading = names.length === 2 ? [names[0], " → ", names[1]] : names;
    const where = SIDES.map((side) => index(row[side]));
    const shares = [sharing(row, 0), sharing(row, 1)].filter(Boolean);
    const spare = shares.length && row.status !== "matched";
    const toggle = make("button", { type: "button", class: "toggle", "aria-label": say("js.toggle"), tabindex: -1 });
    const fields = make("div", { class: "fields" });
    const whole = row.gold_index === null && row.predicted_index === null;
    const box = make(
      "article",
      { class: `row ${kind(row)}`, role: "listitem", tabindex: -1, "data-place": row.place },
      make(
        "header",
        {},
        toggle,
        whole ? null : make("span", { class: "where" }, where[0] === where[1] ? where[0] : where.join(" → ")),
        make("h4", {}, heading),
        make(
          "span",
          { class: "said" },
          glyph(entry.verdict),
          " ",
          say(spare ? "js.spare" : `verdict.${entry.verdict}`),
        ),
        row.status === "matched" && entry.quality < 1
          ? make("data", { class: "quality", value: entry.quality }, number(entry.quality))
          : null,
        make("a", { class: "here", href: address(row), "aria-label": say("js.link"), tabindex: -1 }, "#"),
      ),
      shares.length ? make("p", { class: "shares" }, shares) : null,
      fields,
    );
    const open = (wanted) => {
      if (wanted && !fields.childNodes.length) fields.append(...lines(entry, -1));
      fields.hidden = !wanted;
      toggle.textContent = wanted ? "▾" : "▸";
      toggle.setAttribute("aria-expanded", String(wanted));
    };
    box.toggle = () => open(fields.hidden);
    box.open = () => open(true);
    open(!["correct", "missing", "spurious"].includes(kind(row)));
    box.querySelector("header").addEventListener("click", (event) => {
      if (event.target.closest("a, button.cut")) return;
      box.toggle();
      activate(row, { scroll: false });
    });
    row.box = box;
    return box;
  };

  const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), {
    rootMargin: "600px",
  });
  const sentinel = make("div", { class: "sentinel" });
  const more = (until = state.drawn) => {
    const end = Math.min(state.found.length, Math.max(state.drawn + CHUNK, until + 1));
    const made = state.found.slice(state.drawn, end).map(article);
    sentinel.before(...made);
    state.drawn = end;
    if (state.drawn >= state.found.length) watcher.disconnect();
    else {
      watcher.unobserve(sentinel); // so that it is looked at again, should it still be near
      watcher.observe(sentinel);
    }
  };

  const activate = (row, { scroll = true, focus = true, open = false } = {}) => {
    const place = state.found.indexOf(row);
    if (place < 0) return;
    if (place >= state.drawn) more(place);
    if (state.active?.box) state.active.box.tabIndex = -1;
    state.active = row;
    row.box.tabIndex = 0;
    if (open) row.box.open();
    if (focus) row.box.focus({ preventScroll: true });
    if (scroll) {
      row.box.scrollIntoView({ block: "center" });
      requestAnimationFrame(() => row.box?.scrollIntoView({ block: "center" })); // now that what is near has its height
    }
    highlight();
    remember(row);
  };

  const later = (a, b) => {
    for (let i = 0; i < Math.max(a.length, b.length); i += 1) if (a[i] !== b[i]) return (a[i] ?? -1) - (b[i] ?? -1);
    return 0;
  };
  const refresh = () => {
    const wanted = new Set(checks.filter((box) => box.checked).map((box) => box.value));
    const words = plainly(inputs.search.value).split(/\s+/).filter(Boolean);
    const path = inputs.path.value;
    state.found = state.rows.filter((row) => {
      if (!wanted.has(kind(row)) || (path && !row.faults.includes(path))) return false;
      row.words ??= plainly(JSON.stringify(row.entry));
      return words.every((word) => row.words.includes(word));
    });
    const place = (whole) => (whole ?? "").split("/").map(Number);
    if (inputs.order.value === "worst")
      state.found.sort((a, b) => a.entry.quality - b.entry.quality || a.place - b.place);
    if (inputs.order.value === "predicted")
      state.found.sort(
        (a, b) =>
          (a.predicted_index === null) - (b.predicted_index === null) ||
          later(place(a.predicted_index), place(b.predicted_index)) ||
          a.place - b.place,
      );
    for (const row of state.rows) row.box = null;
    state.drawn = 0;
    state.active = null;
    const list = at("x-list");
    list.replaceChildren(...(state.found.length ? [] : [make("p", { class: "note" }, say("js.none"))]), sentinel);
    watcher.disconnect();
    if (state.found.length) {
      more();
      state.active = state.found[0];
      state.active.box.tabIndex = 0;
    }
    const total = state.document.entries;
    const said = [];
    if (state.rows.length < total) said.push(say("js.part", { shown: state.rows.length, n: total }));
    if (state.document.faint) said.push(say("js.faint", { n: state.document.faint }));
    const part = said.length ? ` (${said.join("; ")})` : "";
    const name = state.rows.some(partial) ? "js.status.moved" : "js.status";
    at("x-status").textContent = say(name, { shown: state.found.length, n: state.rows.length }) + part;
  };

  const choose = (chosen) => {
    state.document = chosen;
    inputs.document.value = String(documents.indexOf(chosen));
    state.rows = chosen.rows;
    state.rows.forEach((row, place) => {
      row.place = place;
    });
    for (const box of checks) {
      const count = state.rows.filter((row) => kind(row) === box.value).length;
      box.closest("label").querySelector(".count").textContent = String(count);
    }
    const paths = new Map();
    for (const row of state.rows) for (const path of row.faults) paths.set(path, (paths.get(path) ?? 0) + 1);
    inputs.path.replaceChildren(
      make("option", { value: "" }, say("js.all")),
      ...[...paths]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, count]) => make("option", { value: path }, `${plain(path || "/")} (${count})`)),
    );
    at("x-rest").replaceChildren(
      ...(chosen.rest
        ? [
            make(
              "details",
              {},
              make("summary", {}, `${say("js.rest")}: `, ...about(chosen.rest)),
              make("div", { class: "fields" }, lines(chosen.rest, -1)),
            ),
          ]
        : []),
    );
    head();
    map();
    matrix();
  };
  // The scores of the document, and what the first published script makes of it.
  const head = () => {
    const { scores, published } = state.document;
    const value = (found) => (found === null || found === undefined ? "–" : number(found));
    const line = ["f1q", "imq", "irq", "amq"].flatMap((name, place) => [
      place ? " · " : " ",
      make("code", {}, name),
      ` ${value(scores[name])}`,
    ]);
    const counts = ["gold", "predicted", "matched"];
    const rows = Object.entries(published).filter(([name]) => !counts.includes(name));
    const row = ([name, found]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("code", {}, name)),
        make("td", { class: "n" }, value(scores[name])),
        make("td", { class: "n" }, value(found)),
      );
    const heads = [say("js.score"), say("js.here"), make("em", { class: "tag" }, say("published.tag"))];
    at("x-head").replaceChildren(
      make("p", {}, say("js.document"), line),
      make(
        "details",
        {},
        make("summary", {}, say("published")),
        make("p", { class: "note" }, say("published.why")),
        make(
          "table",
          { class: "published" },
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              heads.map((name, place) => make("th", { scope: "col", class: place ? "n" : null }, name)),
            ),
          ),
          make("tbody", {}, rows.map(row)),
        ),
      ),
    );
  };
  const about = (rest) =>
    below(rest).flatMap((part, place) => [place ? ", " : "", visible(String(part.name)), " ", ...mark(part)]);
  const plain = (whole) => [...whole].map((sign) => (HIDDEN.test(sign) ? hidden(sign).textContent : sign)).join("");

  // --- the map: recall above, precision below

  // The entries of a side in order, each with what it weighs and its rows, those of the first partner first.
  const slots = (side) => {
    const order = (row, of) => (row[SIDES[of]] ?? "Infinity").split("/").map(Number);
    const found = new Map();
    for (const row of state.rows)
      if (row[SIDES[side]] !== null) {
        const slot = found.get(row[SIDES[side]]) ?? { mass: row.masses[side], rows: [] };
        slot.rows.push(row);
        found.set(row[SIDES[side]], slot);
      }
    for (const slot of found.values()) slot.rows.sort((a, b) => later(order(a, 1 - side), order(b, 1 - side)));
    return [...found.values()].sort((a, b) => later(order(a.rows[0], side), order(b.rows[0], side)));
  };
  const map = () => {
    const entries = [0, 1].map(slots);
    const [gold, predicted] = entries.map((slotted) => slotted.length);
    const figure = at("x-map");
    if (gold + predicted < 2) return figure.replaceChildren();
    const widest = Math.max(...entries.map((slotted) => slotted.reduce((sum, slot) => sum + slot.mass, 0)));
    const [width, height, tall] = [1000, 170, 50];
    const step = width / widest;
    const gap = Math.min(step * 0.15, 3);
    const matched = state.rows.filter((row) => row.status === "matched");
    const label = say("js.map.label", { gold, predicted, matched: matched.length });
    const picture = draw("svg", {
      viewBox: `0 0 ${width} ${height}`,
      width: Math.max(widest * 36, 200),
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    });
    const places = [new Map(), new Map()];
    const bar = (row, side, top, from, wide, inset) => {
      places[side].set(row, from + wide / 2);
      const [quality, alone] = [row.entry.quality, row.status !== "matched"];
      const high = alone ? tall - 2 : Math.max(quality * tall, 1.5);
      const y = (side ? top : top + tall - high) + (alone ? 1 - 2 * !side : 0);
      const words = [
        plain(title(row.entry, side ? "predicted" : "gold")).slice(0, 80),
        say(`verdict.${row.entry.verdict}`),
      ];
      if (!alone) words.push(number(quality, 2));
      if (partial(row)) words.push(percent(share(row, side)));
      picture.append(
        draw(
          "rect",
          {
            class: alone ? `lone ${row.status}` : `b${Math.floor(quality * 10)}`,
            x: from + inset,
            y,
            width: Math.max(wide - 2 * inset, 0.5),
            height: high,
            "data-row": row.place,
            "vector-effect": "non-scaling-stroke",
          },
          draw("title", {}, words.join(" · ")),
        ),
      );
    };
    const strip = (side, top) => {
      let x = 0;
      for (const slot of entries[side]) {
        picture.append(
          draw("rect", {
            class: "frame",
            x,
            y: top,
            width: slot.mass * step,
            height: tall,
            "data-row": slot.rows[0].place,
          }),
        );
        const room = slot.mass * step - 2 * gap;
        let from = x + gap;
        for (const row of slot.rows) {
          const wide = room * share(row, side);
          bar(row, side, top, from, wide, slot.rows.length > 1 ? Math.min(0.5, wide / 8) : 0);
          from += wide;
        }
        x += slot.mass * step;
      }
    };
    strip(0, 0);
    strip(1, height - tall);
    for (const row of matched)
      picture.append(
        draw("path", {
          class: "link",
          "data-link": row.place,
          "vector-effect": "non-scaling-stroke",
          d: `M${places[0].get(row)} ${tall + 3}L${places[1].get(row)} ${height - tall - 3}`,
        }),
      );
    picture.addEventListener("click", (event) => {
      const place = event.target.closest("[data-row]")?.dataset.row;
      if (place === undefined) return;
      const row = state.rows[Number(place)];
      if (!state.found.includes(row)) reset();
      activate(row, { open: true });
    });
    const moved = state.rows.some(partial) ? ` ${say("js.map.moved")}` : "";
    return figure.replaceChildren(picture, make("figcaption", {}, say("js.map") + moved));
  };
  const highlight = () => {
    const picture = at("x-map").querySelector("svg");
    if (!picture) return;
    for (const old of picture.querySelectorAll(".here, .bar-here")) old.classList.remove("here", "bar-here");
    const place = state.active?.place;
    picture.querySelector(`[data-link="${place}"]`)?.classList.add("here");
    for (const bar of picture.querySelectorAll(`rect[data-row="${place}"]:not(.frame)`)) bar.classList.add("bar-here");
  };
  const reset = () => {
    for (const box of checks) box.checked = true;
    inputs.path.value = "";
    inputs.search.value = "";
    refresh();
  };

  // --- the matrix, in the order of the documents

  const matrix = () => {
    const place = at("x-matrix");
    const found = state.document.matrix;
    if (!found) return place.replaceChildren(make("p", { class: "note" }, say("js.matrix.none")));
    const [gold, predicted] = [0, 1].map((side) =>
      slots(side).map(({ rows: [row] }) => ({
        place: row[SIDES[side]],
        name: plain(title(row.entry, ["gold", "predicted"][side])).slice(0, 60),
      })),
    );
    const { plan } = found;
    const left = plan && [...plan.gold, ...plan.predicted].some(([, some]) => some);
    const [cell, edge, spare] = [14, 26, left ? 20 : 0];
    const [width, height] = [predicted, gold].map((axis) => edge + axis.length * cell + 2 + spare);
    const about = say(plan ? "js.matrix.moved" : "js.matrix");
    const picture = draw("svg", {
      viewBox: `0 0 ${width} ${height}`,
      width: Math.min(width * 1.6, 900),
      role: "img",
      "aria-label": about,
    });
    const every = (size) => (size > 30 ? 10 : size > 12 ? 5 : 1);
    predicted.forEach(({ place }, x) => {
      if (x % every(predicted.length) === 0)
        picture.append(draw("text", { x: edge + x * cell + 3, y: edge - 5 }, place));
    });
    gold.forEach((row, y) => {
      if (y % every(gold.length) === 0) picture.append(draw("text", { x: 4, y: edge + y * cell + 10 }, row.place));
      predicted.forEach((column, x) => {
        const quality = found.quality[y][x];
        const words = `${row.name} / ${column.name}: ${quality === null ? "–" : number(quality, 2)}`;
        picture.append(
          draw(
            "rect",
            {
              class: quality === null ? "void" : `cell q${Math.floor(quality * 10)}`,
              x: edge + x * cell,
              y: edge + y * cell,
              width: cell,
              height: cell,
            },
            draw("title", {}, words),
          ),
        );
      });
    });
    // What was made of the pairs: circles, or squares as large as the share that moved; the last ones are left over.
    const made = new Map();
    const middle = (number, size) => edge + (number + 0.5) * cell + (number === size ? (spare - cell) / 2 + 2 : 0);
    const square = (y, x, part, kind, words) => {
      const side = Math.sqrt(part) * (cell - 3);
      made.set(`${y} ${x}`, percent(part));
      picture.append(
        draw(
          "rect",
          {
            class: kind,
            x: middle(x, predicted.length) - side / 2,
            y: middle(y, gold.length) - side / 2,
            width: side,
            height: side,
          },
          draw("title", {}, words),
        ),
      );
    };
    if (plan) {
      const [from, to] = [plan.gold, plan.predicted];
      const names = (y, x) => ({ row: gold[y]?.place, column: predicted[x]?.place });
      for (const [y, x, mass] of plan.cells) {
        const [given, taken] = [mass / from[y][0], mass / to[x][0]];
        const parts = { gold: percent(given), predicted: percent(taken) };
        const words = `${gold[y].name} / ${predicted[x].name}: ${number(found.quality[y][x], 2)}. ${say("js.flow", { ...names(y, x), ...parts })}`;
        square(y, x, Math.min(given, 1), "moved", words);
      }
      from.forEach(([mass, some], y) => {
        const words = say("js.flow.gold", { ...names(y), share: percent(some / mass) });
        if (some) square(y, predicted.length, some / mass, "spare missing", words);
      });
      to.forEach(([mass, some], x) => {
        const words = say("js.flow.predicted", { ...names(null, x), share: percent(some / mass) });
        if (some) square(gold.length, x, some / mass, "spare spurious", words);
      });
    } else
      for (const row of state.rows) {
        if (row.status !== "matched") continue;
        const [y, x] = [gold, predicted].map((axis, side) => axis.findIndex(({ place }) => place === row[SIDES[side]]));
        made.set(`${y} ${x}`, null);
        picture.append(draw("circle", { class: "pick", cx: middle(x), cy: middle(y), r: cell / 2 - 2.5 }));
      }
    const table = make("details", {}, make("summary", {}, say("js.matrix.table")));
    table.addEventListener("toggle", () => {
      if (!table.open || table.querySelector("table")) return;
      const rest = left ? say("js.spare") : null;
      const heads = [...predicted.map(({ place }) => index(place)), rest].filter(Boolean);
      const head = make(
        "tr",
        {},
        make("td"),
        heads.map((name) => make("th", { scope: "col", class: "n" }, name)),
      );
      const value = (y, x) => {
        const quality = found.quality[y]?.[x];
        const words = quality === undefined ? "" : quality === null ? "–" : number(quality, 2);
        const part = made.get(`${y} ${x}`);
        if (part === undefined) return words;
        return make("b", {}, part === null ? `(${words})` : words ? `${words} (${part})` : part);
      };
      const names = [...gold.map(({ place }) => index(place)), rest].filter(Boolean);
      const body = names.map((name, y) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, name),
          heads.map((_, x) => make("td", { class: "n" }, value(y, x))),
        ),
      );
      table.append(
        make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, body))),
      );
    });
    const facts = found.metricity;
    const rate = (value) => `${number(value * 100, 1)}${data.language === "fr" ? "\u00a0" : ""}%`;
    const words = !facts
      ? null
      : facts.pool
        ? say("js.metricity", { value: number(facts.metricity), rate: rate(facts.triangle_rate) })
        : say("js.quadrangles", { rate: rate(facts.quadrangle_rate) });
    return place.replaceChildren(make("p", { class: "note" }, about), picture, make("p", {}, words), table);
  };

  // --- hands

  documents.forEach((one, place) => {
    const name = data.several ? `${one.subject} / ${one.key}` : one.key;
    const size = one.failed ? say("js.failed") : number(one.quality, 2);
    inputs.document.append(make("option", { value: place }, `${plain(name)} (${size})`));
  });
  inputs.document.addEventListener("change", () => {
    choose(documents[Number(inputs.document.value)]);
    refresh();
    remember(null);
  });
  for (const input of [inputs.order, inputs.path, ...checks])
    input.addEventListener("change", () => {
      refresh();
      remember(null);
    });
  let pause = 0;
  inputs.search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      refresh();
      remember(null);
    }, 120);
  });
  const step = (by) => {
    const place = state.found.indexOf(state.active);
    const row = state.found[Math.max(0, Math.min(state.found.length - 1, place + by))];
    if (row) activate(row);
  };
  at("x-list").addEventListener("keydown", (event) => {
    if (event.target.closest("a, button, input, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in moves) step(moves[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && state.active?.box) state.active.box.toggle();
    else return;
    event.preventDefault();
  });
  at("x-list").addEventListener("focusin", (event) => {
    const box = event.target.closest(".row");
    const row = box && state.rows[Number(box.dataset.place)];
    if (row && row !== state.active) activate(row, { scroll: false, focus: false });
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      inputs.search.focus();
    } else if (event.key === "Escape" && event.target === inputs.search) {
      inputs.search.value = "";
      refresh();
      remember(null);
    } else if (event.key === "Enter" && event.target === inputs.search && state.found.length) activate(state.found[0]);
  });
  window.addEventListener("beforeprint", () => more(state.found.length));

  const follow = () => {
    const values = new URLSearchParams(location.hash.slice(1));
    if (!values.has("d")) return false;
    const chosen = documents.find(
      (one) => one.key === values.get("d") && (!values.has("s") || one.subject === values.get("s")),
    );
    if (!chosen) return false;
    for (const box of checks) box.checked = !values.has("show") || values.get("show").split(" ").includes(box.value);
    inputs.search.value = values.get("q") ?? "";
    const order = values.get("order");
    inputs.order.value = [...inputs.order.options].some((option) => option.value === order) ? order : "gold";
    choose(chosen);
    inputs.path.value = values.get("path") ?? "";
    if (inputs.path.selectedIndex < 0) inputs.path.value = "";
    refresh();
    const names = ["g", "p"].filter((name) => values.has(name));
    const known = (one) => {
      const own = called(one);
      if (!values.has("g")) return own.g === undefined && own.p === values.get("p");
      return own.g === values.get("g") && (own.p ?? "") === (values.get("p") ?? own.p ?? "");
    };
    const row = names.length ? state.rows.find(known) : undefined;
    if (row) {
      if (!state.found.includes(row)) reset();
      activate(row, { open: true });
    } else at("explorer").scrollIntoView();
    return true;
  };
  window.addEventListener("hashchange", follow);
  if (!follow()) {
    choose(documents[0]);
    refresh();
  }
})();
