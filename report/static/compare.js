// Two models against each other.

const compareFirst = document.getElementById("compare-first");
const compareSecond = document.getElementById("compare-second");
const compareResult = document.getElementById("compare-result");
const swap = document.getElementById("compare-swap");

// The pair first - second, from the one that is stored, turned round if need be; null when there is none.
function pairOf(first, second) {
  const minus = (value) => (value === null ? null : -value);
  const turned = (row) => ({ ...row, value: -row.value, low: minus(row.high), high: minus(row.low) });
  for (const pair of data.pairs) {
    const same = pair.a === first && pair.b === second;
    if (!same && !(pair.a === second && pair.b === first)) continue;
    const as = same ? (row) => row : turned;
    const scenes = Object.fromEntries(Object.entries(pair.scenes).map(([key, row]) => [key, as(row)]));
    return { corrected: as(pair.corrected), percentile: as(pair.percentile), scenes };
  }
  return null;
}

function compare() {
  const first = data.models[compareFirst.value], second = data.models[compareSecond.value];
  const pair = pairOf(first.key, second.key);
  if (!pair) {
    compareResult.replaceChildren(element("p", {}, "Choose two different models."));
    return;
  }
  const rows = Object.entries(data.scenes).map(([key, scene]) => {
    const [a, b] = [first, second].map((model) => data.cells[key][model.key].score);
    return { label: scene.title, first: a, second: b, ...pair.scenes[key] };
  });
  const published = pair.percentile.low === null ? null : pair.percentile;
  const [a, b] = ["first", "second"].map((name) => rows.reduce((sum, row) => sum + row[name], 0) / rows.length);
  rows.push({ label: "mnTV", total: true, first: a, second: b, ...pair.corrected, published });
  const figure = element("figure");
  compareResult.replaceChildren(
    answer(first, second, pair),
    element("div", { class: "columns" }, figure, compareTable(rows, first, second)),
  );
  // Drawn when the columns are in place, at their width.
  figure.append(differences(rows, Math.max(300, figure.clientWidth)), legend({
    told: "interval excludes 0",
    untold: "it does not, or there is none",
    corrected: "corrected interval",
    published: "published interval, of mnTV",
  }));
  for (const { label, reason } of rows.filter((each) => each.low === null)) {
    compareResult.append(element("p", { class: "note" }, `${label}, interval not estimable: ${reason}.`));
  }
}

function apart({ low, high }) {
  return low !== null && (low > 0 || high < 0);
}

function answer(first, second, { corrected, percentile }) {
  const better = corrected.value < 0 ? first : second;
  const undecided = corrected.low === null ? "the interval is not estimable" : "they are not told apart";
  return element("p", { class: "answer" },
    element("b", {}, `${first.name} − ${second.name}: ${change(corrected.value)}`),
    ` in mnTV, corrected interval ${interval(corrected.low, corrected.high)}, published `,
    `${interval(percentile.low, percentile.high)}: ${apart(corrected) ? `${better.name} is better` : undecided}.`);
}

function compareTable(rows, first, second) {
  const lines = rows.map((each) => {
    const difference = element(apart(each) ? "b" : "span", {}, change(each.value));
    const values = [number(each.first), number(each.second), difference, interval(each.low, each.high)];
    const line = row(each.label, values, 4);
    line.classList.toggle("total", Boolean(each.total));
    return line;
  });
  return table("Differences by scene", ["Scene", first.name, second.name, "difference", "95 % interval"], 4, lines);
}

swap.hidden = false;
swap.addEventListener("click", () => {
  [compareFirst.value, compareSecond.value] = [compareSecond.value, compareFirst.value];
  compare();
});
for (const picker of [compareFirst, compareSecond]) picker.addEventListener("change", compare);
compare();
