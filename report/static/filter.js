// Which models are shown: rows of the leaderboard, columns of the grid, marks of the panels.

const filter = document.getElementById("filter");
const filterBoxes = [...filter.querySelectorAll("[data-filter]")];

function applyFilter() {
  const shown = new Set(filterBoxes.filter((box) => box.checked).map((box) => box.dataset.filter));
  for (const node of document.querySelectorAll("[data-model]")) {
    node.classList.toggle("off", !shown.has(node.dataset.model));
  }
}

filter.hidden = false;
filter.addEventListener("change", applyFilter);
// A browser may come back to the page with boxes as they were left.
applyFilter();
