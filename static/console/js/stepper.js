// What waits for somebody: docked in place of the composer, one thing at a time; on a narrow page
// and on a touch screen a card in the timeline with all of it.

import * as approval from "./approval.js";
import { handleKey, questionBody, refresh, stackedBody } from "./card.js";
import { byId, el, isComposing, keepingFocus } from "./dom.js";
import { Draft } from "./drafts.js";
import { bar, head, isApproval, nameOfCard, setClock, stackedFoot, steppedFoot, tick, trouble } from "./panel.js";
import { Refused } from "./socket.js";
import { t } from "./words.js";

export const STACKED = matchMedia("(max-width: 40rem), (hover: none) and (pointer: coarse)");

export class Stepper {
  #host = byId("stepper");
  #drafts = new Map(); // entry id -> Draft
  #shown = null; // id of the prompt that is shown
  #card = null;
  #painted = null; // id of the prompt whose panel is up
  #errors = new Map();

  // hooks: request(type, fields), stored(entry), entry(id), slot(id), attend(id), toggled(isDocked),
  // composer, announce(words), now()
  constructor(hooks) {
    this.hooks = hooks;
    STACKED.addEventListener("change", () => this.render());
    document.addEventListener("keydown", (event) => this.#keyFromNowhere(event));
    setInterval(() => this.#tick(), 1000);
  }

  clear() {
    this.#drafts.clear();
    this.#errors.clear();
    this.#shown = null;
    this.render();
  }

  // The prompts that are open now, oldest first.
  sync(entries) {
    const former = this.#shown;
    const hadFocus = this.#hasFocus;
    const closed = this.#drop(new Set(entries.map((entry) => entry.id)));
    const told = entries.filter((entry) => this.#drafts.get(entry.id)?.learn(entry));
    entries.forEach(setClock);
    const fresh = entries.filter((entry) => !this.#drafts.has(entry.id));
    for (const entry of fresh) this.#add(entry);
    if (!this.#drafts.has(this.#shown)) this.#shown = this.#drafts.keys().next().value ?? null;
    if (STACKED.matches) this.#mountInline();
    else if (this.#shown !== former) this.#turnTo(fresh.length > 0, hadFocus);
    else if (closed || fresh.length) this.#showPlace();
    for (const entry of told) this.#showTold(this.#drafts.get(entry.id));
    if (fresh.length) this.#greet(fresh);
    for (const draft of this.#drafts.values()) {
      if (draft.sent && !draft.isBusy) this.#settle(draft, draft.sent); // it was lost on its way
    }
  }

  #add(entry) {
    const draft = new Draft(entry);
    // Whoever is writing keeps the composer; the question waits above it.
    if (!draft.isKept && this.hooks.composer.isWriting) draft.isCollapsed = true;
    this.#drafts.set(entry.id, draft);
  }

  // Forget what is closed; whoever sent an answer that came too late is told so.
  #drop(open) {
    const closed = [...this.#drafts].filter(([id]) => !open.has(id));
    for (const [id, draft] of closed) {
      const entry = this.hooks.entry(id);
      if (draft.sent && !draft.isBusy && entry && !entry.open && !draft.isWhatWasSent(entry)) {
        this.hooks.composer.tell(t("too_late"));
      }
      draft.forget();
      this.#drafts.delete(id);
      this.#errors.delete(id);
    }
    return closed.length > 0;
  }

  // Another one is shown now.
  #turnTo(isFresh, hadFocus) {
    this.render();
    const isMine = this.#drafts.get(this.#shown)?.entry.mine; // others are answered for on purpose
    if (isFresh && isMine && !this.hooks.composer.isWriting) this.#focusFirst();
    else if (hadFocus) this.#drafts.size ? this.#focusFirst() : this.hooks.composer.focus();
  }

  // There are more or fewer beside the one that is shown, which is left as it is.
  #showPlace() {
    const draft = this.#drafts.get(this.#shown);
    if (draft?.isCollapsed) this.#repaint(draft);
    else if (draft) keepingFocus(this.#card, () => this.#card.querySelector(".panel-head").replaceWith(this.#head(draft)));
    this.#tick();
  }

  #greet(fresh) {
    const newest = fresh.at(-1);
    if (STACKED.matches) this.hooks.attend(fresh[0].id);
    const words = isApproval(newest) ? newest.operation.summary : newest.questions[0].text;
    if (!this.#hasFocus || newest.id !== this.#shown) this.hooks.announce(`${nameOfCard(newest)}: ${words}`);
  }

  // A part of the answers has come in another way: show it, and leave the focus where it is.
  #showTold(draft) {
    const isPanel = draft.entry.id === this.#shown && this.isDocked;
    if (isApproval(draft.entry)) return;
    if (STACKED.matches || isPanel) this.#refresh(draft);
    else this.render();
  }

  get isDocked() {
    const draft = this.#drafts.get(this.#shown);
    return Boolean(draft) && !STACKED.matches && !draft.isCollapsed;
  }

  get count() {
    return this.#drafts.size;
  }

  // Whether words could answer something.
  get hasQuestions() {
    return [...this.#drafts.values()].some((draft) => !isApproval(draft.entry));
  }

  reveal(id) {
    if (!this.#drafts.has(id)) return;
    this.#shown = id;
    this.#collapse(false);
  }

  render() {
    const draft = this.#drafts.get(this.#shown);
    this.#host.replaceChildren();
    this.#card = null;
    if (!draft) this.#painted = null;
    if (draft && STACKED.matches) this.#mountInline(true);
    else if (draft) {
      const painted = draft.isCollapsed ? null : this.#shown;
      const isNew = this.#painted !== painted;
      if (isNew) draft.shownAt = null;
      this.#painted = painted;
      const expand = () => this.#collapse(false);
      this.#card = draft.isCollapsed ? bar([...this.#drafts.values()], draft, expand) : this.#panel(draft);
      this.#card.classList.toggle("is-new", isNew);
      this.#host.append(this.#card);
      if (!draft.isCollapsed) this.#settleDown(draft);
    }
    this.hooks.toggled(this.isDocked);
    this.#tick();
  }

  // The same again, with the focus where it was.
  #repaint(draft) {
    const isInline = STACKED.matches;
    const root = isInline ? this.hooks.slot(draft.entry.id) : this.#host;
    if (!root || (!isInline && draft.entry.id !== this.#shown)) return;
    keepingFocus(root, () => (isInline ? root.replaceChildren(this.#stack(draft)) : this.render()));
    this.#tick();
  }

  get #hasFocus() {
    return this.#host.contains(document.activeElement);
  }

  // --- the docked panel ------------------------------------------------------------------------

  #panel(draft) {
    const { entry } = draft;
    const prefix = `q${entry.prompt}`;
    const question = entry.questions[draft.step];
    const isRisk = isApproval(entry);
    const panel = el(
      "section",
      { class: `panel ${isRisk ? "approval" : ""}`, tabindex: "-1", "aria-label": nameOfCard(entry) },
      this.#head(draft),
      isRisk ? approval.operationBody(draft, prefix) : questionBody(question, draft, prefix, this.#acts(draft)),
      trouble(this.#errors.get(draft.entry.id)),
      isRisk ? approval.decisions(draft, draft.isBusy, prefix, this.#rulings(draft)) : steppedFoot(draft, question, this.#feet(draft)),
    );
    panel.addEventListener("keydown", (event) => this.#key(event, draft));
    return panel;
  }

  #head(draft) {
    const ids = [...this.#drafts.keys()];
    const here = ids.indexOf(draft.entry.id);
    const turn = (step) => {
      this.#shown = ids[(here + step + ids.length) % ids.length];
      this.#collapse(false);
    };
    return head(draft, { here, count: ids.length, turn }, () => this.#collapse(true));
  }

  #feet(draft) {
    return {
      skip: () => this.#settle(draft, "skip"),
      back: () => this.#go(draft, draft.step - 1),
      next: () => this.#advance(draft),
      send: () => this.#settle(draft, "answer"),
    };
  }

  // --- the card of a narrow page ---------------------------------------------------------------

  #mountInline(isFresh = false) {
    for (const draft of this.#drafts.values()) {
      const slot = this.hooks.slot(draft.entry.id);
      if (!slot || (slot.firstChild && !isFresh)) continue;
      slot.replaceChildren(this.#stack(draft));
      this.#settleDown(draft);
    }
    this.#tick();
  }

  #stack(draft) {
    const prefix = `q${draft.entry.prompt}`;
    const isRisk = isApproval(draft.entry);
    const bodies = isRisk
      ? [approval.operationBody(draft, prefix)]
      : draft.entry.questions.map((question) => stackedBody(question, draft, prefix, this.#acts(draft)));
    const card = el(
      "section",
      { class: `panel is-stacked ${isRisk ? "approval" : ""}`, tabindex: "-1", "aria-label": nameOfCard(draft.entry) },
      head(draft, null, null),
      ...bodies,
      trouble(this.#errors.get(draft.entry.id)),
      isRisk ? approval.decisions(draft, draft.isBusy, prefix, this.#rulings(draft)) : stackedFoot(draft, this.#feet(draft)),
    );
    if (isRisk) card.addEventListener("keydown", (event) => this.#decisionKey(event, draft));
    return card;
  }

  // --- what people do --------------------------------------------------------------------------

  #acts(draft) {
    return {
      pick: (question, label, isByHand) => {
        draft.pick(question, label);
        this.#recall(draft);
        if (isByHand && !STACKED.matches && !question.multi_select && !draft.isLast) this.#go(draft, draft.step + 1);
        else this.#refresh(draft);
      },
      type: (question, text) => {
        draft.type(question, text);
        this.#recall(draft);
        this.#refresh(draft);
      },
      enter: (question, index) => {
        if (index !== undefined && index !== null && !draft.isAnswered(question)) {
          draft.pick(question, question.options[Number(index)].label);
        }
        if (draft.isAnswered(question)) this.#advance(draft);
      },
    };
  }

  #rulings(draft) {
    return approval.rulings(draft, {
      settle: (ruling) => this.#settle(draft, "rule", ruling),
      repaint: (wanted) => {
        this.#repaint(draft);
        this.#root(draft)?.querySelector(`[data-focus="${wanted}"]`)?.focus({ preventScroll: true });
      },
    });
  }

  #root(draft) {
    return STACKED.matches ? this.hooks.slot(draft.entry.id) : this.#card;
  }

  #settleDown(draft) {
    const isUp = () => STACKED.matches || this.#shown === draft.entry.id;
    if (isApproval(draft.entry)) approval.settleDown(draft, () => isUp() && this.#root(draft));
  }

  // What is changed again after it was sent is not sent once more by itself.
  #recall(draft) {
    if (draft.isBusy) return;
    draft.sent = "";
    draft.save();
    if (this.#errors.delete(draft.entry.id)) this.#root(draft)?.querySelector(".trouble")?.remove();
  }

  #refresh(draft) {
    const root = this.#root(draft);
    if (!root) return;
    const shown = STACKED.matches ? draft.entry.questions : [draft.entry.questions[draft.step]];
    [...root.querySelectorAll(".question")].forEach((body, index) => refresh(body, shown[index], draft));
    draft.entry.questions.forEach((question, index) =>
      root.querySelectorAll(".step")[index]?.classList.toggle("is-done", draft.isAnswered(question)),
    );
    const isReady = shown.every((question) => draft.isAnswered(question));
    root.querySelector('[data-focus="next"]').disabled = !isReady || draft.isBusy;
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
    else this.#settle(draft, "answer");
  }

  // Send it. An answer that is lost with the connection is sent again when there is one; the server
  // takes it once. An approval is not: by then it may be meant no more.
  async #settle(draft, verb, fields = {}) {
    if (draft.isBusy) return;
    const { id, prompt } = draft.entry;
    if (verb !== "rule") draft.sent = verb;
    draft.isBusy = true;
    draft.save();
    this.#errors.delete(id);
    this.#repaint(draft);
    const more = verb === "answer" ? { answers: draft.answers } : fields;
    try {
      const reply = await this.hooks.request(verb, { prompt, ...more });
      draft.isBusy = false;
      if (this.#drafts.get(id) !== draft) return void draft.forget(); // elsewhere by now
      this.hooks.stored(reply.entry);
      if (!this.#drafts.size && !STACKED.matches) this.hooks.composer.focus();
    } catch (error) {
      this.#failed(draft, error);
    }
  }

  #failed(draft, error) {
    const { id } = draft.entry;
    draft.isBusy = false;
    if (error instanceof Refused) draft.sent = "";
    draft.confirming = "";
    if (this.#drafts.get(id) !== draft) return; // another conversation is on show, or it is closed
    draft.save();
    const lost = draft.sent ? t("not_connected") : t("not_decided");
    this.#errors.set(id, error instanceof Refused ? error.message : lost);
    this.#repaint(draft);
  }

  #collapse(isCollapsed) {
    const draft = this.#drafts.get(this.#shown);
    if (!draft) return;
    Object.assign(draft, { isCollapsed, confirming: "", isLonger: false });
    draft.save();
    this.render();
    if (isCollapsed) this.hooks.composer.focus();
    else this.#focusFirst();
  }

  // --- keys, focus and time --------------------------------------------------------------------

  #key(event, draft) {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#collapse(true);
      return;
    }
    if (isApproval(draft.entry)) {
      this.#decisionKey(event, draft);
      return;
    }
    const question = draft.entry.questions[draft.step];
    if (handleKey(event, this.#card, question, this.#acts(draft))) event.preventDefault();
  }

  #decisionKey(event, draft) {
    if (isComposing(event)) return;
    if (approval.handleDecisionKey(event, draft, this.#rulings(draft))) event.preventDefault();
  }

  // Keys count also when nothing has the focus, as after a click beside it.
  #keyFromNowhere(event) {
    if (event.target === document.body && this.isDocked && event.key !== "Enter") {
      this.#key(event, this.#drafts.get(this.#shown));
    }
  }

  // The chosen option, one's own words, the first option; of an approval what it is about.
  #focusFirst() {
    if (!this.#card) return;
    const wanted =
      this.#card.querySelector('[data-focus="operation"], [aria-checked="true"]') ??
      (this.#card.querySelector(".own.is-filled") ? this.#card.querySelector("[data-own]") : null) ??
      this.#card.querySelector('[data-index="0"], [data-own]') ??
      this.#card;
    wanted.focus({ preventScroll: true });
  }

  #tick() {
    tick(this.hooks.now());
  }
}
