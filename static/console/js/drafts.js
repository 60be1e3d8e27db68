// The answers to a prompt as far as they are thought of; they survive everything but the answer.

import * as store from "./store.js";

export class Draft {
  constructor(entry) {
    this.key = `prompt.${entry.prompt}`;
    this.entry = entry;
    const kept = store.read(this.key) ?? {};
    this.step = Math.max(0, Math.min(kept.step ?? 0, entry.questions.length - 1));
    this.picks = kept.picks ?? {};
    this.texts = kept.texts ?? {};
    this.isCollapsed = kept.isCollapsed ?? false;
    this.told = kept.told ?? {}; // what the server had of each question when it was last looked at
    this.sent = kept.sent ?? ""; // what was asked for and is not acknowledged: "answer" or "skip"
    this.isKept = Boolean(kept.picks);
    // Of an approval, and for this page only:
    this.confirming = ""; // how long an approval would count that is to be confirmed
    this.isLonger = false;
    this.shownAt = null;
    this.isBusy = false;
    this.learn(entry);
  }

  // Take over what was answered elsewhere since, as by a message. Returns whether anything was.
  learn(entry) {
    this.entry = entry;
    const fresh = entry.questions.filter((question) => this.#isNews(question));
    for (const question of fresh) {
      const labels = new Set(question.options.map((option) => option.label));
      const given = entry.answers[question.key];
      this.picks[question.key] = given.filter((word) => labels.has(word));
      this.texts[question.key] = given.find((word) => !labels.has(word)) ?? "";
      this.told[question.key] = given;
    }
    if (fresh.length) this.save();
    return fresh.length > 0;
  }

  #isNews({ key }) {
    const given = this.entry.answers[key] ?? [];
    return given.length > 0 && JSON.stringify(given) !== JSON.stringify(this.told[key]);
  }

  save() {
    store.write(this.key, {
      step: this.step,
      picks: this.picks,
      texts: this.texts,
      told: this.told,
      sent: this.sent,
      isCollapsed: this.isCollapsed,
    });
  }

  forget() {
    store.remove(this.key);
  }

  // Why it would be denied.
  get reason() {
    return this.texts.reason ?? "";
  }

  set reason(text) {
    this.texts.reason = text;
    this.save();
  }

  // Whether `entry`, which is closed, ended as was asked for here.
  isWhatWasSent(entry) {
    if (this.sent === "skip") return entry.state === "skipped";
    const isSame = (question) =>
      JSON.stringify(entry.answers[question.key] ?? []) === JSON.stringify(this.values(question));
    return entry.state === "answered" && entry.questions.every(isSame);
  }

  isPicked(question, label) {
    return this.picks[question.key]?.includes(label) ?? false;
  }

  textOf(question) {
    return this.texts[question.key] ?? "";
  }

  // One choice replaces the other and the typed text; of several, each is on or off.
  pick(question, label) {
    const now = this.picks[question.key] ?? [];
    if (!question.multi_select) {
      this.picks[question.key] = [label];
      this.texts[question.key] = "";
    } else if (now.includes(label)) {
      this.picks[question.key] = now.filter((other) => other !== label);
    } else {
      this.picks[question.key] = [...now, label];
    }
    this.save();
  }

  type(question, text) {
    this.texts[question.key] = text;
    if (!question.multi_select && text.trim()) this.picks[question.key] = [];
    this.save();
  }

  isAnswered(question) {
    return this.values(question).length > 0;
  }

  values(question) {
    const typed = this.textOf(question).trim();
    const order = question.options.map((option) => option.label);
    const picked = order.filter((label) => this.isPicked(question, label));
    return typed ? [...picked, typed] : picked;
  }

  get answers() {
    const pairs = this.entry.questions.map((question) => [question.key, this.values(question)]);
    return Object.fromEntries(pairs);
  }

  get unanswered() {
    return this.entry.questions.filter((question) => !this.isAnswered(question)).length;
  }

  get isLast() {
    return this.step === this.entry.questions.length - 1;
  }
}
