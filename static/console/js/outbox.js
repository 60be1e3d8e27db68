// What was sent and is not acknowledged yet. It is stored before it is sent and forgotten after the
// server has it, so neither a lost connection nor a closed tab loses a message; the client's id
// makes sending it again harmless.

import * as store from "./store.js";
import { Refused } from "./socket.js";

const RETRY_AFTER = 3000; // milliseconds

export class Outbox {
  #connection;
  #isBusy = false;
  #sent = new Set(); // acknowledged here; another tab may still hold a copy
  onchange = () => {};
  onstored = () => {};

  constructor(connection) {
    this.#connection = connection;
    store.onOtherTab("out.", () => this.onchange());
  }

  messages(conversation) {
    return store
      .keys("out.")
      .map((key) => store.read(key))
      .filter((message) => message && !this.#sent.has(message.client_id))
      .filter((message) => conversation === undefined || message.conversation === conversation)
      .sort((one, other) => one.at - other.at);
  }

  add(conversation, text) {
    const client_id = crypto.randomUUID?.() ?? fallbackId();
    store.write(`out.${client_id}`, { client_id, conversation, text, at: Date.now() });
    this.onchange();
    this.flush();
  }

  retry(client_id) {
    const message = store.read(`out.${client_id}`);
    if (!message) return;
    store.write(`out.${client_id}`, { ...message, error: undefined });
    this.onchange();
    this.flush();
  }

  discard(client_id) {
    store.remove(`out.${client_id}`);
    this.onchange();
  }

  // Send everything in order; what is lost with the connection stays for the next time.
  async flush() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#next(); next && this.#connection.isOpen; next = this.#next()) {
        if (!(await this.#send(next))) break;
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #next() {
    return this.messages().find((message) => !message.error);
  }

  async #send(message) {
    const { client_id, conversation, text } = message;
    try {
      const reply = await this.#connection.request("say", { client_id, conversation, text });
      this.#sent.add(client_id);
      store.remove(`out.${client_id}`);
      this.onstored(conversation, reply.entry);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) return false;
      if (error.again) {
        setTimeout(() => this.flush(), RETRY_AFTER);
        return false;
      }
      store.write(`out.${client_id}`, { ...message, error: error.message });
      this.onchange();
      return true;
    }
  }
}

// crypto.randomUUID exists only on https and localhost.
function fallbackId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
