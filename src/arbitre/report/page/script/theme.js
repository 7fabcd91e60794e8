// The theme: system, light or dark.

const THEMES = ["auto", "light", "dark"];
const theme = at("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const now = root.dataset.theme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  theme.querySelector("span").textContent = say(`theme.${next}`);
});
