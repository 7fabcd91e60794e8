// Difference of two values, by character, by word or by item: missing parts are struck through, spurious ones underlined.

const ALIKE = 2500; // maximum length of lists that are compared value by value
const CHANGES = 1000; // maximum number of changes; beyond it, all between the equal ends is marked
const HALF = 0.5; // minimum similarity of texts whose parts are marked
const CONTEXT = 60; // number of characters shown around a difference in a long text, at least
const FOLD = 80; // minimum number of characters that are folded
const LONG = 64; // maximum length of words; longer ones are compared character by character

const signs = (whole) =>
  typeof Intl.Segmenter === "function"
    ? [...new Intl.Segmenter(data.language).segment(whole)].map((one) => one.segment)
    : [...whole];
// Marks a longest common subsequence (Myers, 1986). Marks nothing if there are too many changes.
const common = (x, y, same) => {
  const most = Math.min(x.length + y.length, CHANGES);
  const reached = new Int32Array(2 * most + 3); // furthest place in x on each diagonal
  const zero = most + 1;
  const history = [];
  const down = (places, middle, k, d) => k === -d || (k !== d && places[middle + k - 1] < places[middle + k + 1]);
  const back = (last) => {
    let [i, j] = [x.length, y.length];
    for (let d = last; d > 0; d -= 1) {
      const places = history[d];
      const from = down(places, d + 1, i - j, d) ? i - j + 1 : i - j - 1;
      const start = places[d + 1 + from];
      while (i > start && j > start - from) same[0][(i -= 1)] = same[1][(j -= 1)] = true;
      [i, j] = [start, start - from];
    }
    while (i > 0) same[0][(i -= 1)] = same[1][(j -= 1)] = true;
  };
  for (let d = 0; d <= most; d += 1) {
    history.push(reached.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let i = down(reached, zero, k, d) ? reached[zero + k + 1] : reached[zero + k - 1] + 1;
      while (i < x.length && i - k < y.length && x[i] === y[i - k]) i += 1;
      reached[zero + k] = i;
      if (i >= x.length && i - k >= y.length) return back(d);
    }
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
// Splits each side into runs of common and of differing elements.
const difference = (a, b) => {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const same = [new Array(x.length).fill(false), new Array(y.length).fill(false)];
  common(x, y, same);
  const pad = (flags) => [...new Array(head).fill(true), ...flags, ...new Array(tail).fill(true)];
  return [runs(a, pad(same[0])), runs(b, pad(same[1]))];
};

const marked = (tag, found) =>
  found.map(({ same, parts }) => {
    const whole = visible(parts.join(""));
    return same ? whole : make(tag, {}, whole);
  });
// Marks the values of two lists of plain values that only one side has.
const listed = (gold, predicted) => {
  const [lost, put] = difference(...[gold, predicted].map((list) => list.map((value) => text(value, true))));
  const each = (tag, found, verdict) =>
    found.flatMap(({ same, parts }) =>
      parts.map((part) =>
        same
          ? make("span", { class: "chip" }, shown(part))
          : make("span", { class: `chip ${verdict}` }, glyph(verdict), make(tag, {}, shown(part))),
      ),
    );
  return [folded(each("del", lost, "missing")), folded(each("ins", put, "spurious"))];
};
// Moves a position to the start of the word there, or of the character if the word is long.
const cutter = (whole) => {
  if (typeof Intl.Segmenter !== "function") return (place) => apart(whole, place);
  const [word, sign] = ["word", "grapheme"].map((granularity) => new Intl.Segmenter(data.language, { granularity }).segment(whole));
  return (place) => {
    const found = word.containing(place);
    if (!found) return whole.length;
    return found.segment.length <= LONG ? found.index : sign.containing(place).index;
  };
};
const words = (whole) => {
  if (typeof Intl.Segmenter !== "function") return whole.split(/(?<=\s)(?=\S)/u);
  const parts = new Intl.Segmenter(data.language, { granularity: "word" }).segment(whole);
  return [...parts].flatMap(({ segment }) =>
    segment.length <= LONG ? segment : segment.length <= ALIKE ? signs(segment) : [segment],
  );
};
// The number of words of a text, or null if it is too long to count them.
const counted = (whole) => {
  if (whole.length > 100000) return null;
  if (typeof Intl.Segmenter !== "function") return whole.split(/\s+/u).filter(Boolean).length;
  return [...new Intl.Segmenter(data.language, { granularity: "word" }).segment(whole)].filter((one) => one.isWordLike).length;
};
// Splits two texts into parts that are equal and parts that differ, both in order: `{ same, left, right }`.
const parted = (left, right) => {
  const least = Math.min(left.length, right.length);
  const [a, b] = [cutter(left), cutter(right)];
  let head = 0;
  while (head < least && left[head] === right[head]) head += 1;
  for (let place = -1; place !== head; ) {
    place = head;
    head = Math.min(a(head), b(head));
  }
  let tail = 0;
  while (tail < least - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
  const bounded = () => a(left.length - tail) === left.length - tail && b(right.length - tail) === right.length - tail;
  while (tail > 0 && !bounded()) tail -= 1;
  const middles = [left, right].map((whole) => words(whole.slice(head, whole.length - tail)));
  const [lost, put] = difference(...middles);
  const parts = [{ same: true, left: left.slice(0, head), right: left.slice(0, head) }];
  const add = (same, one, other) => {
    const last = parts[parts.length - 1];
    if (last.same !== same) parts.push({ same, left: one, right: other });
    else [last.left, last.right] = [last.left + one, last.right + other];
  };
  while (lost.length || put.length) {
    const [one, other] = [lost, put].map((side) => (side.length && !side[0].same ? side.shift().parts.join("") : ""));
    if (one || other) add(false, one, other);
    else {
      const n = Math.min(lost[0].parts.length, put[0].parts.length); // the other side may be interrupted by a difference
      const [equal] = [lost, put].map((side) => {
        const part = side[0].parts.splice(0, n).join("");
        if (!side[0].parts.length) side.shift();
        return part;
      });
      const lone = lost.length || put.length || tail ? !/[\p{L}\p{N}]/u.test(equal) : false; // only spaces and signs
      add(!(lone && parts.length > 1), equal, equal);
    }
  }
  if (tail) add(true, left.slice(left.length - tail), right.slice(right.length - tail));
  return parts.filter((part) => part.left || part.right);
};
// A button in place of a part of a text. Its direction is its own, so that it does not change that of the text.
const opener = (name, values, opened) => {
  const button = make("button", { type: "button", class: "cut fold", dir: "auto" }, say(name, values));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    opened();
  });
  return button;
};
// Renders long texts word by word: equal stretches are folded, to be opened on both sides at once.
const prose = (left, right) => {
  const parts = parted(left, right);
  const equal = parts.reduce((sum, part) => sum + (part.same ? part.left.length : 0), 0);
  if ((2 * equal) / (left.length + right.length) < HALF) return [entire("del", left), entire("ins", right)];
  const boxes = [left, right].map(() => make("bdi", {}));
  const folds = [];
  const fold = (whole, tags) => {
    const long = counted(whole);
    const [name, n] = long === null || long * 30 < whole.length ? ["js.folded.characters", whole.length] : ["js.folded", long];
    const shut = tags.map((tag) => opener(name, { n }, () => open()));
    const open = () => {
      shut.forEach((button, side) => {
        const focused = button === document.activeElement;
        const put = make(tags[side] || "span", { tabindex: -1 }, visible(whole));
        if (button.parentNode) button.replaceWith(put);
        if (focused) put.focus({ preventScroll: true });
      });
    };
    folds.push(open);
    return shut;
  };
  parts.forEach((part, at) => {
    const sidesOf = [part.left, part.right];
    if (!part.same) {
      sidesOf.forEach((whole, side) => {
        if (!whole) return;
        const tag = side ? "ins" : "del";
        const end = whole.length > 2 * ROOM ? cutter(whole)(ROOM) || whole.length : whole.length;
        boxes[side].append(make(tag, {}, visible(whole.slice(0, end))));
        if (end < whole.length) boxes[side].append(...fold(whole.slice(end), [tag]));
      });
      return;
    }
    const whole = part.left;
    const clean = cutter(whole);
    const begin = at === 0 ? 0 : clean(Math.min(CONTEXT, whole.length));
    const end = at === parts.length - 1 ? whole.length : clean(Math.max(0, whole.length - CONTEXT));
    const folded = end - begin >= FOLD;
    const buttons = folded ? fold(whole.slice(begin, end), ["", ""]) : null;
    boxes.forEach((box, side) => {
      if (!folded) box.append(...visible(whole));
      else box.append(...visible(whole.slice(0, begin)), buttons[side], ...visible(whole.slice(end)));
    });
  });
  return boxes.map((box, side) => {
    const n = [left, right][side].length;
    if (!folds.length) return box;
    const all = opener("js.cut", { n }, () => {
      box.classList.add("whole");
      for (const open of folds) open();
      all.remove();
    });
    all.classList.remove("fold");
    return make("span", { class: "cuttable" }, box, all);
  });
};
// A value that is marked as a whole, not in part.
const entire = (tag, whole) => make(tag, { class: "entire" }, shown(whole));
// Renders two values. Short texts are marked only if they are similar, and never if they are one of a few values.
const sides = (gold, predicted, literal, { quality = 1, chosen = false } = {}) => {
  if ([gold, predicted].every((side) => Array.isArray(side) && side.length <= ALIKE && side.every(scalar)))
    return listed(gold, predicted);
  const [left, right] = [text(gold, literal), text(predicted, literal)];
  if (left === right || left === "" || right === "") return [shown(left), shown(right)];
  if (chosen) return [entire("del", left), entire("ins", right)];
  if (Math.max(left.length, right.length) > ROOM) return prose(left, right);
  if (quality < HALF) return [entire("del", left), entire("ins", right)];
  const [lost, put] = difference(signs(left), signs(right));
  return [make("bdi", {}, marked("del", lost)), make("bdi", {}, marked("ins", put))];
};
