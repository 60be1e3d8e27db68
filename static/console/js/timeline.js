// The timeline: entries by their ids, in the order of the server, brought up to date in place.

import { byId, el } from "./dom.js";
import { build, copyFrom, fill } from "./entries.js";
import { dayName, dayOf, t } from "./words.js";

const NEAR = 90; // pixels from the end that still count as being there

export class Timeline {
  #items = new Map(); // id -> { entry, node }
  #list = byId("timeline");
  #scroller = byId("scroller");
  #latest = byId("latest");
  #earlier = byId("earlier");
  #stuck = true;
  #at = 0; // how far it was scrolled when it was last looked at
  #retired = new Set(); // previews whose final is here: late live texts of them are ignored

  constructor(hooks) {
    this.hooks = hooks;
    this.#list.addEventListener("click", copyFrom);
    this.#scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    this.#latest.addEventListener("click", () => this.toEnd(true));
    this.#earlier.addEventListener("click", () => hooks.earlier());
    new ResizeObserver(() => this.#stuck && this.toEnd()).observe(this.#list);
    new ResizeObserver(() => this.#stuck && this.toEnd()).observe(this.#scroller);
  }

  clear() {
    this.#items.clear();
    this.#retired.clear();
    this.#list.replaceChildren();
    this.#stuck = true;
  }

  reset(entries) {
    const kept = new Set(entries.map((entry) => entry.id));
    for (const [id, item] of this.#items) {
      if (!kept.has(id) && item.entry.rank !== 9) this.remove(id);
    }
    this.upsert(entries);
  }

  get(id) {
    return this.#items.get(id)?.entry ?? null;
  }

  get all() {
    return [...this.#items.values()].map((item) => item.entry);
  }

  get oldest() {
    const known = this.all.filter((entry) => entry.rank !== 9 && entry.kind !== "live");
    return known.length ? known.reduce((a, b) => (compare(a, b) < 0 ? a : b)).at : null;
  }

  get isEmpty() {
    return this.#items.size === 0;
  }

  upsert(entries) {
    for (const entry of entries) this.#put(entry);
    this.#separate();
    this.hooks.changed?.();
  }

  // Put earlier entries in front without moving what is being read.
  prepend(entries) {
    const before = this.#scroller.scrollHeight - this.#scroller.scrollTop;
    this.upsert(entries);
    this.#scroller.scrollTop = this.#scroller.scrollHeight - before;
  }

  live(key, turn, html, at) {
    if (this.#retired.has(key)) return;
    const known = this.get(`live:${key}`);
    this.upsert([{ id: `live:${key}`, kind: "live", at: known?.at ?? at, rank: 1, turn, key, html }]);
  }

  // Only the live texts of these previews stay; that of a stopped turn has become an entry by now.
  keepLive(keys) {
    for (const entry of this.all) {
      if (entry.kind === "live" && !keys.has(entry.key)) this.remove(entry.id);
    }
  }

  remove(id) {
    this.#items.get(id)?.node.remove();
    this.#items.delete(id);
    this.#separate();
    this.hooks.changed?.();
  }

  slot(id) {
    return this.#items.get(id)?.node.querySelector("[data-slot]") ?? null;
  }

  toEnd(isAsked = false) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#scroller.scrollTo({
      top: this.#scroller.scrollHeight,
      behavior: isAsked && !calm ? "smooth" : "instant",
    });
    this.#at = this.#scroller.scrollTop;
    this.#stuck = true;
    this.#latest.hidden = true;
  }

  // Show an entry from its top, if it is at the end and taller than the page.
  attend(id) {
    const node = this.#items.get(id)?.node;
    if (!node || !this.#stuck || node.offsetHeight < this.#scroller.clientHeight - 16) return;
    this.#stuck = false;
    this.#scroller.scrollTop += node.getBoundingClientRect().top - this.#top;
  }

  get #top() {
    return this.#scroller.getBoundingClientRect().top;
  }

  // Whether somebody looks at the question that the timeline ends with, or nearly so.
  #isRead(item) {
    const { top, bottom } = item.node.getBoundingClientRect();
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    const isVisible = bottom > this.#top && top < this.#top + clientHeight;
    const below = scrollHeight - scrollTop - (bottom - this.#top);
    return isVisible && below < clientHeight;
  }

  offerEarlier(hasMore) {
    this.#earlier.hidden = !hasMore;
  }

  #put(entry) {
    const item = this.#items.get(entry.id) ?? this.#adopt(entry);
    // What was shown of a stopped turn may be more than the server keeps.
    if (entry.kind === "cut") entry.html = longer(item?.entry.html ?? "", entry.html);
    if (entry.kind === "cut" && !entry.html) return void (item && this.remove(entry.id));
    if (!item) {
      const node = build(entry, this.hooks);
      this.#items.set(entry.id, { entry, node });
      this.#place(entry, node);
      if (!this.#stuck && entry.kind !== "live") this.#latest.classList.add("has-news");
      return;
    }
    if (JSON.stringify(item.entry) === JSON.stringify(entry)) return;
    const moved = compare(item.entry, entry) !== 0;
    // Whoever read a question that is closed now goes on reading at the end.
    const follows = item.entry.open && !entry.open && this.#isRead(item);
    item.entry = entry;
    fill(item.node, entry, this.hooks);
    if (moved) this.#place(entry, item.node);
    if (follows) this.toEnd();
  }

  // The same thing under another name: a message that was sent from here and is now stored, a text
  // that was live and is now final. Its element goes on, so nothing flickers.
  #adopt(entry) {
    const former = entry.client_id ? `out:${entry.client_id}` : entry.preview ? `live:${entry.preview}` : "";
    if (entry.preview) this.#retired.add(entry.preview);
    const item = former && this.#items.get(former);
    if (!item || former === entry.id) return null;
    this.#items.delete(former);
    this.#items.set(entry.id, item);
    if (item.entry.kind === "live" && entry.kind !== "cut") this.hooks.finished?.(entry);
    return item;
  }

