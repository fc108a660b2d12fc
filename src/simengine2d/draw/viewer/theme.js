// The theme: that of the paper on which the player lies (a notebook has its own), else what the reader prefers.

// "dark" or "light" by the first background below an element that can be seen; null where there is none
function paperTheme(element) {
  for (let under = element.parentElement; under; under = under.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(under).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (alpha > 0.5) return 0.3 * red + 0.6 * green + 0.1 * blue < 110 ? "dark" : "light";
  }
  return null;
}

// tells the theme now, and whenever the page changes it; what it returns ends that
function followTheme(element, tell) {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const now = () => tell(paperTheme(element) || (preference.matches ? "dark" : "light"));
  const observer = new MutationObserver(now);
  for (const root of [document.documentElement, document.body]) observer.observe(root, { attributes: true });
  preference.addEventListener("change", now);
  now();
  return () => {
    observer.disconnect();
    preference.removeEventListener("change", now);
  };
}
