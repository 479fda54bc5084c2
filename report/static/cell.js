// The detail of a cell. Its address is #cell/<scene>/<model>, so that it can be linked.

const dialog = document.getElementById("cell");
const pickScene = document.getElementById("cell-scene");
const pickModel = document.getElementById("cell-model");

function address(scene, model) {
  return `#cell/${scene}/${encodeURIComponent(model)}`;
}

// The cell that the address names, or null.
function addressed() {
  const [kind, scene, name] = location.hash.slice(1).split("/");
  if (kind !== "cell" || name === undefined || !Object.hasOwn(data.scenes, scene)) return null;
  let key;
  try {
    key = decodeURIComponent(name);
  } catch {
    return null;
  }
  const index = data.models.findIndex((model) => model.key === key);
  return index < 0 ? null : { scene, index };
}

function follow() {
  const found = addressed();
  if (!found) {
    if (dialog.open) dialog.close();
    return;
  }
  if (!dialog.open) dialog.showModal();
  showCell(found.scene, found.index);
}

function showCell(key, index) {
  const scene = data.scenes[key], model = data.models[index], cell = data.cells[key][model.key];
  pickScene.value = key;
  pickModel.value = String(index);
  const title = document.getElementById("cell-title");
  title.replaceChildren(symbol(model.symbol, "marker-icon"), `${scene.title}, ${model.name}`);
  const counts = element("figure", {}, element("figcaption", {}, "What came up"));
  const evidence = element("figure", {}, element("figcaption", {}, "Evidence as rollouts came in (e-value)"));
  const right = element("div", {}, cell.log_e.length ? evidence : null, tests(cell));
  document.getElementById("cell-body").replaceChildren(
    element("p", { class: "verdict" }, symbol(`verdict-${cell.verdict}`, "sign"), element("span", {}, cell.sentence)),
    facts(cell),
    element("div", { class: "columns" }, counts, right),
    seeds(scene, cell),
    judge(scene, key, model, cell),
  );
  // Drawn when the columns are in place, at their width.
  counts.append(
    distribution(scene, cell, Math.max(280, counts.clientWidth)),
    legend({ "bar-model": "rollouts", expected: "expected by the reference", noise: "95 % of calibrated models" }),
    folded("Counts as a table", countsTable(scene, cell)),
  );
  if (cell.log_e.length) {
    const path = evidencePath(cell, Math.max(280, evidence.clientWidth));
    evidence.append(path, conclusion(cell), folded("E-values as a table", evidenceTable(cell)));
  }
  dialog.scrollTop = 0;
}

function facts(cell) {
  const entries = [
    ["Scorable", `${cell.n_valid} of ${cell.n}`],
    ["TV", cell.tv === null ? "—" : number(cell.tv)],
    ["Noise floor", cell.floor === null ? "—" : number(cell.floor)],
    ["Excess", cell.excess === null ? "—" : number(cell.excess)],
    ["Score", number(cell.score)],
    ["95 % interval", cell.interval ? interval(...cell.interval) : "not estimable"],
  ];
  const terms = entries.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  const list = element("dl", { class: "numbers" }, terms);
  if (!cell.interval_reason) return list;
  return element("div", {}, list, element("p", { class: "note" }, `Interval: ${cell.interval_reason}.`));
}

function folded(title, content) {
  return element("details", {}, element("summary", {}, title), content);
}

// What the drawing of the counts shows, for those who do not see it or cannot point at it.
function countsTable(scene, cell) {
  const rows = scene.outcomes.map((outcome, i) => {
    const range = cell.expected ? interval(...cell.expected[i].map((share) => share * cell.n_valid), 0) : "—";
    return row(outcome, [String(cell.counts[i]), number(cell.n_valid * scene.reference[i], 1), range], 3);
  });
  return table("Counts", ["Outcome", "count", "expected", "95 % range"], 3, rows);
}

function evidenceTable(cell) {
  const rows = cell.log_e.map((value, i) => row(String(i + 1), [eValue(value)], 1));
  return table("E-values", ["Rollouts", "e-value"], 1, rows);
}

// The e-value with this logarithm, or its order of magnitude.
function eValue(log) {
  const value = Math.exp(log);
  return value >= 0.01 && value < 1000 ? String(Number(value.toPrecision(2))) : power(value);
}

// What the e-values come to.
function conclusion(cell) {
  const value = eValue(cell.log_e[cell.log_e.length - 1]);
  const alone = cell.decided_after
    ? `rejects the reference after ${cell.decided_after} rollouts, where e first reaches ${1 / data.alpha}`
    : `does not reject the reference within these rollouts, as e stays below ${1 / data.alpha}`;
  const corrected = cell.e_significant ? "it rejects" : "it does not reject";
  return element("p", { class: "note" },
    `Alone, at ${data.alpha}, it ${alone}. At the end e = ${value}; corrected over all tested cells (e-BH), ${corrected}.`);
}

function legend(entries) {
  const keys = Object.entries(entries).map(([look, text]) => element("li", {}, element("i", { class: `swatch ${look}` }), text));
  return element("ul", { class: "legend" }, keys);
}

