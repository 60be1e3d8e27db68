// What the page was given with its HTML: who looks, what to show, and every word in their language.

export const facts = JSON.parse(document.getElementById("facts").textContent);

const language = document.documentElement.lang || "en";

export function t(name, ...values) {
  let index = 0;
  return (facts.words[name] ?? name).replace(/\{\}/g, () => String(values[index++] ?? ""));
}

const clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
const shortDay = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
const longDay = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
const full = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "medium" });
const numbers = new Intl.NumberFormat(language);

export const timeOf = (at) => clock.format(new Date(at));
export const fullTimeOf = (at) => full.format(new Date(at));
export const number = (value) => numbers.format(value);

const dayKey = (date) => date.toDateString();

export function dayOf(at) {
  return dayKey(new Date(at));
}

export function dayName(at) {
  const date = new Date(at);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (dayKey(date) === dayKey(new Date())) return t("today");
  if (dayKey(date) === dayKey(yesterday)) return t("yesterday");
  return longDay.format(date);
}

export function brief(at) {
  const date = new Date(at);
  return dayKey(date) === dayKey(new Date()) ? clock.format(date) : shortDay.format(date);
}

const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

// A length of time in the largest unit that says it exactly.
export function duration(seconds) {
  const [unit, size] = UNITS.find((each) => seconds % each[1] === 0 && seconds >= each[1]) ?? UNITS.at(-1);
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(seconds / size);
}

const pair = new Intl.NumberFormat(language, { minimumIntegerDigits: 2 });

export function span(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const rest = `${pair.format(Math.floor((whole % 3600) / 60))}:${pair.format(whole % 60)}`;
  return whole >= 3600 ? `${number(Math.floor(whole / 3600))}:${rest}` : rest;
}
