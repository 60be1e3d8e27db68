// One entry of the timeline as an element.

import { approvalSummary } from "./approval.js";
import { el, fragment, icon, morph } from "./dom.js";
import { title } from "./sessions.js";
import { brief, fullTimeOf, t, timeOf } from "./words.js";

const TICKS = {
  recorded: "clock",
  sent: "check",
  retrying: "clock",
  delivered: "checks",
  recovered: "recovered",
  abandoned: "cross",
};

export function build(entry, hooks) {
  const node = el("li", { class: `entry ${classOf(entry)}`, "data-id": entry.id });
  fill(node, entry, hooks);
  return node;
}

// Bring an element up to date; a text that is the same is not touched.
export function fill(node, entry, hooks) {
  node.className = `entry ${classOf(entry)}`;
  node.dataset.id = entry.id;
  if (entry.kind === "said") fillSaid(node, entry, hooks);
  else if (entry.kind === "prompt") fillPrompt(node, entry, hooks);
  else if (entry.kind === "stopped") fillLine(node, "stop", t("stopped"), entry);
  else if (entry.kind === "session") fillLine(node, "spark", t("session"), entry);
  else fillTold(node, entry);
}

function classOf(entry) {
  if (entry.kind === "said") {
    return `said ${entry.mine ? "mine" : "theirs"} ${entry.state ? `is-${entry.state}` : ""}`;
  }
  if (entry.kind === "prompt") return `prompt ${entry.open ? "is-open" : "is-closed"}`;
  if (entry.kind === "stopped" || entry.kind === "session") return `line ${entry.kind}`;
  return `told kind-${entry.kind}${entry.kind === "live" ? " is-live" : ""}`;
}

// The children of an entry are made once and found again by their part's name.
function part(node, name, make) {
  let child = node.querySelector(`:scope > [data-part="${name}"]`);
  if (!child) {
    child = make();
    child.dataset.part = name;
    node.append(child);
  }
  return child;
}

function fillSaid(node, entry, hooks) {
  if (entry.who) part(node, "who", () => el("p", { class: "who", dir: "auto" })).textContent = entry.who;
  const bubble = part(node, "text", () => el("div", { class: "bubble", dir: "auto" }));
  if (bubble.textContent !== entry.text) bubble.textContent = entry.text;
  const files = entry.files?.length ? t("files", entry.files.join(", ")) : "";
  const meta = part(node, "meta", () => el("div", { class: "meta" }));
  const word = entry.decision && t(`decision_${entry.decision}`);
  const remark = word && !word.startsWith("decision_") ? word : "";
  meta.replaceChildren(
    ...[
      files && el("span", { text: files }),
      remark && el("span", { class: "remark", text: remark, title: entry.reason || "" }),
      entry.error && el("span", { class: "trouble", text: entry.error }),
      ...(entry.state === "failed" ? buttons(entry, hooks) : []),
      entry.state !== "failed" && time(entry.state ? new Date().toISOString() : entry.at),
      saidTick(entry),
    ].filter(Boolean),
  );
}

function buttons(entry, hooks) {
  const id = entry.client_id;
  return [
    el("button", { class: "link", type: "button", text: t("retry"), onclick: () => hooks.retry(id) }),
    el("button", { class: "link", type: "button", text: t("discard"), onclick: () => hooks.discard(id) }),
  ];
}

function saidTick(entry) {
  if (!entry.mine) return null;
  if (entry.state === "failed") return mark("cross", t("not_sent"), "bad");
  if (entry.state) return mark("clock", t("sending"), "");
  return mark("check", t("sent_in"), "");
}

function mark(name, title, tone) {
  return el(
    "span",
    { class: `tick ${tone}`, title },
    icon(name),
    el("span", { class: "unseen", text: title }),
  );
}

function time(at) {
  return el("time", { datetime: at, title: fullTimeOf(at), text: timeOf(at) });
}

function fillTold(node, entry) {
  const body = part(node, "body", () => el("div", { class: "prose", dir: "auto" }));
  if (body.said !== entry.html) {
    body.said = entry.html;
    morph(body, dressed(entry.html));
  }
  const isLive = entry.kind === "live";
  const isBare = isLive || entry.kind === "cut"; // of a stopped text the line below tells the rest
  body.setAttribute("aria-busy", String(isLive));
  const meta = part(node, "meta", () => el("div", { class: "meta" }));
  meta.hidden = isBare;
  body.classList.toggle("is-silent", isLive && !entry.html);
  if (isBare) return;
  const tone = entry.tick === "abandoned" ? "bad" : entry.tick === "delivered" ? "good" : "";
  const words = [t(`tick_${entry.tick}`), tone !== "good" && entry.note].filter(Boolean).join(": ");
  meta.replaceChildren(
    ...[
      time(entry.at),
      entry.tick && mark(TICKS[entry.tick] ?? "clock", words, tone),
      entry.tick === "abandoned" && el("span", { class: "trouble", text: words }),
      copyButton(() => entry.source ?? "", t("copy")),
    ].filter(Boolean),
  );
}

