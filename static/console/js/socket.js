// One connection that comes back by itself. A request is answered, refused with a sentence, or lost
// with the connection; whoever must not lose it sends it again.

export class Lost extends Error {}

export class Refused extends Error {
  constructor(sentence, again) {
    super(sentence);
    this.again = Boolean(again); // the same request may succeed later
  }
}

const LOGGED_OUT = 4401;
const FIRST_PAUSE = 500; // milliseconds
const LONGEST_PAUSE = 15000;
const PING_EVERY = 20000;
const PATIENCE = 12000;

export class Connection extends EventTarget {
  #socket = null;
  #waiting = new Map();
  #number = 0;
  #failures = 0;
  #timer = 0;
  isOpen = false;

  constructor(url) {
    super();
    this.url = url;
    setInterval(() => this.#ping(), PING_EVERY);
    addEventListener("online", () => this.#hurry());
    addEventListener("offline", () => this.#say("offline"));
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#hurry();
    });
  }

  start() {
    clearTimeout(this.#timer);
    if (this.#socket) return;
    const socket = new WebSocket(this.url);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.isOpen = true;
      this.dispatchEvent(new Event("open"));
    });
    socket.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => this.#closed(socket, event.code));
  }

  // The connection is good once the page has been brought up to date over it.
  settled() {
    this.#failures = 0;
    this.#say("connected");
  }

  request(type, fields = {}) {
    if (!this.isOpen) return Promise.reject(new Lost("not connected"));
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, type, ...fields }));
    });
  }

  // For tests and for a connection that no longer answers.
  drop() {
    this.#socket?.close();
  }

  #receive(message) {
    if (!("re" in message)) {
      this.dispatchEvent(new CustomEvent("push", { detail: message }));
      return;
    }
    const waiting = this.#waiting.get(message.re);
    this.#waiting.delete(message.re);
    if (!waiting) return;
    if (message.error) waiting.reject(new Refused(message.error, message.again));
    else waiting.resolve(message);
  }

  #closed(socket, code) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.isOpen = false;
    for (const { reject } of this.#waiting.values()) reject(new Lost("connection lost"));
    this.#waiting.clear();
    if (code === LOGGED_OUT) {
      this.dispatchEvent(new Event("loggedout"));
      return;
    }
    this.#say(navigator.onLine ? "reconnecting" : "offline");
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.start(), pause * (0.7 + 0.6 * Math.random()));
  }

  #hurry() {
    if (this.isOpen) this.#ping();
    else if (!this.#socket) this.start();
  }

  async #ping() {
    const socket = this.#socket;
    if (!this.isOpen) return;
    const late = setTimeout(() => {
      socket.close();
      this.#closed(socket, 1006); // a dead network never tells that it closed
    }, PATIENCE);
    try {
      await this.request("ping");
    } catch {
      // closing told everybody already
    } finally {
      clearTimeout(late);
    }
  }

  #say(state) {
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }
}
