// What outlives the page: drafts and what is still to be sent, for this person in this browser.

import { facts } from "./words.js";

const prefix = `hermes.${facts.viewer.id}.`;
const memory = new Map(); // when storage is full or forbidden, this page still works

export function read(key) {
  try {
    const text = localStorage.getItem(prefix + key);
    if (text !== null) return JSON.parse(text);
  } catch {
    // fall through to what this page remembers
  }
  return memory.get(key) ?? null;
}

export function write(key, value) {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

export function remove(key) {
  memory.delete(key);
  try {
    localStorage.removeItem(prefix + key);
  } catch {
    // then it was never there
  }
}

export function keys(start) {
  const found = new Set([...memory.keys()].filter((key) => key.startsWith(start)));
  try {
    for (let index = 0; index < localStorage.length; index += 1) {
      const key = localStorage.key(index);
      if (key.startsWith(prefix + start)) found.add(key.slice(prefix.length));
    }
  } catch {
    // only what this page remembers
  }
  return [...found];
}

export function onOtherTab(start, listener) {
  addEventListener("storage", (event) => {
    if (event.key === null || event.key.startsWith(prefix + start)) listener();
  });
}