  #place(entry, node) {
    let next = null;
    for (const other of this.#items.values()) {
      if (other.node === node || !other.node.isConnected || compare(entry, other.entry) >= 0) continue;
      if (next === null || compare(other.entry, next.entry) < 0) next = other;
    }
    if (next) this.#list.insertBefore(node, next.node);
    else if (this.#list.lastElementChild !== node) this.#list.append(node);
  }

  // A line with the day's name before the first entry of each day.
  #separate() {
    for (const line of this.#list.querySelectorAll(":scope > .day")) line.remove();
    let day = null;
    for (const node of [...this.#list.children]) {
      const entry = this.#items.get(node.dataset.id)?.entry;
      if (!entry || entry.rank === 9) continue;
      if (dayOf(entry.at) !== day) {
        day = dayOf(entry.at);
        node.before(el("li", { class: "day" }, el("span", { text: dayName(entry.at) })));
      }
    }
  }

  #look() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    // The end is left by going up, not by something new that came below it meanwhile.
    if (scrollHeight - scrollTop - clientHeight < NEAR) this.#stuck = true;
    else if (scrollTop < this.#at - 1) this.#stuck = false;
    this.#at = scrollTop;
    this.#latest.hidden = this.#stuck;
    if (this.#stuck) this.#latest.classList.remove("has-news");
  }
}

const longer = (one, other) => (one.length > other.length ? one : other);

function compare(one, other) {
  if (one.rank === 9 || other.rank === 9) {
    return one.rank - other.rank || one.at.localeCompare(other.at);
  }
  if (one.at !== other.at) return one.at < other.at ? -1 : 1;
  return one.rank - other.rank || one.id.localeCompare(other.id, undefined, { numeric: true });
}

export function outgoing(message) {
  return {
    id: `out:${message.client_id}`,
    kind: "said",
    at: String(message.at).padStart(16, "0"),
    rank: 9, // always at the end, in the order of sending
    text: message.text,
    who: "",
    mine: true,
    client_id: message.client_id,
    state: message.error ? "failed" : "sending",
    error: message.error ?? "",
  };
}

export const plainText = (html) => {
  const holder = el("div", { html });
  return holder.textContent.replace(/\s+/g, " ").trim();
};

export const emptyWords = () => [t("empty_title"), t("empty_text")];
