// Where people write: a draft for each conversation, Enter to send, Shift+Enter for a new line.

import { byId, isComposing } from "./dom.js";
import * as store from "./store.js";
import { number, t } from "./words.js";

const LONGEST = 1_000_000; // characters, as the server counts them

export class Composer {
  #form = byId("composer");
  #text = byId("composer-text");
  #send = byId("send");
  #note = byId("composer-note");
  #conversation = null;
  #isTelling = false;
  onsend = () => {};

  constructor() {
    this.#text.addEventListener("input", () => this.#changed());
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.altKey || isComposing(event)) return;
      event.preventDefault();
      this.#submit();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  show(conversation, canWrite, place) {
    // What was typed before the page knew its conversation is meant for the first one it shows.
    const early = this.#conversation === null && canWrite ? this.#text.value : "";
    this.#conversation = conversation;
    this.#text.value = early || (store.read(`draft.${conversation}`) ?? "");
    this.#form.classList.toggle("is-read-only", !canWrite);
    this.#text.disabled = !canWrite;
    this.#note.textContent = canWrite ? "" : t("read_only", place);
    this.#changed(Boolean(early));
  }

  hint(isAsked) {
    this.#text.placeholder = isAsked ? t("composer_answer") : t("composer");
  }

  // Something to know, until something is written.
  tell(words) {
    const isReadOnly = this.#form.classList.contains("is-read-only");
    this.#note.textContent = isReadOnly ? `${this.#note.textContent} ${words}` : words;
    this.#isTelling = !isReadOnly;
  }

  set hidden(value) {
    this.#form.hidden = value;
  }

  get isWriting() {
    return document.activeElement === this.#text && this.#text.value.trim() !== "";
  }

  focus() {
    if (!this.#text.disabled && !this.#form.hidden) this.#text.focus({ preventScroll: true });
  }

  put(text) {
    this.#text.value = text;
    this.#changed();
    this.focus();
  }

  #changed(isEdit = true) {
    const text = this.#text.value;
    if (isEdit && this.#isTelling) this.#note.textContent = "";
    this.#isTelling &&= !isEdit;
    this.#send.disabled = text.trim() === "" || this.#text.disabled;
    if (isEdit && text) store.write(`draft.${this.#conversation}`, text);
    else if (isEdit) store.remove(`draft.${this.#conversation}`);
    if (!CSS.supports("field-sizing", "content")) {
      this.#text.style.height = "auto";
      this.#text.style.height = `${this.#text.scrollHeight}px`;
    }
  }

  #submit() {
    const text = this.#text.value;
    if (text.trim() === "" || this.#text.disabled || this.#conversation === null) return;
    const length = text.length <= LONGEST ? text.length : [...text].length;
    if (length > LONGEST) {
      this.#note.textContent = t("too_long", number(length));
      return;
    }
    this.#note.textContent = "";
    this.onsend(text);
    this.#text.value = "";
    this.#changed();
  }
}
