// The console: one connection, one conversation on show, and everything in step with the server.

import { Composer } from "./composer.js";
import { byId, el, icon } from "./dom.js";
import { Outbox } from "./outbox.js";
import { nameOf, Sessions, title } from "./sessions.js";
import { Connection } from "./socket.js";
import { Stepper } from "./stepper.js";
import { emptyWords, outgoing, plainText, Timeline } from "./timeline.js";
import { facts, number, span, t } from "./words.js";

const CALM = 1500; // milliseconds of trouble before anybody hears of it

const scheme = location.protocol === "https:" ? "wss" : "ws";
const connection = new Connection(`${scheme}://${location.host}/ws/console/`);
const outbox = new Outbox(connection);
const composer = new Composer();
const sessions = new Sessions();

let current = facts.conversation; // the id of the conversation on show
let conversation = null;
let watermark = null;
let turns = [];
let skew = 0; // the server's clock minus ours, in milliseconds
let state = "connecting";
let troubleTimer = 0;

const now = () => Date.now() + skew;

const timeline = new Timeline({
  retry: (id) => outbox.retry(id),
  discard: (id) => outbox.discard(id),
  reveal: (id) => stepper.reveal(id),
  earlier: loadEarlier,
  changed: showEmptiness,
  finished: (entry) => announce(`${t("agent")}: ${plainText(entry.html).slice(0, 500)}`),
});

const stepper = new Stepper({
  request: (type, fields) => connection.request(type, fields),
  stored: (entry) => {
    timeline.upsert([entry]);
    showPrompts();
  },
  entry: (id) => timeline.get(id),
  slot: (id) => timeline.slot(id),
  attend: (id) => timeline.attend(id),
  toggled: (isDocked) => {
    composer.hidden = isDocked;
    document.body.classList.toggle("is-docked", isDocked);
  },
  composer,
  announce,
  now,
});

// --- the connection ------------------------------------------------------------------------------

connection.addEventListener("open", async () => {
  try {
    const hello = await connection.request("hello", {
      conversation: current,
      language: document.documentElement.lang,
    });
    skew = Date.parse(hello.now) - Date.now();
    if (current === null) {
      current = hello.conversation;
      history.replaceState({ conversation: current }, "", `/c/${current}/`);
    }
    sessions.offer(hello.platforms);
    const { search, platform } = sessions.filters;
    if (search || platform) await filterSessions(sessions.filters);
    else sessions.show(hello.list, current);
    await open(current, conversation?.id === current ? watermark : null);
    connection.settled();
    outbox.flush();
  } catch {
    connection.drop(); // and again from the beginning
  }
});

connection.addEventListener("push", ({ detail: message }) => {
  if (message.type === "list") showSessions(message.list);
  else if (message.type === "sync" && message.conversation.id === current) show(message);
  else if (message.type === "live" && message.conversation === current) {
    const turn = turns.find((each) => each.turn === message.turn);
    timeline.live(message.key, message.turn, message.html, turn?.since ?? new Date(now()).toISOString());
  }
});

connection.addEventListener("loggedout", () => {
  location.assign(`/login/?next=${encodeURIComponent(location.pathname)}`);
});

connection.addEventListener("state", ({ detail }) => {
  state = detail;
  if (state === "connected") {
    clearTimeout(troubleTimer);
    troubleTimer = 0;
    showState();
  } else troubleTimer ||= setTimeout(showState, CALM);
});

function showState() {
  const line = byId("connection");
  line.dataset.state = state;
  line.querySelector("span").textContent = t(state);
}

// --- one conversation ----------------------------------------------------------------------------

async function open(id, since) {
  const wanted = id;
  const snapshot = await connection.request("open", { conversation: id, since });
  if (current === wanted) show(snapshot);
}

function show(snapshot) {
  const isFirst = conversation?.id !== snapshot.conversation.id;
  conversation = snapshot.conversation;
  watermark = snapshot.watermark;
  turns = snapshot.turns;
  if (isFirst) {
    timeline.clear();
    stepper.clear();
    composer.show(conversation.id, conversation.mine, title(conversation.platform));
  }
  showTitle();
  if (snapshot.reset) {
    timeline.reset(snapshot.entries);
    timeline.offerEarlier(snapshot.more);
  } else timeline.upsert(snapshot.entries);
  showOutgoing();
  showLive();
  showPrompts(new Set(snapshot.pending));
  showStrip();
  if (isFirst) {
    timeline.toEnd();
    if (snapshot.pending.length) timeline.attend(snapshot.pending[0]);
    if (!stepper.isDocked && matchMedia("(hover: hover)").matches) composer.focus();
  }
}

function showTitle() {
  byId("title").textContent = nameOf(conversation);
  const place = byId("place");
  place.hidden = conversation.mine;
  place.textContent = conversation.mine ? "" : `${title(conversation.platform)} · ${t(`place_${conversation.chat_type}`)}`;
  const asking = stepper.count + sessions.asking;
  document.title = `${asking ? `(${number(asking)}) ` : ""}${nameOf(conversation)} · Hermes`;
}

// A live element for the turn that speaks or is about to, none for those that wait.
function showLive() {
  const active = turns.filter((turn) => turn.state === "running" || turn.state === "ready");
  const first = active.length ? active : turns.filter((turn) => turn.state === "queued").slice(0, 1);
  for (const turn of first) {
    const known = timeline.get(`live:${turn.key}`);
    timeline.live(turn.key, turn.turn, known?.html || turn.html, turn.since);
  }
  const keys = new Set(turns.filter((turn) => turn.state !== "waiting").map((turn) => turn.key));
  timeline.keepLive(keys);
}

