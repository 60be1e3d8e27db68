/* Keep the health page fresh: only what changed is put in place, and only while somebody looks. */

const EVERY = 15_000; // milliseconds

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("health");
    const shown = document.getElementById("health");
    if (fresh && !shown.contains(document.activeElement)) shown.replaceChildren(...fresh.childNodes);
  } catch {
    // The site is away for a moment: what is shown says as of when it is.
  }
}

setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);
