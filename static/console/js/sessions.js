// The list of conversations: one's own chats and, for staff, those of every platform.

import { byId, el, icon } from "./dom.js";
import { brief, t } from "./words.js";

const NARROW = matchMedia("(max-width: 52rem)");

export class Sessions {
  #list = byId("sessions");
  #search = byId("search");
  #platform = byId("platform");
  #sidebar = byId("sidebar");
  #backdrop = byId("backdrop");
  #menu = byId("menu");
  #main = byId("main");
  #rows = [];
  #current = null;
  #timer = 0;
  onopen = () => {};
  onfilter = () => {};

  constructor() {
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.onfilter(this.filters), 200);
    });
    this.#platform.addEventListener("change", () => this.onfilter(this.filters));
    this.#menu.addEventListener("click", () => this.toggle(true));
    byId("sidebar-close").addEventListener("click", () => this.toggle(false));
    this.#backdrop.addEventListener("click", () => this.toggle(false));
    this.#sidebar.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#isDrawerOpen) this.toggle(false);
    });
    NARROW.addEventListener("change", () => this.toggle(false, false));
    this.toggle(false, false);
  }

  get filters() {
    return { search: this.#search.value, platform: this.#platform.value };
  }

  get #isDrawerOpen() {
    return this.#sidebar.classList.contains("is-open");
  }

  // On a narrow page the list is a drawer; what is behind it cannot be reached meanwhile.
  toggle(isOpen, moveFocus = true) {
    const isDrawer = NARROW.matches;
    this.#sidebar.classList.toggle("is-open", isOpen && isDrawer);
    this.#backdrop.hidden = !(isOpen && isDrawer);
    this.#sidebar.inert = isDrawer && !isOpen;
    this.#main.inert = isDrawer && isOpen;
    this.#menu.setAttribute("aria-expanded", String(isOpen));
    if (!isDrawer || !moveFocus) return;
    if (isOpen) byId("sidebar-close").focus();
    else this.#menu.focus();
  }

  offer(platforms) {
    const known = new Set([...this.#platform.options].map((option) => option.value));
    for (const name of platforms) {
      if (!known.has(name)) this.#platform.append(el("option", { value: name, text: title(name) }));
    }
    this.#platform.hidden = this.#platform.options.length < 3;
  }

  show(rows, current = this.#current) {
    this.#rows = rows;
    this.#current = current;
    const focused = document.activeElement?.closest?.("[data-conversation]")?.dataset.conversation;
    this.#list.replaceChildren(...rows.map((row) => this.#row(row)));
    if (!rows.length) this.#list.append(el("li", { class: "nothing", text: t("no_conversations") }));
    if (focused) this.#list.querySelector(`[data-conversation="${focused}"]`)?.focus();
  }

  mark(current) {
    this.show(this.#rows, current);
  }

  get asking() {
    return this.#rows.filter((row) => row.asked && row.id !== this.#current).length;
  }

  #row(row) {
    const isCurrent = row.id === this.#current;
    const state = row.asked
      ? el("span", { class: "badge asks", title: t("needs_you") }, icon("question"))
      : row.busy && el("span", { class: "badge busy", title: t("is_busy") });
    return el(
      "li",
      {},
      el(
        "a",
        {
          href: `/c/${row.id}/`,
          "data-conversation": row.id,
          "aria-current": isCurrent ? "page" : false,
          onclick: (event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
            event.preventDefault();
            this.onopen(row.id);
          },
        },
        el("span", { class: "session-title", dir: "auto", text: nameOf(row) }),
        state || el("span"),
        el("time", { datetime: row.active_at, text: brief(row.active_at) }),
        !row.mine && el("span", { class: "session-place", text: title(row.platform) }),
      ),
    );
  }
}

export function nameOf(row) {
  if (row.title) return row.title;
  return row.mine ? t("untitled") : row.chat;
}

export const title = (platform) =>
  platform === "console" ? "Console" : platform.charAt(0).toUpperCase() + platform.slice(1);
