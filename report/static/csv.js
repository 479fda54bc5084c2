// A table of the page as a file. A text that a spreadsheet would take for a formula gets an apostrophe before it.

function csvField(value) {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(table) {
  return [table.columns, ...table.rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

for (const button of document.querySelectorAll("[data-csv]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const name = button.dataset.csv;
    const address = URL.createObjectURL(new Blob([csvText(data.tables[name])], { type: "text/csv" }));
    element("a", { href: address, download: `calibench_${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
}
