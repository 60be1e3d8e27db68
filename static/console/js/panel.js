// The frame around what is open: its head, the slim bar it collapses to.

import { badge } from "./approval.js";
import { el, icon } from "./dom.js";
import { number, span, t } from "./words.js";

export const isApproval = (entry) => Boolean(entry.operation);

const asks = (entry) => (isApproval(entry) ? t("approval") : entry.mine ? t("question") : t("question_to", entry.asked));

export const nameOfCard = (entry) =>
  isApproval(entry) ? `${t("approval")}: ${t(`level_${entry.operation.level}`)}` : asks(entry);

// `place`: { here, count, turn(step) } among what is open; `collapse` only where it can.
export function head(draft, place, collapse) {
  const { entry } = draft;
  return el(
    "header",
    { class: "panel-head" },
    el("span", { class: "eyebrow" }, icon(isApproval(entry) ? "shield" : "question"), el("span", { dir: "auto", text: asks(entry) })),
    isApproval(entry) && badge(entry.operation.level),
    collapse && entry.questions.length > 1 && steps(draft),
    place && place.count > 1 && pager(place),
    countdown(entry, t("time_left")),
    collapse &&
      el(
        "button",
        { class: "icon-button", type: "button", title: t("collapse"), "aria-label": t("collapse"), "data-plain": "", "data-focus": "collapse", onclick: collapse },
        icon("down"),
      ),
  );
}

function steps(draft) {
  const { questions } = draft.entry;
  const dots = questions.map((question, index) =>
    el("span", {
      class: `step ${index === draft.step ? "is-here" : ""} ${draft.isAnswered(question) ? "is-done" : ""}`,
    }),
  );
  return el(
    "span",
    { class: "steps" },
    el("span", { class: "dots", "aria-hidden": "true" }, ...dots),
    el("span", { text: t("step", number(draft.step + 1), number(questions.length)) }),
  );
}

function pager({ here, count, turn }) {
  const arrow = (word, name, step) =>
    el(
      "button",
      { class: "icon-button", type: "button", title: t(word), "aria-label": t(word), "data-plain": "", "data-focus": word, onclick: () => turn(step) },
      icon(name),
    );
  return el(
    "span",
    { class: "pager" },
    arrow("previous_prompt", "back", -1),
    el("span", { text: t("set", number(here + 1), number(count)) }),
    arrow("next_prompt", "forward", 1),
  );
}

function countdown(entry, title) {
  return el("span", { class: "countdown", role: "timer", title, "data-clock": entry.expires_at, "data-of": entry.id });
}

export function bar(drafts, shown, expand) {
  const approvals = drafts.filter((draft) => isApproval(draft.entry)).length;
  const questions = drafts.reduce((sum, draft) => sum + draft.unanswered, 0);
  const words = [
    approvals === 1 && t("waits_one"),
    approvals > 1 && t("waits_many", number(approvals)),
    questions === 1 && t("open_one"),
    // All may be chosen and not sent; then there is a bar, and it says so.
    (questions > 1 || (questions === 0 && approvals === 0)) && t("open_many", number(questions)),
  ];
  return el(
    "button",
    { class: "slim", type: "button", "aria-expanded": "false", "data-focus": "slim", onclick: expand },
    icon(approvals ? "shield" : "question"),
    el("span", { class: "slim-words", text: words.filter(Boolean).join(" · ") }),
    countdown(shown.entry),
    el("span", { class: "slim-open", text: t(isApproval(shown.entry) ? "decide" : "expand") }, icon("up")),
  );
}

export const trouble = (words) => (words ? el("p", { class: "trouble", role: "alert", text: words }) : null);

// `acts`: skip(), back(), next().
export function steppedFoot(draft, question, acts) {
  const last = draft.entry.questions.length > 1 ? t("submit_all") : t("submit");
  return el(
    "footer",
    { class: "panel-foot" },
    skip(draft, acts),
    el("span", { class: "keys", "aria-hidden": "true", text: keysOf(question) }),
    draft.step > 0 &&
      el("button", { class: "button quiet", type: "button", text: t("back"), "data-plain": "", "data-focus": "back", onclick: acts.back }),
    el("button", {
      class: "button primary",
      type: "button",
      text: draft.isBusy ? t("submitting") : draft.isLast ? last : t("next"),
      "data-plain": "",
      "data-focus": "next",
      disabled: draft.isBusy || !draft.isAnswered(question),
      onclick: acts.next,
    }),
  );
}

// `acts`: skip(), send().
export function stackedFoot(draft, acts) {
  const word = draft.entry.questions.length > 1 ? "submit_all" : "submit";
  return el(
    "footer",
    { class: "panel-foot" },
    skip(draft, acts),
    el("button", {
      class: "button primary",
      type: "button",
      text: t(draft.isBusy ? "submitting" : word),
      "data-focus": "next",
      disabled: draft.isBusy || draft.unanswered > 0,
      onclick: acts.send,
    }),
  );
}

function skip(draft, acts) {
  return el("button", {
    class: "button quiet",
    type: "button",
    text: t("skip"),
    title: t("skip_title"),
    "data-plain": "",
    "data-focus": "skip",
    disabled: draft.isBusy,
    onclick: acts.skip,
  });
}

// Every option has a number, and one's own words have the last.
function keysOf(question) {
  const count = question.options.length;
  return [count > 0 && t("keys_choose", number(1), number(count + 1)), t("keys")].filter(Boolean).join(" · ");
}

// Staff may have given more time.
export function setClock(entry) {
  for (const node of document.querySelectorAll(`[data-of="${entry.id}"]`)) node.dataset.clock = entry.expires_at;
}

// Bring every countdown of the page up to date.
export function tick(now) {
  for (const node of document.querySelectorAll("[data-clock]")) {
    const left = (Date.parse(node.dataset.clock) - now) / 1000;
    node.textContent = span(left);
    node.classList.toggle("is-short", left < 60);
  }
}
