// The questions that are open: docked in place of the composer, one at a time; on a narrow page a
// card in the timeline with all of them.

import { handleKey, questionBody, refresh } from "./card.js";
import { byId, el, icon } from "./dom.js";
import { Draft } from "./drafts.js";
import { Refused } from "./socket.js";
import { number, span, t } from "./words.js";

export const NARROW = matchMedia("(max-width: 40rem)");

export class Stepper {
  #host = byId("stepper");
  #drafts = new Map(); // entry id -> Draft
  #shown = null; // id of the prompt that is shown
  #card = null;
  #busy = new Set();
  #errors = new Map();
  #clock = 0;

  // hooks: request(type, fields), stored(entry), slot(id), attend(id), toggled(isDocked), composer,
  // now()
  constructor(hooks) {
    this.hooks = hooks;
    NARROW.addEventListener("change", () => this.render());
    document.addEventListener("keydown", (event) => this.#keyFromNowhere(event));
  }

  clear() {
    this.#drafts.clear();
    this.#shown = null;
    this.render();
  }

  // The prompts that are open now, oldest first.
  sync(entries) {
    const ids = new Set(entries.map((entry) => entry.id));
    let changed = false;
    for (const [id, draft] of this.#drafts) {
      if (ids.has(id)) continue;
      draft.forget();
      this.#drafts.delete(id);
      changed = true;
    }
    const told = entries.filter((entry) => this.#drafts.get(entry.id)?.learn(entry));
    const fresh = entries.filter((entry) => !this.#drafts.has(entry.id));
    for (const entry of fresh) {
      const draft = new Draft(entry);
      // Whoever is writing keeps the composer; the question waits above it.
      if (!draft.isKept && this.hooks.composer.isWriting) draft.isCollapsed = true;
      this.#drafts.set(entry.id, draft);
    }
    if (!changed && !fresh.length) {
      if (NARROW.matches) this.#mountInline();
      for (const entry of told) this.#showTold(this.#drafts.get(entry.id));
      return;
    }
    const hadFocus = this.#hasFocus;
    if (!this.#drafts.has(this.#shown)) this.#shown = this.#drafts.keys().next().value ?? null;
    this.render();
    if (fresh.length && NARROW.matches) this.hooks.attend(fresh[0].id);
    else if (fresh.length && !this.hooks.composer.isWriting) this.#focusFirst();
    else if (hadFocus) this.#drafts.size ? this.#focusFirst() : this.hooks.composer.focus();
  }

  // A part of the answers has come in another way: show it, and leave the focus where it is.
  #showTold(draft) {
    const isPanel = draft.entry.id === this.#shown && this.isDocked;
    if (NARROW.matches || isPanel) this.#refresh(draft);
    else this.render();
  }

  get isDocked() {
    const draft = this.#drafts.get(this.#shown);
    return Boolean(draft) && !NARROW.matches && !draft.isCollapsed;
  }

  get count() {
    return this.#drafts.size;
  }

  reveal(id) {
    if (!this.#drafts.has(id)) return;
    this.#shown = id;
    this.#collapse(false);
  }

  render() {
    clearInterval(this.#clock);
    const draft = this.#drafts.get(this.#shown);
    this.#host.replaceChildren();
    this.#card = null;
    if (draft && NARROW.matches) this.#mountInline(true);
    else if (draft) {
      this.#card = draft.isCollapsed ? this.#bar(draft) : this.#panel(draft);
      this.#host.append(this.#card);
    }
    this.hooks.toggled(this.isDocked);
    if (draft) {
      this.#clock = setInterval(() => this.#tick(), 1000);
      this.#tick();
    }
  }

  get #hasFocus() {
    return this.#host.contains(document.activeElement);
  }

  // --- the docked panel ------------------------------------------------------------------------

  #panel(draft) {
    const { questions } = draft.entry;
    const question = questions[draft.step];
    const body = questionBody(question, draft, `q${draft.entry.prompt}`, this.#acts(draft));
    const panel = el(
      "section",
      { class: "panel", "aria-label": t("question") },
      this.#head(draft, questions.length),
      body,
      this.#error(draft),
      this.#foot(draft, question),
    );
    panel.addEventListener("keydown", (event) => this.#key(event, draft));
    return panel;
  }

  #head(draft, count) {
    const dots = draft.entry.questions.map((question, index) =>
      el("span", {
        class: `step ${index === draft.step ? "is-here" : ""} ${draft.isAnswered(question) ? "is-done" : ""}`,
      }),
    );
    return el(
      "header",
      { class: "panel-head" },
      el("span", { class: "eyebrow" }, icon("question"), el("span", { text: t("question") })),
      count > 1 &&
        el(
          "span",
          { class: "steps" },
          el("span", { class: "dots", "aria-hidden": "true" }, ...dots),
          el("span", { text: t("step", number(draft.step + 1), number(count)) }),
        ),
      this.#pager(),
      el("span", { class: "countdown", role: "timer", title: t("time_left"), "data-clock": draft.entry.expires_at }),
      el(
        "button",
        { class: "icon-button", type: "button", title: t("collapse"), "aria-label": t("collapse"), "data-plain": "", onclick: () => this.#collapse(true) },
        icon("down"),
      ),
    );
  }

  #pager() {
    if (this.#drafts.size < 2) return null;
    const ids = [...this.#drafts.keys()];
    const here = ids.indexOf(this.#shown);
    const go = (step) => () => {
      this.#shown = ids[(here + step + ids.length) % ids.length];
      this.render();
      this.#focusFirst();
    };
    const turn = (word, name, step) =>
      el("button", { class: "icon-button", type: "button", title: t(word), "aria-label": t(word), "data-plain": "", onclick: go(step) }, icon(name));
    return el(
      "span",
      { class: "pager" },
      turn("previous_prompt", "back", -1),
      el("span", { text: t("set", number(here + 1), number(ids.length)) }),
      turn("next_prompt", "forward", 1),
    );
  }

  #foot(draft, question) {
    const isBusy = this.#busy.has(draft.entry.id);
    const many = draft.entry.questions.length > 1;
    const last = many ? t("submit_all") : t("submit");
    return el(
      "footer",
      { class: "panel-foot" },
      el("button", { class: "button quiet", type: "button", text: t("skip"), title: t("skip_title"), "data-plain": "", disabled: isBusy, onclick: () => this.#skip(draft) }),
      el("span", { class: "keys", "aria-hidden": "true", text: keysOf(question) }),
      draft.step > 0 &&
        el("button", { class: "button quiet", type: "button", text: t("back"), "data-plain": "", "data-focus": "back", onclick: () => this.#go(draft, draft.step - 1) }),
      el("button", {
        class: "button primary",
        type: "button",
        text: isBusy ? t("submitting") : draft.isLast ? last : t("next"),
        "data-plain": "",
        "data-focus": "next",
        disabled: isBusy || !draft.isAnswered(question),
        onclick: () => this.#advance(draft),
      }),
    );
  }

  #error(draft) {
    const words = this.#errors.get(draft.entry.id);
    return words ? el("p", { class: "trouble", role: "alert", text: words }) : null;
  }

  #bar(draft) {
    const open = [...this.#drafts.values()].reduce((sum, each) => sum + each.unanswered, 0);
    const words = open === 1 ? t("open_one") : t("open_many", number(open));
    return el(
      "button",
      { class: "slim", type: "button", "aria-expanded": "false", onclick: () => this.#collapse(false) },
      icon("question"),
      el("span", { class: "slim-words", text: words }),
      el("span", { class: "countdown", role: "timer", "data-clock": draft.entry.expires_at }),
      el("span", { class: "slim-open", text: t("expand") }, icon("up")),
    );
  }

  // --- the card of a narrow page ---------------------------------------------------------------

  #mountInline(isFresh = false) {
    for (const draft of this.#drafts.values()) {
      const slot = this.hooks.slot(draft.entry.id);
      if (!slot || (slot.firstChild && !isFresh)) continue;
      slot.replaceChildren(this.#stack(draft));
    }
    this.#tick();
  }

  #stack(draft) {
    const acts = this.#acts(draft);
    const bodies = draft.entry.questions.map((question) =>
      questionBody(question, draft, `q${draft.entry.prompt}`, acts),
    );
    const isBusy = this.#busy.has(draft.entry.id);
    return el(
      "section",
      { class: "panel is-stacked", "aria-label": t("question") },
      el(
        "header",
        { class: "panel-head" },
        el("span", { class: "eyebrow" }, icon("question"), el("span", { text: t("question") })),
        el("span", { class: "countdown", role: "timer", "data-clock": draft.entry.expires_at }),
      ),
      ...bodies,
      this.#error(draft),
      el(
        "footer",
        { class: "panel-foot" },
        el("button", { class: "button quiet", type: "button", text: t("skip"), disabled: isBusy, onclick: () => this.#skip(draft) }),
        el("button", {
          class: "button primary",
          type: "button",
          text: isBusy ? t("submitting") : bodies.length > 1 ? t("submit_all") : t("submit"),
          "data-focus": "next",
          disabled: isBusy || draft.unanswered > 0,
          onclick: () => this.#submit(draft),
        }),
      ),
    );
  }

  // --- what people do --------------------------------------------------------------------------

  #acts(draft) {
    return {
      pick: (question, label, isByHand) => {
        draft.pick(question, label);
        if (isByHand && !NARROW.matches && !question.multi_select && !draft.isLast) this.#go(draft, draft.step + 1);
        else this.#refresh(draft);
      },
      type: (question, text) => {
        draft.type(question, text);
        this.#refresh(draft);
      },
      enter: (question, index) => {
        if (index !== undefined && index !== null && !draft.isAnswered(question)) {
          draft.pick(question, question.options[Number(index)].label);
        }
        if (NARROW.matches) {
          if (!draft.unanswered) this.#submit(draft);
          else this.#refresh(draft);
        } else if (draft.isAnswered(question)) this.#advance(draft);
      },
    };
  }

  #refresh(draft) {
    const root = NARROW.matches ? this.hooks.slot(draft.entry.id) : this.#card;
    if (!root) return;
    const shown = NARROW.matches ? draft.entry.questions : [draft.entry.questions[draft.step]];
    [...root.querySelectorAll(".question")].forEach((body, index) => refresh(body, shown[index], draft));
    draft.entry.questions.forEach((question, index) =>
      root.querySelectorAll(".step")[index]?.classList.toggle("is-done", draft.isAnswered(question)),
    );
    const isReady = shown.every((question) => draft.isAnswered(question));
    root.querySelector('[data-focus="next"]').disabled = !isReady || this.#busy.has(draft.entry.id);
  }

  #go(draft, step) {
    draft.step = step;
    draft.save();
    this.render();
    this.#focusFirst();
  }

  #advance(draft) {
    if (!draft.isLast) {
      this.#go(draft, draft.step + 1);
      return;
    }
    const open = draft.entry.questions.findIndex((question) => !draft.isAnswered(question));
    if (open >= 0) this.#go(draft, open);
    else this.#submit(draft);
  }

  #submit(draft) {
    return this.#settle(draft, "answer", { prompt: draft.entry.prompt, answers: draft.answers });
  }

  #skip(draft) {
    return this.#settle(draft, "skip", { prompt: draft.entry.prompt });
  }

  async #settle(draft, verb, fields) {
    const { id } = draft.entry;
    if (this.#busy.has(id)) return;
    this.#busy.add(id);
    this.#errors.delete(id);
    this.render();
    try {
      const reply = await this.hooks.request(verb, fields);
      this.#busy.delete(id);
      this.hooks.stored(reply.entry);
      if (!this.#drafts.size && !NARROW.matches) this.hooks.composer.focus();
    } catch (error) {
      this.#busy.delete(id);
      this.#errors.set(id, error instanceof Refused ? error.message : t("not_connected"));
      this.render();
    }
  }

  #collapse(isCollapsed) {
    const draft = this.#drafts.get(this.#shown);
    if (!draft) return;
    draft.isCollapsed = isCollapsed;
    draft.save();
    this.render();
    if (isCollapsed) this.hooks.composer.focus();
    else this.#focusFirst();
  }

  // --- keys, focus and time --------------------------------------------------------------------

  #key(event, draft) {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#collapse(true);
      return;
    }
    const question = draft.entry.questions[draft.step];
    if (handleKey(event, this.#card, question, this.#acts(draft))) event.preventDefault();
  }

  // Keys count also when nothing has the focus, as after a click beside it.
  #keyFromNowhere(event) {
    if (event.target === document.body && this.isDocked && event.key !== "Enter") {
      this.#key(event, this.#drafts.get(this.#shown));
    }
  }

  #focusFirst() {
    if (!this.#card) return;
    const wanted =
      this.#card.querySelector('[aria-checked="true"]') ??
      (this.#card.querySelector(".own.is-filled") ? this.#card.querySelector("[data-own]") : null) ??
      this.#card.querySelector('[data-index="0"], [data-own]') ??
      this.#card;
    wanted.focus({ preventScroll: true });
  }

  #tick() {
    for (const node of document.querySelectorAll("[data-clock]")) {
      const left = (Date.parse(node.dataset.clock) - this.hooks.now()) / 1000;
      node.textContent = span(left);
      node.classList.toggle("is-short", left < 60);
    }
  }
}

// Every option has a number, and one's own words have the last.
function keysOf(question) {
  const count = question.options.length;
  return [count > 0 && t("keys_choose", number(1), number(count + 1)), t("keys")].filter(Boolean).join(" · ");
}