let pendingIds = new Set();

function showPrompts(ids = pendingIds) {
  pendingIds = ids;
  const open = timeline.all.filter((entry) => entry.kind === "prompt" && entry.open && ids.has(entry.id));
  stepper.sync(open.sort((one, other) => one.prompt - other.prompt));
  composer.hint(stepper.hasQuestions);
  if (conversation) showTitle();
}

function showOutgoing() {
  const waiting = outbox.messages(current);
  const ids = new Set(waiting.map((message) => `out:${message.client_id}`));
  for (const entry of timeline.all) {
    if (entry.rank === 9 && !ids.has(entry.id)) timeline.remove(entry.id);
  }
  const stored = new Set(timeline.all.filter((entry) => entry.rank !== 9).map((entry) => entry.client_id));
  timeline.upsert(waiting.filter((message) => !stored.has(message.client_id)).map(outgoing));
}

outbox.onchange = () => conversation && showOutgoing();
outbox.onstored = (id, entry) => {
  if (id === conversation?.id) timeline.upsert([entry]);
};

composer.onsend = (text) => {
  outbox.add(current, text);
  timeline.toEnd();
};

async function loadEarlier() {
  const before = timeline.oldest;
  if (before === null) return;
  const id = current;
  try {
    const page = await connection.request("more", { conversation: id, before });
    if (id !== current) return;
    timeline.prepend(page.entries);
    timeline.offerEarlier(page.more);
  } catch {
    // the button stays, to be pressed again
  }
}

function showEmptiness() {
  const empty = byId("empty");
  const isEmpty = conversation !== null && timeline.isEmpty;
  if (empty.hidden === !isEmpty) return;
  empty.hidden = !isEmpty;
  const [heading, words] = emptyWords();
  const canWrite = conversation?.mine;
  empty.replaceChildren(
    ...(isEmpty
      ? [
          icon("spark"),
          el("h2", { text: heading }),
          el("p", { text: words }),
          canWrite &&
            el("button", { class: "button", type: "button", text: t("empty_help"), onclick: () => composer.onsend("help") }),
        ].filter(Boolean)
      : []),
  );
}

// --- what runs -----------------------------------------------------------------------------------

function showStrip() {
  const strip = byId("strip");
  const active = turns.find((turn) => turn.state !== "queued") ?? turns[0];
  strip.hidden = !active;
  if (!active) return;
  strip.dataset.state = active.state;
  strip.dataset.turn = active.turn;
  const queued = turns.length - 1;
  const isOthers = active.state === "waiting" && !conversation.mine;
  const word = t(isOthers ? "waiting_other" : active.state);
  byId("strip-words").textContent = [word, queued > 0 && t("in_queue", number(queued))]
    .filter(Boolean)
    .join(" · ");
  const button = byId("stop");
  if (button.dataset.turn !== String(active.turn)) {
    button.disabled = false;
    button.dataset.turn = String(active.turn);
    button.querySelector("span").textContent = t("stop");
  }
  tickStrip();
}

function tickStrip() {
  const active = turns.find((turn) => turn.state !== "queued") ?? turns[0];
  const isCounted = active && active.state !== "waiting";
  const seconds = active ? (now() - Date.parse(active.since)) / 1000 : 0;
  byId("strip-time").textContent = isCounted && seconds >= 3 ? span(seconds) : "";
}
setInterval(tickStrip, 1000);

byId("stop").addEventListener("click", async ({ currentTarget: button }) => {
  button.disabled = true;
  button.querySelector("span").textContent = t("stopping");
  try {
    await connection.request("stop", { turn: Number(button.dataset.turn) });
    composer.focus();
  } catch (error) {
    button.disabled = false;
    button.querySelector("span").textContent = t("stop");
    announce(t("failed", error.message));
  }
});

// --- the list, and moving about ------------------------------------------------------------------

function showSessions(rows) {
  sessions.show(rows, current);
  if (conversation) showTitle();
}

async function filterSessions(filters) {
  try {
    const reply = await connection.request("list", filters);
    sessions.show(reply.list, current);
  } catch {
    // the next connection lists again
  }
}

sessions.onfilter = filterSessions;
sessions.onopen = (id) => go(id);

async function go(id, isBack = false) {
  sessions.toggle(false);
  if (id === current) return;
  current = id;
  if (!isBack) history.pushState({ conversation: id }, "", `/c/${id}/`);
  sessions.mark(id);
  try {
    await open(id, null);
  } catch {
    // shown as soon as the connection is back
  }
}

addEventListener("popstate", (event) => {
  const id = event.state?.conversation ?? facts.conversation;
  if (id !== null && id !== undefined) go(id, true);
});

byId("new-chat").addEventListener("click", async () => {
  try {
    const reply = await connection.request("new");
    await go(reply.conversation);
    sessions.toggle(false, false);
    composer.focus();
  } catch (error) {
    announce(t("failed", error.message));
  }
});

byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  try {
    localStorage.setItem("hermes.theme", root.dataset.theme);
  } catch {
    // then it holds for this page
  }
});

function announce(words) {
  byId("announce").textContent = words;
}

if (current !== null) history.replaceState({ conversation: current }, "", location.href);
window.hermes = { connection }; // for whoever opens the browser's own tools
connection.start();
