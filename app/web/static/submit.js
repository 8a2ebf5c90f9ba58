// Checks an address as soon as it is pasted, as the button "Check" does; a refusal waits until somebody submits.
"use strict";

const typed = document.getElementById("repository");
const shown = document.getElementById("checked");
const button = document.querySelector("[data-check]");
let asked = null;

async function check() {
  if (asked) asked.abort();
  asked = new AbortController();
  shown.replaceChildren();
  if (!typed.value.trim()) return;
  const sent = { method: "POST", body: new FormData(typed.form), signal: asked.signal };
  const answer = await fetch(button.formAction, sent);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  shown.replaceChildren(...page.getElementById("checked").children);
  showOwnTimes(shown);
}

if (typed && shown && button) {
  const quietly = () => check().catch(() => {});
  typed.addEventListener("change", quietly);
  typed.addEventListener("paste", () => setTimeout(quietly));
}
