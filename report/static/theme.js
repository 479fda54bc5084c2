// Light or dark: as the system says, until the button says otherwise. Nothing is stored.

const themeButton = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const dark = (document.documentElement.dataset.theme || (systemDark.matches ? "dark" : "light")) === "dark";
  themeButton.textContent = dark ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
  return dark;
}

themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = showTheme() ? "light" : "dark";
  showTheme();
});
systemDark.addEventListener("change", showTheme);
showTheme();

// Folded data would be missing on paper.
const opened = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("main details:not([open])")) {
    details.open = true;
    opened.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
});
