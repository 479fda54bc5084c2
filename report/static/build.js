// Elements and numbers. Text goes in as text nodes only, never as markup: names and replies are other people's.

const data = JSON.parse(document.getElementById("data").textContent);

// An element with attributes and children; a string child is text, null is left out.
function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// As Python formats: of two equally near decimals the even one, where toFixed takes the larger. Only an odd multiple
// of 1 / 2^(digits + 1) lies halfway exactly, and scaling by a power of two does not round.
function fixed(value, digits) {
  if (Math.abs(value * 2 ** (digits + 1)) % 2 !== 1) return value.toFixed(digits);
  const below = Math.floor(value * 10 ** digits);
  return ((below + Math.abs(below % 2)) / 10 ** digits).toFixed(digits);
}

function number(value, digits = 2) {
  const text = fixed(value, digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}

function change(value, digits = 2) {
  const text = number(value, digits);
  return Number(fixed(value, digits)) > 0 ? `+${text}` : text;
}

function interval(low, high, digits = 2) {
  return low === null ? "not estimable" : `[${number(low, digits)}, ${number(high, digits)}]`;
}

// Three decimals, or the order of magnitude of a p-value that has none there.
function pValue(p) {
  return p >= 0.0005 ? fixed(p, 3) : power(p);
}

// 3 × 10⁵, as the page writes very small and very large numbers.
function power(value) {
  const [mantissa, exponent] = value.toExponential(0).split("e");
  const raised = [...exponent.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
  return `${mantissa} × 10${raised}`;
}

function symbol(id, look) {
  return drawn("svg", { class: look, "aria-hidden": "true" }, drawn("use", { href: `#${id}` }));
}

// A table in a frame that scrolls; the columns 1 to `numbers` are numbers.
function table(label, head, numbers, rows, caption) {
  const look = (i) => (i > 0 && i <= numbers ? "num" : null);
  const headers = head.map((name, i) => element("th", { scope: "col", class: look(i) }, name));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", { class: "data" },
      caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, headers)),
      element("tbody", {}, rows)));
}

function row(name, values, numbers) {
  const cells = values.map((value, i) => element("td", { class: i < numbers ? "num" : null }, value));
  return element("tr", {}, element("th", { scope: "row" }, name), cells);
}
