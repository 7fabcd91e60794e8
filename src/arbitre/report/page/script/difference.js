// Difference of two values: missing parts are struck through, spurious parts are underlined.

const ALIKE = 2500; // maximum length of lists that are compared value by value
const CELLS = 400000; // maximum product of the lengths of the differing parts

const signs = (whole) =>
  typeof Intl.Segmenter === "function"
    ? [...new Intl.Segmenter(data.language).segment(whole)].map((one) => one.segment)
    : [...whole];
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
// Splits each side into runs of common and of differing elements.
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
// Short texts are compared character by character, longer ones from the first difference.
const sides = (gold, predicted, literal) => {
  if ([gold, predicted].every((side) => Array.isArray(side) && side.length <= ALIKE && side.every(scalar)))
    return listed(gold, predicted);
  const [left, right] = [text(gold, literal), text(predicted, literal)];
  if (left === right || left === "" || right === "") return [shown(left), shown(right)];
  if (Math.max(left.length, right.length) <= ROOM) {
    const [lost, put] = difference(signs(left), signs(right));
    return [make("bdi", {}, marked("del", lost)), make("bdi", {}, marked("ins", put))];
  }
  let place = 0;
  while (place < left.length && left[place] === right[place]) place += 1;
  place = apart(left, place);
  const from = (tag) => (part, start) => [
    visible(part.slice(0, place - start)),
    make(tag, {}, visible(part.slice(place - start))),
  ];
  return [shown(left, place, from("del")), shown(right, place, from("ins"))];
};