function tests(cell) {
  if (!cell.tests.length) return element("p", { class: "note" }, "Not tested.");
  const rows = cell.tests.map((test) => {
    const values = [test.p, test.q, test.p_bonferroni].map(pValue);
    return row(test.name, [...values, test.significant ? "differs" : "not told apart"], 3);
  });
  const head = ["Test", "p", "q (BH)", "Bonferroni", "verdict"];
  return table("Tests", head, 3, rows, `Tests against the reference, ${cell.family}`);
}

// The rollouts one by one, in seed order, with their final frames where the page holds them.
function seeds(scene, cell) {
  const items = cell.bins.map((bin, seed) => {
    const outcome = bin === null ? "no legible outcome" : scene.outcomes[bin - 1];
    const frame = cell.frames ? cell.frames[seed] : undefined;
    const picture = cell.frames ? framePicture(frame, seed, outcome) : null;
    const brief = (picture ? `${seed}: ` : "") + (bin === null ? "–" : short(outcome)) + (isDoubtful(frame) ? " ?" : "");
    return element("li", { class: bin === null ? "null" : null, title: `seed ${seed}: ${outcome}` },
      picture,
      element("span", { "aria-hidden": "true" }, brief),
      element("span", { class: "spoken" }, `seed ${seed}: ${outcome}`));
  });
  return element("section", { class: "seeds" }, element("h3", {}, "Rollout by rollout"),
    element("p", { class: "note" }, `Outcomes by seed, 0 to ${cell.n - 1}; – where none was legible.`),
    cell.frames && Object.values(cell.frames).some(isDoubtful)
      ? element("p", { class: "note" }, "?: the clip on disk is not known to be the clip that was read.")
      : null,
    element("ol", { class: cell.frames ? "frames" : null }, items));
}

// Whether a clip may be another one than that of the outcome.
function isDoubtful(frame) {
  return frame !== undefined && !frame.read;
}

function framePicture(frame, seed, outcome) {
  if (!frame || !frame.source) return element("span", { class: "missing" }, frame ? "unreadable clip" : "no clip");
  const read = frame.read ? `read as ${outcome}` : "of a clip not known to be the one that was read";
  return element("img", { src: frame.source, alt: `Final frame of seed ${seed}, ${read}`, loading: "lazy" });
}

function judge(scene, key, model, cell) {
  const shown = scene.evidence === "video" ? "the whole video" : "the final frame";
  const section = element("section", { class: "judge" }, element("h3", {}, "What the judge saw"),
    element("p", {}, `It is shown ${shown} of each rollout and asked:`),
    element("blockquote", {}, scene.question));
  if (!cell.votes) {
    const unread = cell.n - cell.n_valid, whose = cell.as_published ? "published" : "recorded";
    section.append(element("p", {}, unread
      ? `For ${unread} of ${cell.n} the ${whose} outcome is null: no legible outcome by the rules of the question.`
      : `None of the ${cell.n} ${whose} outcomes is null.`));
    section.append(cell.as_published
      ? element("p", { class: "note" }, "The judge's replies and the clips were not published with the paper.")
      : element("p", { class: "note" }, "Its replies are not on disk for this cell. To have them, read its clips again: ",
        element("code", {}, `python extract_bin.py --scene ${key} --model ${model.argument} --force`),
        ", which may be paid and need a key, and replaces the outcomes."));
    return section;
  }
  for (const reading of cell.votes) section.append(replies(reading));
  return section;
}

function replies(reading) {
  const spread =
    reading.mean_entropy === null
      ? "no votes"
      : `${reading.unanimous} of ${reading.voted} rollouts unanimous, mean entropy ${number(reading.mean_entropy)} bits`;
  const versions = reading.versions.length ? ` (${reading.versions.join(", ")})` : "";
  const rows = reading.rollouts.map((rollout) =>
    element("tr", {},
      element("th", { scope: "row" }, String(rollout.seed)),
      element("td", {}, rollout.replies.flatMap((reply) => [element("span", { class: "vote" }, reply.said), " "])),
      element("td", { class: "num" }, rollout.entropy === null ? "—" : number(rollout.entropy)),
      element("td", {}, element("details", {}, element("summary", {}, "as it replied"),
        rollout.replies.map((each) => reply(each, reading.log))))),
  );
  const head = ["Seed", "votes", "entropy, bits", "replies"];
  return element("div", {},
    element("p", {}, element("b", {}, reading.judge), `${versions}: ${spread}.`),
    reading.remark ? element("p", { class: "note" }, reading.remark) : null,
    table(`Replies of ${reading.judge}`, head, 0, rows));
}

// Below a reply stands why it is that vote or none, and where the rest of it is.
function reply({ text, reason, whole }, log) {
  const rest = whole ? `cut at ${[...text].length} of ${whole} characters; ${log} has the whole` : "";
  const below = [reason, rest].filter(Boolean).map((note) => element("p", { class: "note" }, note));
  return element("div", { class: "reply" }, element("pre", {}, text || (whole ? "…" : "(empty)")), below);
}

for (const picker of [pickScene, pickModel]) {
  // The address follows without a step in the history, so that Back leaves the detail.
  picker.addEventListener("change", () => {
    history.replaceState(null, "", address(pickScene.value, data.models[pickModel.value].key));
    follow();
  });
}
document.getElementById("cell-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => {
  if (addressed()) history.replaceState(null, "", location.href.split("#")[0]);
});
addEventListener("hashchange", follow);
follow();
