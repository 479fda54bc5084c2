// Groups of links that take one stop of the Tab key; arrows move inside. In a table they move by row and column.

for (const group of document.querySelectorAll("[data-keys]")) {
  const links = () => [...group.querySelectorAll("a")].filter((link) => !link.closest(".off"));
  const give = (link) => {
    for (const each of group.querySelectorAll("a")) each.setAttribute("tabindex", each === link ? "0" : "-1");
  };
  const settle = () => {
    const held = links().find((link) => link.getAttribute("tabindex") === "0");
    if (!held && links().length) give(links()[0]);
  };
  settle();
  // The link that has the group's stop may have been filtered out.
  filter.addEventListener("change", settle);
  group.addEventListener("focusin", (event) => {
    const link = event.target.closest("a");
    if (link) give(link);
  });
  group.addEventListener("keydown", (event) => {
    const from = event.target.closest("a");
    if (!from || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = group.matches("table") ? inTable(links(), from, event.key) : inRow(links(), from, event.key);
    if (!to) return;
    event.preventDefault();
    give(to);
    to.focus();
  });
}

function inRow(links, from, key) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
  if (key === "Home") return links[0];
  if (key === "End") return links[links.length - 1];
  return step ? links[links.indexOf(from) + step] : undefined;
}

function inTable(links, from, key) {
  const row = (link) => link.closest("tr");
  const mine = links.filter((link) => row(link) === row(from));
  const place = mine.indexOf(from);
  if (key === "ArrowDown" || key === "ArrowUp") {
    const rows = [...new Set(links.map(row))];
    const next = rows[rows.indexOf(row(from)) + (key === "ArrowDown" ? 1 : -1)];
    return next && links.filter((link) => row(link) === next)[place];
  }
  return inRow(mine, from, key);
}

// What a mark of a panel says, in words below the panel.
for (const figure of document.querySelectorAll(".scatter-panels figure")) {
  const readout = figure.querySelector(".readout");
  const tell = (event) => {
    const point = event.target.closest(".point");
    readout.textContent = point ? point.dataset.words : "";
  };
  for (const kind of ["pointerover", "focusin"]) figure.addEventListener(kind, tell);
  for (const kind of ["pointerleave", "focusout"]) figure.addEventListener(kind, () => (readout.textContent = ""));
}
