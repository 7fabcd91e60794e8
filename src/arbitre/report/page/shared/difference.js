// Difference of two values, by character, by word or by item: missing parts are struck through, spurious ones underlined.

const CHANGES = 500; // maximum number of changes for which the shortest difference is searched at once
const STRETCHES = 60; // maximum number of such searches in two texts; what follows them counts as different
const HALF = 0.5; // minimum similarity of texts whose parts are marked
const LETTERS = 0.8; // the same for long texts that are alike in their letters, but not in their words
const SPELT = 20000; // maximum length of texts whose letters are compared if their words are not alike
const CONTEXT = 60; // minimum number of characters shown around a difference in a long text
const FOLD = 80; // minimum number of characters that are folded
const EARLY = 1000; // maximum number of characters shown of a text with many differences, before the others are folded
const LONG = 64; // maximum length of words; longer ones are compared character by character

// Splits a text into characters as readers see them.
const signs = (whole) => {
  if (/^[ -~]*$/.test(whole)) return whole.split("");
  if (typeof Intl.Segmenter !== "function") return [...whole];
  return [...new Intl.Segmenter(data.language).segment(whole)].map((one) => one.segment);
};
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u; // no spaces between words
const TOKENS = /\s+|[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c\u200d]*|[^\s\p{L}\p{N}]+/gu;
// Splits a text into words, spaces, and single characters of all other kinds.
const words = (whole) =>
  (whole.match(TOKENS) ?? []).flatMap((part) => {
    const word = /^[\p{L}\p{N}]/u.test(part) && part.length <= LONG && !UNSPACED.test(part);
    return word || /^\s/.test(part) ? [part] : signs(part);
  });

// Marks the common elements of two lists from two places on, and returns the places where it stops: the ends, or those
// that `CHANGES` changes lead to. The elements are a longest common subsequence of what lies between (Myers, 1986).
const stretch = (x, y, same, top, left) => {
  const [tall, wide] = [x.length - top, y.length - left];
  const reached = new Int32Array(2 * CHANGES + 3); // furthest place in x on each diagonal
  const zero = CHANGES + 1;
  const history = [];
  const down = (places, middle, k, d) => k === -d || (k !== d && places[middle + k - 1] < places[middle + k + 1]);
  const trace = (i, j, last) => {
    const ends = [top + i, left + j];
    const pairUp = () => {
      same[0][top + (i -= 1)] = true;
      same[1][left + (j -= 1)] = true;
    };
    for (let d = last; d > 0; d -= 1) {
      const places = history[d];
      const from = down(places, d + 1, i - j, d) ? i - j + 1 : i - j - 1;
      const start = places[d + 1 + from];
      while (i > start && j > start - from) pairUp();
      [i, j] = [start, start - from];
    }
    while (i > 0) pairUp();
    return ends;
  };
  for (let d = 0; d <= CHANGES; d += 1) {
    history.push(reached.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let i = down(reached, zero, k, d) ? reached[zero + k + 1] : reached[zero + k - 1] + 1;
      while (i < tall && i - k < wide && x[top + i] === y[left + i - k]) i += 1;
      reached[zero + k] = i;
      if (i >= tall && i - k >= wide) return trace(tall, wide, d);
    }
  }
  let best = null;
  for (let k = -CHANGES; k <= CHANGES; k += 2) {
    const i = reached[zero + k];
    if (i <= tall && i - k <= wide && (best === null || 2 * i - k > 2 * best.i - best.k)) best = { i, k };
  }
  return best ? trace(best.i, best.i - best.k, CHANGES) : [x.length, y.length];
};
// Two lists in Unicode normal form C if texts were compared in this form; unchanged if they differ only in the form.
const composed = (lists) => {
  const forms = data.nfc ? lists.map((all) => all.map((one) => one.normalize())) : lists;
  return forms[0].join("") === forms[1].join("") ? lists : forms;
};
// For each element of two lists, whether it is common to both.
const common = (...lists) => {
  const numbers = new Map(); // comparing numbers is faster than comparing strings
  const numbered = (one) => numbers.get(one) ?? numbers.set(one, numbers.size).size - 1;
  const [a, b] = composed(lists).map((all) => Int32Array.from(all, numbered));
  const same = [a, b].map((all) => new Array(all.length).fill(false));
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  for (const flags of same) flags.fill(true, 0, head).fill(true, flags.length - tail);
  // Elements of one side only are never common. Without them, two long texts that share little are compared at once.
  const [x, y] = [a, b].map((all, side) => {
    const others = new Set([b, a][side].subarray(head, [b, a][side].length - tail));
    const places = [];
    for (let place = head; place < all.length - tail; place += 1) if (others.has(all[place])) places.push(place);
    return { places, values: Int32Array.from(places, (place) => all[place]), paired: new Array(places.length).fill(false) };
  });
  let [top, left] = [0, 0];
  for (let n = 0; n < STRETCHES && top < x.places.length && left < y.places.length; n += 1)
    [top, left] = stretch(x.values, y.values, [x.paired, y.paired], top, left);
  [x, y].forEach(({ places, paired }, side) => places.forEach((place, at) => (same[side][place] = paired[at])));
  return same;
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
  const [lost, put] = common(a, b);
  return [runs(a, lost), runs(b, put)];
};

