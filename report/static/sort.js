// Tables that sort by a column: the header becomes a button. Rows without a value stay at the end either way.

for (const table of document.querySelectorAll("[data-sortable]")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    if (!header.dataset.sort) return;
    const button = element("button", { type: "button", class: "sort" }, ...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const natural = header.dataset.first || "ascending";
      const other = natural === "ascending" ? "descending" : "ascending";
      const order = header.getAttribute("aria-sort") === natural ? other : natural;
      for (const each of headers) each.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", order);
      for (const body of table.tBodies) sortRows(body, column, header.dataset.sort, order === "ascending" ? 1 : -1);
    });
  });
}

function sortRows(body, column, kind, sign) {
  const key = (row) => (row.cells[column] ? row.cells[column].dataset.value : undefined);
  const rows = [...body.rows].filter((row) => key(row) !== undefined);
  const compare = kind === "text" ? (a, b) => a.localeCompare(b) : (a, b) => Number(a) - Number(b);
  rows.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    return sign * compare(x, y);
  });
  body.append(...rows);
}
