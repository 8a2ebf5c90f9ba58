// Reads a part of the page again every ten seconds, and not while the tab is hidden.
// Without this script the link "Read again" does the same.
"use strict";

const EVERY_MS = 10_000;
const part = document.querySelector("[data-now]");
const told = document.querySelector("[data-told]");
const texts = JSON.parse(told.dataset.texts);
const fill = (text, facts) => text.replace(/%\((\w+)\)s/g, (_, name) => facts[name]);
const change = document.querySelector("[data-change]");
let timer = 0;
let reading = false;
let due = Date.now() + EVERY_MS;
let lastRead = new Date(told.dataset.told);

const word = () => part.querySelector("#verdict").textContent;
const time = () => lastRead.toLocaleTimeString();

// What a person has open or reached with the keyboard stays so; links keep their places unless rows come or go.
function replace(html) {
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  const reached = part.contains(document.activeElement) ? document.activeElement : null;
  const href = reached && reached.getAttribute("href");
  const folded = reached && reached.tagName === "SUMMARY" ? [...part.querySelectorAll("summary")].indexOf(reached) : -1;
  const before = word();
  part.innerHTML = html;
  showOwnTimes(part);
  part.querySelectorAll("details").forEach((one, place) => { one.open = Boolean(open[place]); });
  const again = href
    ? [...part.querySelectorAll("a")].find((one) => one.getAttribute("href") === href)
    : part.querySelectorAll("summary")[folded];
  if (again) again.focus({ preventScroll: true });
  if (word() === before) return;
  change.textContent = word(); // a live region: it speaks only when the word is another one
  document.title = document.title.replace(before, word());
}

async function read() {
  if (reading) return;
  reading = true;
  try {
    const answer = await fetch(part.dataset.now, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(fill(texts.answered, answer));
    const html = await answer.text();
    if (!getSelection().isCollapsed) return; // somebody is about to copy
    replace(html);
    lastRead = new Date();
    told.textContent = fill(texts.read, { time: time() });
  } catch (error) {
    told.textContent = fill(texts.failed, { time: time(), why: error.message });
  } finally {
    reading = false;
    due = Date.now() + EVERY_MS;
    plan();
  }
}

function plan() {
  clearTimeout(timer);
  if (document.visibilityState !== "hidden") timer = setTimeout(read, Math.max(0, due - Date.now()));
}

told.textContent = fill(texts.read, { time: time() });
document.addEventListener("visibilitychange", plan);
plan();
