// An operation that waits for an approval. Approving by accident is made hard: nothing that opens
// has the focus on a button, what can do harm is confirmed in a second step, and that step has "Go
// back" where the first one had "Approve".

import { el, icon } from "./dom.js";
import { duration, t } from "./words.js";

// Who was about to press something else must not press a button that has just come up in its place.
const SETTLING = 600; // milliseconds

const HARMFUL = new Set(["high", "critical"]);

export function badge(level) {
  return el("span", { class: "badge-risk", "data-level": level }, icon("shield"), el("span", { text: t(`level_${level}`) }));
}

// Exactly what will run, whole: it scrolls, and stands from left to right on every page.
export function operationBody(draft, prefix) {
  const { operation, asked } = draft.entry;
  return el(
    "div",
    { class: "question" },
    el("p", { class: "question-text", id: `${prefix}-summary`, dir: "auto", text: operation.summary }),
    el("p", { class: "asked-for" }, el("bdi", { text: operation.tool }), " · ", el("bdi", { text: t("asked_for", asked) }), " · ", el("bdi", { text: `#${draft.entry.prompt}` })),
    code(operation, { tabindex: "0", "data-focus": "operation", "aria-describedby": `${prefix}-summary` }),
  );
}

export function code(operation, more = {}) {
  return el(
    "pre",
    { class: "operation", dir: "ltr", role: "region", "aria-label": t("operation"), ...more },
    el("code", { text: operation.detail }),
  );
}

// What the buttons do. `hooks`: settle(ruling), repaint(what gets the focus).
export function rulings(draft, { settle, repaint }) {
  const change = (wanted, changes) => {
    Object.assign(draft, changes);
    repaint(wanted);
  };
  return {
    approve: (reach, isConfirmed = false) => {
      const isHarmful = HARMFUL.has(draft.entry.operation.level);
      if (isHarmful && !isConfirmed) change("no", { confirming: reach });
      else settle({ approved: true, reach });
    },
    back: () => change("approve", { confirming: "" }),
    longer: () => change("longer", { isLonger: !draft.isLonger }),
    deny: () => settle({ approved: false, reason: draft.reason }),
    reason: (text) => {
      draft.reason = text;
    },
  };
}

// The buttons. `acts`: approve(reach), deny(), longer(), back(), reason(text).
export function decisions(draft, isBusy, prefix, acts) {
  const { refusal, operation } = draft.entry;
  if (draft.confirming) return confirmation(draft, isBusy, prefix, acts);
  const approve = button("approve", "approve", "primary", isBusy, () => acts.approve("once"), draft);
  return el(
    "footer",
    { class: "decisions" },
    refusal && el("p", { class: "refusal", text: refusal }),
    !refusal && draft.isLonger && lasting(draft, isBusy, acts),
    el(
      "div",
      { class: "decision-row" },
      button("deny", "deny", "danger", isBusy, acts.deny),
      reason(draft, acts),
      !refusal && operation.lasts.length > 0 && longer(draft, acts),
      !refusal && approve,
    ),
  );
}

function button(word, focus, tone, isBusy, onclick, settling = null) {
  return el("button", {
    class: `button ${tone}`,
    type: "button",
    text: isBusy ? t("submitting") : t(word),
    "data-focus": focus,
    "data-approves": settling !== null,
    disabled: isBusy || (settling !== null && !isSettled(settling)),
    onclick,
  });
}

function reason(draft, acts) {
  const field = el("input", {
    class: "reason",
    type: "text",
    dir: "auto",
    maxlength: "500",
    autocomplete: "off",
    "aria-label": t("reason"),
    placeholder: t("reason"),
    "data-focus": "reason",
    oninput: (event) => acts.reason(event.target.value),
  });
  field.value = draft.reason;
  return field;
}

function longer(draft, acts) {
  return el(
    "button",
    { class: "button quiet", type: "button", "aria-expanded": String(draft.isLonger), "data-focus": "longer", onclick: acts.longer },
    el("span", { text: t("approve_longer") }),
    icon(draft.isLonger ? "down" : "up"),
  );
}

function lasting(draft, isBusy, acts) {
  const { lasts, covers } = draft.entry.operation;
  return el(
    "div",
    { class: "lasting", role: "group", "aria-label": t("approve_longer") },
    el("p", {}, t("covers"), " ", el("bdi", { class: "covers", text: covers })),
    ...lasts.map(([reach, seconds]) =>
      el("button", {
        class: "button",
        type: "button",
        text: t(`reach_${reach}`, duration(seconds)),
        "data-focus": reach,
        "data-approves": true,
        disabled: isBusy || !isSettled(draft),
        onclick: () => acts.approve(reach),
      }),
    ),
  );
}

function confirmation(draft, isBusy, prefix, acts) {
  const { level, covers, lasts } = draft.entry.operation;
  const reach = draft.confirming;
  const seconds = new Map(lasts).get(reach);
  const id = `${prefix}-confirm`;
  return el(
    "footer",
    { class: "decisions confirmation", role: "group", "aria-labelledby": id, "data-level": level },
    el(
      "p",
      { id },
      icon("shield"),
      el("span", {}, t(`confirm_${level}`), seconds && ` ${t(`reach_${reach}`, duration(seconds))}. ${t("covers")} `, seconds && el("bdi", { class: "covers", text: covers })),
    ),
    el(
      "div",
      { class: "decision-row" },
      button("confirm_yes", "yes", "danger filled", isBusy, () => acts.approve(reach, true)),
      button("confirm_no", "no", "", false, acts.back),
    ),
  );
}

function isSettled(draft) {
  return draft.shownAt !== null && performance.now() - draft.shownAt >= SETTLING;
}

// Note when it came up, and let its buttons approve once it has been there for a moment.
export function settleDown(draft, root) {
  draft.shownAt ??= performance.now();
  const left = SETTLING - (performance.now() - draft.shownAt);
  setTimeout(() => {
    for (const node of root()?.querySelectorAll?.("[data-approves]") ?? []) node.disabled = draft.isBusy;
  }, Math.max(0, left) + 1);
}

// Enter does nothing but on a button that was chosen, and once only, however long it is held; with
// a reason typed it denies. Returns whether the key was used.
export function handleDecisionKey(event, draft, acts) {
  if (event.key !== "Enter") return false;
  if (event.target.matches?.("input.reason")) {
    if (draft.reason.trim()) acts.deny();
    return true;
  }
  return event.repeat;
}

// --- what stays in the timeline ------------------------------------------------------------------

export function outcome(entry) {
  const { ruling, state } = entry;
  if (!ruling) return { words: state === "expired" ? t("undecided") : t(state), tone: "none" };
  if (ruling.approved) return { words: t(`approved_${ruling.reach}`), tone: "given" };
  return { words: t("denied"), tone: "given is-denied", reason: ruling.reason };
}

export function approvalSummary(entry) {
  const { words, tone, reason: why } = outcome(entry);
  return el(
    "div",
    { class: "pair" },
    el("div", { class: "asked-text" }, badge(entry.operation.level), " ", el("bdi", { text: entry.operation.summary })),
    code(entry.operation, { tabindex: "0", class: "operation is-small" }),
    el(
      "div",
      { class: "answers" },
      el("span", { class: tone, text: words }),
      why && el("span", { class: "why", dir: "auto", text: why }),
    ),
  );
}
