// The questions of a prompt as elements: options that behave as radio buttons or checkboxes, and
// always a place for one's own words.

import { el, icon, isComposing } from "./dom.js";
import { number, t } from "./words.js";

export function questionBody(question, draft, prefix, act) {
  const id = `${prefix}-${question.key}`;
  const isMany = question.multi_select;
  const group = el(
    "div",
    {
      class: "options",
      role: isMany ? "group" : "radiogroup",
      "aria-labelledby": id,
    },
    ...question.options.map((option, index) => choice(question, option, index, draft, act)),
    own(question, draft, act),
  );
  rove(group, question, draft);
  return el(
    "div",
    { class: "question" },
    el("div", { class: "question-text prose", id, dir: "auto", html: question.html }),
    isMany && el("p", { class: "any", text: t("any") }),
    group,
  );
}

function choice(question, option, index, draft, act) {
  const isOn = draft.isPicked(question, option.label);
  return el(
    "button",
    {
      type: "button",
      class: "option",
      role: question.multi_select ? "checkbox" : "radio",
      "aria-checked": String(isOn),
      "data-index": index,
      "data-focus": `${question.key}.${index}`,
      // A click by hand has a count, one made by the keyboard has none.
      onclick: (event) => act.pick(question, option.label, event.detail > 0),
    },
    el("span", { class: `mark ${question.multi_select ? "box" : "dot"}` }, icon("check")),
    el(
      "span",
      { class: "option-words" },
      el("span", { class: "label", dir: "auto", text: option.label }),
      option.description && el("span", { class: "description", dir: "auto", text: option.description }),
    ),
    el("kbd", { text: number(index + 1), "aria-hidden": "true" }),
  );
}

function own(question, draft, act) {
  const text = draft.textOf(question);
  const area = el("textarea", {
    rows: "1",
    class: "own-text",
    dir: "auto",
    "aria-label": t("other"),
    placeholder: question.options.length ? t("other") : t("other_hint"),
    "data-focus": `${question.key}.own`,
    "data-own": "",
    maxlength: "20000",
    oninput: (event) => act.type(question, event.target.value),
  });
  area.value = text;
  return el(
    "label",
    { class: `option own ${text.trim() ? "is-filled" : ""}` },
    el("span", { class: `mark ${question.multi_select ? "box" : "dot"}` }, icon("check")),
    area,
    question.options.length ? el("kbd", { text: number(question.options.length + 1), "aria-hidden": "true" }) : null,
  );
}

// Of radio buttons only one is in the order of the Tab key: the chosen one, or the first.
function rove(group, question, draft) {
  if (question.multi_select) return;
  const options = [...group.querySelectorAll("[role=radio]")];
  const chosen = options.findIndex((node) => node.getAttribute("aria-checked") === "true");
  options.forEach((node, index) => {
    node.tabIndex = index === Math.max(0, chosen) ? 0 : -1;
  });
}

// What the state of a draft changes on an existing body, without touching what has the focus.
export function refresh(body, question, draft) {
  for (const node of body.querySelectorAll("[data-index]")) {
    const label = question.options[Number(node.dataset.index)].label;
    node.setAttribute("aria-checked", String(draft.isPicked(question, label)));
  }
  const area = body.querySelector("[data-own]");
  const text = draft.textOf(question);
  if (area.value !== text) area.value = text;
  area.closest(".own").classList.toggle("is-filled", text.trim() !== "");
  rove(body.querySelector(".options"), question, draft);
}

// A question of a stacked card: arrows and numbers work within it; Enter does what it does on a page.
export function stackedBody(question, draft, prefix, act) {
  const body = questionBody(question, draft, prefix, act);
  body.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && handleKey(event, body, question, act)) event.preventDefault();
  });
  return body;
}

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

// The keys of one question. Returns whether the key was used.
export function handleKey(event, body, question, act) {
  if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return false;
  const isTyping = event.target.matches?.("textarea, input");
  const stops = [...body.querySelectorAll("[data-index], [data-own]")];
  const here = stops.indexOf(event.target);
  if (event.key === "Enter" && !event.shiftKey) {
    if (event.target.closest?.("[data-plain]")) return false; // a button that is no option
    act.enter(question, isTyping ? null : event.target.dataset?.index);
    return true;
  }
  if (isTyping && !(event.target.value === "" && event.key === "ArrowUp")) return false;
  const digit = digitOf(event.key);
  if (digit) return byNumber(digit - 1, body, question, act);
  if (isLetter(event.key)) {
    // Whoever just begins to write means own words; the letter itself lands there.
    body.querySelector("[data-own]").focus();
    return false;
  }
  const step = STEPS[event.key];
  if (step === undefined || event.target.closest?.("[data-plain]")) return false;
  move(stops, here, step, question, act);
  return true;
}

const isLetter = (key) => [...key].length === 1 && key.trim() !== "";

// The digits of Western, Arabic and Persian keyboards.
function digitOf(key) {
  if (key.length !== 1) return 0;
  const code = key.codePointAt(0);
  const zero = [0x30, 0x0660, 0x06f0].find((start) => code >= start && code <= start + 9);
  return zero === undefined ? 0 : code - zero;
}

function byNumber(index, body, question, act) {
  if (index > question.options.length) return false;
  if (index === question.options.length) body.querySelector("[data-own]").focus();
  else {
    act.pick(question, question.options[index].label, false);
    body.querySelector(`[data-index="${index}"]`)?.focus();
  }
  return true;
}

function move(stops, here, step, question, act) {
  const next = stops[(here + step + stops.length) % stops.length] ?? stops[0];
  next.focus();
  if (!question.multi_select && next.dataset.index !== undefined) {
    act.pick(question, question.options[Number(next.dataset.index)].label, false);
  }
}