// Sanitised HTML with what the page adds: a copy button on code, a scroll box around tables.
function dressed(html) {
  const content = fragment(html);
  for (const pre of content.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const language = /language-(\S+)/.exec(code?.className ?? "")?.[1] ?? t("code");
    const box = el("div", { class: "code", dir: "ltr" });
    pre.replaceWith(box);
    const copy = copyButton(() => pre.textContent.replace(/\n$/, ""), t("copy"), true);
    box.append(el("div", { class: "code-head" }, el("span", { text: language }), copy), pre);
    pre.tabIndex = 0;
  }
  for (const table of content.querySelectorAll("table")) {
    const box = el("div", { class: "table", tabindex: "0" });
    table.replaceWith(box);
    box.append(table);
  }
  return content;
}

function copyButton(text, label, withWord = false) {
  const word = el("span", { class: withWord ? "" : "unseen", text: label });
  const button = el("button", { class: "copy", type: "button", title: label }, icon("copy"), word);
  button.dataset.copy = "";
  button.readText = text;
  return button;
}

// Copying is handled once for the whole timeline: morphed blocks need no listeners of their own.
export async function copyFrom(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const code = button.closest(".code")?.querySelector("pre");
  const text = code ? code.textContent.replace(/\n$/, "") : button.readText?.() ?? "";
  await writeClipboard(text);
  const word = button.lastElementChild;
  word.textContent = t("copied");
  button.classList.add("is-done");
  setTimeout(() => {
    word.textContent = t("copy");
    button.classList.remove("is-done");
  }, 1600);
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy"); // the only way on a page without https
    area.remove();
  }
}

const ENDS = { answered: "check", skipped: "skip", expired: "clock", cancelled: "stop" };

const endOf = (entry) =>
  entry.ruling && !entry.ruling.approved ? "cross" : (ENDS[entry.state] ?? "cross");

function fillPrompt(node, entry, hooks) {
  const isApproval = Boolean(entry.operation);
  if (entry.open) {
    const slot = node.querySelector(":scope > [data-slot]");
    if (slot) return; // its card is brought up to date by itself
    node.replaceChildren(
      el("div", { class: "slot", "data-slot": entry.id }),
      el(
        "button",
        { class: "asked", type: "button", onclick: () => hooks.reveal(entry.id) },
        icon(isApproval ? "shield" : "question"),
        el(
          "span",
          {},
          el("strong", { text: t(isApproval ? "approval" : "asked_below") }),
          isApproval
            ? el("span", { dir: "auto", text: entry.operation.summary })
            : el("span", { dir: "auto", html: entry.questions[0].html }),
        ),
      ),
    );
    return;
  }
  const who = [
    isApproval ? `${t("approval_name")} #${entry.prompt}` : t(entry.state),
    entry.by && t("by", entry.by),
    entry.on && t("on", title(entry.on)),
    entry.ended_at && brief(entry.ended_at),
  ].filter(Boolean);
  node.replaceChildren(
    el(
      "div",
      { class: "summary" },
      ...(isApproval ? [approvalSummary(entry)] : entry.questions.map((question) => answered(question, entry))),
      el("p", { class: "meta" }, icon(endOf(entry)), el("span", {}, ...dotted(who))),
    ),
  );
}

// Each apart from its neighbours: a name in Latin script and a time would else change places in
// Persian.
function dotted(words) {
  return words.flatMap((word, index) => [index > 0 && " · ", el("bdi", { text: word })]).filter(Boolean);
}

function answered(question, entry) {
  const words = entry.answers[question.key] ?? [];
  const given = words.length
    ? words.map((word) => el("span", { class: "given", dir: "auto", text: word }))
    : [el("span", { class: "none", text: t(entry.state) })];
  return el(
    "div",
    { class: "pair" },
    el("div", { class: "asked-text", dir: "auto", html: question.html }),
    el("div", { class: "answers" }, ...given),
  );
}

function fillLine(node, name, words, entry) {
  node.replaceChildren(el("p", {}, icon(name), el("span", { text: words }), time(entry.at)));
}
