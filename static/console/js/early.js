// Before anything is painted: the theme the person chose, so that the page never flashes.
(() => {
  try {
    const theme = localStorage.getItem("hermes.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be forbidden; then the system's theme holds.
  }
})();
