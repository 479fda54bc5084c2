// Drawings of a cell and of a pair, made at the width that is there, so that text keeps its size.

function frame(width, height, label, ...children) {
  const viewBox = `0 0 ${width} ${height}`;
  return drawn("svg", { class: "plot", viewBox, role: "img", "aria-label": label }, ...children);
}

function lineAt(x1, y1, x2, y2, look) {
  return drawn("line", { x1, y1, x2, y2, class: look });
}

function boxed(x, y, width, height, look) {
  return drawn("rect", { x, y, width, height, class: look });
}

function words(x, y, text, look, anchor) {
  return drawn("text", { x, y, class: look, "text-anchor": anchor }, text);
}

function short(label) {
  return label.length > 2 ? label[0].toUpperCase() : label;
}

// Counts of the outcomes, the reference's expectation, and where a calibrated model's counts lie.
function distribution(scene, cell, width) {
  const height = 210, left = 30, bottom = height - 34, top = 14;
  const n = cell.n_valid, k = scene.outcomes.length, step = (width - left - 4) / k;
  const ranges = cell.expected ? cell.expected.map((range) => range.map((share) => share * n)) : null;
  const most = Math.max(4, ...cell.counts, ...(ranges ? ranges.map((range) => range[1]) : []));
  const y = (count) => bottom - (count / most) * (bottom - top);
  const parts = [];
  const tick = [1, 2, 5, 10, 20, 50].find((size) => most / size <= 5);
  for (let at = 0; at <= most; at += tick) {
    parts.push(lineAt(left, y(at), width, y(at), "grid"), words(left - 6, y(at) + 4, String(at), "tick", "end"));
  }
  scene.outcomes.forEach((outcome, i) => {
    const x = left + (i + 0.5) * step, half = Math.min(0.36 * step, 26);
    const expected = n * scene.reference[i];
    const title = `${outcome}: ${cell.counts[i]} of ${n}, ${number(expected, 1)} expected`;
    const bar = boxed(x - half, y(cell.counts[i]), 2 * half, bottom - y(cell.counts[i]), "bar-model");
    // The whole column brings up the words, also where the bar is short.
    parts.push(drawn("g", {}, drawn("title", {}, title), bar, boxed(x - step / 2, top, step, bottom - top, "catch")));
    if (ranges) {
      const cap = Math.min(5, half);
      parts.push(lineAt(x, y(ranges[i][0]), x, y(ranges[i][1]), "noise"));
      for (const end of ranges[i]) parts.push(lineAt(x - cap, y(end), x + cap, y(end), "noise"));
    }
    parts.push(drawn("path", { d: `M${x} ${y(expected) - 4.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`, class: "expected" }));
    parts.push(words(x, bottom + 15, outcome, "tick", "middle"));
  });
  parts.push(words(left, height - 4, `outcome (${n} scorable)`, "axis"));
  return frame(width, height, `Counts of the outcomes against what the reference expects of ${n} rollouts`, ...parts);
}

// The e-value after each rollout on a logarithmic axis, with the line of the verdict.
function evidencePath(cell, width) {
  const height = 150, left = 40, bottom = height - 34, top = 10;
  const path = cell.log_e.map((value) => value / Math.LN10);
  const line = Math.log10(1 / data.alpha);
  const low = Math.min(-1, ...path), high = Math.max(line + 0.7, ...path);
  const x = (i) => left + (i / path.length) * (width - left - 8);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const parts = [];
  const tick = [1, 2, 5, 10, 20].find((size) => (high - low) / size <= 5);
  for (let at = Math.ceil(low / tick) * tick; at <= high; at += tick) {
    const label = at === 0 ? "1" : at === 1 ? "10" : power(10 ** at).replace("1 × ", "");
    parts.push(lineAt(left, y(at), width, y(at), "grid"), words(left - 6, y(at) + 4, label, "tick", "end"));
  }
  parts.push(lineAt(left, y(line), width, y(line), "reference"));
  parts.push(words(width - 4, y(line) - 5, `verdict at ${1 / data.alpha}`, "tick", "end"));
  const points = [[x(0), y(0)], ...path.map((value, i) => [x(i + 1), y(value)])];
  const steps = points.map((point) => point.map((value) => value.toFixed(1)).join(" "));
  parts.push(drawn("path", { d: `M${steps.join("L")}`, class: "path" }));
  if (cell.decided_after) {
    const [cx, cy] = points[cell.decided_after];
    parts.push(drawn("circle", { cx, cy, r: 4, class: "decided" }));
  }
  const step = [1, 2, 4, 8, 10, 20, 50, 100].find((size) => path.length / size <= 5) ?? path.length;
  for (let at = 0; at <= path.length; at += step) {
    parts.push(words(x(at), bottom + 15, String(at), "tick", "middle"));
  }
  parts.push(words(left, height - 4, "rollouts, in seed order", "axis"));
  return frame(width, height, "E-value against the reference after each rollout", ...parts);
}

// Rows of differences with intervals around zero.
function differences(rows, width) {
  const label = 116, rowHeight = 24, top = 6, bottom = top + rows.length * rowHeight + 8;
  // Where both words for the directions do not fit on one line, the second stands below the first.
  const narrow = width < 400, height = bottom + (narrow ? 52 : 36);
  const ends = rows.flatMap((row) => [row.low, row.high, row.value]).filter((value) => value !== null);
  const reach = Math.max(0.2, ...ends.map(Math.abs)) * 1.05;
  const x = (value) => label + 8 + ((value + reach) / (2 * reach)) * (width - label - 20);
  const parts = [];
  const tick = [0.1, 0.2, 0.5].find((size) => reach / size <= 4);
  for (let i = -Math.floor(reach / tick); i * tick <= reach; i += 1) {
    const at = i * tick;
    parts.push(lineAt(x(at), top, x(at), bottom, i === 0 ? "zero" : "grid"));
    parts.push(words(x(at), bottom + 15, number(at, 1), "tick", "middle"));
  }
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * rowHeight + (row.total ? 6 : 0);
    if (row.total) parts.push(lineAt(0, y - rowHeight / 2, width, y - rowHeight / 2, "rule"));
    parts.push(words(label, y + 4, row.label, row.total ? "label strong" : "label", "end"));
    if (row.low !== null) {
      const look = apart(row) ? "corrected" : "corrected weak";
      parts.push(boxed(x(row.low), y - 2.5, x(row.high) - x(row.low), 5, look));
    }
    if (row.published) parts.push(lineAt(x(row.published.low), y + 8, x(row.published.high), y + 8, "published"));
    parts.push(drawn("circle", { cx: x(row.value), cy: y, r: 4.5, class: apart(row) ? "apart" : "together" }));
  });
  parts.push(words(label + 8, bottom + 32, "← first is better", "axis"));
  parts.push(words(width - 12, height - 4, "second is better →", "axis", "end"));
  return frame(width, height, "Differences scene by scene with intervals", ...parts);
}