// Splits two texts into parts that are equal and parts that differ, both in order: `{ same, sides }`, as lists of words or
// characters. Spaces and punctuation between two differing words count as different.
const parted = (left, right, split) => {
  const [a, b] = [left, right].map(split);
  const [lost, put] = common(a, b);
  const parts = [];
  const add = (same, one, other) => {
    if (parts[parts.length - 1]?.same !== same) parts.push({ same, sides: [[], []] });
    [one, other].forEach((each, side) => {
      for (const element of each) parts[parts.length - 1].sides[side].push(element); // too many for arguments
    });
  };
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    if (i < a.length && !lost[i]) add(false, [a[i++]], []);
    else if (j < b.length && !put[j]) add(false, [], [b[j++]]);
    else add(true, [a[i++]], [b[j++]]);
  }
  if (split !== words) return parts;
  const pieces = parts.splice(0);
  pieces.forEach(({ same, sides }, place) => {
    const between = place > 0 && place < pieces.length - 1 && !/[\p{L}\p{N}]/u.test(sides[0].join(""));
    add(same && !between, ...sides);
  });
  return parts;
};
const lengthOf = (all) => all.reduce((sum, one) => sum + one.length, 0);
// The similarity of two texts: their equal share, or that of the shorter text that the longer one begins and ends with.
const similarity = (parts) => {
  const sizes = parts.map(({ same, sides }) => ({ same, sizes: sides.map(lengthOf) }));
  const [left, right] = [0, 1].map((side) => sizes.reduce((sum, one) => sum + one.sizes[side], 0));
  const equal = sizes.reduce((sum, one) => sum + (one.same ? one.sizes[0] : 0), 0);
  const ends = sizes.length > 3 ? 0 : equal;
  return Math.max((2 * equal) / (left + right), ends / Math.min(left, right));
};

