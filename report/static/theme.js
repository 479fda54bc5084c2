// Light or dark: as the system says, until the button says otherwise. Nothing is stored.

const themeButton = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const darkColours = [...document.styleSheets[0].cssRules].find((rule) => rule instanceof CSSMediaRule).media;
let chosen = null; // the theme that was asked for

function showTheme() {
  const dark = (chosen ?? (systemDark.matches ? "dark" : "light")) === "dark";
  themeButton.textContent = dark ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
  return dark;
}

themeButton.hidden = false;
themeButton.addEventListener("click", () => {
  chosen = showTheme() ? "light" : "dark";
  darkColours.mediaText = chosen === "dark" ? "screen" : "not all";
  showTheme();
});
systemDark.addEventListener("change", showTheme);
showTheme();

// Folded data would be missing on paper; a list of files nobody misses there.
const opened = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("main details:not([open], .long)")) {
    details.open = true;
    opened.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
});