// Buttons in place of elements, which take their place on a click and are filled then.
const fold = (name, n, nodes, folds, fill) => {
  const open = () => {
    if (!buttons[0].parentNode) return;
    fill();
    buttons.forEach((button, place) => replace(button, [nodes[place]]));
  };
  const buttons = nodes.map(() => opener(name, n, open));
  folds.push(open);
  return buttons;
};
// A button whose direction is its own, so that it does not change that of the text around it.
const opener = (name, n, open) => {
  const pressed = (event) => {
    event.stopPropagation();
    open();
  };
  return button(say(name, { n }), pressed, { class: "cut fold", dir: "auto" });
};
const foldText = (whole, tags, folds) => {
  const spaced = whole.trim().split(/\s+/u).length;
  const [name, n] = spaced * 30 < whole.length ? ["js.folded.characters", whole.length] : ["js.folded", spaced];
  const nodes = tags.map((tag) => make(tag));
  return fold(name, n, nodes, folds, () => nodes.forEach((node) => node.append(...visible(whole))));
};
// The number of elements of a list that have at least so many characters.
const reaching = (all, least) => {
  let place = 0;
  for (let length = 0; place < all.length && length < least; place += 1) length += all[place].length;
  return place;
};
// Whether two different texts look the same. If so, all their invisible characters are shown.
const lookAlike = (left, right) => left !== right && appearance(left) === appearance(right);
// Renders the part of two texts at a place. Long equal stretches, and long differing ones, are folded if there are `folds`.
const drawPart = (parts, at, boxes, folds) => {
  const { same, sides } = parts[at];
  const showCodes = (!same && lookAlike(...sides.map((own) => own.join("")))) || undefined;
  if (!same)
    return ["del", "ins"].forEach((tag, side) => {
      const own = sides[side];
      const most = lengthOf(own) > 2 * ROOM ? reaching(own, ROOM) : own.length;
      if (own.length) boxes[side].append(make(tag, {}, differing(own.slice(0, most).join(""), showCodes)));
      if (most < own.length) boxes[side].append(...foldText(own.slice(most).join(""), [tag], folds));
    });
  const [own] = sides;
  const begin = at === 0 ? 0 : reaching(own, CONTEXT);
  const end = own.length - (at === parts.length - 1 ? 0 : reaching([...own].reverse(), CONTEXT));
  const [before, hidden, after] = [own.slice(0, begin), own.slice(begin, end), own.slice(end)].map((some) => some.join(""));
  if (!folds || hidden.length < FOLD) return boxes.forEach((box, side) => box.append(...visible(sides[side].join(""))));
  const buttons = foldText(hidden, ["span", "span"], folds);
  return boxes.forEach((box, side) => box.append(...visible(before), buttons[side], ...visible(after)));
};
// Renders the parts of two texts from a place on. Those after many characters are folded.
const drawParts = (parts, from, boxes, folds) => {
  const begun = boxes.map((box) => box.textContent.length);
  for (let at = from; at < parts.length; at += 1) {
    if (at < parts.length - 1 && boxes.some((box, side) => box.textContent.length - begun[side] > EARLY)) {
      const nodes = boxes.map(() => make("span"));
      const n = parts.slice(at).filter(({ same }) => !same).length;
      const buttons = fold("js.folded.differences", n, nodes, folds, () => drawParts(parts, at, nodes, folds));
      return boxes.forEach((box, side) => box.append(buttons[side]));
    }
    drawPart(parts, at, boxes, folds);
  }
  return undefined;
};
// Renders two texts by their parts. If something of long texts is folded, a button shows all.
const drawn = (parts, long) => {
  const boxes = [0, 1].map(() => make("bdi"));
  const folds = long ? [] : null;
  drawParts(parts, 0, boxes, folds);
  if (!folds?.length) return boxes;
  return boxes.map((box, side) => {
    const all = opener("js.cut", parts.reduce((sum, { sides }) => sum + lengthOf(sides[side]), 0), () => {
      box.classList.add("whole");
      for (const open of folds) open(); // folds within folds are added on the way
      replace(all, [], box);
    });
    all.classList.remove("fold");
    return make("span", { class: "cuttable" }, box, all);
  });
};
// A value that is marked as a whole, not in part.
const entire = (tag, whole, render) => make(tag, { class: "entire" }, shown(whole, 0, render));
const entireBoth = (left, right) => {
  const render = lookAlike(left, right) ? allShown : undefined;
  return [entire("del", left, render), entire("ins", right, render)];
};
// Renders two texts: the parts that differ are marked if the texts are similar, else the texts as a whole.
const prose = (left, right) => {
  const size = Math.max(left.length, right.length);
  const ways = size <= ROOM ? [[signs, HALF]] : size <= SPELT ? [[words, HALF], [signs, LETTERS]] : [[words, HALF]];
  for (const [split, least] of ways) {
    const parts = parted(left, right, split);
    if (similarity(parts) >= least) return drawn(parts, size > ROOM);
  }
  return entireBoth(left, right);
};
// Marks the values of two lists of plain values that only one side has.
const listed = (gold, predicted) => {
  const [lost, put] = difference(...[gold, predicted].map((list) => list.map((value) => text(value, true))));
  const each = (tag, found, verdict) => {
    const items = found.flatMap(({ same, parts }) => parts.map((part) => ({ same, part })));
    const chips = items.map(({ same, part }) =>
      same
        ? make("span", { class: "chip" }, shown(part))
        : make("span", { class: `chip ${verdict}` }, glyph(verdict), make(tag, {}, shown(part, 0, (one) => differing(one)))),
    );
    return folded(chips, items.map(({ same }) => !same));
  };
  return [each("del", lost, "missing"), each("ins", put, "spurious")];
};
// Renders two values. One of a few values that the schema lists (`chosen`) is marked as a whole.
const sides = (gold, predicted, literal, { chosen = false } = {}) => {
  if ([gold, predicted].every((side) => Array.isArray(side) && side.every(scalar))) return listed(gold, predicted);
  const [left, right] = [text(gold, literal), text(predicted, literal)];
  if (left === right || left === "" || right === "") return [shown(left), shown(right)];
  return chosen ? entireBoth(left, right) : prose(left, right);
};
